package scan

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// Stripping is what a Stream takes out of what is written to it.
type Stripping int

// Ways of stripping.
const (
	StripNothing  Stripping = iota // everything passes at once
	StripUnseen                    // as StripInvisible: holds back a few bytes
	StripFindings                  // as Strip: holds back a window
)

// longRun is how many bytes of an invisible run decide what becomes of it.
const longRun = 256

// Stream scans a text that comes in pieces. However it is cut, findings and
// what passes are the same as for the whole. It is for one writer.
type Stream struct {
	s     *Scanner
	strip Stripping

	deaf bool      // findings are not looked for but to strip them
	by   time.Time // what is not looked at by then is removed; zero: there is time
	over bool      // that time is

	buf   []byte // of the scan: the window that is filled
	at    int    // where the new part of that window begins
	found []Finding

	held   []byte // of stripping
	passed []byte // the end of what passed
	out    []byte
}

// Stream begins one.
func (s *Scanner) Stream(strip Stripping) *Stream { return &Stream{s: s, strip: strip} }

// Strainer begins a stream for who wants what passes and no findings.
func (s *Scanner) Strainer(strip Stripping) *Stream { return &Stream{s: s, strip: strip, deaf: true} }

// Write takes the next piece and gives what passes now. It is valid until the
// next call.
func (st *Stream) Write(p []byte) []byte {
	if !st.deaf {
		st.feed(p)
	}
	st.out = st.out[:0]
	switch st.strip {
	case StripUnseen:
		st.unseen(p, false)
	case StripFindings:
		st.windows(p, false)
	default:
		st.out = append(st.out, p...)
	}
	return st.out
}

// Close gives what was held back.
func (st *Stream) Close() []byte {
	if !st.deaf && (len(st.buf) > min(st.at, overlap) || st.at == 0) {
		st.scan()
	}
	st.out = st.out[:0]
	switch st.strip {
	case StripUnseen:
		st.unseen(nil, true)
	case StripFindings:
		st.windows(nil, true)
	default:
	}
	return st.out
}

// Findings are those so far; after Close, all.
func (st *Stream) Findings() []Finding { return st.found }

// feed fills windows and scans those that are full.
func (st *Stream) feed(p []byte) {
	for len(p) > 0 {
		n := min(len(p), min(st.at, overlap)+step-len(st.buf))
		st.buf = append(st.buf, p[:n]...)
		p = p[n:]
		if len(st.buf) == min(st.at, overlap)+step {
			st.scan()
			st.at += step
			st.buf = append(st.buf[:0], st.buf[len(st.buf)-overlap:]...)
		}
	}
}

func (st *Stream) scan() {
	if st.s.texts == nil {
		if len(st.found) == 0 {
			st.found = []Finding{{Rule: noRules, Family: Unfinished}}
		}
		return
	}
	if st.at == 0 && st.s.tooShort(st.buf) {
		return
	}
	w := st.s.texts.scratch()
	defer st.s.texts.pool.Put(w)
	st.found = w.window(st.buf, st.at, st.found)
}

// unseen passes on what is decided, without what shows nothing. What is held
// begins with a character that shows: whether the next is needed depends on it.
func (st *Stream) unseen(p []byte, last bool) {
	for len(p) > 0 || last {
		n := min(len(p), 4*longRun)
		st.held, p = append(st.held, p[:n]...), p[n:]
		if last {
			st.pass(len(st.held))
			return
		}
		st.pass(decided(st.held))
		if len(st.held) > 2*longRun {
			// Only invisible text is that long without one that shows; a run of
			// it that is more than a few characters goes as a whole.
			head, tail := longRun, len(st.held)-longRun
			for !utf8.RuneStart(st.held[head]) {
				head--
			}
			for !utf8.RuneStart(st.held[tail]) {
				tail--
			}
			st.held = append(st.held[:head], st.held[tail:]...)
		}
	}
}

// pass lets the first n bytes of what is held go; what follows is looked at
// with them.
func (st *Stream) pass(n int) {
	kept := 0
	eachInvisible(st.held, func(u unseen) {
		if u.end <= n {
			st.out = append(append(st.out, st.held[kept:u.start]...), u.strip()...)
			kept = u.end
		}
	})
	st.out = append(st.out, st.held[kept:n]...)
	st.held = append(st.held[:0], st.held[n:]...)
}

// windows strips full windows; the end of each is looked at again with the next,
// and so is what passed last.
func (st *Stream) windows(p []byte, last bool) {
	if st.s.texts == nil {
		if last {
			st.out = append(st.out, removed...)
		}
		return
	}
	for {
		if st.late() {
			return
		}
		n := min(len(p), (step+overlap)-min(len(st.held), (step+overlap)))
		st.held, p = append(st.held, p[:n]...), p[n:]
		if len(st.held) < (step + overlap) {
			break
		}
		clean := bytes.Clone(st.s.clean(st.passed, st.held))
		n = whole(clean, max(0, len(clean)-overlap))
		st.let(clean[:n])
		st.held = append(st.held[:0], clean[n:]...)
	}
	if last {
		st.let(st.s.clean(st.passed, st.held))
		st.held = nil
	}
}

// late reports whether there is no more time, and says once that what follows is
// not there.
func (st *Stream) late() bool {
	if st.over || st.by.IsZero() || time.Now().Before(st.by) {
		return st.over
	}
	st.over, st.held = true, nil
	st.let([]byte(removed))
	return true
}

// let passes text on, and remembers the end of it.
func (st *Stream) let(text []byte) {
	st.out = append(st.out, text...)
	st.passed = append(st.passed, text...)
	if n := whole(st.passed, max(0, len(st.passed)-overlap)); n > 0 {
		st.passed = append(st.passed[:0], st.passed[n:]...)
	}
}

// whole is the last offset up to n, or not far before, at which a character
// begins that shows.
func whole(text []byte, n int) int {
	for at := n; at > max(0, n-longRun); at-- {
		if at == len(text) || utf8.RuneStart(text[at]) {
			if r, _ := utf8.DecodeRune(text[at:]); !invisible(r) {
				return at
			}
		}
	}
	return n
}
