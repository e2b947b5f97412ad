package ferrule

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/ferrule-dev/ferrule/tool"
)

// room is how much text there may be: so many characters in so many bytes. -1:
// no limit.
type room struct{ chars, bytes int }

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

// excerpt is what is shown of a text that is too long. It can be made smaller.
type excerpt struct {
	how         string
	begin, end  string // of the text; one is "" where how says so
	first, last int    // how many characters these are
	total       int    // characters of all of it
	bytes       int    // of all of it
	handle      string // of the whole text; "": it is not kept
	summary     bool   // begin is what the host made of it
}

// excerptOf is what of some texts has room, and no more of them is copied.
func excerptOf(texts []*tool.Content, how string, r room) *excerpt {
	x := &excerpt{how: how}
	for i, b := range texts {
		x.total, x.bytes = x.total+count(b)+min(i, 1), x.bytes+size(b)+min(i, 1)
	}
	first, last := x.shares(r)
	x.begin, x.first = head(texts, first)
	x.end, x.last = tail(texts, last)
	return x
}

// shares is the room for the beginning and for the end.
func (x *excerpt) shares(r room) (first, last room) {
	switch {
	case x.how == cutHead || x.summary:
		return r, room{}
	case x.how == cutTail:
		return room{}, r
	}
	return r.halves()
}

// within is what of it has room.
func (x *excerpt) within(r room) *excerpt {
	if r.fits(x.first+x.last, len(x.begin)+len(x.end)) {
		return x
	}
	s := *x
	first, last := x.shares(r)
	s.begin, s.first = fromStart(&tool.Content{Type: tool.TextContent, Text: x.begin}, first)
	s.end, s.last = fromEnd(&tool.Content{Type: tool.TextContent, Text: x.end}, last)
	return &s
}

// summarized is what the host made of the text, in its place.
func (x *excerpt) summarized(summary string) *excerpt {
	s := *x
	s.begin, s.end, s.first, s.last, s.summary = summary, "", utf8.RuneCountInString(summary), 0, true
	return &s
}

// text is what the model reads.
func (x *excerpt) text() string { return x.shown() + x.where() }

// shown is what there is of the text, and how much that is.
func (x *excerpt) shown() string {
	switch {
	case x.summary:
		return fmt.Sprintf("%s\n[Summarized: %d chars total]", x.begin, x.total)
	case x.how == cutHead:
		return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d]", x.begin, x.total, x.first)
	case x.how == cutTail:
		return fmt.Sprintf("[Truncated: %d chars total, showing last %d]\n%s", x.total, x.last, x.end)
	}
	return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d and last %d]\n%s", x.begin, x.total, x.first, x.last, x.end)
}

// where is how to read the whole text; "": it is not kept.
func (x *excerpt) where() string {
	if x.handle == "" {
		return ""
	}
	next := len(x.begin)
	if x.summary {
		next = 0
	}
	return fmt.Sprintf("\n[All %d bytes are kept. Read on with %s {\"handle\":%q,\"offset\":%d}; it also takes lines or a pattern.]", x.bytes, readResult, x.handle, next)
}

// withExcerpt is content with one text in the place of all texts. Structured
// output is left out as such: cut JSON is no JSON.
func withExcerpt(content []tool.Content, x *excerpt) []tool.Content {
	short := []tool.Content{{Type: tool.TextContent, Text: x.text()}}
	for i := range content {
		if b := &content[i]; !counts(b) {
			short = append(short, *b)
		}
	}
	return short
}

// countedIn are the blocks that count.
func countedIn(content []tool.Content) []*tool.Content {
	var texts []*tool.Content
	for i := range content {
		if b := &content[i]; counts(b) {
			texts = append(texts, b)
		}
	}
	return texts
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

func count(b *tool.Content) int { return utf8.RuneCountInString(part(b, 0, size(b))) }

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
		text := b.JSON[from:to]
		return unsafe.String(unsafe.SliceData(text), len(text)) //nolint:gosec // what a tool has returned does not change, and large results are not copied
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
