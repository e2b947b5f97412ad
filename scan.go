package ferrule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of looking for a pattern.
const (
	shownAround = 200              // bytes of a long line that are shown on each side
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

// hits are the places of a piece, from an offset on, where a pattern is found: of
// a line that is short the first. Where pieces overlap each place is of one of
// them.
func (now piece) hits(re *regexp.Regexp, offset int64) (places [][]int) {
	short := now.first && now.last && len(now.text) <= 2*shownAround
	if short && now.at >= offset {
		if where := re.FindIndex(now.text); where != nil {
			return [][]int{where}
		}
		return nil
	}
	from, to := max(int(offset-now.at), 0), len(now.text)+1
	if !now.first {
		from = max(from, overlap/2)
	}
	if !now.last {
		to = len(now.text) - overlap/2
	}
	for _, where := range re.FindAllIndex(now.text, -1) {
		if where[0] < from || where[0] >= to {
			continue
		}
		if places = append(places, where); short {
			break
		}
		from = where[0] + shownAround // what is nearer is shown with it
	}
	return places
}

// search is the page with the lines in which a pattern is found, from an offset
// on. In a line that is longer than what is read at once it finds what is not
// longer than half of what pieces overlap.
func (p *paper) search(from int64, pattern string) ([]tool.Content, error) {
	re, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	s, err := p.scanFrom(from)
	if err != nil {
		return nil, err
	}
	var text []byte
	var t tally
	chars := 0
	began := time.Now()
	for {
		now, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return pageOf(string(text), fmt.Sprintf("[Found %s from offset %d to the end.%s]", t, from, t.note())), nil
		}
		t.pieces = t.pieces || !now.first || !now.last
		for _, where := range now.hits(re, from) {
			at, before := now.at+int64(where[0]), len(text)
			text = now.show(text, where)
			n := utf8.RuneCount(text[before:])
			if chars+n > pageChars || len(text) > min(p.meter.sure(), pageTokens*bytesPerToken) {
				return pageOf(string(text[:before]), fmt.Sprintf("[Found %s from offset %d on. The page is full: go on with the pattern and offset %d.%s]", t, from, at, t.note())), nil
			}
			chars += n
			t.add(now.number)
		}
		if time.Since(began) > searchTime && s.at > from {
			return pageOf(string(text), fmt.Sprintf("[Found %s from offset %d to %d. There is more to look at: go on with the pattern and offset %d.%s]", t, from, s.at, s.at, t.note())), nil
		}
	}
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

// show appends what is shown of a line in which something was found.
func (now piece) show(text []byte, where []int) []byte {
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
	text = strconv.AppendInt(text, now.number, 10)
	text = strconv.AppendInt(append(text, " (offset "...), now.at+int64(from), 10)
	text = append(text, "): "...)
	if from > 0 || !now.first {
		text = append(text, "…"...)
	}
	text = append(text, bytes.ToValidUTF8(now.text[from:to], []byte("\uFFFD"))...)
	if to < len(now.text) || !now.last {
		text = append(text, "…"...)
	}
	return append(text, '\n')
}
