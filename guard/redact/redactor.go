package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Options are what a redactor looks for.
type Options struct {
	// Secrets finds keys and tokens. With nil every text is an error; [None] says
	// that keys may pass.
	Secrets Scanner
	// Personal is which personal data is redacted. Zero: none.
	Personal Personal
	// Values is how many values are kept to be put back; 0 means 10,000, which is
	// also the most. Those beyond have placeholders without a number.
	Values int
}

// Redactor redacts the texts of one session. It is safe for concurrent use. It
// never prints, logs or marshals a value. The zero value refuses every text.
type Redactor struct {
	secrets  Scanner
	personal Personal
	book     *book
}

// New makes one for a session.
func New(o Options) *Redactor {
	return &Redactor{secrets: o.Secrets, personal: o.Personal, book: newBook(o.Values)}
}

// Found is what was taken out of a text: its kind, and what stands there now.
type Found struct {
	Kind        string // aws-key, email
	Personal    bool   // else it is a secret
	Placeholder string
}

var (
	// ErrNoScanner is what a redactor says that was given no scanner.
	ErrNoScanner = errors.New("redact: got no scanner")
	// ErrNotKept is said of a placeholder whose value was one too many to be kept.
	ErrNotKept = errors.New("redact: the value of this placeholder was not kept")

	errUnsettled = errors.New("redact: the text gives new findings each time it is redacted")
)

const (
	maxRounds = 8  // how often what was redacted is looked at again
	maxFound  = 64 // more are taken out, and not told
)

// Redact takes values out of a text. Done twice it changes nothing more. What is
// valid JSON still is, and values are found in it however they are escaped. A text
// in which nothing is found is returned as it is. With an error there is no text.
func (r *Redactor) Redact(text string) (clean string, found []Found, err error) {
	if r == nil || r.secrets == nil || r.book == nil {
		return "", nil, ErrNoScanner
	}
	if looksJSON(text) && json.Valid([]byte(text)) {
		return r.settle(text, r.json)
	}
	return r.settle(text, r.text)
}

// RedactJSON is Redact for what is known to be JSON, also a number. What is not JSON
// becomes a string of it.
func (r *Redactor) RedactJSON(text json.RawMessage) (clean json.RawMessage, found []Found, err error) {
	if r == nil || r.secrets == nil || r.book == nil {
		return nil, nil, ErrNoScanner
	}
	if len(text) == 0 {
		return text, nil, nil
	}
	s := string(text)
	if !json.Valid(text) {
		s = string(appendQuoted(nil, s))
	}
	c, found, err := r.settle(s, r.json)
	if err != nil {
		return nil, nil, err
	}
	if c == string(text) {
		return text, nil, nil
	}
	return json.RawMessage(c), found, nil
}

// settle redacts until nothing is found any more: what was recognised late in a
// text may stand earlier in it, too, and what is left may be read in a new way.
func (r *Redactor) settle(text string, once func(string, []Found) (string, []Found, bool, error)) (clean string, found []Found, err error) {
	clean = text
	for range maxRounds {
		known, again := r.book.count(), false
		if clean, found, again, err = once(clean, found); err != nil {
			return "", nil, err
		}
		if !again && known == r.book.count() {
			return clean, found, nil
		}
	}
	return "", nil, errUnsettled
}

// text redacts one segment after the other. It says to look again where they would
// be cut in another way by now.
func (r *Redactor) text(text string, found []Found) (clean string, all []Found, again bool, err error) {
	var b strings.Builder
	kept := 0
	for at := 0; at < len(text); {
		n := segment(text[at:], true)
		part := text[at : at+n]
		clean, all, err := r.part(part, found)
		if err != nil {
			return "", nil, false, err
		}
		if found = all; clean != part {
			b.WriteString(text[kept:at])
			b.WriteString(clean)
			kept = at + n
			again = again || !isLine(part) || !isLine(clean)
		}
		at += n
	}
	if kept == 0 {
		return text, found, false, nil
	}
	b.WriteString(text[kept:])
	return b.String(), found, again, nil
}

// isLine reports whether a segment is one line, and ends there.
func isLine(text string) bool {
	i := strings.IndexAny(text, "\r\n")
	return i >= 0 && i == len(text)-1 && !strings.Contains(text, "-----BEGIN")
}

// part redacts one segment.
func (r *Redactor) part(text string, found []Found) (string, []Found, error) {
	for range maxRounds {
		marks, err := r.marks(text)
		if err != nil || len(marks) == 0 {
			return text, found, err
		}
		var b strings.Builder
		at := 0
		for _, m := range marks {
			b.WriteString(text[at:m.Start])
			p := r.book.put(text[m.Start:m.End], m, false)
			b.WriteString(p)
			found = tell(found, m, p)
			at = m.End
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return "", nil, errUnsettled
}

// tell adds what was found, each placeholder once.
func tell(found []Found, m mark, placeholder string) []Found {
	if len(found) >= maxFound {
		return found
	}
	for _, f := range found {
		if f.Placeholder == placeholder {
			return found
		}
	}
	return append(found, Found{m.Kind, m.personal, placeholder})
}

// marks are what is to be taken out of a segment, in order, without overlap, and
// nothing of placeholders that were given out.
func (r *Redactor) marks(text string) ([]mark, error) {
	spans, err := r.secrets.Scan(text)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	var marks []mark
	for _, s := range spans {
		if s, ok := valid(text, s); ok {
			s.Kind = kindOf(s.Kind)
			marks = append(marks, mark{Span: s})
		}
	}
	if _, none := r.secrets.(None); !none {
		marks = keys(marks, text)
	}
	marks = r.book.again(marks, text)
	if r.personal != 0 {
		for _, s := range r.personal.Spans(text) {
			marks = append(marks, mark{s, true})
		}
	}
	ours := r.book.reserve(text, forms(text))
	return without(merged(marks), ours), nil
}

// hidden is what a redactor shows of itself.
const hidden = "[redactor]"

// String tells no value.
func (r *Redactor) String() string { return hidden }

// GoString tells no value.
func (r *Redactor) GoString() string { return hidden }

// Format tells no value, whatever the verb.
func (r *Redactor) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue tells no value.
func (r *Redactor) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText tells no value.
func (r *Redactor) MarshalText() ([]byte, error) { return []byte(hidden), nil }
