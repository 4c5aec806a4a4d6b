package serve

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sessdex/search"
)

func page(t *testing.T, h http.Handler, target string) string {
	t.Helper()
	w := ask(h, "GET", target, "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	return w.Body.String()
}

// Nothing of a transcript becomes markup: a page holds only the elements and
// attributes that the templates have.
func TestPagesEscape(t *testing.T) {
	s := sharedShop(t)
	h := s.Handler(HTTPOptions{})
	id, err := s.Resolve(t.Context(), hostileNative)
	if err != nil {
		t.Fatal(err)
	}
	attack := `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	for _, target := range []string{
		"/", "/s/" + id, "/?q=" + url.QueryEscape(attack), "/?repo=" + url.QueryEscape(attack) + "&sort=" + search.Recent,
		"/?tag=" + url.QueryEscape("javascript:alert(1)"),
	} {
		body := page(t, h, target)
		for _, bad := range []string{"<script", "<img", "onerror=alert(1)>", `href="javascript:`, "style=", "\u202e", "\u200b", "\x1b"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", target, bad)
			}
		}
	}
	body := strings.ReplaceAll(page(t, h, "/s/"+id), "&#43;", "+")
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "⟦U+202E⟧gnp.exe⟦U+200B⟧", "&lt;img src=x onerror=alert(1)&gt;", "I will not do that. red "} {
		if !strings.Contains(body, want) {
			t.Errorf("the session's page does not hold %q", want)
		}
	}
}

// Every link of every page leads to a page, and to a place on it where it names
// one: pages, outlines, turns, facets, filters.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	h := sharedShop(t).Handler(HTTPOptions{})
	href := regexp.MustCompile(`(?:href|action)="([^"]*)"`)
	bodies := map[string]string{}
	todo := []string{"/", "/?q=aisle+payment", "/?q=nothing+at+all", "/s/" + longNative}
	for len(todo) > 0 && len(bodies) < 60 {
		target := todo[0]
		todo = todo[1:]
		path, fragment, _ := strings.Cut(target, "#")
		body, seen := bodies[path]
		if !seen {
			w := ask(h, "GET", path, "")
			if w.Code != 200 {
				t.Errorf("%s: %d", path, w.Code)
			}
			body = w.Body.String()
			bodies[path] = body
			for _, m := range href.FindAllStringSubmatch(body, -1) {
				link := html.UnescapeString(m[1])
				if strings.HasPrefix(link, "#") {
					link = path + link
				}
				if !strings.HasPrefix(link, "/") || strings.HasPrefix(link, "//") {
					t.Errorf("%s links to %s", path, link)
					continue
				}
				todo = append(todo, link)
			}
		}
		if fragment != "" && !strings.Contains(body, `id="`+fragment+`"`) {
			t.Errorf("%s has no %s", path, fragment)
		}
	}
	if len(bodies) < 10 {
		t.Errorf("only %d pages were found", len(bodies))
	}
}

func TestSearchPage(t *testing.T) {
	h := sharedShop(t).Handler(HTTPOptions{})
	body := page(t, h, "/?q=retry&harness=claude-code")
	for _, want := range []string{"<mark>", "Bound the payment retry", `name="harness" value="claude-code"`, `href="/?q=retry" title="Take this filter away"`, "Best match", "sort=recent"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	if body = page(t, h, "/?q=zzzzqqqq"); !strings.Contains(body, "No session matches.") {
		t.Errorf("no word about an empty result in %s", body)
	}
	if body = page(t, h, "/?limit=1"); !strings.Contains(body, `rel="next"`) || !strings.Contains(body, "offset=1") {
		t.Errorf("no next page in %s", body)
	}
	if body = page(t, h, "/?limit=1&offset=1"); !strings.Contains(body, `rel="prev"`) {
		t.Errorf("no previous page in %s", body)
	}
	empty := newService(t).Handler(HTTPOptions{})
	if w := ask(empty, "GET", "/", ""); w.Code >= 500 && !strings.Contains(w.Body.String(), "import sessions") {
		t.Errorf("an empty library: %d %s", w.Code, w.Body)
	}
}

func TestSessionPage(t *testing.T) {
	h := sharedShop(t).Handler(HTTPOptions{})
	body := page(t, h, "/s/"+retryNative)
	for _, want := range []string{"claude --resume " + retryNative, "sessdex context ", `<article id="t3" class="turn tool"`, "Bash: go test ./client", "Outline: 1 request", `class="tag">payment`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	if strings.Contains(body, `rel="next"`) {
		t.Error("a short session has pages")
	}
	body = page(t, h, "/s/"+longNative+"?from=150")
	for _, want := range []string{"Turns 101–182 of 182", `id="t101"`, "more characters</span>"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q on the last page of the long session", want)
		}
	}
	for target, status := range map[string]int{
		"/s/nosuchsession": 404, "/s/" + longNative + "?from=900": 404, "/s/" + longNative + "?version=ffff": 404,
		"/s/" + longNative + "?from=x": 400, "/nothing": 404, "/s/": 404,
	} {
		w := ask(h, "GET", target, "")
		if w.Code != status || !strings.Contains(w.Body.String(), "<h1>"+http.StatusText(status)) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

func TestWebText(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"a\x00b\x07", "a␀b␇"},
		{"\x1b[1;31mred\x1b[0m", "red"},
		{"\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"},
		{"a\r\nb\rc", "a\nb␍c"},
		{"\x7f\u009b31m", "␡⟦U+009B⟧31m"},
		{"pay\u202epal\u2066", "pay⟦U+202E⟧pal⟦U+2066⟧"},
		{"ab\u200dc", "ab⟦U+200D⟧c"},
		{"👩\u200d💻", "👩\u200d💻"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"⚠\ufe0f \x00a\ufe0f\ufe00\u2028", "⚠\ufe0f ␀a⟦U+FE0F⟧⟦U+FE00⟧⟦U+2028⟧"},
		{"x\U000e0041", "x⟦U+E0041⟧"},
		{"\xff", "\ufffd"},
	} {
		if got := webText(test.in); got != test.want {
			t.Errorf("webText(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestPathEnd(t *testing.T) {
	for in, want := range map[string]string{
		"main": "main", "client/client.go": "client/client.go", "/home/ann/workspace/shop/client/client.go": "…/client/client.go",
		`C:\Users\ann\workspace\shop\client.go`: "…/shop/client.go", "github.com/a-long-name-of-a-person-or-team": "github.com/a-long-name-of-a-person-or-team",
	} {
		if got := pathEnd(in); got != want {
			t.Errorf("pathEnd(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestURLs(t *testing.T) {
	values := url.Values{"q": {"a b"}, "tag": {"x", "y"}, "offset": {"40"}}
	for _, test := range []struct{ got, want string }{
		{with(values, "repo", "r&d"), "/?q=a+b&repo=r%26d&tag=x&tag=y"},
		{with(values, "q", ""), "/?tag=x&tag=y"},
		{with(values, "offset", "20"), "/?offset=20&q=a+b&tag=x&tag=y"},
		{withMore(values, "tag", "z"), "/?q=a+b&tag=x&tag=y&tag=z"},
		{without(values, "tag", "x"), "/?q=a+b&tag=y"},
		{without(url.Values{"tag": {"x"}}, "tag", "x"), "/"},
		{turnURL("k3", "", 0), "/s/k3"},
		{turnURL("k3", "", 100), "/s/k3#t100"},
		{turnURL("k3", "abc", 101), "/s/k3?from=101&version=abc#t101"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
	if fmt.Sprint(values) != "map[offset:[40] q:[a b] tag:[x y]]" {
		t.Errorf("making links changed the query: %v", values)
	}
}
