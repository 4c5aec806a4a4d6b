package scrub

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// The rules that gitleaks ships are read from the configuration that its config
// package embeds. Nothing else of gitleaks is used: its detector is several
// times too slow for transcripts and knows nothing of JSON.

type leaksConfig struct {
	AllowList leaksAllow
	Rules     []struct {
		ID          string
		Regex       string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		Allowlists  []leaksAllow
	}
}

type leaksAllow struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// adjustment is what we change about one of gitleaks' rules, and why.
type adjustment struct {
	keywords []string
	shape    func(shape) shape
	drop     bool
}

func always(s shape) func(shape) shape { return func(shape) shape { return s } }

var adjustments = map[string]adjustment{
	// Its keywords are its words, written as a pattern.
	genericRule: {shape: always(assign)},
	// "ey" is in every "key" and "they"; a token's JSON header makes it "eyJ".
	"jwt": {keywords: []string{"eyj"}, shape: always(token)},
	// "ext_" is in every "text_" and "next_"; the middle of the key is not.
	"authress-service-client-access-key": {keywords: []string{".acc_", ".acc-"}, shape: always(token)},
	"harness-api-key":                    {shape: always(token)},
	"stripe-access-token":                {shape: always(token)},
	// Any 40 hex digits near the word would be a token, so every commit hash is.
	"sourcegraph-access-token": {keywords: []string{"sgp_"}},
	// Found by pem, which needs no end marker and no run over all that follows.
	"private-key": {drop: true},
	// Made for Terraform files only: elsewhere any word in quotes would do.
	"hashicorp-tf-password": {drop: true},
	// Found by the header and password rules, without a run over all the text
	// between the command's name and its flag.
	"curl-auth-header": {drop: true},
	"curl-auth-user":   {drop: true},
}

const genericRule = "generic-api-key"

// The parts that gitleaks' generator puts around a rule's own expression.
const (
	nameHead  = `(?i)[\w.-]{0,50}?(?:`
	operator  = `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
	valueTail = `(?:[\x60'"\s;]|\\[nr]|$)`
)

// leaksRules returns gitleaks' rules, the generic one last.
func leaksRules() ([]*rule, error) {
	var c leaksConfig
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &c); err != nil {
		return nil, fmt.Errorf("read gitleaks rules: %w", err)
	}
	everywhere, err := newAllowed(c.AllowList)
	if err != nil {
		return nil, fmt.Errorf("read gitleaks allow-list: %w", err)
	}
	var rules, last []*rule
	for _, raw := range c.Rules {
		adj := adjustments[raw.ID]
		if adj.drop || raw.Regex == "" { // a rule about file names only
			continue
		}
		r := &rule{
			id: raw.ID, expr: raw.Regex, group: raw.SecretGroup, entropy: raw.Entropy,
			allow: []allowed{everywhere},
		}
		for _, k := range raw.Keywords {
			r.keywords = append(r.keywords, strings.ToLower(k))
		}
		for _, a := range raw.Allowlists {
			one, err := newAllowed(a)
			if err != nil {
				return nil, fmt.Errorf("read allow-list of rule %s: %w", raw.ID, err)
			}
			r.allow = append(r.allow, one)
		}
		if adj.keywords != nil {
			r.keywords = adj.keywords
		}
		if r.shape, err = shapeOf(r); err != nil {
			return nil, fmt.Errorf("read expression of rule %s: %w", raw.ID, err)
		}
		if adj.shape != nil {
			r.shape = adj.shape(r.shape)
		}
		if raw.ID == genericRule {
			last = append(last, r)
		} else {
			rules = append(rules, r)
		}
	}
	return append(rules, last...), nil
}

// shapeOf derives the window that a rule of gitleaks needs.
func shapeOf(r *rule) (shape, error) {
	if name, _, ok := strings.Cut(strings.TrimPrefix(r.expr, nameHead), operator); ok && strings.HasPrefix(r.expr, nameHead) {
		name = strings.ToLower(name)
		for _, k := range r.keywords {
			if !strings.Contains(name, k) {
				return near, nil // the keyword may be part of the value
			}
		}
		return assign, nil
	}
	tree, err := syntax.Parse(strings.TrimSuffix(r.expr, valueTail), syntax.Perl)
	if err != nil {
		return 0, err
	}
	if consumesDelimiter(tree) || !mustHoldKeyword(r) {
		return near, nil
	}
	return token, nil
}

// mustHoldKeyword reports whether the rule's keywords are parts of its matches.
func mustHoldKeyword(r *rule) bool {
	expr := strings.ToLower(strings.ReplaceAll(r.expr, `\`, ""))
	for _, k := range r.keywords {
		if !strings.Contains(expr, k) {
			return false
		}
	}
	return true
}

func newAllowed(raw leaksAllow) (allowed, error) {
	a := allowed{all: strings.EqualFold(raw.Condition, "and") || raw.Condition == "&&", onMatch: raw.RegexTarget != ""}
	for _, expr := range raw.Regexes {
		if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
			return a, err
		}
		a.exprs = append(a.exprs, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) }))
	}
	if len(raw.StopWords) > 0 {
		words := make([]string, len(raw.StopWords))
		for i, w := range raw.StopWords {
			words[i] = strings.ToLower(w)
		}
		a.stopWords = sync.OnceValue(func() *automaton { return newAutomaton(words) })
	}
	return a, nil
}
