package terminal

import (
	"fmt"
	"strings"

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
	top := s.top()
	return s.fit(append(top, s.pane(s.height-len(top)-len(s.footer()))...), s.footer())
}

// room is how many lines there are for what is chosen.
func (s *screen) room() int { return s.height - len(s.top()) - len(s.footer()) }

// top is the list.
func (s *screen) top() []string {
	title, rows := "ferrule approvals: nothing waits", s.rows()
	if n := len(s.list); n > 0 {
		title = fmt.Sprintf("ferrule approvals: %d waiting", n)
		if at := s.place(); at >= 0 && n > len(rows) {
			title += fmt.Sprintf(", this is %d", at+1)
		}
	}
	lines := append([]string{s.theme.title.Render(cut(title, s.width))}, rows...)
	return append(lines, s.theme.faint.Render(strings.Repeat("─", s.width)))
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

// footer is what came of the last key, and which keys there are.
func (s *screen) footer() (lines []string) {
	note := s.note
	switch {
	case s.broken != nil:
		note = "the list cannot be read: " + s.broken.Error()
	case s.busy:
		note = "…"
	}
	parts := wrap(Visible(note), s.width)
	if most := max(s.height/5, 1); len(parts) > most {
		parts = append(parts[:most-1:most-1], cut(strings.Join(parts[most-1:], ""), s.width))
	}
	for _, p := range parts {
		lines = append(lines, s.theme.title.Render(p))
	}
	return append(lines, s.theme.faint.Render(cut(s.hints(), s.width)))
}

func (s *screen) hints() string {
	narrow := s.width < 64
	switch {
	case s.look == looksAtHelp:
		return "any key goes back"
	case s.gone:
		return "esc or enter goes back"
	case s.look == looksAtDenial, s.look == looksAtReply:
		return "enter sends  esc goes back"
	case s.look == looksAtEdit && narrow:
		return "ctrl+s allows  esc goes back"
	case s.look == looksAtEdit:
		return "ctrl+s allows with these arguments  esc goes back"
	case s.look == looksAtRules && narrow:
		return "enter session  A always  ↑↓  esc"
	case s.look == looksAtRules:
		return "enter for this session  A always  ↑↓ choose  esc goes back"
	case s.look == looksAtSecond && narrow:
		return "Y allows  others go back"
	case s.look == looksAtSecond:
		return "Y allows  any other key goes back"
	case len(s.list) == 0:
		return "? help  q quit"
	case narrow:
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
		flag = "DESTROYS  "
	}
	// What a model wrote comes last: nothing behind it can be moved by it.
	return fmt.Sprintf("%s  %s%s  %s", Visible(q.Tool), flag, Ago(q.Asked, s.clock()), Brief(q.Input, s.width))
}
