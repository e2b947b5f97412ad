package redact

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// looksJSON reports whether a text begins like an object, a list or a string.
func looksJSON(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		case '{', '[', '"':
			return true
		default:
			return false
		}
	}
	return false
}

// view is JSON with what strings hold in their place, so that values are found as
// they are, with the names of members before them.
type view struct {
	text    string
	raw     string
	escapes []escape // in order
}

// escape is a character of a view that is written otherwise in the JSON.
type escape struct{ at, size, raw, rawSize int }

func newView(raw string) view {
	if strings.IndexByte(raw, '\\') < 0 {
		return view{text: raw, raw: raw}
	}
	v := view{raw: raw}
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		// Behind a quote that opens a string, and nowhere else, are escapes.
		n := strings.IndexByte(raw[i:], '\\')
		if n < 0 {
			n = len(raw) - i
		}
		b = append(b, raw[i:i+n]...)
		if i += n; i == len(raw) {
			break
		}
		r, size := unescape(raw[i:])
		at := len(b)
		b = utf8.AppendRune(b, r)
		v.escapes = append(v.escapes, escape{at, len(b) - at, i, size})
		i += size
	}
	v.text = string(b)
	return v
}

// unescape is the character of an escape, and how long that is. The text is valid
// JSON.
func unescape(text string) (rune, int) {
	if len(text) < 2 {
		return utf8.RuneError, len(text)
	}
	switch c := text[1]; c {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		r, ok := unicodeOf(text)
		if !ok {
			return utf8.RuneError, 2
		}
		if utf16.IsSurrogate(r) {
			if low, ok := unicodeOf(text[6:]); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return both, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	default:
		return rune(c), 2
	}
}

func unicodeOf(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[2:6]) {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case isHex(c):
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// in is the place in the JSON of a place in the view. Within an escape it is where
// that begins, or with after where it ends.
func (v view) in(at int, after bool) int {
	i, same := slices.BinarySearchFunc(v.escapes, at, func(e escape, at int) int { return e.at - at })
	if same {
		return v.escapes[i].raw
	}
	if i == 0 {
		return at
	}
	e := v.escapes[i-1]
	if at < e.at+e.size {
		if after {
			return e.raw + e.rawSize
		}
		return e.raw
	}
	return at - e.at - e.size + e.raw + e.rawSize
}

// token is a string or a number of JSON: what is between its quotes, or all of it.
type token struct {
	start, end int
	number     bool
}

// nextToken is the first token that ends behind a place, given where to begin.
func nextToken(raw string, at int) (token, bool) {
	for ; at < len(raw); at++ {
		switch c := raw[at]; {
		case c == '"':
			end := at + 1
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			return token{at + 1, min(end, len(raw)), false}, true
		case c == '-' || isDigit(c):
			end := at
			for end < len(raw) && (isDigit(raw[end]) || strings.IndexByte("+-.eE", raw[end]) >= 0) {
				end++
			}
			return token{at, end, true}, true
		}
	}
	return token{}, false
}

// behind is where the token after this one can begin.
func (t token) behind() int {
	if t.number {
		return t.end
	}
	return t.end + 1
}

// json redacts within the strings and numbers of JSON. A number becomes a string.
func (r *Redactor) json(raw string, found []Found) (clean string, all []Found, again bool, err error) {
	v := newView(raw)
	var b strings.Builder
	kept := 0 // of raw
	tok, more := nextToken(raw, 0)
	for at := 0; at < len(v.text); {
		n := segment(v.text[at:], true)
		marks, err := r.marks(v.text[at : at+n])
		if err != nil {
			return "", nil, false, err
		}
		for _, m := range marks {
			from, to := v.in(at+m.Start, false), v.in(at+m.End, true)
			for more && tok.end <= from {
				tok, more = nextToken(raw, tok.behind())
			}
			// The mark may reach over several tokens, and a token beyond the mark.
			for more && tok.start < to {
				start, end := max(from, tok.start, kept), min(to, tok.end)
				if tok.number {
					start, end = tok.start, tok.end
				}
				if start < end && start >= kept {
					value := newView(raw[start:end]).text
					p := r.book.put(value, m, tok.number)
					found = tell(found, m, p)
					b.WriteString(raw[kept:start])
					if tok.number {
						p = `"` + p + `"`
					}
					b.WriteString(p)
					kept = end
				}
				if tok.end >= to {
					break
				}
				tok, more = nextToken(raw, tok.behind())
			}
		}
		at += n
	}
	if kept == 0 {
		return raw, found, false, nil
	}
	b.WriteString(raw[kept:])
	return b.String(), found, true, nil
}

// appendQuoted appends a string of JSON. Bytes that are no characters stay.
func appendQuoted(b []byte, text string) []byte {
	return append(appendEscaped(append(b, '"'), text), '"')
}

func appendEscaped(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}
