package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newPass(tb testing.TB) (*Scrubber, *Pass) {
	tb.Helper()
	s := New()
	return s, s.NewPass()
}

// Secrets are made when the tests run: the repository holds none, and nothing
// shaped like one.

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	hexes  = digits + "abcdef"
	alnum  = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
)

// random returns n bytes of an alphabet, the same for the same seed; the first
// three are a digit and letters, so that chance makes no weak ones.
func random(seed uint64, alphabet string, n int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	copy(b, "b7e")
	return string(b)
}

func join(parts ...string) string { return strings.Join(parts, "") }

// secrets is one secret of each kind that shows in any surroundings.
func secrets() map[string]string {
	return map[string]string{
		"anthropic":    join("sk", "-ant-", "oat01-", random(1, alnum+"-_", 90), "AA"),
		"openai":       join("sk", "-proj-", random(2, alnum+"-_", 120)),
		"openai old":   join("sk", "-", random(3, alnum, 48)),
		"openrouter":   join("sk", "-or-v1-", random(4, hexes, 64)),
		"github":       join("gh", "p_", random(5, alnum, 36)),
		"github fine":  join("github", "_pat_", random(6, alnum, 22), "_", random(7, alnum, 59)),
		"gitlab":       join("gl", "pat-", random(8, alnum, 20)),
		"aws":          join("AK", "IA", "Q7", random(9, "ABCDEFGHIJKLMNOP234567", 14)[3:], "ABC"),
		"slack":        join("xo", "xb-", random(10, digits, 12)[3:], "123-", random(11, digits, 12)[3:], "456-", random(12, alnum, 24)),
		"stripe":       join("sk", "_live_", random(13, alnum, 24)),
		"stripe hook":  join("wh", "sec_", random(14, alnum, 32)),
		"google":       join("AI", "za", random(15, alnum, 35)),
		"npm":          join("np", "m_", random(16, alnum, 36)),
		"huggingface":  join("hf", "_", random(17, lower, 34)),
		"tailscale":    join("ts", "key-auth-", random(18, alnum, 12), "-", random(19, alnum, 32)),
		"vercel":       join("vc", "p_", random(20, alnum, 40)),
		"databricks":   join("da", "pi", random(21, hexes, 32)),
		"grafana":      join("gl", "sa_", random(22, alnum, 32), "_", random(23, hexes, 8)),
		"shopify":      join("sh", "pat_", random(24, hexes, 32)),
		"telegram":     join("71", random(25, digits, 8)[3:], "245", ":", "AA", random(26, alnum, 33)),
		"jwt":          join("ey", "J", random(27, alnum, 33), ".", "ey", "J", random(28, alnum, 80), ".", random(29, alnum+"-_", 43)),
		"discord hook": join("https://discord.com/api/web", "hooks/", "1234567890123", "/", random(30, alnum, 68)),
	}
}

// placements is where secrets turn up in transcripts.
var placements = map[string]func(secret string) string{
	"bare":        func(x string) string { return x },
	"sentence":    func(x string) string { return "use " + x + ", then go on" },
	"env dump":    func(x string) string { return "HOME=/root\nSERVICE_TOKEN=" + x + "\nPATH=/bin\n" },
	"header":      func(x string) string { return `curl -H "Authorization: Bearer ` + x + `" https://host.test` },
	"nested json": func(x string) string { return quote(map[string]any{"env": map[string]string{"TOKEN": x}}) },
	"twice nested": func(x string) string {
		return quote(map[string]any{"out": quote(map[string]any{"env": []string{x}})})
	},
	"yaml":          func(x string) string { return "service:\n  token: " + x + "\n" },
	"code":          func(x string) string { return `client := New("` + x + `")` },
	"colours":       func(x string) string { return "token: \x1b[32m" + x + "\x1b[0m\n" },
	"allow comment": func(x string) string { return x + " # gitleaks:allow" },
	"query":         func(x string) string { return "GET /v1?token=" + x + "&page=2" },
}

func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

var markPattern = regexp.MustCompile(`\[REDACTED:([a-z0-9-]+):[0-9a-f]{6}\]`)

func TestSecretsInEveryPlacement(t *testing.T) {
	s, _ := newPass(t)
	for kind, secret := range secrets() {
		for place, put := range placements {
			t.Run(kind+"/"+place, func(t *testing.T) {
				line := quote(map[string]any{"type": "user", "n": 12, "message": put(secret)})
				out := string(s.NewPass().Line([]byte(line)).Bytes())
				checkGone(t, secret, line, out)
				text := s.NewPass().Text(put(secret))
				if strings.Contains(text, secret) {
					t.Errorf("text kept the secret")
				}
			})
		}
	}
}

// checkGone fails if out, a scrubbed line, is no JSON or still holds most of a
// secret at any level of escaping.
func checkGone(t *testing.T, secret, line, out string) {
	t.Helper()
	if !json.Valid([]byte(out)) {
		t.Errorf("no JSON: %s", out)
	}
	flat := string(flatten(nil, []byte(out), true))
	if strings.Contains(flat, secret) || len(secret) > 24 && strings.Contains(flat, secret[len(secret)-20:]) {
		t.Errorf("the secret is still there in %s", out)
	}
	if !markPattern.MatchString(out) {
		t.Errorf("no mark in %s", out)
	}
	if got, want := skeleton([]byte(out)), skeleton([]byte(line)); got != want {
		t.Errorf("structure changed: %s, was %s", got, want)
	}
}

// skeleton is a line of JSON without what its literals hold.
func skeleton(b []byte) string {
	var out strings.Builder
	inside := false
	for i := 0; i < len(b); i++ {
		switch {
		case inside && b[i] == '\\':
			i++
		case b[i] == '"':
			inside = !inside
			out.WriteByte('"')
		case !inside:
			out.WriteByte(b[i])
		}
	}
	return out.String()
}

// TestContext holds secrets that only their surroundings give away. %s is the
// secret.
func TestContext(t *testing.T) {
	s, _ := newPass(t)
	word := join("hun", "ter2")
	strong := random(40, alnum, 32)
	basic := base64.StdEncoding.EncodeToString([]byte("joe:" + word + "!"))
	pem := func(nl string) string {
		return strings.Join([]string{random(41, alnum, 64), random(42, alnum, 64), random(43, alnum, 20) + "=="}, nl)
	}
	begin, end := "-----BEGIN RSA PRIV"+"ATE KEY-----", "-----END RSA PRIV"+"ATE KEY-----"
	for name, c := range map[string]struct{ text, secret string }{
		"url":                {"postgres://joe:%s@db.test:5432/app", word},
		"url without user":   {"redis://:%s@cache.test", word},
		"url with an at":     {"mysql://root:%s@db.test/x", "p@ss" + word},
		"yaml":               {"user: joe\npassword: %s\n", word},
		"quoted":             {`db_password = "%s"`, word},
		"json":               {`{"user":"joe","password":"%s"}`, word},
		"env":                {"export PGPASSWORD=%s\n", word},
		"flag":               {"login --password %s --user joe", word},
		"flag with =":        {"login --password=%s", word},
		"xml":                {"<password>%s</password>", word},
		"basic":              {"Authorization: Basic %s", basic},
		"bearer":             {"authorization: bearer %s", strong},
		"scheme of its own":  {"Authorization: Token %s", strong},
		"curl user":          {"curl -s -u joe:%s https://host.test", word},
		"curl quoted user":   {"curl --user 'joe:%s' https://host.test", word},
		"curl header":        {`curl -H "X-Api-Key: %s" https://host.test`, join("Sk", "94HG7f6KB")},
		"cookie":             {"Cookie: theme=dark; sid=%s; lang=en", strong},
		"set-cookie":         {"Set-Cookie: sid=%s; Path=/; HttpOnly", strong},
		"generic":            {`apiKey: "%s",`, strong},
		"azure storage":      {"AccountName=x;AccountKey=%s;EndpointSuffix=y", random(44, alnum, 86) + "=="},
		"azure signature":    {"https://x.test/c?sv=2024&sig=%s&se=1", random(45, alnum, 44)},
		"npmrc":              {"//registry.test/:_auth" + "Token=%s", strong},
		"pem":                {begin + "\n%s\n" + end, pem("\n")},
		"pem on one line":    {begin + `\n%s\n` + end, pem(`\n`)},
		"pem without an end": {begin + "\n%s", pem("\n")},
		"putty":              {"Private-Lines: 3\n%s\nPrivate-MAC: 0", pem("\n")},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(c.text, "%s", c.secret, 1)
			if got := s.NewPass().Text(text); strings.Contains(got, c.secret) || !markPattern.MatchString(got) {
				t.Errorf("text: %q became %q", text, got)
			}
			for level, line := range []string{
				quote(map[string]any{"text": text}),
				quote(map[string]any{"out": quote(map[string]any{"text": text})}),
				quote([]any{quote(map[string]any{"out": quote([]any{text})})}),
			} {
				out := string(s.NewPass().Line([]byte(line)).Bytes())
				flat := string(flatten(nil, []byte(c.secret), false))
				checkGone(t, flat, line, out)
				if t.Failed() {
					t.Fatalf("at level %d", level)
				}
			}
		})
	}
}

func TestStructuredValues(t *testing.T) {
	_, p := newPass(t)
	word, strong := join("hun", "ter2"), random(50, alnum, 40)
	for _, c := range []struct{ in, want string }{
		{`{"password":"` + word + `","port":5432}`, `{"password":"[REDACTED:password:*]","port":5432}`},
		{`  "apiKey": "` + strong + `",`, `  "apiKey": "[REDACTED:generic-api-key:*]",`},
		{`{"a":"\u0070assword: ` + word + `"}`, `{"a":"\u0070assword: [REDACTED:password:*]"}`},
		{`{"a":"password: \u0068unter2\n"}`, `{"a":"password: [REDACTED:password:*]\n"}`},
		{`{"a":"x\\","password":"` + word + `"}`, `{"a":"x\\","password":"[REDACTED:password:*]"}`},
		{`{"a":"https:\/\/joe:` + word + `@host.test"}`, `{"a":"https:\/\/joe:[REDACTED:url-password:*]@host.test"}`},
		{`{"pin_token":12345678901234567890}`, `{"pin_token":12345678901234567890}`},
		{`{"lines":["-----BEGIN PRIV` + `ATE KEY-----","` + strong + `","` + strong + `","-----END PRIV` + `ATE KEY-----"]}`,
			`{"lines":["-----BEGIN PRIVATE KEY-----","[REDACTED:private-key:*]","[REDACTED:private-key:*]","-----END PRIVATE KEY-----"]}`},
		// A line torn in the middle, and one that is no JSON at all.
		{`rest of it: password=` + word + ` done","b":1}`, `rest of it: password=[REDACTED:password:*] done","b":1}`},
	} {
		got := string(p.Line([]byte(c.in)).Bytes())
		got = markPattern.ReplaceAllString(got, "[REDACTED:$1:*]")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	}
}

// TestUnharmed holds what looks like secrets and is none.
func TestUnharmed(t *testing.T) {
	_, p := newPass(t)
	uuid := "0192f5c2-7d1a-7c3e-9b4f-" + random(60, hexes, 12)
	b64 := random(61, alnum+"+/", 4000)
	for _, text := range []string{
		quote(map[string]string{"sessionId": uuid, "parentUuid": uuid, "accessKey": uuid, "sessionKey": uuid}),
		quote(map[string]string{"type": "thinking", "signature": b64 + "=="}),
		quote(map[string]string{"encrypted_content": "gAAAA" + random(62, alnum+"-_", 3000)}),
		quote(map[string]any{"source": map[string]string{"type": "base64", "media_type": "image/png", "data": b64}}),
		quote(map[string]string{"id": "toolu_" + random(63, alnum, 24), "requestId": "req_" + random(64, alnum, 24), "message_id": "msg_" + random(65, alnum, 24)}),
		"github.com/example/pkg v1.2.3 h1:" + random(66, alnum, 43) + "=",
		`"integrity": "sha512-` + random(67, alnum+"+/", 86) + `==",`,
		"commit " + random(68, hexes, 40) + "\nAuthor: Joe <joe@host.test>",
		"sha256:" + random(69, hexes, 64),
		"/home/joe/src/very/long/path/to/secret/token/access/key_file_2024.go",
		"const password: string = getPassword(user2)",
		`password = os.environ["DB_PASSWORD2"]`,
		"password: ${DB_PASSWORD_1}", "PASSWORD=<your-password-1>", "token = ctx.token2.value",
		`<input type="password" name="password2">`,
		"--- PASS: TestThings/7_cases (0.00s)",
		"func (s *Server) authenticate(token string, key2 []byte) error {",
		"CLIENT_SECRET=\nENCRYPTION_KEY2=\n",
		"https://host.test:8080/a/b@2x.png", "git@host.test:joe/repo.git", "see https://host.test/@joe:7",
		"Basic understanding of bearer tokens1 is enough",
		"primary_key=true, foreign_key='user_id_2024'",
		"max_tokens: 4096, tokens=123456789012",
	} {
		if got := p.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if line := quote(text); string(p.Line([]byte(line)).Bytes()) != line {
			t.Errorf("line %s became %s", line, p.Line([]byte(line)).Bytes())
		}
	}
}

func TestLineWithoutFindingIsTheSameBytes(t *testing.T) {
	_, p := newPass(t)
	in := []byte(`{"type":"user","text":"a \"quoted\" line\nand \\ more"}` + "\n")
	if out := p.Line(in).Bytes(); &out[0] != &in[0] || len(out) != len(in) {
		t.Error("the line was copied")
	}
	if n := testing.AllocsPerRun(100, func() { p.Line(in) }); n > 0 {
		t.Errorf("%v allocations for a clean line", n)
	}
	if out := p.Line(nil).Bytes(); len(out) != 0 {
		t.Errorf("nothing became %q", out)
	}
}

func TestMarks(t *testing.T) {
	a, b := random(70, alnum, 32), random(71, alnum, 32)
	text := fmt.Sprintf("API_KEY=%s\nAPI_KEY=%s\nAPI_KEY=%s\n", a, a, b)
	s, p := newPass(t)
	out := p.Text(text)
	marks := markPattern.FindAllString(out, -1)
	if len(marks) != 3 || marks[0] != marks[1] || marks[0] == marks[2] {
		t.Errorf("want two equal marks and another, got %v", marks)
	}
	if diff := cmp.Diff(map[string]int{genericRule: 3}, p.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if again := s.NewPass().Text(text); again != out {
		t.Errorf("another pass says %q, not %q", again, out)
	}
	keyed := New(WithKey([]byte("a library's own")))
	if keyed.NewPass().Text(text) == out {
		t.Error("marks do not depend on the key")
	}
	if keyed.Rules() != s.Rules() || len(s.Rules()) != 12 {
		t.Errorf("rule versions %q and %q", keyed.Rules(), s.Rules())
	}
	line := []byte(quote(text))
	escaped := bytes.ReplaceAll(line, []byte(a), []byte(fmt.Sprintf(`\u%04x%s`, a[0], a[1:])))
	if x, y := p.Line(line).Bytes(), s.NewPass().Line(escaped).Bytes(); !bytes.Equal(x, y) {
		t.Errorf("the mark depends on the spelling: %s, %s", x, y)
	}
}

// TestRemembers masks a secret in lines where nothing gives it away, once one
// line did.
func TestRemembers(t *testing.T) {
	s, p := newPass(t)
	secret, hash := random(100, alnum, 24), random(101, hexes, 40)
	bare := quote("run it with " + secret + " as the argument")
	if got := string(p.Line([]byte(bare)).Bytes()); got != bare {
		t.Fatalf("before anything is known %s became %s", bare, got)
	}
	told := string(p.Line([]byte(quote("DB_PASSWORD=" + secret + "\nCACHE_KEY=" + hash))).Bytes())
	got := string(p.Line([]byte(bare)).Bytes())
	if strings.Contains(got, secret) || !strings.Contains(told, markPattern.FindString(got)) {
		t.Errorf("after %s, %s became %s", told, bare, got)
	}
	if line := quote("git show " + hash); string(p.Line([]byte(line)).Bytes()) != line {
		t.Errorf("a hash was remembered as a secret")
	}
	if got := string(s.NewPass().Line([]byte(bare)).Bytes()); got != bare {
		t.Errorf("another pass knows: %s", got)
	}
}
