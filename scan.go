package ferrule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of looking for a pattern.
const (
	shownAround = 200              // bytes of a long line that are shown on each side
	lineRoom    = 1 << 10          // bytes, more than is shown of a line
	overlap     = 1 << 10          // bytes of a piece of a line that its neighbour has, too
	searchTime  = 20 * time.Second // then the page says where to go on
)

// piece is a line, or a part of one that is longer than what is read at once.
type piece struct {
	text        []byte // without the end of the line
	at          int64
	number      int64 // of the line
	first, last bool  // it begins, and ends, its line
}

// scan gives the pieces of a text, one after another. Pieces of one line
// overlap.
type scan struct {
	p      *paper
	at     int64 // of what comes next
	number int64
	middle bool // it is in the middle of a line
	lo, hi int  // of the buffer: read, and not given yet
}

// next is the next piece; ok is false at the end.
func (s *scan) next() (now piece, ok bool, err error) {
	buf := s.p.buf
	rest := buf[s.lo:s.hi]
	i := bytes.IndexByte(rest, '\n')
	if i < 0 && s.at+int64(len(rest)) < s.p.Size {
		s.lo, s.hi = 0, copy(buf, rest)
		n, err := s.p.ReadAt(buf[s.hi:min(int64(len(buf)), s.p.Size-s.at)], s.at+int64(s.hi))
		if err != nil && !errors.Is(err, io.EOF) {
			return now, false, err
		}
		s.hi += n
		rest = buf[:s.hi]
		i = bytes.IndexByte(rest, '\n')
	}
	if len(rest) == 0 {
		return now, false, nil
	}
	now = piece{text: rest, at: s.at, number: s.number, first: !s.middle, last: true}
	step := len(rest)
	switch s.middle = false; {
	case i >= 0:
		step = i + 1
		now.text = bytes.TrimSuffix(rest[:i], []byte{'\r'})
		s.number++
	case s.at+int64(len(rest)) < s.p.Size:
		now.text = rest[:whole(rest)]
		now.last, s.middle = false, true
		step = len(now.text) - overlap
		for step > 1 && !utf8.RuneStart(rest[step]) {
			step--
		}
	}
	s.lo += step
	s.at += int64(step)
	return now, true, nil
}

// hunt looks for a pattern in one piece after another. Of a line that is short it
// gives the first place. Where pieces overlap each place is of one of them.
type hunt struct {
	*pattern
	text     []byte
	from, to int     // where in it the next place may begin
	short    bool    // one is enough
	all      [][]int // places, where what stands before them matters
	looked   bool    // for all of them
}

// in goes on with a piece, from an offset on.
func (h *hunt) in(now piece, offset int64) {
	h.text, h.all, h.looked = now.text, nil, false
	h.short = now.first && now.last && len(now.text) <= 2*shownAround
	h.from, h.to = max(int(offset-now.at), 0), len(now.text)
	if !now.first {
		h.from = max(h.from, overlap/2)
	}
	if !now.last {
		h.to = len(now.text) - overlap/2 - 1
	}
}

// next is the next place; nil: there is none.
func (h *hunt) next() []int {
	if h.from > h.to {
		return nil
	}
	where := h.first()
	if where == nil || where[0] > h.to {
		return nil
	}
	h.from = max(where[0]+shownAround, where[1]) // what is nearer is shown with it
	if h.short {
		h.from = h.to + 1
	}
	return where
}

// first is the first place from where it is on.
func (h *hunt) first() []int {
	if !h.back || h.from == 0 {
		where := h.FindIndex(h.text[h.from:])
		for i := range where {
			where[i] += h.from
		}
		return where
	}
	if !h.looked {
		h.all, h.looked = h.FindAllIndex(h.text, -1), true
	}
	for len(h.all) > 0 && h.all[0][0] < h.from {
		h.all = h.all[1:]
	}
	if len(h.all) == 0 {
		return nil
	}
	return h.all[0]
}

// search is the page with the lines in which a pattern is found, from an offset
// on. In a line that is longer than what is read at once it finds what is not
// longer than half of what pieces overlap.
func (p *paper) search(from int64, looked string) ([]tool.Content, error) {
	re, err := compile(looked)
	if err != nil {
		return nil, err
	}
	s, err := p.scanFrom(from)
	if err != nil {
		return nil, err
	}
	text := new(strings.Builder)
	h := hunt{pattern: re}
	most := min(p.meter.sure(), pageTokens*bytesPerToken)
	var t tally
	chars := 0
	began := time.Now()
	for {
		now, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return pageOf(text.String(), fmt.Sprintf("[Found %s from offset %d to the end.%s]", t, from, t.note())), nil
		}
		t.pieces = t.pieces || !now.first || !now.last
		h.in(now, from)
		for where := h.next(); where != nil; where = h.next() {
			if p.Size > readAtOnce && text.Len()+lineRoom > text.Cap() {
				text = enlarged(text, most+lineRoom)
			}
			at, before := now.at+int64(where[0]), text.Len()
			now.show(text, where)
			n := utf8.RuneCountInString(text.String()[before:])
			if chars+n > pageChars || text.Len() > most {
				return pageOf(text.String()[:before], fmt.Sprintf("[Found %s from offset %d on. The page is full: go on with the pattern and offset %d.%s]", t, from, at, t.note())), nil
			}
			chars += n
			t.add(now.number)
		}
		if time.Since(began) > searchTime && s.at > from {
			return pageOf(text.String(), fmt.Sprintf("[Found %s from offset %d to %d. There is more to look at: go on with the pattern and offset %d.%s]", t, from, s.at, s.at, t.note())), nil
		}
	}
}

// enlarged is a text with room for one line or, if it has one already, for all
// that there may be: it grows twice at most.
func enlarged(text *strings.Builder, most int) *strings.Builder {
	if text.Len() == 0 {
		most = lineRoom
	}
	b := new(strings.Builder)
	b.Grow(most)
	b.WriteString(text.String())
	return b
}

// scanFrom begins to look a little before an offset: at the beginning of its
// line, if that is near.
func (p *paper) scanFrom(from int64) (*scan, error) {
	start, err := p.start(max(from-overlap, 0))
	if err != nil {
		return nil, err
	}
	s := &scan{p: p, at: start, middle: start > 0}
	n, err := p.ReadAt(p.buf[:min(int64(len(p.buf)), from-start)], start)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if i := bytes.LastIndexByte(p.buf[:n], '\n'); i >= 0 {
		s.at, s.middle = start+int64(i)+1, false
	}
	before := &paper{ctx: p.ctx, Blob: &durable.Blob{Size: s.at, ReaderAt: p.Blob}, buf: p.buf}
	_, s.number, err = before.skip(0, s.at+1)
	s.number++
	return s, err
}

// tally is what was found so far.
type tally struct {
	lines, places int
	last          int64 // line
	pieces        bool  // some line was looked at in pieces
}

func (t *tally) add(line int64) {
	if t.places++; line != t.last {
		t.lines, t.last = t.lines+1, line
	}
}

func (t tally) String() string {
	lines := fmt.Sprintf("in %d lines", t.lines)
	if t.lines == 1 {
		lines = "in 1 line"
	}
	if t.places > t.lines {
		return fmt.Sprintf("at %d places %s", t.places, lines)
	}
	return lines
}

// note warns of what may be missed.
func (t tally) note() string {
	if !t.pieces {
		return ""
	}
	return fmt.Sprintf(" Lines longer than %d bytes are looked at in pieces: what is longer than %d bytes may be missed in them.", readAtOnce, overlap/2)
}

// show adds what is shown of a line in which something was found.
func (now piece) show(text *strings.Builder, where []int) {
	from, to := 0, len(now.text)
	if !now.first || !now.last || to > 2*shownAround {
		from, to = max(where[0]-shownAround, 0), min(min(where[1], where[0]+shownAround)+shownAround, to)
		for from > 0 && !utf8.RuneStart(now.text[from]) {
			from--
		}
		for to < len(now.text) && !utf8.RuneStart(now.text[to]) {
			to++
		}
	}
	var number [20]byte
	text.Write(strconv.AppendInt(number[:0], now.number, 10))
	text.WriteString(" (offset ")
	text.Write(strconv.AppendInt(number[:0], now.at+int64(from), 10))
	text.WriteString("): ")
	if from > 0 || !now.first {
		text.WriteString("…")
	}
	if shown := now.text[from:to]; utf8.Valid(shown) {
		text.Write(shown)
	} else {
		text.Write(bytes.ToValidUTF8(shown, []byte("\uFFFD")))
	}
	if to < len(now.text) || !now.last {
		text.WriteString("…")
	}
	text.WriteByte('\n')
}
