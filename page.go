package ferrule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// A page leaves room for what is said about it, so that both have room in a
// result.
const (
	pageChars  = defaultChars - 1_000
	pageTokens = defaultTokens - 384
	readAtOnce = 32 << 10 // bytes
)

// pageRequest says what of a kept result is wanted.
type pageRequest struct {
	Handle  string `json:"handle" jsonschema:"description=names the result; the shortened result says it"`
	Offset  int64  `json:"offset,omitempty" jsonschema:"minimum=0,description=where to begin: in bytes from 0; with a pattern: where to begin to look"`
	Lines   string `json:"lines,omitempty" jsonschema:"description=lines to read instead: 10-20 are counted from 1; 10- goes on to the end; -20 are the last 20"`
	Pattern string `json:"pattern,omitempty" jsonschema:"description=show only the lines in which this regular expression (RE2) is found with their numbers and offsets"`
}

// check refuses what cannot be meant.
func (r pageRequest) check() error {
	if r.Lines != "" {
		if r.Offset != 0 || r.Pattern != "" {
			return errors.New("lines: got offset or pattern beside it, want one of them")
		}
		if _, err := r.lines(); err != nil {
			return err
		}
	}
	_, err := compile(r.Pattern)
	return err
}

// maxSteps bounds a pattern: each character of a text may cost as many steps. A
// call must be able to stop soon.
const maxSteps = 1000

// pattern is what is looked for.
type pattern struct {
	*regexp.Regexp
	back bool // what it finds may depend on what stands before that
}

// compile readies a pattern.
func compile(text string) (*pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w (RE2 is understood: no look-ahead, no back-references)", err)
	}
	back := looksBack(tree)
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if n := len(prog.Inst); n > maxSteps {
		return nil, fmt.Errorf("pattern: got one of %d steps, want a simpler one of at most %d: repeat fewer times", n, maxSteps)
	}
	re, err := regexp.Compile(text)
	return &pattern{re, back}, err
}

// looksBack reports whether a pattern asks for the beginning of a line or a word.
func looksBack(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	default:
		return slices.ContainsFunc(tree.Sub, looksBack)
	}
}

// span are lines from 1; last 0: to the end; first negative: so many before the
// end.
type span struct{ first, last int64 }

func (r pageRequest) lines() (s span, err error) {
	bad := fmt.Errorf(`lines: got %q, want "10-20", "10-", "-20" or "10", counted from 1, the smaller first`, r.Lines)
	begin, end, divided := strings.Cut(strings.TrimSpace(r.Lines), "-")
	number := func(text string) int64 {
		n, e := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if e != nil || n < 1 {
			err = bad
		}
		return n
	}
	switch {
	case !divided:
		s.first = number(begin)
		s.last = s.first
	case begin == "":
		s.first = -number(end)
	case end == "":
		s.first = number(begin)
	default:
		if s = (span{number(begin), number(end)}); s.first > s.last {
			err = bad
		}
	}
	return s, err
}

// read is one page: its text, then what is said about it.
func (r pageRequest) read(ctx context.Context, b *durable.Blob, m meter) ([]tool.Content, error) {
	p := &paper{ctx: ctx, Blob: b, meter: m, buf: make([]byte, min(readAtOnce, b.Size+1))}
	switch {
	case r.Offset > b.Size:
		return nil, &tool.Error{Kind: tool.InvalidValue, Text: fmt.Sprintf("ValidationError: offset: got %d, want at most %d, the size of the result in bytes", r.Offset, b.Size)}
	case r.Pattern != "":
		return p.search(r.Offset, r.Pattern)
	case r.Lines != "":
		s, err := r.lines()
		if err != nil {
			return nil, err
		}
		return p.lines(s)
	}
	return p.from(r.Offset)
}

// paper is a kept result that is read, in little memory.
type paper struct {
	ctx context.Context //nolint:containedctx // of the one call that reads
	*durable.Blob
	meter meter
	buf   []byte // what is read at once
}

// ReadAt reads while the call lasts, and knows the end of the text.
func (p *paper) ReadAt(b []byte, at int64) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.Blob.ReadAt(b, at)
	if errors.Is(err, io.EOF) && at+int64(n) < p.Size {
		err = fmt.Errorf("read at %d: got %d bytes, want %d: the kept text is shorter than it was", at, n, min(int64(len(b)), p.Size-at))
	}
	return n, err
}

// from is the page that begins at an offset.
func (p *paper) from(at int64) ([]tool.Content, error) {
	at, err := p.start(at)
	if err != nil {
		return nil, err
	}
	text, err := p.page(at, p.Size)
	if err != nil {
		return nil, err
	}
	end := at + int64(len(text))
	said := fmt.Sprintf("[Bytes %d to %d of %d", at, end, p.Size)
	if end < p.Size {
		said += fmt.Sprintf(". Go on with offset %d.]", end)
	} else {
		said += ": the end.]"
	}
	return pageOf(text, said), nil
}

// pageOf is a text, and what is said about it.
func pageOf(text, said string) []tool.Content {
	about := tool.Content{Type: tool.TextContent, Text: said}
	if text == "" {
		return []tool.Content{about}
	}
	return []tool.Content{tool.Text(text), about}
}

// start is where the character at an offset begins.
func (p *paper) start(at int64) (int64, error) {
	var b [1]byte
	for from := max(at-utf8.UTFMax+1, 0); at > from && at < p.Size; at-- {
		if _, err := p.ReadAt(b[:], at); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if utf8.RuneStart(b[0]) {
			break
		}
	}
	return at, nil
}

// page is the text from one offset up to another, or as much of it as a page
// holds.
func (p *paper) page(at, end int64) (string, error) {
	most := min(end-at, pageTokens*bytesPerToken)
	var b strings.Builder
	b.Grow(int(most))
	for done := int64(0); done < most; {
		n, err := p.ReadAt(p.buf[:min(int64(len(p.buf)), most-done)], at+done)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		b.Write(p.buf[:n])
		done += int64(n)
	}
	text := b.String()
	if at+most < end {
		text = text[:whole(text)]
	}
	x := &excerpt{how: cutHead, begin: text, first: utf8.RuneCountInString(text)}
	return p.meter.within(x, pageChars).begin, nil
}

// whole is how much of a text that was cut somewhere are whole characters.
func whole[T string | []byte](text T) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if i := len(text) - n; utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(string(text[i:])) {
				return i
			}
			break
		}
	}
	return len(text)
}

// lines is the page with these lines.
func (p *paper) lines(s span) ([]tool.Content, error) {
	at, first, err := p.line(s.first)
	if err != nil {
		return nil, err
	}
	end := p.Size
	if s.last > 0 {
		if end, _, err = p.skip(at, s.last-first+1); err != nil {
			return nil, err
		}
	}
	text, err := p.page(at, end)
	if err != nil {
		return nil, err
	}
	read := at + int64(len(text))
	last := first + int64(strings.Count(strings.TrimSuffix(text, "\n"), "\n"))
	said := fmt.Sprintf("[Lines %d to %d, bytes %d to %d of %d", first, last, at, read, p.Size)
	switch {
	case read < end:
		said += fmt.Sprintf(". The page is full: go on with offset %d.]", read)
	case read < p.Size:
		said += fmt.Sprintf(". Go on with lines \"%d-\".]", last+1)
	default:
		said += ": the end.]"
	}
	return pageOf(text, said), nil
}

// line is where a line begins, and its number; negative: counted from the end.
func (p *paper) line(n int64) (at, number int64, err error) {
	if n < 0 {
		all, err := p.count()
		if err != nil {
			return 0, 0, err
		}
		n = max(all+n+1, 1)
	}
	at, found, err := p.skip(0, n-1)
	if err != nil || n == 1 || found == n-1 && at < p.Size {
		return at, n, err
	}
	all, err := p.count()
	if err == nil {
		err = &tool.Error{Kind: tool.InvalidValue, Text: fmt.Sprintf("ValidationError: lines: got line %d, want at most %d, the number of lines", n, all)}
	}
	return 0, 0, err
}

// count is how many lines there are.
func (p *paper) count() (int64, error) {
	_, n, err := p.skip(0, p.Size+1)
	if err != nil || p.Size == 0 {
		return n, err
	}
	var last [1]byte
	if _, err := p.ReadAt(last[:], p.Size-1); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if last[0] != '\n' {
		n++
	}
	return n, nil
}

// skip is the place behind so many lines, and behind how many there was one.
func (p *paper) skip(at, lines int64) (to, found int64, err error) {
	for at < p.Size && found < lines {
		n, err := p.ReadAt(p.buf[:min(int64(len(p.buf)), p.Size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		piece := p.buf[:n]
		if in := int64(bytes.Count(piece, []byte{'\n'})); found+in < lines {
			found += in
			at += int64(n)
			continue
		}
		for found < lines {
			i := bytes.IndexByte(piece, '\n') + 1
			piece, at = piece[i:], at+int64(i)
			found++
		}
	}
	return at, found, nil
}
