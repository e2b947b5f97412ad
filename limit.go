package ferrule

import (
	"fmt"
	"iter"
	"math"
	"slices"
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
		r.bytes = min(r.bytes, math.MaxInt/bytesPerToken) * bytesPerToken
	}
	return r
}

// fits reports whether a text of that size has room.
func (r room) fits(chars, bytes int) bool {
	return (r.chars < 0 || chars <= r.chars) && (r.bytes < 0 || bytes <= r.bytes)
}

// less is the room that is left beside a text of that size.
func (r room) less(chars, bytes int) room {
	if r.chars >= 0 {
		r.chars = max(r.chars-chars, 0)
	}
	if r.bytes >= 0 {
		r.bytes = max(r.bytes-bytes, 0)
	}
	return r
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
	return r.less(last.chars, last.bytes), last
}

// beside is the room for an error with content of that size: what the content
// does not need, and at least half.
func (r room) beside(chars, bytes int) room {
	left := r.less(chars, bytes)
	_, half := r.halves()
	return room{max(left.chars, half.chars), max(left.bytes, half.bytes)}
}

// limit is phase 11: what is too long is cut, and said is told. An error and the
// content beside it share one room. Pictures, sounds and links pass.
func limit(res tool.Result, l tool.Limit, said func(string)) tool.Result {
	r := roomOf(l)
	bytes := sum(res.Content, size)
	errBytes, newline := 0, min(bytes, 1) // between error and content
	if res.Err != nil {
		errBytes = len(res.Err.Text)
	}
	if n := bytes + errBytes + newline; r.fits(n, n) { // there are never more characters than bytes
		return res
	}
	chars := sum(res.Content, count)
	if res.Err != nil {
		errChars := utf8.RuneCountInString(res.Err.Text)
		if own := r.beside(chars+newline, bytes+newline); !own.fits(errChars, errBytes) {
			said(fmt.Sprintf("%d characters of an error", errChars))
			e := *res.Err
			e.Text = cut([]*tool.Content{{Type: tool.TextContent, Text: e.Text}}, "", errChars, own)
			res.Err, errChars, errBytes = &e, own.chars, own.bytes
		}
		r = r.less(errChars+newline, errBytes+newline)
	}
	if r.fits(chars, bytes) {
		return res
	}
	said(fmt.Sprintf("%d characters", chars))
	// One text, cut, in the place of all texts. Structured output is left out as
	// such: cut JSON is no JSON.
	var texts []*tool.Content
	content := make([]tool.Content, 1)
	for i := range res.Content {
		if b := &res.Content[i]; counts(b) {
			texts = append(texts, b)
		} else {
			content = append(content, *b)
		}
	}
	content[0] = tool.Content{Type: tool.TextContent, Text: cut(texts, l.Cut, chars, r)}
	res.Content = content
	return res
}

// counts reports whether a block counts; size and count are how many bytes and
// characters it has.

func counts(b *tool.Content) bool { return b.Type == tool.TextContent || b.Type == tool.JSONContent }

func size(b *tool.Content) int {
	if b.Type == tool.JSONContent {
		return len(b.JSON)
	}
	return len(b.Text)
}

func count(b *tool.Content) int {
	if b.Type == tool.JSONContent {
		return utf8.RuneCount(b.JSON)
	}
	return utf8.RuneCountInString(b.Text)
}

// sum is the size of all blocks that count, with a newline between each two.
func sum(content []tool.Content, of func(*tool.Content) int) int {
	n := 0
	for i := range content {
		if b := &content[i]; counts(b) {
			n += of(b) + 1
		}
	}
	return max(n-1, 0)
}

// cut is what of some texts has room, with a notice. No more of them than that
// is copied.
func cut(texts []*tool.Content, how string, total int, r room) string {
	switch how {
	case "head":
		text, n := head(texts, r)
		return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d]", text, total, n)
	case "tail":
		text, n := tail(texts, r)
		return fmt.Sprintf("[Truncated: %d chars total, showing last %d]\n%s", total, n, text)
	}
	first, last := r.halves()
	begin, n := head(texts, first)
	end, m := tail(texts, last)
	return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d and last %d]\n%s", begin, total, n, m, end)
}

// head and tail are what has room of the beginning and of the end, and how many
// characters that is.

func head(texts []*tool.Content, r room) (text string, chars int) {
	parts, chars := take(slices.All(texts), r, fromStart)
	return strings.Join(parts, "\n"), chars
}

func tail(texts []*tool.Content, r room) (text string, chars int) {
	parts, chars := take(slices.Backward(texts), r, fromEnd)
	slices.Reverse(parts)
	return strings.Join(parts, "\n"), chars
}

// take is what has room of texts that come one after another, to be joined by a
// newline.
func take(texts iter.Seq2[int, *tool.Content], r room, of func(*tool.Content, room) (string, int)) (parts []string, chars int) {
	for _, block := range texts {
		if len(parts) > 0 {
			if !r.fits(1, 1) {
				break
			}
			r = r.less(1, 1)
			chars++
		}
		part, n := of(block, r)
		parts = append(parts, part)
		r = r.less(n, len(part))
		chars += n
		if len(part) < size(block) {
			break
		}
	}
	return parts, chars
}

// fromStart and fromEnd are what of one block has room, and how many characters
// that is. Characters stay whole.

func fromStart(b *tool.Content, r room) (text string, chars int) {
	at := 0
	for at < size(b) {
		n := width(b, at)
		if !r.fits(chars+1, at+n) {
			break
		}
		at += n
		chars++
	}
	return part(b, 0, at), chars
}

func fromEnd(b *tool.Content, r room) (text string, chars int) {
	end := size(b)
	at := end
	for at > 0 {
		n := widthBefore(b, at)
		if !r.fits(chars+1, end-at+n) {
			break
		}
		at -= n
		chars++
	}
	return part(b, at, end), chars
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
