package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

// theme is how parts of the screen look. The zero theme is plain text; what is
// said by colour is always said by words too.
type theme struct {
	title, faint, alarm, chosen lipgloss.Style
}

func colours() theme {
	return theme{
		title:  lipgloss.NewStyle().Bold(true),
		faint:  lipgloss.NewStyle().Faint(true),
		alarm:  lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red),
		chosen: lipgloss.NewStyle().Reverse(true),
	}
}

// View draws the screen.
func (s *screen) View() tea.View {
	v := tea.NewView(strings.Join(s.lines(), "\n"))
	v.AltScreen = true
	return v
}

// small reports whether the window has no room for what must be read.
func (s *screen) small() bool { return s.width < 24 || s.height < 8 }

// lines are what the screen shows, as many as it has room for.
func (s *screen) lines() []string {
	if s.width == 0 || s.height == 0 {
		return nil // nobody has said yet how large it is
	}
	if s.small() {
		return s.fit([]string{cut("window too small", s.width), cut(fmt.Sprintf("%d waiting", len(s.list)), s.width), cut("q quits", s.width)}, nil)
	}
	title := "ferrule approvals: nothing waits"
	if n := len(s.list); n > 0 {
		title = fmt.Sprintf("ferrule approvals: %d waiting", n)
	}
	top := []string{s.theme.title.Render(cut(title, s.width))}
	top = append(top, s.rows()...)
	top = append(top, s.theme.faint.Render(strings.Repeat("─", s.width)))
	room := s.height - len(top) - len(s.footer())
	return s.fit(append(top, s.pane(room)...), s.footer())
}

// fit makes the lines fill the screen, with the last ones at its end.
func (s *screen) fit(top, bottom []string) []string {
	room := max(s.height-len(bottom), 0)
	top = top[:min(len(top), room)]
	for len(top) < room {
		top = append(top, "")
	}
	return append(top, bottom...)
}

func (s *screen) footer() []string {
	note := s.note
	switch {
	case s.broken != nil:
		note = "the list cannot be read: " + s.broken.Error()
	case s.busy:
		note = "…"
	}
	return []string{s.theme.title.Render(cut(Visible(note), s.width)), s.theme.faint.Render(cut(s.hints(), s.width))}
}

func (s *screen) hints() string {
	switch s.look {
	case looksAtHelp:
		return "any key goes back"
	case looksAtDenial, looksAtReply:
		return "enter sends  esc goes back"
	case looksAtEdit:
		return "ctrl+s allows with these arguments  esc goes back"
	case looksAtRules:
		return "enter for this session  A always  ↑↓ choose  esc goes back"
	case looksAtSecond:
		return "Y allows  any other key goes back"
	case looksAtList:
	}
	if s.width < 64 {
		return "a d s e  ? says what they do"
	}
	return "a allow  d deny  s session  e edit  ↑↓ choose  ? help  q quit"
}

// rows is the list, with the chosen question in it.
func (s *screen) rows() (lines []string) {
	most := max(min(len(s.list), (s.height-5)/3), min(len(s.list), 1))
	first := min(max(s.place()-most/2, 0), len(s.list)-most)
	for _, q := range s.list[first : first+most] {
		mark, style := "  ", lipgloss.NewStyle()
		if q.ID == s.chosen {
			mark, style = "> ", s.theme.chosen
		}
		lines = append(lines, style.Render(pad(mark+s.row(q), s.width)))
	}
	return lines
}

func (s *screen) row(q policy.Question) string {
	flag := ""
	if q.Claims.Destructive() {
		flag = "DESTROYS "
	}
	return fmt.Sprintf("%s  %s%s  %s", Visible(q.Tool), flag, Brief(q.Input, s.width), Ago(q.Asked, s.clock()))
}

// pane is what stands below the list.
func (s *screen) pane(room int) []string {
	switch s.look {
	case looksAtHelp:
		return s.help()
	case looksAtDenial:
		return s.form(room, "Why not? The model reads it. It may stay empty.")
	case looksAtReply:
		return s.form(room, "What does the tool hear?")
	case looksAtEdit:
		return s.form(room, "The arguments that may run in the place of those shown:")
	case looksAtRules:
		return s.rules(room)
	case looksAtSecond:
		return s.second()
	case looksAtList:
	}
	all := s.detail()
	last := min(s.scroll+room, len(all))
	lines := all[min(s.scroll, last):last]
	if last < len(all) { // the last line says that there is more
		more := len(all) - last + 1
		lines = append(lines[:len(lines)-1:len(lines)-1], s.theme.alarm.Render(cut(fmt.Sprintf("── %d more lines: PgDn ──", more), s.width)))
		last--
	}
	s.seen = max(s.seen, last)
	return lines
}

// detailHeight is how many lines of the detail are shown at once.
func (s *screen) detailHeight() int {
	return max(s.height-2-len(s.rows())-len(s.footer()), 1)
}

// detail is all about the chosen question, in lines as wide as the screen.
func (s *screen) detail() (lines []string) {
	q, ok := s.question()
	if !ok {
		return nil
	}
	for _, l := range Describe(q, s.clock()) {
		style := lipgloss.NewStyle()
		if l.Alarm {
			style = s.theme.alarm
		}
		for i, part := range wrap(l.Text, s.width-labelWidth) {
			label := l.Label
			if i > 0 {
				label = ""
			}
			lines = append(lines, style.Render(pad(label, labelWidth)+part))
		}
	}
	return lines
}

// labelWidth is how much room labels have.
const labelWidth = 11

// form is a text that is being written, with the line that is written in view.
func (s *screen) form(room int, title string) []string {
	texts, at := s.field.lines()
	lines := s.wrapped(title)
	body, line := []string{}, 0
	for i, t := range texts {
		if i == at {
			line = len(body) + strings.Count(strings.Join(wrap(strings.SplitAfter(t, cursor)[0], s.width), "\n"), "\n")
		}
		body = append(body, wrap(t, s.width)...)
	}
	left := max(room-len(lines), 1)
	first := min(max(line-left+1, 0), max(len(body)-1, 0))
	return append(lines, body[first:]...)
}

// rules are the offers, with the chosen one in view.
func (s *screen) rules(room int) []string {
	q, _ := s.question()
	lines := s.wrapped(fmt.Sprintf("Allow %s now, and from now on by which rule?", Visible(q.Tool)))
	end := 0 // of the chosen one
	for i, o := range q.Offers {
		mark, style := "  ", lipgloss.NewStyle()
		if i == s.offer {
			mark, style = "> ", s.theme.chosen
		}
		for j, part := range wrap(fmt.Sprintf("%d %s (%s)", i+1, Visible(o), OfferText(o)), s.width-2) {
			if j > 0 {
				mark = "  "
			}
			lines = append(lines, style.Render(mark+part))
		}
		if i == s.offer {
			end = len(lines)
		}
	}
	return lines[max(end-room, 0):]
}

func (s *screen) second() []string {
	q, _ := s.question()
	rule, long := "", "in this session"
	if s.offer < len(q.Offers) {
		rule = q.Offers[s.offer]
	}
	if s.always {
		long = "always"
	}
	var lines []string
	for _, l := range wrap("This call may destroy something for good. Y allows it, and "+long+" without a question whatever fits:", s.width) {
		lines = append(lines, s.theme.alarm.Render(l))
	}
	return append(lines, s.wrapped(Visible(rule))...)
}

func (s *screen) help() []string {
	var lines []string
	for _, l := range []string{
		"a       allow this call, once; answer what a tool asks",
		"d       deny it, with a message for the model",
		"s       allow it, and what fits a rule, in this session or always",
		"e       allow it once with other arguments",
		"↑ ↓     choose a call (also k, j)",
		"PgUp PgDn Home End   read what does not fit the window",
		"q       quit; what waits goes on waiting",
		"A yes is taken only for what was shown whole. ‹U+202E› stands for a character that cannot be seen.",
	} {
		lines = append(lines, s.wrapped(l)...)
	}
	return lines
}

func (s *screen) wrapped(text string) []string { return wrap(text, s.width) }

// wrap breaks a line that is too wide, behind a space where there is one.
// Nothing is left out.
func wrap(text string, width int) (lines []string) {
	width = max(width, 1)
	start, space, used := 0, 0, 0 // of the line; behind its last space; its width
	for i, c := range text {
		w := widthOf(c)
		if used+w > width && i > start {
			end := i
			if space > start {
				end = space
			}
			lines = append(lines, text[start:end])
			start, used = end, lipgloss.Width(text[end:i])
		}
		if used += w; c == ' ' {
			space = i + 1
		}
	}
	return append(lines, text[start:])
}

// widthOf is how many cells a character takes.
func widthOf(c rune) int {
	if c < utf8.RuneSelf {
		return 1 // what takes none was made visible
	}
	return lipgloss.Width(string(c))
}

// cut shortens a line to the width.
func cut(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	used := 0
	for i, c := range text {
		if used += widthOf(c); used > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// pad cuts a line or fills it with spaces.
func pad(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}
