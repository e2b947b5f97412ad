package flow

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden is text that stands encoded in another, and where.
type hidden struct {
	text       string
	start, end int
}

// minEncoded is the shortest run that is taken for encoded text.
const minEncoded = 12

// encoded finds runs of base64 and hexadecimal digits that decode to text. Closely:
// also where the run begins before or ends behind it, and bytes that stand apart.
func encoded(s string, closely bool) []hidden {
	var all []hidden
	if closely {
		all = apart(s)
	}
	for i := 0; i+minEncoded <= len(s); {
		// From the end of what must be a run: most words are shorter, and are left
		// out without a look at each letter.
		k := i + minEncoded - 1
		for k >= i && codeByte(s[k]) {
			k--
		}
		if k >= i {
			i = k + 1
			continue
		}
		start := i
		for i += minEncoded; i < len(s) && codeByte(s[i]); {
			i++
		}
		if text, ok := decoded(s[start:i]); ok {
			all = append(all, hidden{text, start, i})
			continue
		}
		had := len(all)
		// The parts of an address are joined by / and -, which are digits too.
		for from := start; from < i; {
			to := from
			for to < i && s[to] != '/' && s[to] != '-' && s[to] != '_' {
				to++
			}
			if to-from >= minEncoded {
				if text, ok := decoded(s[from:to]); ok {
					all = append(all, hidden{text, from, to})
				}
			}
			from = to + 1
		}
		if closely && len(all) == had {
			all = within(all, s, start, i)
		}
	}
	return all
}

// within finds text within a run of digits, at whichever of them its base64 begins.
func within(all []hidden, s string, start, end int) []hidden {
	run := s[start:end]
	if !strings.ContainsAny(run, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return all // no text of that length is without one
	}
	run = strings.ReplaceAll(strings.ReplaceAll(run, "-", "+"), "_", "/")
	for skip := range 4 {
		b, _ := base64.RawStdEncoding.DecodeString(run[skip : skip+(len(run)-skip)/4*4])
		for from := 0; from < len(b); {
			to := from
			for to < len(b) && (' ' <= b[to] && b[to] <= '~' || b[to] == '\n') {
				to++
			}
			if to-from >= minEncoded {
				all = append(all, hidden{string(b[from:to]), start, end})
			}
			from = to + 1
		}
	}
	return all
}

// apart finds bytes that are written as two hexadecimal digits each, with blanks or
// other signs between them.
func apart(s string) []hidden {
	var all []hidden
	var bytes []byte
	start, end := 0, 0
	flush := func() {
		if len(bytes) >= minNormal && readable(bytes) {
			all = append(all, hidden{string(bytes), start, end})
		}
		bytes = bytes[:0]
	}
	for i := 0; i < len(s); {
		if !wordByte(s[i]) {
			i++
			continue
		}
		from := i
		for i < len(s) && wordByte(s[i]) {
			i++
		}
		digits := strings.TrimPrefix(s[from:i], "0x")
		if len(digits) != 2 {
			flush()
			continue
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			flush()
			continue
		}
		if len(bytes) == 0 {
			start = from
		}
		bytes, end = append(bytes, b[0]), i
	}
	flush()
	return all
}

// codeByte reports whether a byte is a digit of base64 or hexadecimal.
func codeByte(c byte) bool {
	// A bit for each of + - / 0 to 9, then one for each of A to Z, _ and a to z.
	const low, high = 0x3ffa80000000000, 0x7fffffe87fffffe
	bits := uint64(low)
	if c >= 64 {
		bits = high
	}
	return c < utf8.RuneSelf && bits>>(c&63)&1 != 0
}

func decoded(run string) (string, bool) {
	run = strings.TrimPrefix(run, "0x")
	if len(run) < minEncoded {
		return "", false
	}
	if len(run)%2 == 0 && strings.Trim(run, "0123456789abcdefABCDEF") == "" {
		if b, err := hex.DecodeString(run); err == nil && readable(b) {
			return string(b), true
		}
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1] // cut
	}
	code := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		code = base64.RawURLEncoding
	}
	var first [3 * minEncoded / 4]byte
	if n, err := code.Decode(first[:], []byte(run[:minEncoded/4*4])); err != nil || !begins(first[:n]) {
		return "", false // most words end here, and cost nothing
	}
	b, err := code.DecodeString(run)
	if err != nil || !readable(b) {
		return "", false
	}
	return string(b), true
}

// begins reports whether bytes are text that may be cut within a character.
func begins(b []byte) bool {
	for len(b) > 0 && utf8.FullRune(b) {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		b = b[size:]
	}
	return true
}

// readable reports whether bytes are text: ordinary words, read as base64, are not.
func readable(b []byte) bool {
	if len(b) > 3 && !utf8.Valid(b) {
		b = b[:len(b)-3] // a character that was cut
	}
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
