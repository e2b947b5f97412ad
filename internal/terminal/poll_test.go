package terminal

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

// run does what commands say for a while, as the program around a screen does,
// with what else comes at which time.
func run(t *testing.T, s *screen, long time.Duration, at map[time.Duration]tea.Msg) {
	t.Helper()
	msgs := make(chan tea.Msg)
	ctx, stop := context.WithTimeout(t.Context(), long)
	defer stop()
	start := func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		go func() {
			msg := cmd()
			select {
			case msgs <- msg:
			case <-ctx.Done():
			}
		}()
	}
	start(s.Init())
	for after, msg := range at {
		start(tea.Tick(after, func(time.Time) tea.Msg { return msg }))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case msg := <-msgs:
			_, cmd := s.Update(msg)
			start(cmd)
		}
	}
}

func TestPoll(t *testing.T) {
	t.Parallel()
	key := tea.KeyPressMsg{Code: 'a', Text: "a"}
	at := func(n int) map[time.Duration]tea.Msg {
		keys := map[time.Duration]tea.Msg{}
		for i := range n {
			keys[time.Duration(i+1)*time.Second+70*time.Millisecond] = key
		}
		return keys
	}
	tests := []struct {
		name         string
		takes        time.Duration
		keys         map[time.Duration]tea.Msg
		least, most  int // how often the list is read in a minute
		together     int // readings at once
		wantAnswered int
	}{
		{"P6 new questions appear within a moment", 0, nil, 290, 301, 1, 0},
		{"P6 answers make it no more often", 0, at(20), 290, 321, 1, 20},
		{"P6 a list that takes long is read less often", time.Second, nil, 10, 13, 1, 0},
		{"P6 also with answers", time.Second, at(20), 10, 45, 1, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				reads, now, most, answers := 0, 0, 0, 0
				s := &screen{ctx: t.Context(), clock: time.Now, width: 80, height: 24, desk: Desk{
					Pending: func(context.Context) ([]policy.Question, error) {
						mu.Lock()
						reads++
						now++
						most = max(most, now)
						mu.Unlock()
						time.Sleep(tt.takes)
						mu.Lock()
						now--
						mu.Unlock()
						return []policy.Question{remove()}, nil
					},
					Answer: func(context.Context, string, policy.Answer) error {
						mu.Lock()
						defer mu.Unlock()
						answers++
						return nil
					},
				}}
				run(t, s, time.Minute, tt.keys)
				time.Sleep(time.Minute) // for those that have begun
				mu.Lock()
				defer mu.Unlock()
				if reads < tt.least || reads > tt.most || most != tt.together || answers < tt.wantAnswered-2 {
					t.Errorf("read %d times, %d at once, %d answers; want %d to %d times, %d at once, about %d answers", reads, most, answers, tt.least, tt.most, tt.together, tt.wantAnswered)
				}
			})
		})
	}
}

// A list that was read before an answer was given still holds its question.
func TestPollStale(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t, 80, 24, remove())
	_, stale := s.Update(pollMsg{})
	old := stale()
	if _, cmd := s.Update(answeredMsg{text: "x"}); cmd != nil {
		t.Error("P6 got two readings at once, want the second after the first")
	}
	s.desk.Pending = func(context.Context) ([]policy.Question, error) { return nil, nil }
	_, again := s.Update(old)
	if _, _ = s.Update(again()); len(s.list) > 0 {
		t.Errorf("P6 got %d questions, want none", len(s.list))
	}
}

// Typing stays quick however long the arguments are: a key costs what is on the
// screen.
func TestLongArguments(t *testing.T) {
	cost := func(size int, keys string) float64 {
		q := remove()
		q.Input = `{"a":"` + strings.Repeat("word ", size/5) + `"}`
		s, _, _ := open(t, 80, 24, q)
		s.page.seen = 1 << 30
		press(s, keys)
		return testing.AllocsPerRun(5, func() { s.show(); s.View() })
	}
	for name, keys := range map[string]string{"P4 the list": "", "P4 the editor": "e<right><right>"} {
		t.Run(name, func(t *testing.T) {
			few, many := cost(1<<14, keys), cost(1<<20, keys)
			if many > 2*few {
				t.Errorf("a frame makes %.0f things for 16 KiB and %.0f for 1 MiB, want about the same", few, many)
			}
		})
	}
}
