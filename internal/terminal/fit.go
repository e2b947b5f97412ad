package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// wrap breaks a line that is too wide, behind a space where there is one. Nothing
// is left out, and no mark is taken from its letter.
func wrap(text string, width int) (lines []string) {
	width = max(width, 1)
	start, space, used, behind := 0, 0, 0, 0 // of the line; behind its last space; its width; that behind the space
	for i := 0; i < len(text); {
		size, w := letter(text[i:])
		if used+w > width && i > start {
			end := i
			if space > start {
				end, used = space, behind
			} else {
				used = 0
			}
			lines = append(lines, text[start:end])
			start, behind = end, used
		}
		used, behind = used+w, behind+w
		if text[i] == ' ' {
			space, behind = i+1, 0
		}
		i += size
	}
	return append(lines, text[start:])
}

// letter is how long the first letter of a text is, with its marks, and how many
// cells it takes at most: terminals do not agree on what melts into one.
func letter(text string) (size, width int) {
	for i, c := range text {
		if i > 0 && !unicode.Is(unicode.M, c) && !jamo(c) {
			return i, width
		}
		width += widthOf(c)
	}
	return len(text), width
}

// widthOf is how many cells a character takes.
func widthOf(c rune) int {
	if c < utf8.RuneSelf {
		return 1 // what takes none was made visible
	}
	return lipgloss.Width(string(c))
}

// Cut shortens a line that can be printed to so many columns.
func Cut(text string, width int) string { return cut(text, max(width, 1)) }

// Pad shortens such a line, or fills it with spaces.
func Pad(text string, width int) string { return pad(text, max(width, 1)) }

// Columns is how many columns such a line takes at most.
func Columns(text string) int { return columns(text) }

// columns is how many cells a text takes at most.
func columns(text string) (n int) {
	for _, c := range text {
		n += widthOf(c)
	}
	return n
}

// cut shortens a line to the width.
func cut(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	used := 0
	for i := 0; i < len(text); {
		size, w := letter(text[i:])
		if used += w; used > width-1 {
			return text[:i] + "…"
		}
		i += size
	}
	return text
}

// pad cuts a line or fills it with spaces.
func pad(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(width-columns(text), 0))
}
