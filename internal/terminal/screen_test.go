package terminal

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/tools/txtar"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

var update = flag.Bool("update", false, "write testdata/screens.txtar")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// remove is a question about a call that destroys; read about one that does not.
func remove() policy.Question {
	return policy.Question{
		ID: "q1", Tool: "remove_file", Source: tool.Source{Trust: tool.Own}, Caller: policy.Asker{Principal: "ada", Session: "s1"},
		Claims: tool.Claims{Local: true, Touches: []tool.Access{{Resource: "file:/tmp/a", Write: true}}}, Turn: 2, Index: 0,
		Input: `{"path":"/tmp/a"}`, Preview: "rm /tmp/a", Reason: "a file would be gone", Rule: "policy.ask[0]",
		Offers: []string{"remove_file(args: AAAAAAAAAAAAAAAAAAAAAA)", "remove_file(path: /tmp/**)"},
		Asked:  noon.Add(-90 * time.Second), Expires: noon.Add(24 * time.Hour),
	}
}

func read() policy.Question {
	return policy.Question{
		ID: "q2", Tool: "github__read", Source: tool.Source{Name: "github", Trust: tool.MCP}, Caller: policy.Asker{Session: "s1"},
		Claims: tool.Claims{ReadOnly: true}, Turn: 2, Index: 1, Input: `{"id":7,"text":"a\u202eb ` + "\u202e\x1b[31m" + `"}`,
		Offers: []string{"github__read(args: BBBBBBBBBBBBBBBBBBBBBB)", "github__read"}, Note: policy.NoteEarly,
		Asked: noon, Expires: noon.Add(time.Hour),
	}
}

// flows is asked for because of where data goes.
func flows() policy.Question {
	q := read()
	q.ID, q.Rule = "q7", "data flow (a, c)"
	return q
}

func wants() policy.Question {
	q := read()
	q.ID, q.Tool, q.Wants, q.Note, q.Offers = "q3", "ask_user", "Which colour?", "", nil
	return q
}

func choices() policy.Question {
	q := wants()
	q.Wants = "Which colour?\n1. red\n2. blue"
	return q
}

func long() policy.Question {
	q := remove()
	q.ID, q.Preview = "q4", strings.Repeat("line\n", 30)+"the end"
	return q
}

func longer() policy.Question {
	q := remove()
	q.ID, q.Preview = "q4", strings.Repeat("line\n", 200)+"rm -rf /\n"+strings.Repeat("line\n", 200)
	return q
}

// longRule offers a rule that does not fit a screen.
func longRule() policy.Question {
	q := read()
	q.ID, q.Offers = "q5", []string{"github__read(path: /everything/" + strings.Repeat("a/", 950) + "**, path: /" + strings.Repeat("b/", 950) + "**, path: /" + strings.Repeat("a/", 600) + "**)", "github__read"}
	return q
}

func longRemove() policy.Question {
	q := remove()
	q.ID, q.Offers = "q6", longRule().Offers
	return q
}

// desk keeps what was answered.
type desk struct {
	said []string
	fail error
}

// open is a screen of a size with questions, as it stands a while after they came.
func open(t *testing.T, width, height int, list ...policy.Question) (*screen, *desk, *time.Time) {
	t.Helper()
	d, now := new(desk), noon
	s := &screen{ctx: t.Context(), clock: func() time.Time { return now }, desk: Desk{
		By: "ada", Pending: func(context.Context) ([]policy.Question, error) { return list, nil },
		Answer: func(_ context.Context, id string, a policy.Answer) error {
			d.said = append(d.said, fmt.Sprintf("%s allow=%t rule=%q always=%t second=%t input=%s message=%q text=%q by=%s", id, a.Allow, a.Rule, a.Always, a.Second, a.Input, a.Message, a.Text, a.By))
			return d.fail
		},
	}}
	send(s, tea.WindowSizeMsg{Width: width, Height: height})
	send(s, s.poll())
	now = now.Add(time.Second)
	s.View()
	return s, d, &now
}

// send gives a message, and what comes of it if that is an answer.
func send(s *screen, msg tea.Msg) (quit bool) {
	_, cmd := s.Update(msg)
	s.View()
	if _, ok := msg.(tea.KeyPressMsg); !ok || cmd == nil {
		return false
	}
	switch m := cmd().(type) {
	case tea.QuitMsg, tea.InterruptMsg:
		return true
	case answeredMsg:
		_, _ = s.Update(m)
		s.polling = polling{} // what it would ask for is never read
		s.View()
	}
	return false
}

// press gives keys: letters as they are, others by name in < >.
func press(s *screen, keys string) (quit bool) {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "end": tea.KeyEnd, "home": tea.KeyHome, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete}
	for keys != "" {
		var k tea.KeyPressMsg
		if keys[0] == '<' {
			name, rest, _ := strings.Cut(keys[1:], ">")
			keys = rest
			if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
				k = tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
			} else {
				k = tea.KeyPressMsg{Code: named[name]}
			}
		} else {
			k = tea.KeyPressMsg{Code: rune(keys[0]), Text: keys[:1]}
			keys = keys[1:]
		}
		quit = send(s, k)
	}
	return quit
}

func TestScreens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		width, height int
		list          []policy.Question
		keys          string
	}{
		{"P4 a call that destroys", 80, 24, []policy.Question{remove(), read()}, ""},
		{"P4 hidden characters are shown", 80, 24, []policy.Question{remove(), read()}, "j"},
		{"P4 nothing waits", 60, 10, nil, ""},
		{"P4 what a tool asks", 80, 20, []policy.Question{wants()}, ""},
		{"P4 a small window", 40, 12, []policy.Question{remove(), read()}, ""},
		{"P4 a small window and a long rule", 40, 10, []policy.Question{longRule()}, "<pgdown><pgdown><pgdown><pgdown>s<enter>"},
		{"P4 the end of a long rule", 40, 10, []policy.Question{longRule()}, "<pgdown><pgdown><pgdown><pgdown>s<end>"},
		{"P4 a small window and what a tool asks", 40, 10, []policy.Question{wants()}, "<pgdown><pgdown><pgdown>ared"},
		{"P4 what a tool asks, with choices", 60, 16, []policy.Question{choices()}, "<end>a2"},
		{"P4 the smallest window", 24, 8, []policy.Question{remove(), read()}, ""},
		{"P4 too small a window", 20, 5, []policy.Question{remove()}, "a"},
		{"P4 more than the window holds", 60, 16, []policy.Question{long()}, "a"},
		{"P4 its end", 60, 16, []policy.Question{long()}, "<end>"},
		{"P3 the rules of a session", 80, 22, []policy.Question{remove()}, "sj"},
		{"P3 the second key", 80, 22, []policy.Question{remove()}, "sj<enter>"},
		{"P3 the second key for ever", 80, 22, []policy.Question{remove()}, "sA"},
		{"P7 a message", 80, 16, []policy.Question{remove()}, "dnot now"},
		{"P5 edited arguments", 80, 20, []policy.Question{remove()}, "e<down>"},
		{"P5 edited arguments that are not JSON", 80, 20, []policy.Question{remove()}, "ex<ctrl+s>"},
		{"P6 help", 80, 20, []policy.Question{remove()}, "?"},
		{"P6 help in a small window", 40, 10, []policy.Question{remove()}, "?"},
		{"P4 a large window", 200, 50, []policy.Question{remove(), read(), wants()}, ""},
		{"P6 many", 50, 20, many(30), strings.Repeat("j", 20)},
	}
	golden := filepath.Join("testdata", "screens.txtar")
	archive, err := txtar.ParseFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: []byte("What the screen shows. go test ./internal/terminal -update writes it.\n")}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, _ := open(t, tt.width, tt.height, tt.list...)
			press(s, tt.keys)
			var b bytes.Buffer
			lines := s.lines()
			if len(lines) != tt.height {
				t.Errorf("got %d lines, want %d", len(lines), tt.height)
			}
			for _, l := range lines {
				if w := lipgloss.Width(l); w > tt.width {
					t.Errorf("got a line of %d cells, want at most %d: %s", w, tt.width, l)
				}
				fmt.Fprintln(&b, "|"+strings.TrimRight(l, " "))
			}
			got.Files = append(got.Files, txtar.File{Name: tt.name, Data: b.Bytes()})
			if *update {
				return
			}
			for _, f := range archive.Files {
				if f.Name == tt.name {
					if !bytes.Equal(f.Data, b.Bytes()) {
						t.Errorf("got\n%s\nwant\n%s", b.Bytes(), f.Data)
					}
					return
				}
			}
			t.Errorf("not in %s", golden)
		})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func many(n int) (list []policy.Question) {
	for i := range n {
		q := read()
		q.ID, q.Tool, q.Input = fmt.Sprint("m", i), fmt.Sprint("tool_", i), "{}"
		list = append(list, q)
	}
	return list
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const none = ` rule="" always=false second=false input= message="" text="" by=ada`
	tests := []struct {
		name, keys, want, note string
		list                   []policy.Question
	}{
		{"P5 allow", "a", "q1 allow=true" + none, "remove_file: allowed once", []policy.Question{remove()}},
		{"P5 the chosen one", "ja", "q2 allow=true" + none, "github__read: allowed once", []policy.Question{remove(), read()}},
		{"G6 a yes to the flow of data is for where it goes", "a", "q7 allow=true" + none, "github__read: allowed; so is what goes to the same place, until the session ends", []policy.Question{flows()}},
		{"P7 deny with a message", "dno, q!<enter>", `q1 allow=false rule="" always=false second=false input= message="no, q!" text="" by=ada`, "remove_file: denied", []policy.Question{remove()}},
		{"P7 deny without one", "d<enter>", "q1 allow=false" + none, "remove_file: denied", []policy.Question{remove()}},
		{"P7 think again", "dno<esc>", "", "", []policy.Question{remove()}},
		{"P3 a session without the second key", "s<enter>n", "", "", []policy.Question{remove()}},
		{"P3 a session with the second key", "s2<enter>Y", `q1 allow=true rule="remove_file(path: /tmp/**)" always=false second=true input= message="" text="" by=ada`, "remove_file: allowed in this session: remove_file(path: /tmp/**)", []policy.Question{remove()}},
		{"P3 always with the second key", "sAY", `q1 allow=true rule="remove_file(args: AAAAAAAAAAAAAAAAAAAAAA)" always=true second=true input= message="" text="" by=ada`, "remove_file: allowed always: remove_file(args: AAAAAAAAAAAAAAAAAAAAAA)", []policy.Question{remove()}},
		{"P3 what only reads takes one key", "sj<enter>", `q2 allow=true rule="github__read" always=false second=false input= message="" text="" by=ada`, "github__read: allowed in this session: github__read", []policy.Question{read()}},
		{"P5 nothing is offered", "s", "", "nothing is offered for longer than once", []policy.Question{wants()}},
		{"P5 edited arguments", "e<ctrl+e><right><ctrl+e>" + strings.Repeat("<backspace>", 2) + "b\"<ctrl+s>", "q1 allow=true rule=\"\" always=false second=false input={\n  \"path\": \"/tmp/b\"\n} message=\"\" text=\"\" by=ada", "remove_file: allowed once, with the arguments as edited", []policy.Question{remove()}},
		{"P5 edited arguments that are a list", "e<delete>[<ctrl+s>", "", "not JSON at character 11: invalid character ':' after array element", []policy.Question{remove()}},
		{"P4 an answer for a tool", "ared<enter>", `q3 allow=true rule="" always=false second=false input= message="" text="red" by=ada`, "ask_user: answered", []policy.Question{wants()}},
		{"P4 not before all was shown", "a", "", "not all of it was shown yet: PgDn shows the rest, then press a", []policy.Question{long()}},
		{"P4 once all was shown", "<pgdown><pgdown><pgdown><pgdown><home>a", "q4 allow=true" + none, "remove_file: allowed once", []policy.Question{long()}},
		{"P4 not after a jump to its end", "<end>a", "", "this was not shown yet: read on with PgDn, then press a", []policy.Question{long()}},
		{"P4 nor at once after the jump back", "<end>aa", "", "it has moved: look again, then press a", []policy.Question{long()}},
		{"P4 not a part in the middle either", "<pgdown><end><home><pgdown><end>a", "", "this was not shown yet: read on with PgDn, then press a", []policy.Question{longer()}},
		{"P3 not by a rule whose end was not shown", "s<enter>", "", "not all of it was shown yet: PgDn shows the rest, then press enter", []policy.Question{longRule()}},
		{"P3 nor by one whose middle was jumped over", "s<end><enter>", "", "this was not shown yet: read on with PgDn, then press enter", []policy.Question{longRule()}},
		{"P3 by one that was shown whole", "s<pgdown><pgdown><pgdown><pgdown><pgdown><enter>", `q5 allow=true rule="` + longRule().Offers[0] + `" always=false second=false input= message="" text="" by=ada`, "github__read: allowed in this session: " + longRule().Offers[0], []policy.Question{longRule()}},
		{"P3 the second key not for what was not shown", "s<pgdown><pgdown><pgdown><pgdown><pgdown>AY", "", "not all of it was shown yet: PgDn shows the rest, then press Y", []policy.Question{longRemove()}},
		{"P3 the second key for what was shown whole", "s<pgdown><pgdown><pgdown><pgdown><pgdown>A<pgdown><pgdown><pgdown><pgdown><pgdown>Y", `q6 allow=true rule="` + longRule().Offers[0] + `" always=true second=true input= message="" text="" by=ada`, "remove_file: allowed always: " + longRule().Offers[0], []policy.Question{longRemove()}},
		{"P6 nothing waits", "a", "", "nothing waits", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, d, _ := open(t, 80, 24, tt.list...)
			press(s, tt.keys)
			if got := strings.Join(d.said, "\n"); got != tt.want {
				t.Errorf("said\n%s\nwant\n%s", got, tt.want)
			}
			if s.note != tt.note {
				t.Errorf("note: got %q, want %q", s.note, tt.note)
			}
		})
	}
}
