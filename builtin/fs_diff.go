package builtin

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Bounds of a preview: a person reads it.
const (
	fsMostDiff   = 32 << 10 // bytes of the diff
	fsMostDiffed = 2 << 20  // bytes of both files together
)

// fsDiff is what a change does to a file, as a unified diff.
func fsDiff(p fsPlace, was, will []byte, there bool) string {
	from := "a/" + p.String()
	if !there {
		from = "/dev/null"
	}
	switch {
	case there && bytes.Equal(was, will):
		return fmt.Sprintf("%s stays as it is.", p)
	case bytes.IndexByte(was, 0) >= 0 || bytes.IndexByte(will, 0) >= 0:
		return fmt.Sprintf("%s: %d bytes become %d bytes, not all of them text.", p, len(was), len(will))
	case len(was)+len(will) > fsMostDiffed:
		return fmt.Sprintf("%s: %s become %s; too much for a diff.", p, fsCount(fsLineCount(string(was)), "line"), fsCount(fsLineCount(string(will)), "line"))
	case !there && len(will) == 0:
		return fmt.Sprintf("%s is made, empty.", p)
	}
	text := strings.ToValidUTF8(udiff.Unified(from, "b/"+p.String(), string(was), string(will)), "\uFFFD")
	if len(text) <= fsMostDiff {
		return text
	}
	text = fsNarrow(text)
	if len(text) <= fsMostDiff {
		return text
	}
	cut := strings.LastIndexByte(text[:fsMostDiff], '\n') + 1
	return text[:cut] + fmt.Sprintf("[%d more lines of the diff]\n", strings.Count(text[cut:], "\n"))
}

// fsMostWide is how much of a line a diff shows that is too long for all of it, in bytes.
const fsMostWide = 2000

// fsNarrow shortens long lines: else one alone may leave no room for what changes.
func fsNarrow(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if len(l) <= fsMostWide {
			continue
		}
		end := fsMostWide
		for !utf8.RuneStart(l[end]) {
			end--
		}
		lines[i] = fmt.Sprintf("%s [%d more bytes of this line]\n", l[:end], len(strings.TrimSuffix(l, "\n"))-end)
	}
	return strings.Join(lines, "")
}
