package main

import "testing"

func TestTelling(t *testing.T) {
	for _, c := range []struct{ title, want string }{
		{"Why does the login redirect loop forever?", "login redirect loop"},
		{"Add a per-token rate limit to the public API", "token rate limit"},
		{"please don't touch https://example.com/a and src/main.go, fix flaky.test uploads", "touch uploads"},
		{"the `$(kettle)` whistles; \"loudly\" & often", "kettle whistles loudly"},
		{"Überprüfe die Übersetzung", "überprüfe übersetzung"},
		{"修复登录重定向循环", "修复登录重定向循环"},
		{"ok", ""},
		{"hello", ""},
		{"what about this", ""},
		{"", ""},
	} {
		if got := telling(c.title); got != c.want {
			t.Errorf("%q: %q, want %q", c.title, got, c.want)
		}
	}
}
