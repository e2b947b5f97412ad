// Package leak writes a value down in the ways that programs do, and says whether
// it can be read in a text. Tests hold what leaves against it. It shares nothing
// with package secret, which it tests.
package leak

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Choose gives a number from 0 on that is less than n.
type Choose func(n int) int

// coin says yes or no.
func (c Choose) coin() bool { return c(2) == 0 }

// Spell gives a value as some program may print it, in a way that is chosen, and
// names the way. Around the value there may be more that was encoded with it.
func Spell(c Choose, value string) (text, way string) {
	switch c(8) {
	case 0:
		return value, "plain"
	case 1:
		if utf8.ValidString(value) {
			return inJSON(c, value), "JSON"
		}
		return value, "plain"
	case 2:
		if utf8.ValidString(value) {
			return inJSON(c, inJSON(c, value)), "JSON twice"
		}
		return value, "plain"
	case 3:
		return inURL(c, value), "URL"
	case 4:
		return inURL(c, inURL(c, value)), "URL twice"
	case 5:
		around := value + string("xyz"[:c(3)])
		return inBase64(c, string("abc"[:c(3)])+around), "base64"
	case 6:
		return inURL(c, inBase64(c, value)), "base64 in a URL"
	}
	return inHex(c, value), "hex"
}

// inJSON writes each character as it is, where that may be, or in one of its
// other forms.
func inJSON(c Choose, value string) string {
	var b strings.Builder
	for _, r := range value {
		short := strings.IndexRune("\n\r\t\b\f\"\\/", r)
		switch {
		case short >= 0 && c.coin():
			b.WriteString(`\` + string(`nrtbf"\/`[short]))
		case (short < 0 || r == '/') && r >= ' ' && c(3) > 0:
			b.WriteRune(r)
		default:
			for _, u := range utf16.Encode([]rune{r}) {
				digits := strconv.FormatUint(uint64(u)+0x10000, 16)[1:]
				if c.coin() {
					digits = strings.ToUpper(digits)
				}
				b.WriteString(`\u` + digits)
			}
		}
	}
	return b.String()
}

// inURL writes any of the characters in their other form, % always.
func inURL(c Choose, value string) string {
	every := c(3) == 0
	var b strings.Builder
	encodes := false
	for _, x := range []byte(value) {
		if utf8.RuneStart(x) { // one that is half encoded is no text
			encodes = x == '%' || x == '+' || every || c(4) == 0
		}
		switch {
		case x == ' ' && c.coin():
			b.WriteByte('+')
		case encodes:
			digits := hex.EncodeToString([]byte{x})
			if c.coin() {
				digits = strings.ToUpper(digits)
			}
			b.WriteString("%" + digits)
		default:
			b.WriteByte(x)
		}
	}
	return b.String()
}

func inBase64(c Choose, value string) string {
	e := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}[c(4)]
	return wrapped(c, e.EncodeToString([]byte(value)))
}

func inHex(c Choose, value string) string {
	digits := hex.EncodeToString([]byte(value))
	if c.coin() {
		digits = strings.ToUpper(digits)
	}
	return wrapped(c, digits)
}

// wrapped puts line breaks into a text that is long enough for them.
func wrapped(c Choose, text string) string {
	if len(text) < 24 || c.coin() {
		return text
	}
	width := 16 + c(60)
	var b strings.Builder
	for at := c(width); at < len(text); at += width {
		if at > 0 {
			b.WriteString(text[b.Len()-strings.Count(b.String(), "\n"):at] + "\n")
		}
	}
	return b.String() + text[b.Len()-strings.Count(b.String(), "\n"):]
}

// Way says how a value can be read in a text; "": in none of the ways that are
// looked for here.
func Way(text, value string) string {
	runs64, runs16 := regexp.MustCompile(`[A-Za-z0-9+/_-]{4,}`), regexp.MustCompile(`[0-9a-fA-F]{8,}`)
	views := map[string]string{"plain": text}
	views["JSON"] = unJSON(text)
	views["JSON twice"] = unJSON(views["JSON"])
	views["URL"] = unURL(text)
	views["URL twice"] = unURL(views["URL"])
	for _, way := range []string{"plain", "JSON", "URL"} {
		flat := strings.NewReplacer("\r", "", "\n", "").Replace(views[way])
		for _, run := range runs64.FindAllString(flat, -1) {
			run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
			for i := range 4 {
				if part := run[i:]; len(part) > 1 {
					if len(part)%4 == 1 {
						part = part[:len(part)-1]
					}
					b, _ := base64.RawStdEncoding.DecodeString(part)
					views["base64 in "+way] += string(b) + "\n\n\n"
				}
			}
		}
		for _, run := range runs16.FindAllString(flat, -1) {
			for i := range 2 {
				b, _ := hex.DecodeString(run[i : i+(len(run)-i)/2*2])
				views["hex in "+way] += string(b) + "\n\n\n"
			}
		}
	}
	found := ""
	for way, view := range views {
		if strings.Contains(view, value) {
			found = max(found, way) // the same one each time
		}
	}
	return found
}

func unJSON(text string) string {
	return regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|[nrtbf"\\/])`).ReplaceAllStringFunc(text, func(e string) string {
		if e[1] == 'u' {
			n, _ := strconv.ParseUint(e[2:], 16, 16)
			return string(rune(n)) // of pairs: not looked at
		}
		return string("\n\r\t\b\f\"\\/"[strings.IndexByte(`nrtbf"\/`, e[1])])
	})
}

func unURL(text string) string {
	return strings.ReplaceAll(regexp.MustCompile(`%[0-9a-fA-F]{2}`).ReplaceAllStringFunc(text, func(e string) string {
		s, _ := url.PathUnescape(e)
		return s
	}), "+", " ")
}
