package schema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What Repair takes.
const (
	maxRepairBytes = 1 << 20
	maxRepairDepth = 500
)

// Repair mends JSON text that a model wrote wrongly, by rules and once: a code
// fence or byte order mark around it, comments, trailing commas, commas missing
// at the end of a line, single quotes, keys without quotes, True, False and
// None, raw line breaks and wrong escapes in strings, a closing bracket that is missing at the
// end or there once too often, and an object written into a string.
//
// Nothing is guessed: NaN, a value that is missing, prose around the text or a
// key that stands twice are left as they are or refused. So is text that was
// cut off within a string, number or literal or after a comma: what is there of
// "rm -rf /tmp/x" may be "rm -rf /". Text that is valid JSON comes back
// unchanged, unless it is a string that holds an object. The error is a
// *SyntaxError with the place in the text as given.
func Repair(text string) (mended string, changes []string, err error) {
	if len(text) > maxRepairBytes {
		return "", nil, place("", 0, "", fmt.Sprintf("got %d bytes to repair, want at most %d", len(text), maxRepairBytes))
	}
	mended, changes, err = repairOnce(text)
	if err != nil {
		return "", nil, err
	}
	var inner string
	if t := strings.TrimLeft(mended, " \t\r\n"); strings.HasPrefix(t, `"`) && unquote(t, &inner) && strings.HasPrefix(strings.TrimLeft(inner, " \t\r\n"), "{") {
		if object, more, err := repairOnce(inner); err == nil {
			return object, append(append(changes, "took the object out of a string"), more...), nil
		}
	}
	return mended, changes, nil
}

func repairOnce(text string) (string, []string, error) {
	wrong := Valid(text)
	if wrong == nil {
		return text, nil, nil
	}
	r := repairer{text: text, end: len(text), counts: map[string]int{}}
	r.unwrap()
	if err := r.document(); err != nil {
		return "", nil, err
	}
	out := string(r.out)
	if Valid(out) != nil {
		return "", nil, wrong // what no rule is about: bad UTF-8, half a surrogate pair
	}
	return out, r.changes(), nil
}

func unquote(text string, into *string) bool {
	b, err := jsontext.AppendUnquote(nil, strings.TrimRight(text, " \t\r\n"))
	*into = string(b)
	return err == nil
}

// repairer reads broken JSON in one pass and writes the mended text.
type repairer struct {
	text     string
	pos, end int
	out      []byte
	counts   map[string]int // what was changed, how often
	order    []string
}

func (r *repairer) change(what string) {
	if r.counts[what] == 0 {
		r.order = append(r.order, what)
	}
	r.counts[what]++
}

func (r *repairer) changes() []string {
	return apply(r.order, func(what string) string {
		if n := r.counts[what]; n > 1 {
			return fmt.Sprintf("%s (%d times)", what, n)
		}
		return what
	})
}

// cutOff is the error for text that ends where more must have followed.
func (r *repairer) cutOff(within string) error {
	return place(r.text, len(r.text), "", "the text was cut off "+within)
}

func (r *repairer) fail(format string, args ...any) error {
	return place(r.text, r.pos, "", fmt.Sprintf(format, args...))
}

// unwrap steps over a byte order mark and a code fence.
func (r *repairer) unwrap() {
	if strings.HasPrefix(r.text, "\ufeff") {
		r.pos = len("\ufeff")
		r.change("removed a byte order mark")
	}
	rest := r.text[r.pos:]
	body := strings.TrimLeft(rest, " \t\r\n")
	if !strings.HasPrefix(body, "```") {
		return
	}
	_, after, ok := strings.Cut(body, "\n")
	if !ok {
		return
	}
	r.pos = len(r.text) - len(after)
	if tail := strings.TrimRight(after, " \t\r\n"); strings.HasSuffix(tail, "```") {
		r.end = r.pos + len(tail) - len("```")
	}
	r.change("removed a code fence")
}

func (r *repairer) document() error {
	if _, err := r.space(); err != nil {
		return err
	}
	if err := r.value(0); err != nil {
		return err
	}
	if _, err := r.space(); err != nil {
		return err
	}
	if r.pos < r.end && (r.text[r.pos] == '}' || r.text[r.pos] == ']') {
		r.pos++
		r.change("removed a closing bracket too many")
		if _, err := r.space(); err != nil {
			return err
		}
	}
	if r.pos < r.end {
		return r.fail("text after the value")
	}
	return nil
}

// peek is the next byte, 0 at the end.
func (r *repairer) peek() byte {
	if r.pos < r.end {
		return r.text[r.pos]
	}
	return 0
}

// space steps over white space and comments and reports whether a line ended.
func (r *repairer) space() (line bool, err error) {
	for r.pos < r.end {
		switch c := r.text[r.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			line = line || c == '\n'
			r.out = append(r.out, c)
			r.pos++
		case strings.HasPrefix(r.text[r.pos:r.end], "/*"):
			n := strings.Index(r.text[r.pos+2:r.end], "*/")
			if n < 0 {
				return line, r.fail("a comment does not end")
			}
			r.pos += n + 4
			r.change("removed a comment")
		case c == '#' || strings.HasPrefix(r.text[r.pos:r.end], "//"):
			if n := strings.IndexByte(r.text[r.pos:r.end], '\n'); n >= 0 {
				r.pos += n
			} else {
				r.pos = r.end
			}
			r.change("removed a comment")
		default:
			return line, nil
		}
	}
	return line, nil
}

func (r *repairer) value(depth int) error {
	if depth > maxRepairDepth {
		return r.fail("nested more than %d deep", maxRepairDepth)
	}
	switch c := r.peek(); {
	case r.pos >= r.end:
		return r.fail("the text ends where a value is wanted")
	case c == '{' || c == '[':
		return r.group(depth)
	case c == '"' || c == '\'':
		return r.string()
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	case isLetter(c):
		return r.literal()
	}
	return r.fail("got %q, want a value", r.rune())
}

func (r *repairer) rune() rune {
	c, _ := utf8.DecodeRuneInString(r.text[r.pos:r.end])
	return c
}

func isLetter(c byte) bool { return c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func (r *repairer) word() string {
	start := r.pos
	for r.pos < r.end && (isLetter(r.text[r.pos]) || r.text[r.pos] == '-' || '0' <= r.text[r.pos] && r.text[r.pos] <= '9') {
		r.pos++
	}
	return r.text[start:r.pos]
}

func (r *repairer) number() error {
	start := r.pos
	for r.pos < r.end && strings.IndexByte("+-.0123456789eE", r.text[r.pos]) >= 0 {
		r.pos++
	}
	text := r.text[start:r.pos]
	if r.pos == len(r.text) {
		return r.cutOff("within a number, or right behind it")
	}
	if !jsontext.Value(text).IsValid() {
		if strings.HasPrefix(r.text[r.pos:r.end], "Infinity") {
			text += "Infinity"
		}
		r.pos = start
		return r.fail("%s is no number of JSON", clip(text, 24))
	}
	r.out = append(r.out, text...)
	return nil
}

func (r *repairer) literal() error {
	start := r.pos
	word := r.word()
	if r.pos == len(r.text) {
		return r.cutOff("within a word, or right behind it")
	}
	right := map[string]string{"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}[word]
	if right == "" {
		r.pos = start
		return r.fail("%s is no value of JSON", clip(word, 24))
	}
	if right != word {
		r.change("wrote " + word + " as " + right)
	}
	r.out = append(r.out, right...)
	return nil
}
