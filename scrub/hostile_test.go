package scrub

import (
	"strings"
	"testing"
)

// hostile is texts of about n bytes that were made to stall a scrubber.
func hostile(s *Scrubber, n int) map[string]string {
	fill := func(x string) string { return strings.Repeat(x, n/len(x)+1)[:n] }
	var words strings.Builder
	for _, r := range rules().rules {
		for _, k := range r.keywords {
			words.WriteString(k + " ")
		}
	}
	pemHead := "-----BEGIN PRIV" + "ATE KEY-----"
	token := secrets()["github"]
	return map[string]string{
		"pem headers":         fill(pemHead),
		"pem headers, lines":  fill(pemHead + "\n"),
		"pem without end":     pemHead + "\n" + fill(random(90, alnum, 64)+"\n"),
		"tokens":              fill(token + " "),
		"tokens in one run":   fill(token),
		"one letter":          fill("a"),
		"one base64 run":      random(91, alnum+"+/", n),
		"assignments":         fill("key="),
		"assignments, spaced": fill("password= "),
		"values":              fill("api_key=" + random(92, alnum, 24) + " "),
		"urls":                fill("x://"),
		"urls with colons":    fill("x://a:"),
		"jwt heads":           fill("eyJ."),
		"jwt heads, long":     fill("eyJ" + random(93, alnum, 20) + "."),
		"cookies":             fill("cookie: a=b; "),
		"curls":               fill("curl -u "),
		"flags":               fill("--header \""),
		"basic":               fill("basic "),
		"every keyword":       fill(words.String()),
		"back-slashes":        fill(`\`),
		"escaped quotes":      fill(`\"`),
		"marks":               fill("[REDACTED:password:00ff00]"),
		"open marks":          fill("password: [REDACTED:"),
		"slack":               fill("xoxb-1-"),
	}
}

// TestHostileWork holds the work on hostile texts to a small multiple of their
// length: expressions read a bounded part, and what is beyond it is masked.
func TestHostileWork(t *testing.T) {
	s, p := newPass(t)
	const n = 1 << 15
	for name, text := range hostile(s, n) {
		p.scan.secrets([]byte(text))
		if used := work(n) - p.scan.budget; used > work(n)+maxToken*64 {
			t.Errorf("%s: expressions read %d bytes of %d", name, used, n)
		}
		laws(t, s, text[:n/8], false)
		laws(t, s, quote(text[:n/8]), true)
	}
}

// TestGivesUpClosed makes the budget run out and expects the rest of the text
// to be masked rather than passed on.
func TestGivesUpClosed(t *testing.T) {
	_, p := newPass(t)
	secret := secrets()["github"]
	text := strings.Repeat("okta sumo jira meraki cohere zxlk sig= discord airtable facebook intra linkedin ", 10_000) + secret
	out := string(p.Line([]byte(quote(map[string]string{"a": text}))).Bytes())
	if p.Counts()[tooComplex.id] == 0 {
		t.Error("the work on this text stayed within bounds: make it harder")
	}
	if strings.Contains(out, secret) || len(out) > len(text)/2 {
		t.Errorf("%d bytes of %d passed", len(out), len(text))
	}
}

// TestGiantLineIsNotKept scrubs a line far above keep and looks at the buffers
// that stay with the pass.
func TestGiantLineIsNotKept(t *testing.T) {
	_, p := newPass(t)
	text := strings.Repeat(`a "quoted" line`+"\n", keep/8) + "password=" + join("hun", "ter2")
	if out := p.Line([]byte(quote(text))); !markExpr.Match(out.Bytes()) {
		t.Fatal("nothing was masked")
	}
	if held := cap(p.flat) + cap(p.out) + cap(p.spare); held > 3*keep {
		t.Errorf("%d bytes of buffers stay", held)
	}
	if p.scan.t != nil {
		t.Error("the line's text stays")
	}
}

func BenchmarkHostile(b *testing.B) {
	s, p := newPass(b)
	for name, text := range hostile(s, 1<<20) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			line := []byte(quote(text))
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				p.Line(line)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := newRuleSet(); err != nil {
			b.Fatal(err)
		}
	}
}
