package terminal

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	t.Run("P6 a key that was meant for a question which is gone allows nothing", func(t *testing.T) {
		s, d, now := open(t, 80, 24, remove(), read())
		send(s, pendingMsg{list: []policy.Question{read()}})
		press(s, "a")
		if len(d.said) > 0 || !strings.Contains(s.note, "it has moved") {
			t.Errorf("said %v, note %q, want nothing said", d.said, s.note)
		}
		*now = now.Add(time.Second)
		if press(s, "a"); len(d.said) != 1 || !strings.HasPrefix(d.said[0], "q2 ") {
			t.Errorf("said %v, want it allowed after a look", d.said)
		}
	})
	t.Run("P6 what changes under the cursor is to be read again", func(t *testing.T) {
		s, d, now := open(t, 80, 24, remove(), long())
		press(s, "j<pgdown><pgdown><pgdown>")
		other := long()
		other.Preview = "rm -rf /\n" + other.Preview
		send(s, pendingMsg{list: []policy.Question{remove(), other}})
		*now = now.Add(time.Second)
		if press(s, "a"); len(d.said) > 0 || !strings.Contains(s.note, "not all of it was shown") || s.chosen != "q4" {
			t.Errorf("said %v, note %q, chosen %s, want nothing said", d.said, s.note, s.chosen)
		}
	})
	t.Run("P6 new ones appear, and the chosen one stays chosen", func(t *testing.T) {
		s, d, _ := open(t, 80, 24, read())
		send(s, pendingMsg{list: []policy.Question{remove(), read()}})
		if text := strings.Join(s.lines(), "\n"); !strings.Contains(text, "2 waiting") || !strings.Contains(text, "  remove_file") || !strings.Contains(text, "> github__read") {
			t.Errorf("got\n%s", text)
		}
		if press(s, "a"); len(d.said) != 1 || !strings.HasPrefix(d.said[0], "q2 ") {
			t.Errorf("said %v, want q2", d.said)
		}
	})
	t.Run("P5 a refused answer is told", func(t *testing.T) {
		s, d, _ := open(t, 80, 24, remove())
		d.fail = policy.ErrAnswered
		if press(s, "a"); s.note != "not done: remove_file: it is answered already" {
			t.Errorf("note %q", s.note)
		}
	})
	t.Run("P6 a store that fails is told, and the list stays", func(t *testing.T) {
		s, _, _ := open(t, 80, 24, remove())
		send(s, pendingMsg{err: errors.New("disk \x1b[2J full")})
		if text := strings.Join(s.lines(), "\n"); !strings.Contains(text, "the list cannot be read: disk ‹U+001B›[2J full") || !strings.Contains(text, "> remove_file") {
			t.Errorf("got\n%s", text)
		}
	})
	t.Run("P6 q quits, also while nothing waits; in a text it is a letter", func(t *testing.T) {
		s, _, _ := open(t, 80, 24)
		if !press(s, "q") || !press(s, "<ctrl+c>") {
			t.Error("it goes on")
		}
		s, _, _ = open(t, 80, 24, remove())
		if press(s, "dq") || s.field.String() != "q" {
			t.Error("it quit")
		}
	})
	t.Run("P5 who quits while an answer is on its way waits for it", func(t *testing.T) {
		s, d, _ := open(t, 80, 24, remove())
		_, cmd := s.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
		if press(s, "q") {
			t.Fatal("it quit before the answer was given")
		}
		_, cmd = s.Update(cmd())
		if _, ok := cmd().(tea.QuitMsg); !ok || len(d.said) != 1 {
			t.Errorf("said %v, want one answer and then the end", d.said)
		}
		d.fail = policy.ErrAnswered
		_, cmd = s.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
		press(s, "q")
		if _, _ = s.Update(cmd()); !strings.HasPrefix(s.note, "not done") {
			t.Errorf("note %q, want what went wrong", s.note)
		}
	})
	t.Run("P4 a note takes room and hides nothing for good", func(t *testing.T) {
		s, d, now := open(t, 40, 12, remove())
		s.note = strings.Repeat("much happened meanwhile ", 9)
		send(s, pendingMsg{list: []policy.Question{longer()}})
		press(s, strings.Repeat("<pgdown>", 200))
		*now = now.Add(time.Second)
		if press(s, "a"); len(d.said) != 1 {
			t.Errorf("said %v, note %q, want it allowed: PgDn has shown all", d.said, s.note)
		}
	})
	t.Run("P4 a window that changes its size is to be read again", func(t *testing.T) {
		s, d, _ := open(t, 40, 24, long())
		press(s, "<pgdown><pgdown><pgdown><pgdown>")
		send(s, tea.WindowSizeMsg{Width: 80, Height: 10})
		if press(s, "a"); len(d.said) > 0 {
			t.Errorf("said %v, want nothing said", d.said)
		}
	})
	t.Run("P4 a pasted text is text", func(t *testing.T) {
		s, d, _ := open(t, 80, 24, remove())
		press(s, "d")
		send(s, tea.PasteMsg{Content: "a\r\nb\x1b[31m\tc"})
		if press(s, "<enter>"); len(d.said) != 1 || !strings.Contains(d.said[0], `message="a b[31m c"`) {
			t.Errorf("said %v", d.said)
		}
	})
}

// What was typed for a question that is gone meanwhile is no command for another.
func TestGone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, after string
		look                look
	}{
		{"P6 while a message is written", "dthis ", "is lazy, ask Yes", looksAtDenial},
		{"P6 while arguments are written", "e", "ads<ctrl+s>a", looksAtEdit},
		{"P6 while a rule is chosen", "s", "aAY2j<down>da", looksAtRules},
		{"P6 while the second key is awaited", "s<enter>", "YAas", looksAtSecond},
		{"P6 q does not quit there", "dno", "q", looksAtDenial},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{"<esc>", "<enter>"} {
				s, d, now := open(t, 80, 24, remove(), read())
				press(s, tt.before)
				send(s, pendingMsg{list: []policy.Question{read()}})
				*now = now.Add(time.Minute)
				send(s, pendingMsg{list: []policy.Question{read()}})
				quit := press(s, tt.after)
				if text := strings.Join(s.lines(), "\n"); quit || s.look != tt.look || !strings.Contains(text, "this question was answered elsewhere") {
					t.Fatalf("looks at %d, want %d, marked as gone:\n%s", s.look, tt.look, text)
				}
				press(s, end+"aY")
				if len(d.said) > 0 || s.look != looksAtList || s.chosen != "q2" {
					t.Errorf("%s: said %v, looks at %d, chosen %q, want nothing said and the next one chosen", end, d.said, s.look, s.chosen)
				}
				*now = now.Add(time.Second)
				if press(s, "a"); len(d.said) != 1 || !strings.HasPrefix(d.said[0], "q2 ") {
					t.Errorf("%s: said %v, want q2 allowed after a look", end, d.said)
				}
			}
		})
	}
}
