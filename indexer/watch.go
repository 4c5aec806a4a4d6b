package indexer

import (
	"context"
	"maps"
	"slices"
	"time"

	"sessdex/harness"
)

// Timing of Watch: a burst of writes is imported once it pauses or has gone on
// for long enough. Roots that are not there are looked for again and again. Now
// and then everything is looked at, because notifications can be lost and folders
// can be on a disk that sends none.
const (
	watchPause  = 250 * time.Millisecond
	watchLatest = time.Second
	watchTick   = time.Second // between looks for roots, and at files where there are no notifications
	watchRescan = 30 * time.Second

	// maxTouched is how many files are imported by name: of more, all are looked at.
	maxTouched = 1000
)

// Watch imports what o asks for and goes on importing what changes until ctx
// ends. Search finds a new turn within two seconds. It watches folders, not files,
// and polls where that cannot be had. done is told of every import that did
// something and of every error; it may be nil. Watch returns only ctx's error.
func (x *Indexer) Watch(ctx context.Context, o ImportOptions, done func(*Report, error)) error {
	look := func(o ImportOptions) {
		rep, err := x.Import(ctx, o)
		if done != nil && ctx.Err() == nil && (err != nil || rep.Parsed > 0 || rep.Synced > 0) {
			done(rep, err)
		}
	}
	tree := newTree(x.watched(o), x.ours())
	defer tree.close()
	tree.grow()
	look(o)

	tick, all, pause := time.NewTicker(watchTick), time.NewTicker(watchRescan), time.NewTimer(time.Hour)
	defer tick.Stop()
	defer all.Stop()
	defer pause.Stop()
	quick := o
	quick.quick = true
	poll := pacer{}
	dirty := map[string]bool{}
	var first time.Time
	touch := func(files []string) {
		for _, f := range files {
			dirty[f] = true
		}
		if len(files) == 0 {
			return
		}
		if first.IsZero() {
			first = time.Now()
		}
		pause.Reset(max(0, min(watchPause, watchLatest-time.Since(first))))
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case ev := <-tree.events():
			touch(tree.touched(ev))
		case <-tick.C:
			touch(tree.grow())
			if tree.polling() {
				poll.run(func() { look(quick) })
			}
		case <-pause.C:
			some := quick
			some.Paths = carriers(dirty)
			clear(dirty)
			first = time.Time{}
			if len(some.Paths) > maxTouched {
				some = quick
			}
			look(some)
		case <-all.C:
			look(o)
		case <-tree.errors(): // notifications were lost
			tree.again()
			touch(tree.grow())
			look(o)
		}
	}
}

// pacer runs something that takes a while no more than a quarter of the time.
type pacer struct{ next time.Time }

func (p *pacer) run(fn func()) {
	start := time.Now()
	if start.Before(p.next) {
		return
	}
	fn()
	p.next = start.Add(4 * time.Since(start))
}

// carriers names the files that stand for those that were touched.
func carriers(touched map[string]bool) []string {
	all := map[string]bool{}
	for p := range touched {
		all[harness.Carrier(p)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// watched lists what to watch for an import.
func (x *Indexer) watched(o ImportOptions) []watchRoot {
	var roots []watchRoot
	for _, p := range o.Paths {
		roots = append(roots, watchRoot{path: p})
	}
	if len(o.Paths) > 0 {
		return roots
	}
	for _, h := range harness.All {
		if len(o.Harnesses) == 0 || slices.Contains(o.Harnesses, h.Name) {
			for _, root := range h.Roots(x.Env) {
				roots = append(roots, watchRoot{h, root})
			}
		}
	}
	return roots
}
