package terminal

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// field is a text that a person writes.
type field struct {
	text []rune
	at   int  // where the next character goes
	many bool // it may have several lines
}

func newField(text string, many bool) field {
	r := []rune(text)
	return field{text: r, at: len(r), many: many}
}

func (f *field) String() string { return string(f.text) }

// write puts characters in. Those that a person cannot have meant are left out.
func (f *field) write(s string) {
	var in []rune
	for _, c := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case c == '\n' && f.many, c == '\t' && f.many, c >= ' ' && c != 0x7f:
			in = append(in, c)
		case c == '\n' || c == '\t':
			in = append(in, ' ')
		}
	}
	f.text = append(f.text[:f.at:f.at], append(in, f.text[f.at:]...)...)
	f.at += len(in)
}

// key does what a key means in a text, if anything.
func (f *field) key(k tea.KeyPressMsg) {
	switch k.String() {
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.text))
	case "home", "ctrl+a":
		f.at = f.lineStart(f.at)
	case "end", "ctrl+e":
		f.at = f.lineEnd(f.at)
	case "up":
		start := f.lineStart(f.at)
		if start > 0 {
			f.at = min(f.lineStart(start-1)+f.at-start, start-1)
		}
	case "down":
		start, end := f.lineStart(f.at), f.lineEnd(f.at)
		if end < len(f.text) {
			f.at = min(end+1+f.at-start, f.lineEnd(end+1))
		}
	case "backspace":
		if f.at > 0 {
			f.text = append(f.text[:f.at-1:f.at-1], f.text[f.at:]...)
			f.at--
		}
	case "delete":
		if f.at < len(f.text) {
			f.text = append(f.text[:f.at:f.at], f.text[f.at+1:]...)
		}
	case "ctrl+u":
		start := f.lineStart(f.at)
		f.text = append(f.text[:start:start], f.text[f.at:]...)
		f.at = start
	case "enter":
		if f.many {
			f.write("\n")
		}
	default:
		f.write(k.Key().Text)
	}
}

func (f *field) lineStart(at int) int {
	for at > 0 && f.text[at-1] != '\n' {
		at--
	}
	return at
}

func (f *field) lineEnd(at int) int {
	for at < len(f.text) && f.text[at] != '\n' {
		at++
	}
	return at
}

// lines are the text with a mark where the next character goes, and in which
// line that is. Of a long text they are the part around the mark that can be on
// the screen, which has so many cells: more takes time at each key.
func (f *field) lines(cells int) (list []string, line int) {
	part := max(cells, 1)
	from, to := max((f.at/part-1)*part, 0), min((f.at/part+2)*part, len(f.text))
	before, after := VisibleLines(string(f.text[from:f.at])+"."), VisibleLines("."+string(f.text[f.at:to])+".")
	last := len(before) - 1
	joined := strings.TrimSuffix(before[last], ".") + cursor + strings.TrimPrefix(after[0], ".")
	list = append(append(before[:last:last], joined), after[1:]...)
	list[len(list)-1] = strings.TrimSuffix(list[len(list)-1], ".")
	return list, last
}

// cursor stands where the next character goes.
const cursor = "█"
