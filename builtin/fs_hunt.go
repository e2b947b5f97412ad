package builtin

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// fsHunt is a search through one text.
type fsHunt struct {
	ctx  context.Context //nolint:containedctx,nolintlint // it lives as long as one search
	s    *fsSearch
	text []byte
	next []int // of each piece where it comes next, twice: in lower and in upper case
	slow bool  // has \r, so $ must be tried line by line
}

func (s *fsSearch) hunt(ctx context.Context, text []byte, h *fsHunt) {
	h.ctx, h.s, h.text = ctx, s, text
	h.slow = bytes.IndexByte(text, '\r') >= 0
	h.next = h.next[:0]
	for range s.any {
		h.next = append(h.next, -1, -1)
	}
}

// from is the first line at or behind an offset, which is the beginning of a
// line, that the pattern fits. False: there is none, or nobody waits for it.
func (h *fsHunt) from(at int) (start, end int, ok bool) {
	for at < len(h.text) && h.ctx.Err() == nil {
		hit := h.candidate(at)
		if hit < 0 {
			return 0, 0, false
		}
		start = at + bytes.LastIndexByte(h.text[at:hit], '\n') + 1
		end = len(h.text)
		if i := bytes.IndexByte(h.text[hit:], '\n'); i >= 0 {
			end = hit + i
		}
		if h.s.plain || len(h.s.any) == 0 && h.s.run == nil && !h.slow || h.fits(bytes.TrimSuffix(h.text[start:end], []byte{'\r'})) {
			return start, end, h.ctx.Err() == nil // what was given up may look like a match
		}
		at = end + 1
	}
	return 0, 0, false
}

// candidate is an offset in the next line that may fit.
func (h *fsHunt) candidate(at int) int {
	if len(h.s.any) == 0 {
		if h.s.run != nil {
			return h.s.run.next(h.text, at)
		}
		if h.slow {
			return at
		}
		return h.automaton(at)
	}
	best := -1
	for i, p := range h.s.any {
		if hit := h.piece(p, at, h.next[2*i:2*i+2]); hit >= 0 && (best < 0 || hit < best) {
			best = hit
		}
	}
	return best
}

// automaton goes through the text by itself, some lines at a time.
func (h *fsHunt) automaton(at int) int {
	for at < len(h.text) && h.ctx.Err() == nil {
		to := len(h.text)
		if rest := h.text[at:]; len(rest) > h.s.bite {
			if i := bytes.IndexByte(rest[h.s.bite:], '\n'); i >= 0 {
				to = at + h.s.bite + i + 1
			}
		}
		lines := h.text[at:to]
		// What is behind the last line end is no line of these.
		if loc := h.find(lines); loc != nil && (loc[0] < len(lines) || lines[len(lines)-1] != '\n') {
			return at + loc[0]
		}
		at = to
	}
	return -1
}

// find is where the pattern fits first. In a long text it asks on the way whether
// anybody still waits; if not, what it says means nothing.
func (h *fsHunt) find(text []byte) []int {
	if len(text) <= 2*h.s.bite {
		return h.s.line.FindIndex(text)
	}
	return h.s.line.FindReaderIndex(&fsRunes{h.ctx, text, 0})
}

// fits is find for who does not ask where.
func (h *fsHunt) fits(line []byte) bool {
	if len(line) <= 2*h.s.bite {
		return h.s.line.Match(line)
	}
	return h.s.line.MatchReader(&fsRunes{h.ctx, line, 0})
}

// fsRunes are the characters of a text, which ends where nobody waits any more.
type fsRunes struct {
	ctx  context.Context //nolint:containedctx,nolintlint // it lives as long as one search
	text []byte
	at   int
}

// ReadRune is the next character.
func (r *fsRunes) ReadRune() (rune, int, error) {
	if r.at >= len(r.text) || r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text[r.at:])
	r.at += size
	return c, size, nil
}

// piece is where a piece comes next, or may; -1: nowhere.
func (h *fsHunt) piece(p fsPiece, at int, next []int) int {
	if !p.fold {
		return h.seek(&next[0], at, func(b []byte) int { return bytes.Index(b, p.text) })
	}
	for {
		hit := h.seek(&next[0], at, func(b []byte) int { return bytes.IndexByte(b, p.lower) })
		if up := h.seek(&next[1], at, func(b []byte) int { return bytes.IndexByte(b, p.upper) }); hit < 0 || up >= 0 && up < hit {
			hit = up
		}
		if hit < 0 || p.third || p.folds(h.text, hit) {
			return hit
		}
		at = hit + 1
	}
}

// folds reports whether the piece stands where its letter was found.
func (p fsPiece) folds(text []byte, hit int) bool {
	from := hit - p.at
	if from < 0 || from+len(p.text) > len(text) {
		return false
	}
	for i, c := range p.text {
		if d := text[from+i]; c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// seek remembers where something comes next: an offset that is not before at is
// still right, and len(text) is nowhere.
func (h *fsHunt) seek(known *int, at int, find func([]byte) int) int {
	if *known < at {
		*known = len(h.text)
		if i := find(h.text[at:]); i >= 0 {
			*known = at + i
		}
	}
	if *known == len(h.text) {
		return -1
	}
	return *known
}
