// Package contextpack fills a token budget with what matters of one session:
// the opening request, the newest turns that fit, or the turns around one.
//
// The number it reports is the tokenizer's count of the very text it returns,
// and never above the budget.
package contextpack

import (
	"context"

	"sessdex/session"
)

// Limits of Options.MaxTokens.
const (
	MinTokens     = 500
	MaxTokens     = 100_000
	DefaultTokens = 8_000
)

// Encodings that a pack can be counted in; the first is the default.
var Encodings = []string{"o200k_base", "cl100k_base"}

// Options say what to pack. The zero value asks for the default pack.
type Options struct {
	MaxTokens int    // 0: DefaultTokens; otherwise MinTokens to MaxTokens
	Encoding  string // "": o200k_base
	ToolCalls bool   // show tool calls as one-line stubs
	Around    int    // a turn's number: pack what surrounds it instead of the newest; 0: newest
}

// A Reader gives the turns from..to of the session, both inclusive and counted
// from 1, in order. It is called with small ranges, as few as the budget needs.
type Reader func(ctx context.Context, from, to int) ([]session.Turn, error)

// A Pack is the text for an agent and what it holds.
type Pack struct {
	ID            string   `json:"id"`
	Version       string   `json:"version"`
	Encoding      string   `json:"encoding"`
	MaxTokens     int      `json:"max_tokens"`
	Tokens        int      `json:"tokens"`         // exact count of Text in Encoding
	TurnsTotal    int      `json:"turns_total"`    // turns that could be shown under these options
	TurnsIncluded int      `json:"turns_included"` // turns shown, whole or cut
	Elided        []Elided `json:"elided"`         // what is missing between and around them; never nil
	Text          string   `json:"text"`
	Next          string   `json:"next"` // how to get what is missing; empty when nothing is
}

// Elided is a gap: turns From to To of the session, of which Turns could be shown.
type Elided struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Turns int `json:"turns"`
}
