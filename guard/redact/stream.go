package redact

import "strings"

// Stream redacts a text that comes in pieces. However it is cut, the pieces that are
// passed on are together the same. It holds back the line that is not at its end, a
// private key, and never more than 32 KiB. It differs from [Redactor.Redact] of the
// whole in that it cannot go back: not to a value that is recognised only later in
// the text, and it takes JSON as any text. It is not safe for concurrent use.
type Stream struct {
	r     *Redactor
	held  []byte
	found []Found
	err   error
}

// Stream begins one.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Write takes a piece and gives what can be passed on by now. After an error
// nothing passes any more.
func (s *Stream) Write(piece string) (string, error) {
	if s.held = append(s.held, piece...); len(s.held) < maxSegment && strings.IndexByte(piece, '\n') < 0 && strings.IndexByte(piece, '\r') < 0 {
		return "", s.ready()
	}
	return s.pass(false)
}

// Flush gives what was held back, at the end.
func (s *Stream) Flush() (string, error) { return s.pass(true) }

// Found is what was taken out so far.
func (s *Stream) Found() []Found { return s.found }

// ready is the error of a stream that can pass nothing.
func (s *Stream) ready() error {
	if s.err == nil && (s.r == nil || s.r.secrets == nil || s.r.book == nil) {
		s.err = ErrNoScanner
	}
	if s.err != nil {
		s.held = nil
	}
	return s.err
}

func (s *Stream) pass(final bool) (string, error) {
	if err := s.ready(); err != nil {
		return "", err
	}
	text := string(s.held)
	var b strings.Builder
	at := 0
	for at < len(text) {
		n := segment(text[at:], final)
		if n == 0 {
			break
		}
		clean, found, err := s.r.part(text[at:at+n], s.found)
		if err != nil {
			s.err, s.held = err, nil
			return b.String(), err
		}
		s.found = found
		b.WriteString(clean)
		at += n
	}
	s.held = append(s.held[:0], text[at:]...)
	return b.String(), nil
}
