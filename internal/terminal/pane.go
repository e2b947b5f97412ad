package terminal

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// goneText is why there is nothing any more that could be answered.
const goneText = "this question was answered elsewhere, withdrawn or changed, or it has expired"

// line is a line of what stands below the list, not wider than the screen.
type line struct {
	text  string
	style lipgloss.Style
}

// laid is all about a question in lines. To lay out a long one takes time.
type laid struct {
	done  bool
	fixed int // lines that stay as they are
	lines []line
}

// labelWidth is how much room labels have.
const labelWidth = 11

// pane is what stands below the list.
func (s *screen) pane(room int) (lines []string) {
	if s.gone {
		for _, l := range s.wrapped(goneText, s.theme.alarm) {
			lines = append(lines, l.style.Render(l.text))
		}
		room = max(room-len(lines), 0)
	}
	switch s.look {
	case looksAtDenial:
		return append(lines, s.form(room, "Why not? The model reads it. It may stay empty.")...)
	case looksAtReply:
		return append(lines, s.form(room, VisibleLines(s.about.Wants)...)...)
	case looksAtEdit:
		return append(lines, s.form(room, "The arguments that may run in the place of those shown:")...)
	case looksAtHelp:
		return s.paged(s.help(), s.part, room)
	case looksAtRules:
		all, _, _ := s.rules()
		return append(lines, s.paged(all, s.part, room)...)
	case looksAtSecond:
		return append(lines, s.paged(s.second(), s.part, room)...)
	case looksAtList:
	}
	return s.paged(s.detail(), s.page, room)
}

// paged is what there is room for. The last line says that there is more.
func (s *screen) paged(all []line, p page, room int) (lines []string) {
	end := p.end(len(all), room)
	for _, l := range all[min(p.top, end):end] {
		lines = append(lines, l.style.Render(l.text))
	}
	if more := len(all) - end; more > 0 && room > 0 {
		lines = append(lines, s.theme.alarm.Render(cut(fmt.Sprintf("── %d more lines: PgDn ──", more), s.width)))
	}
	return lines
}

// detail is all about the chosen question.
func (s *screen) detail() []line {
	q, ok := s.question()
	if !ok {
		return nil
	}
	if !s.laid.done {
		s.laid = laid{done: true}
		for _, l := range describe(q) {
			s.laid.lines = append(s.laid.lines, s.labelled(l)...)
		}
		s.laid.fixed = len(s.laid.lines)
	}
	s.laid.lines = append(s.laid.lines[:s.laid.fixed], s.labelled(times(q, s.clock()))...)
	return s.laid.lines
}

func (s *screen) labelled(l Line) (lines []line) {
	style := lipgloss.NewStyle()
	if l.Alarm {
		style = s.theme.alarm
	}
	for i, part := range wrap(l.Text, s.width-labelWidth) {
		label := l.Label
		if i > 0 {
			label = ""
		}
		lines = append(lines, line{pad(label, labelWidth) + part, style})
	}
	return lines
}

// form is a text that is being written, with the line that is written in view.
// What it is about has at most half of the room.
func (s *screen) form(room int, title ...string) (lines []string) {
	for _, t := range title {
		for _, part := range wrap(t, s.width) {
			if len(lines) < max(room/2, 1) {
				lines = append(lines, s.theme.title.Render(part))
			}
		}
	}
	texts, at := s.field.lines(3 * s.width * max(room, 1))
	body, written := []string{}, 0
	for i, t := range texts {
		if i == at {
			written = len(body) + len(wrap(strings.SplitAfter(t, cursor)[0], s.width)) - 1
		}
		body = append(body, wrap(t, s.width)...)
	}
	left := max(room-len(lines), 1)
	first := min(max(written-left+1, 0), max(len(body)-1, 0))
	return append(lines, body[first:]...)
}

// rules are the offers, and from where to where the chosen one stands. What
// stands above the first belongs to it.
func (s *screen) rules() (lines []line, from, to int) {
	lines = s.wrapped(fmt.Sprintf("Allow %s now, and from now on by which rule?", Visible(s.about.Tool)), s.theme.title)
	for i, o := range s.about.Offers {
		mark, style := "  ", lipgloss.NewStyle()
		if i == s.offer {
			mark, style = "> ", s.theme.chosen
		}
		if i == s.offer && i > 0 {
			from = len(lines)
		}
		for j, part := range wrap(fmt.Sprintf("%d %s (%s)", i+1, Visible(o), OfferText(o)), s.width-2) {
			if j > 0 {
				mark = "  "
			}
			lines = append(lines, line{mark + part, style})
		}
		if i == s.offer {
			to = len(lines)
		}
	}
	return lines, from, to
}

// second is what the second key would allow.
func (s *screen) second() []line {
	rule, long := "", "in this session"
	if s.offer < len(s.about.Offers) {
		rule = s.about.Offers[s.offer]
	}
	if s.always {
		long = "always"
	}
	return append(s.wrapped("This call may destroy something for good. Y allows it, and "+long+" without a question whatever fits:", s.theme.alarm),
		s.wrapped(Visible(rule), lipgloss.NewStyle())...)
}

func (s *screen) help() (lines []line) {
	for _, l := range []Line{
		{Label: "a", Text: "allow this call, once; answer what a tool asks"},
		{Label: "d", Text: "deny it, with a message for the model"},
		{Label: "s", Text: "allow it, and what fits a rule, in this session or always"},
		{Label: "e", Text: "allow it once with other arguments"},
		{Label: "↑ ↓  k j", Text: "choose a call"},
		{Label: "PgUp PgDn", Text: "read what does not fit the window"},
		{Label: "Home End", Text: "go to where it begins or ends"},
		{Label: "q", Text: "quit; what waits goes on waiting"},
	} {
		lines = append(lines, s.labelled(l)...)
	}
	return append(lines, s.wrapped("A yes is taken only for what was shown whole. ‹U+202E› stands for a character that cannot be seen.", lipgloss.NewStyle())...)
}

func (s *screen) wrapped(text string, style lipgloss.Style) (lines []line) {
	for _, part := range wrap(text, s.width) {
		lines = append(lines, line{part, style})
	}
	return lines
}
