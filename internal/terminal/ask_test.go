package terminal

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	t.Run("P6 keys move within a line, and none of them is in it", func(t *testing.T) {
		t.Parallel()
		a := &asking{prompt: "> ", field: newField("", false)}
		a.Update(tea.WindowSizeMsg{Width: 20, Height: 5})
		for _, c := range "two" {
			a.Update(tea.KeyPressMsg{Code: c, Text: string(c)})
		}
		for _, code := range []rune{tea.KeyLeft, tea.KeyHome, tea.KeyUp, tea.KeyDown, tea.KeyF1, tea.KeyEscape} {
			a.Update(tea.KeyPressMsg{Code: code})
		}
		a.Update(tea.PasteMsg{Content: "one\nand \x1b[2J"})
		if got, want := a.field.String(), "one and [2Jtwo"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := a.View().Content, "> one and [2J█two"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, cmd := a.Update(tea.KeyPressMsg{Code: tea.KeyEnter}); cmd == nil || a.interrupted {
			t.Error("got that it goes on, want its end")
		}
		if got := a.View().Content; strings.Contains(got, cursor) || !strings.HasSuffix(got, "two\n") {
			t.Errorf("got %q, want the line without a mark, and its end", got)
		}
	})
	t.Run("P6 a line needs a terminal", func(t *testing.T) {
		t.Parallel()
		if _, err := Ask(t.Context(), strings.NewReader("x\n"), nil, nil, "> "); err != ErrNoTerminal { //nolint:errorlint // it is not wrapped
			t.Errorf("got %v, want %v", err, ErrNoTerminal)
		}
	})
}
