package ferrule

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// What a result may put into the model's context where its tool says nothing.
const (
	defaultChars  = 64_000
	defaultTokens = 16_384
	bytesPerToken = 4 // an estimate
)

// room is how much text there may be: so many characters in so many bytes, by
// which tokens are estimated. -1: no limit.
type room struct{ chars, bytes int }

func roomOf(l tool.Limit) room {
	r := room{l.Chars, l.Tokens}
	if r.chars == 0 {
		r.chars = defaultChars
	}
	if r.bytes == 0 {
		r.bytes = defaultTokens
	}
	if r.bytes > 0 {
		r.bytes *= bytesPerToken
	}
	return r
}

// fits reports whether a text of that size has room.
func (r room) fits(chars, bytes int) bool {
	return (r.chars < 0 || chars <= r.chars) && (r.bytes < 0 || bytes <= r.bytes)
}

// halves is the room for the beginning and for the end of a text.
func (r room) halves() (first, last room) {
	last = room{r.chars / 2, r.bytes / 2}
	if r.chars < 0 {
		last.chars = -1
	}
	if r.bytes < 0 {
		last.bytes = -1
	}
	return room{r.chars - max(last.chars, 0), r.bytes - max(last.bytes, 0)}, last
}

// limit is phase 11: what is too long is cut, and said is told. Pictures and
// sounds pass.
func limit(res tool.Result, l tool.Limit, said func(string)) tool.Result {
	r := roomOf(l)
	bytes := 0
	for i := range res.Content {
		bytes += size(&res.Content[i])
	}
	errBytes := 0
	if res.Err != nil {
		errBytes = len(res.Err.Text)
	}
	if r.fits(bytes, bytes) && r.fits(errBytes, errBytes) { // there are never more characters than bytes
		return res
	}
	if res.Err != nil {
		if chars := utf8.RuneCountInString(res.Err.Text); !r.fits(chars, errBytes) {
			e := *res.Err
			e.Text = cut([]tool.Content{{Type: tool.TextContent, Text: e.Text}}, "", chars, r)
			res.Err = &e
			said(fmt.Sprintf("%d characters of an error", chars))
		}
	}
	chars := 0
	for i := range res.Content {
		chars += count(&res.Content[i])
	}
	if r.fits(chars, bytes) {
		return res
	}
	said(fmt.Sprintf("%d characters", chars))
	// One text, cut, in the place of all texts. Structured output is left out as
	// such: cut JSON is no JSON.
	content := []tool.Content{{Type: tool.TextContent, Text: cut(res.Content, l.Cut, chars, r)}}
	for _, b := range res.Content {
		if b.Type != tool.TextContent && b.Type != tool.JSONContent {
			content = append(content, b)
		}
	}
	res.Content = content
	return res
}

// size and count are the bytes and characters of a block that count.

func size(b *tool.Content) int {
	switch b.Type {
	case tool.TextContent:
		return len(b.Text)
	case tool.JSONContent:
		return len(b.JSON)
	case tool.ImageContent, tool.AudioContent, tool.LinkContent:
	}
	return 0
}

func count(b *tool.Content) int {
	switch b.Type {
	case tool.TextContent:
		return utf8.RuneCountInString(b.Text)
	case tool.JSONContent:
		return utf8.RuneCount(b.JSON)
	case tool.ImageContent, tool.AudioContent, tool.LinkContent:
	}
	return 0
}

// cut is what of some blocks has room, with a notice. No more of them than that
// is copied.
func cut(blocks []tool.Content, how string, total int, r room) string {
	switch how {
	case "head":
		text, n := head(blocks, r)
		return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d]", text, total, n)
	case "tail":
		text, n := tail(blocks, r)
		return fmt.Sprintf("[Truncated: %d chars total, showing last %d]\n%s", total, n, text)
	}
	first, last := r.halves()
	begin, n := head(blocks, first)
	end, m := tail(blocks, last)
	return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d and last %d]\n%s", begin, total, n, m, end)
}

// head and tail are what has room of the beginning and of the end, and how many
// characters that is. Characters stay whole.

func head(blocks []tool.Content, r room) (text string, chars int) {
	var b strings.Builder
	for i := range blocks {
		block := &blocks[i]
		at, n := 0, 0
		for ; at < size(block); at += n {
			if n = width(block, at); !r.fits(chars+1, b.Len()+at+n) {
				b.WriteString(part(block, 0, at))
				return b.String(), chars
			}
			chars++
		}
		b.WriteString(part(block, 0, at))
	}
	return b.String(), chars
}

func tail(blocks []tool.Content, r room) (text string, chars int) {
	for i := len(blocks) - 1; i >= 0; i-- {
		block := &blocks[i]
		at, n := size(block), 0
		for ; at > 0; at -= n {
			if n = widthBefore(block, at); !r.fits(chars+1, len(text)+size(block)-at+n) {
				return part(block, at, size(block)) + text, chars
			}
			chars++
		}
		text = part(block, 0, size(block)) + text
	}
	return text, chars
}

// part is a piece of what counts of a block; width and widthBefore are how many
// bytes the character at, or before, a place has.

func part(b *tool.Content, from, to int) string {
	if b.Type == tool.JSONContent {
		return string(b.JSON[from:to])
	}
	return b.Text[from:to]
}

func width(b *tool.Content, at int) (n int) {
	if b.Type == tool.JSONContent {
		_, n = utf8.DecodeRune(b.JSON[at:])
		return n
	}
	_, n = utf8.DecodeRuneInString(b.Text[at:])
	return n
}

func widthBefore(b *tool.Content, at int) (n int) {
	if b.Type == tool.JSONContent {
		_, n = utf8.DecodeLastRune(b.JSON[:at])
		return n
	}
	_, n = utf8.DecodeLastRuneInString(b.Text[:at])
	return n
}
