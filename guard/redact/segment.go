package redact

import "strings"

const (
	maxSegment = 16 << 10 // what is looked at together
	maxValue   = 4 << 10  // values up to this size are found wherever a long line is cut
)

// segment is how many bytes of a text are looked at together: a line, a private key,
// or a part of a long line. It depends on these bytes only, and so not on how the
// text came. It is 0 where more has to be known, and final says there is no more.
func segment(text string, final bool) int {
	n := line(text, final)
	if n == 0 || !opensKey(text[:n]) {
		return n
	}
	// The rest of the key. Behind it a line is needed that is none of it.
	for n < len(text) {
		more := line(text[n:], final)
		if more == 0 {
			break
		}
		if n+more > maxSegment {
			return n
		}
		if l := text[n : n+more]; strings.Contains(l, "-----END") {
			return n + more
		} else if !keyLine(l) {
			return n
		}
		n += more
	}
	if final || len(text) >= maxSegment {
		return n
	}
	return 0
}

// line is how long the first line is, with its end: one of \n and \r.
func line(text string, final bool) int {
	head := text[:min(len(text), maxSegment)]
	i := strings.IndexByte(head, '\n')
	if i < 0 {
		i = len(head)
	}
	if j := strings.IndexByte(head[:i], '\r'); j >= 0 {
		i = j
	}
	switch {
	case i < len(head):
		return i + 1
	case len(head) == maxSegment:
		return cut(head)
	case final:
		return len(head)
	}
	return 0
}

// cut is where a long line is parted: if it can be, where no value and nothing
// that says what a value is would be torn.
func cut(text string) int {
	tail := text[len(text)-maxValue:]
	for _, ends := range []string{",;{}&", " \t"} {
		if i := strings.LastIndexAny(tail, ends); i >= 0 {
			return len(text) - maxValue + i + 1
		}
	}
	return len(text)
}

// opensKey reports whether a private key begins on a line, and goes on behind it.
func opensKey(text string) bool {
	i := strings.Index(text, "-----BEGIN")
	return i >= 0 && strings.Contains(text[i:], "PRIVATE KEY") && !strings.Contains(text[i:], "-----END")
}

// keyLine reports whether a line can be of a private key: base64, a header, or
// nothing.
func keyLine(text string) bool {
	text = strings.Trim(text, " \t\r\n+-|>\"',\\")
	for i := range len(text) {
		if c := text[i]; !isBase64(c) {
			return strings.HasPrefix(text[i:], ": ") && i < 24
		}
	}
	return true
}

func isBase64(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '+' || c == '/' || c == '=' || c == '-'
}

// keys appends the private keys of a segment: whole ones, and beginnings.
func keys(marks []mark, text string) []mark {
	for at := 0; ; {
		i := strings.Index(text[at:], "-----BEGIN")
		if i < 0 {
			return marks
		}
		start := at + i
		at = start + len("-----BEGIN")
		head := strings.Index(text[at:min(len(text), at+100)], "PRIVATE KEY")
		if head < 0 {
			continue
		}
		body := at + head + len("PRIVATE KEY")
		end, size := len(text), 0
		if j := strings.Index(text[body:], "-----END"); j >= 0 {
			end = body + j
		}
		for _, c := range []byte(text[body:end]) {
			if isBase64(c) && c != '-' {
				size++
			}
		}
		if size < 32 {
			continue // it is only spoken of
		}
		if end < len(text) {
			end += len("-----END")
			if j := strings.Index(text[end:min(len(text), end+100)], "-----"); j >= 0 {
				end += j + len("-----")
			}
		} else {
			end = body + len(strings.TrimRight(text[body:], " \t\r\n\"',"))
		}
		marks = append(marks, mark{Span: Span{start, end, "private-key"}})
		at = end
	}
}
