package terminal

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Ask has a person write one line behind a prompt, with keys that move within it. Enter
// ends it. It ends with [ErrInterrupted] by Ctrl-C, or where ctx ends, and needs a
// terminal as [Watch] does. What was written stays on the screen.
func Ask(ctx context.Context, in, out any, env []string, prompt string) (string, error) {
	a := &asking{prompt: prompt, field: newField("", false)}
	if err := show(ctx, in, out, env, a, &a.interrupted); err != nil {
		return "", err
	}
	return strings.TrimSpace(a.field.String()), nil
}

// asking is a line that is being written.
type asking struct {
	prompt      string
	field       field
	width       int
	over        bool
	interrupted bool
}

// Init asks for nothing.
func (a *asking) Init() tea.Cmd { return nil }

// Update takes a message.
func (a *asking) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		a.width = m.Width
	case tea.PasteMsg:
		a.field.write(m.Content)
	case tea.KeyPressMsg:
		switch m.String() {
		case "ctrl+c":
			a.over, a.interrupted = true, true
			return a, tea.Quit
		case "enter", "ctrl+d":
			a.over = true
			return a, tea.Quit
		}
		a.field.key(m)
	}
	return a, nil
}

// View draws the line, in as many as it needs.
func (a *asking) View() tea.View {
	if a.width == 0 {
		return tea.NewView("")
	}
	text := Visible(a.field.String())
	if !a.over {
		const cells = 4 << 10 // more is not on any screen
		lines, _ := a.field.lines(cells)
		text = strings.Join(lines, " ")
	}
	lines := wrap(a.prompt+text, a.width-1)
	if a.over {
		lines = append(lines, "") // what is printed next begins a line
	}
	return tea.NewView(strings.Join(lines, "\n"))
}
