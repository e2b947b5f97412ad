package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// Placeholders are those in a text, or in JSON however it is escaped, that this
// session gave out, each once.
func (r *Redactor) Placeholders(text string) []string {
	if r == nil || r.book == nil {
		return nil
	}
	found := r.given(nil, text)
	if strings.IndexByte(text, '\\') >= 0 {
		found = r.given(found, newView(text).text)
	}
	return found
}

func (r *Redactor) given(found []string, text string) []string {
	for _, h := range forms(text) {
		p := text[h.start:h.end]
		if r.book.entry(p) != nil && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// Known reports whether the value of a placeholder is found wherever it stands
// again, also without what it was recognised by: it is long enough, or it is
// personal data, which has its own form.
func (r *Redactor) Known(placeholder string) bool {
	if r == nil || r.book == nil {
		return false
	}
	e := r.book.entry(placeholder)
	return e != nil && e.value != nil && (e.known || strings.HasPrefix(placeholder, personalHead))
}

// Restore puts values back in the place of the placeholders that this session gave
// out. Its error is [ErrNotKept]; then there is no text.
func (r *Redactor) Restore(text string) (string, error) {
	if r == nil || r.book == nil {
		return text, nil
	}
	var b strings.Builder
	at := 0
	for _, h := range forms(text) {
		e := r.book.entry(text[h.start:h.end])
		if e == nil {
			continue
		}
		if e.value == nil {
			return "", ErrNotKept
		}
		b.WriteString(text[at:h.start])
		b.WriteString(e.value())
		at = h.end
	}
	if at == 0 {
		return text, nil
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

// RestoreJSON is Restore within JSON, such as the arguments of a call: values are
// escaped, and numbers become numbers again. Where some placeholders are named, only
// those are put back.
func (r *Redactor) RestoreJSON(raw json.RawMessage, only ...string) (json.RawMessage, error) {
	if r == nil || r.book == nil || !json.Valid(raw) {
		return raw, nil
	}
	text := string(raw)
	var out []byte
	kept := 0
	for tok, more := nextToken(text, 0); more; tok, more = nextToken(text, tok.behind()) {
		if tok.number {
			continue
		}
		v := newView(text[tok.start:tok.end])
		for _, h := range forms(v.text) {
			e := r.book.entry(v.text[h.start:h.end])
			if e == nil || len(only) > 0 && !slices.Contains(only, e.placeholder) {
				continue
			}
			if e.value == nil {
				return nil, ErrNotKept
			}
			start, end := tok.start+v.in(h.start, false), tok.start+v.in(h.end, true)
			if e.number && start == tok.start && end == tok.end && !isName(text, tok.end) {
				out = append(append(out, text[kept:start-1]...), e.value()...)
				kept = end + 1
				continue
			}
			out = appendEscaped(append(out, text[kept:start]...), e.value())
			kept = end
		}
	}
	if kept == 0 {
		return raw, nil
	}
	return append(out, text[kept:]...), nil
}

// isName reports whether the string that ends at a place is the name of a member.
func isName(text string, end int) bool {
	rest := strings.TrimLeft(text[min(end+1, len(text)):], " \t\r\n")
	return rest != "" && rest[0] == ':'
}
