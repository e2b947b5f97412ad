package scan

import (
	"sync"
	"time"
)

// A text is read in windows, whether it comes whole or in pieces: so both find
// the same.
const (
	step    = 16 << 10 // bytes from one window to the next
	overlap = 2 << 10  // bytes of the window before that a window begins with
)

// Scanner finds. It may be used by many at once. The zero Scanner has no rules
// and says of every text that it could not finish.
type Scanner struct {
	texts, definitions *finder // nil: there are no rules
	own                bool    // there are rules that are not the default ones
}

// finder is what finds in one kind of text.
type finder struct {
	engine func() *engine
	pool   sync.Pool // of *scratch
}

// New makes a scanner of the default rules and the given ones, which run on
// texts and definitions alike unless they say otherwise, are not held to anchors, and run whatever the
// others cost. It is cheap: the first scan of a process makes the default rules
// ready.
func New(own ...Rule) (*Scanner, error) {
	var ready []checked
	for _, r := range own {
		c, err := parseOwn(r)
		if err != nil {
			return nil, err
		}
		ready = append(ready, c)
	}
	s := &Scanner{own: len(own) > 0}
	s.texts, s.definitions = finders(ready)
	return s, nil
}

// Scan finds in a text. It allocates nothing where it finds nothing. What it
// could not finish is the last of the findings, see [Finished].
func (s *Scanner) Scan(text []byte) []Finding { return s.scan(text, s.texts, time.Time{}) }

// ScanBy is Scan, until then. The zero time is none.
func (s *Scanner) ScanBy(text []byte, by time.Time) []Finding { return s.scan(text, s.texts, by) }

// ScanDefinition finds in the description, schema or name of a tool.
func (s *Scanner) ScanDefinition(text []byte) []Finding {
	return s.scan(text, s.definitions, time.Time{})
}

func (s *Scanner) scan(text []byte, with *finder, by time.Time) []Finding {
	if with == nil {
		return []Finding{{Rule: noRules, Family: Unfinished, End: len(text)}}
	}
	if with == s.texts && s.tooShort(text) {
		return nil
	}
	w := with.scratch()
	defer with.pool.Put(w)
	var found []Finding
	for at := 0; at < len(text) || at == 0; at += step {
		if at > 0 && !by.IsZero() && time.Now().After(by) {
			return append(found, Finding{Rule: "time", Family: Unfinished, Start: at, End: len(text)})
		}
		found = w.window(text[max(0, at-overlap):min(len(text), at+step)], at, found)
	}
	return found
}

// tooShort reports whether nothing can be found in a text, so that nothing has to
// be made ready for it: words of so few plain bytes no default rule looks at.
func (s *Scanner) tooShort(text []byte) bool {
	if len(text) > shortest || s.own {
		return false
	}
	for _, b := range text {
		if !plainByte(b) {
			return false
		}
	}
	return true
}

// shortest is how many plain bytes no default rule looks at.
const shortest = 4

// plainByte: of what is written in words and numbers.
func plainByte(b byte) bool {
	return b != '_' && letterOrDigit(b) || b == ' ' || b == '\n' || b == '.' || b == ','
}

func (f *finder) scratch() *scratch {
	w, ok := f.pool.Get().(*scratch)
	if !ok {
		w = newScratch(f.engine())
	}
	return w
}
