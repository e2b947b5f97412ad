// Package tokens counts the tokens of a text exactly, as models of OpenAI do;
// for others it is a good estimate. It works offline: the vocabularies are part
// of the program, 12 MB.
//
// Counting costs about 0.2 ms for each KB, so a text whose length already says
// enough need not be counted: there are never more tokens than bytes.
//
// A text is counted in pieces, cut only where the encoding would begin a new
// word anyway, so that the sum is exact. Only a run of 2 KB in which there is no
// such place (one letter repeated, a long number, blank lines) is cut all the
// same, since its time would grow with the square of its length. Then the count
// is an estimate on the high side, by some tokens for each such cut.
package tokens

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// Counter counts by one encoding. It is safe for concurrent use. The zero value
// counts by o200k_base; it must not be copied.
type Counter struct {
	encoding tokenizer.Encoding // "": o200k_base
	once     sync.Once
	codec    tokenizer.Codec // nil: it cannot be had
}

// New returns a counter for an encoding: o200k_base (also for "") or cl100k_base.
// The vocabulary is loaded by the first count, which takes some 50 ms.
func New(encoding string) (*Counter, error) {
	switch e := tokenizer.Encoding(encoding); e {
	case "", tokenizer.O200kBase, tokenizer.Cl100kBase:
		return &Counter{encoding: e}, nil
	default:
		return nil, fmt.Errorf("tokens: encoding: got %q, want %s or %s", encoding, tokenizer.O200kBase, tokenizer.Cl100kBase)
	}
}

// Count is the number of tokens of a text. What looks like a control token is
// counted as the characters that it is written with.
func (c *Counter) Count(text string) int {
	c.once.Do(c.load)
	total, rest := 0, text
	for rest != "" {
		n, exact := cut(rest)
		total += c.count(rest[:n])
		if !exact {
			total += cutCost
		}
		rest = rest[n:]
	}
	return min(total, len(text))
}

func (c *Counter) load() {
	defer func() { _ = recover() }() // then there is no codec
	e := c.encoding
	if e == "" {
		e = tokenizer.O200kBase
	}
	if codec, err := tokenizer.Get(e); err == nil {
		c.codec = codec
	}
}

// count counts a piece. What the library cannot count has one token for each
// byte: there are never more.
func (c *Counter) count(piece string) (n int) {
	defer func() {
		if recover() != nil {
			n = len(piece)
		}
	}()
	if c.codec == nil {
		return len(piece)
	}
	n, err := c.codec.Count(piece)
	if err != nil || n == 0 { // it has none for some control characters
		return len(piece)
	}
	return n
}

const (
	// A piece is cut at the first boundary behind enough bytes, and anywhere
	// after most.
	enough = 1 << 10
	most   = 2 << 10
	// cutCost is added where a word was cut. The two halves of a word may have
	// fewer tokens than the whole; a difference of 2 was seen.
	cutCost = 4
)

// cut is the length of the first piece of a text, and whether counting it by
// itself changes nothing.
func cut(text string) (n int, exact bool) {
	if len(text) <= most {
		return len(text), true
	}
	before, size := utf8.DecodeRuneInString(text[start(text, enough):])
	for n = start(text, enough) + size; n < most; n += size {
		var next rune
		next, size = utf8.DecodeRuneInString(text[n:])
		if boundary(before, next) {
			return n, true
		}
		before = next
	}
	return n, false
}

// start is where the character begins that the byte at i belongs to. Bytes that
// are no characters begin anywhere.
func start(text string, i int) int {
	for at := i; at > i-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return i
}

// boundary reports whether both encodings begin a new word between two
// characters, whatever stands around them. Their words are, in this order:
// letters with at most one other character in front (and an English ending such
// as 's behind); up to three digits; signs with at most a space in front and
// line ends or slashes behind; white space up to its last line end; white space,
// of which the last character is left for a word that follows.
func boundary(before, next rune) bool {
	switch {
	case next == ' ':
		return !unicode.IsSpace(before)
	case before == '\n':
		return !unicode.IsSpace(next) && next != '/'
	case unicode.IsLetter(before):
		return unicode.IsDigit(next) || unicode.IsPunct(next) && next != '\''
	}
	return false
}
