package redact

import "strings"

// What placeholders begin with.
const (
	secretHead   = "[SECRET:"
	personalHead = "[PERSONAL:"
)

const (
	maxKind   = 40
	maxDigits = 10
)

func kindByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
}

// hole is a place that has the form of a placeholder.
type hole struct {
	start, end int
	number     int64 // 0 where there is none
}

// forms are the places of a text that have the form of a placeholder, in order.
func forms(text string) (found []hole) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '[')
		if i < 0 {
			return found
		}
		at += i
		if h, ok := formAt(text, at); ok {
			found = append(found, h)
			at = h.end
		} else {
			at++
		}
	}
}

func formAt(text string, at int) (hole, bool) {
	i := at
	switch rest := text[at:]; {
	case strings.HasPrefix(rest, secretHead):
		i += len(secretHead)
	case strings.HasPrefix(rest, personalHead):
		i += len(personalHead)
	default:
		return hole{}, false
	}
	kind := i
	for i < len(text) && i-kind <= maxKind && kindByte(text[i]) {
		i++
	}
	if i == kind || i-kind > maxKind || i == len(text) {
		return hole{}, false
	}
	if text[i] == ']' {
		return hole{start: at, end: i + 1}, true
	}
	if text[i] != ':' {
		return hole{}, false
	}
	i++
	var n int64
	digits := i
	for i < len(text) && i-digits <= maxDigits && text[i] >= '0' && text[i] <= '9' {
		n = n*10 + int64(text[i]-'0')
		i++
	}
	if i == digits || i-digits > maxDigits || i == len(text) || text[i] != ']' {
		return hole{}, false
	}
	return hole{start: at, end: i + 1, number: n}, true
}
