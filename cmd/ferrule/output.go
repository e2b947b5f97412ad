package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// shown is where a person reads. Whatever is written to it, from wherever it
// comes, is text with ends of lines and tabs: what would control the terminal, or
// hide, is made visible.
type shown struct {
	to   io.Writer
	half []byte // the beginning of a character whose rest is still to come
	err  error  // the first; nothing is written after it
	wait *held  // nil: it is written at once
	mute bool   // nothing is written: it would only confirm what was done
	// before is called before something is written; nil: nothing is.
	before func()
}

// maxHeld is how much is written later: what comes behind that is lost.
const maxHeld = 10_000

// held is what is written later, in its order.
type held struct{ list []heldText }

type heldText struct {
	to   *shown
	text string
}

// Write writes what can be seen of b.
func (s *shown) Write(b []byte) (int, error) {
	text := slices.Concat(s.half, b)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if at := len(text) - i; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				whole = at
			}
			break
		}
	}
	s.half = bytes.Clone(text[whole:])
	s.control(visible(string(text[:whole])))
	return len(b), s.err
}

// end writes what no rest came for.
func (s *shown) end() error {
	s.control(terminal.Visible(string(s.half)))
	s.half = nil
	return s.err
}

// control writes a text as it is.
func (s *shown) control(text string) {
	if s.wait != nil {
		if len(s.wait.list) < maxHeld {
			s.wait.list = append(s.wait.list, heldText{s, text})
		}
		return
	}
	if text == "" || s.mute {
		return
	}
	if s.before != nil {
		s.before()
	}
	s.write(text)
}

// write writes a text at once, unless an error came before.
func (s *shown) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.to, text)
	}
}

// visible is [terminal.Visible] for a text whose ends of lines and tabs stay.
func visible(text string) string {
	var b strings.Builder
	for text != "" {
		end := strings.IndexAny(text, "\n\t")
		if end < 0 {
			end = len(text)
		}
		b.WriteString(terminal.Visible(text[:end]))
		if end < len(text) {
			b.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return b.String()
}

func (p *program) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.json, "json", false, "print JSON")
}

// printJSON prints a value for programs.
func (p *program) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(p.out, terminal.VisibleJSON(b.String()))
	return err
}

// complain prints an error. Names and texts of others may be in it. On a terminal lines
// are broken between words, and no command that is to be typed is.
func (p *program) complain(text string) {
	if width := widthOf(p.stderr); terminal.Is(p.stderr) && width >= 40 {
		text = unbroken(text, width-1)
	}
	fmt.Fprintln(p.errs, text)
}

// broken is a line in parts that are no wider, unless a word is.
func broken(line string, width int) (lines []string) {
	var open string
	for word := range strings.SplitSeq(line, " ") {
		if open != "" && terminal.Columns(open)+1+terminal.Columns(word) > width {
			lines, open = append(lines, open), ""
		}
		if open != "" {
			open += " "
		}
		open += word
	}
	return append(lines, open)
}

// unbroken breaks lines between words, and not within backquotes.
func unbroken(text string, width int) string {
	const joint = "\u00a0" // stands for a space that stays
	quoted := strings.Split(text, "`")
	for i := 1; i < len(quoted)-1; i += 2 {
		quoted[i] = strings.ReplaceAll(quoted[i], " ", joint)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.Join(quoted, "`"), "\n") {
		if strings.HasPrefix(line, " ") { // a command, or what is laid out already
			lines = append(lines, line)
			continue
		}
		lines = append(lines, broken(line, width)...)
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), joint, " ")
}

// hintf prints what is good to know, and no result.
func (p *program) hintf(format string, args ...any) {
	if !p.quiet {
		p.printf(format, args...)
	}
}

func (p *program) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// printLines prints what is known of a call. What tools and models wrote stands
// behind a bar in each line, also where it goes on in the next: no text of theirs
// can be taken for another line of this.
func (p *program) printLines(lines []terminal.Line) {
	const gutter = 12
	for _, l := range lines {
		colour := l.Alarm && p.coloured(p.stdout)
		if colour {
			p.out.control("\x1b[1;31m")
		}
		label := l.Label
		for part := range wrap(l.Text, max(p.width()-gutter, 20)) {
			p.printf("%-10s│ %s\n", label, part)
			label = ""
		}
		if colour {
			p.out.control("\x1b[m")
		}
	}
}

// dumb reports whether the terminal takes nothing but text.
func (p *program) dumb() bool { return p.env("TERM") == "dumb" }

// coloured reports whether what is printed there may have colours: on a terminal, or
// where somebody insists on them. NO_COLOR has the last word.
func (p *program) coloured(to any) bool {
	if p.env("NO_COLOR") != "" {
		return false
	}
	for _, name := range []string{"CLICOLOR_FORCE", "FORCE_COLOR"} {
		if v := p.env(name); v != "" && v != "0" {
			return true
		}
	}
	return terminal.Is(to) && !p.dumb()
}

// printTable prints rows of cells, the first of them the titles. On a terminal no
// line is longer than that is wide.
func (p *program) printTable(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], terminal.Columns(terminal.Visible(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if cell = terminal.Visible(cell); i < len(row)-1 {
				cell = terminal.Pad(cell, widths[i]) + "  "
			}
			line.WriteString(cell)
		}
		text := strings.TrimRight(line.String(), " ")
		if terminal.Is(p.stdout) {
			text = terminal.Cut(text, p.width())
		}
		p.printf("%s\n", text)
	}
}

// width is how many columns there are.
func (p *program) width() int { return widthOf(p.stdout) }

func widthOf(to io.Writer) int {
	if f, ok := to.(*os.File); ok {
		if w, _, err := term.GetSize(f.Fd()); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// wrap cuts a line into parts that are no wider, behind a space where there is one
// near the end. What may be wide counts as that.
func wrap(text string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, space, used, since := 0, 0, 0, 0 // since: the columns behind the space
		for i, c := range text {
			cells := 1
			if c >= 0x1100 {
				cells = 2
			}
			if used+cells > width {
				end := i
				if since < width/3 && space > start {
					end, used = space, since
				} else {
					used = 0
				}
				if !yield(text[start:end]) {
					return
				}
				start = end
			}
			used += cells
			since += cells
			if c == ' ' {
				space, since = i+1, 0
			}
		}
		yield(text[start:])
	}
}
