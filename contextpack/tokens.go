package contextpack

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// Count is the number of tokens of text in an encoding ("": the default), the
// same that tiktoken-go's EncodeOrdinary gives: special tokens are plain text
// and each byte that is not UTF-8 counts as U+FFFD. An unknown encoding is an
// error that wraps ErrOptions. Safe for concurrent use.
//
// A run of one kind of character, such as a megabyte of "a", takes time that
// grows with its square. No text that Pack returns holds one.
func Count(encoding, text string) (int, error) {
	t, err := tokenizerOf(encoding)
	if err != nil {
		return 0, err
	}
	return t.count(text), nil
}

// A tokenizer is one of tiktoken-go's encodings. It is safe for concurrent use.
type tokenizer struct{ *tiktoken.Tiktoken }

// tokenizers hold one loader for each name in Encodings. Loading takes a quarter
// of a second and tens of megabytes, so it happens once, when first asked for.
var tokenizers = map[string]func() (tokenizer, error){
	"o200k_base":  sync.OnceValues(func() (tokenizer, error) { return load("o200k_base") }),
	"cl100k_base": sync.OnceValues(func() (tokenizer, error) { return load("cl100k_base") }),
}

// offline makes tiktoken-go take its vocabularies from the program itself
// instead of the network. The setting is global.
var offline = sync.OnceFunc(func() { tiktoken.SetBpeLoader(loader.NewOfflineLoader()) })

func load(name string) (tokenizer, error) {
	offline()
	t, err := tiktoken.GetEncoding(name)
	if err != nil {
		return tokenizer{}, fmt.Errorf("load encoding %s: %w", name, err)
	}
	return tokenizer{t}, nil
}

func tokenizerOf(encoding string) (tokenizer, error) {
	if encoding == "" {
		encoding = Encodings[0]
	}
	get, ok := tokenizers[encoding]
	if !ok {
		return tokenizer{}, unknownEncoding(encoding)
	}
	return get()
}

func unknownEncoding(name string) error {
	return refuse("encoding %.40q is unknown: there are %s", name, strings.Join(Encodings, " and "))
}

// stretch is the length in bytes of what is encoded at once, about: large enough
// that starting costs nothing, small enough that little is encoded in vain.
const stretch = 2048

// count encodes text stretch by stretch, so that a long one needs little memory.
func (t tokenizer) count(text string) int {
	n := 0
	for text != "" {
		end := nextBreak(text, stretch)
		n += len(t.EncodeOrdinary(text[:end]))
		text = text[end:]
	}
	return n
}

// canBreak reports whether a text can be divided between two runes so that the
// tokens of both parts, counted on their own, are the tokens of the whole. It
// follows from the expressions by which the encodings cut text into pieces before
// they merge bytes (tiktoken-go, encoding.go):
//
// No alternative looks behind. One that takes a letter takes only letters, marks
// and an English contraction after it; one that takes a number takes only
// numbers, up to three; so a piece ends between either and anything else. And none
// that takes a newline goes on past it into anything but white space and, after
// signs, slashes.
func canBreak(last, next rune) bool {
	switch {
	case last == '\n':
		return next != '/' && !unicode.IsSpace(next)
	case next == '\'' || unicode.IsMark(next):
		return false
	case unicode.IsLetter(last):
		return !unicode.IsLetter(next)
	case unicode.IsNumber(last):
		return !unicode.IsNumber(next)
	}
	return false
}

// nextBreak is the first place in s at or after at, and after its start, where s
// can be divided, else its end.
func nextBreak(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	if at >= len(s) {
		return len(s)
	}
	last, _ := utf8.DecodeLastRuneInString(s[:at])
	for i, r := range s[at:] {
		if at+i > 0 && canBreak(last, r) {
			return at + i
		}
		last = r
	}
	return len(s)
}

// lastBreak is the last place in s at or before at, but after low, where s can be
// divided, else low. There is a rune at at, or the end.
func lastBreak(s string, low, at int) int {
	next, _ := utf8.DecodeRuneInString(s[at:])
	for at > low {
		last, size := utf8.DecodeLastRuneInString(s[:at])
		if at < len(s) && canBreak(last, next) {
			return at
		}
		next = last
		at -= size
	}
	return low
}
