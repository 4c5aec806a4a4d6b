package contextpack

import "slices"

// gapTokens is an upper bound for the lines about missing turns: one between the
// opening and the turns around the focus, one after those, one for what came
// before the opening.
func (f *filler) gapTokens() int {
	n := f.src.total
	if n < 2 {
		return 0
	}
	lines := 1
	if f.opts.Around > 0 {
		lines++
	}
	if f.src.opener > 1 {
		lines++
	}
	return lines * f.tok.count(gapLine(Elided{From: n - 1, To: n, Turns: n}, false))
}

// layout puts the parts in the order of the pack, the opening first and the rest
// by number, with a line for each gap where it is.
func (sel *selection) layout(f *filler) (segments []segment, gaps []Elided) {
	gaps, exact := sel.gaps(f)
	var rest []part
	for _, p := range sel.parts {
		if p.item.n == sel.opening {
			segments = append(segments, p.segment)
		} else {
			rest = append(rest, p)
		}
	}
	for i, g := range gaps {
		for len(rest) > 0 && rest[0].item.n < g.From {
			segments = append(segments, rest[0].segment)
			rest = rest[1:]
		}
		line := gapLine(g, exact[i])
		segments = append(segments, segment{line, f.tok.count(line)})
	}
	for _, p := range rest {
		segments = append(segments, p.segment)
	}
	return segments, gaps
}

// gaps lists the stretches of turns without a part in which something could be
// shown, and whether each one's number is certain because all of it was read.
func (sel *selection) gaps(f *filler) (gaps []Elided, exact []bool) {
	known := f.known()
	unread := f.unread()
	last := 0
	for i := 0; i <= len(sel.parts); i++ {
		next := f.src.total + 1
		if i < len(sel.parts) {
			next = sel.parts[i].item.n
		}
		g := Elided{From: last + 1, To: next - 1}
		for len(known) > 0 && known[0] < next {
			if known[0] > last {
				g.Turns++
			}
			known = known[1:]
		}
		sure := true
		for _, u := range unread {
			if u.From >= g.From && u.To <= g.To {
				g.Turns += u.Turns
				sure = sure && u.Turns == 0
			}
		}
		if g.Turns > 0 {
			gaps = append(gaps, g)
			exact = append(exact, sure)
		}
		last = next
	}
	return gaps, exact
}

// known is the numbers of the turns that were read and can be shown, in order.
func (f *filler) known() []int {
	var ns []int
	for _, items := range [][]*item{f.src.lead, f.before.items, f.after.items, {f.focus}} {
		for _, it := range items {
			if it != nil {
				ns = append(ns, it.n)
			}
		}
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// unread is the at most two stretches that were not read, and how many turns that
// can be shown each probably has: in all as many as the card says, shared out by
// length.
func (f *filler) unread() []Elided {
	var out []Elided
	length := 0
	for _, u := range []Elided{
		{From: f.src.leadRead + 1, To: f.before.next},
		{From: max(f.src.leadRead+1, f.after.next), To: f.src.total},
	} {
		if u.From <= u.To {
			out = append(out, u)
			length += u.To - u.From + 1
		}
	}
	left := min(f.src.unread(), length)
	for i := range out {
		n := out[i].To - out[i].From + 1
		out[i].Turns = left * n / length
		left -= out[i].Turns
		length -= n
	}
	return out
}

// beside is the turn in gap g around which the next pack should be made: as far
// from the near end as this pack reached, so that little is shown twice.
func (sel *selection) beside(g Elided) int {
	if sel == nil {
		return g.To
	}
	first, last := 0, 0
	for _, p := range sel.parts {
		if p.item.n == sel.opening {
			continue
		}
		if first == 0 {
			first = p.item.n
		}
		last = p.item.n
	}
	if g.From > last {
		return min(g.To, g.From+(last-first)/2)
	}
	return max(g.From, g.To-(last-first)/2)
}
