package terminal

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
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

func wants() policy.Question {
	q := read()
	q.ID, q.Tool, q.Wants, q.Note, q.Offers = "q3", "ask_user", "Which colour?", "", nil
	return q
}

func long() policy.Question {
	q := remove()
	q.ID, q.Preview = "q4", strings.Repeat("line\n", 30)+"the end"
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
	if cmd == nil {
		return false
	}
	if _, ok := msg.(tea.KeyPressMsg); !ok {
		return false
	}
	switch m := cmd().(type) {
	case tea.QuitMsg, tea.InterruptMsg:
		return true
	case answeredMsg:
		_, _ = s.Update(m)
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
				if w := len([]rune(l)); w > tt.width {
					t.Errorf("got a line of %d characters, want at most %d: %s", w, tt.width, l)
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
		{"P4 or its end was looked at", "<end>a", "q4 allow=true" + none, "remove_file: allowed once", []policy.Question{long()}},
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

func TestChanges(t *testing.T) {
	t.Parallel()
	t.Run("P6 a key that was meant for a question which is gone allows nothing", func(t *testing.T) {
		s, d, now := open(t, 80, 24, remove(), read())
		send(s, pendingMsg{list: []policy.Question{read()}})
		press(s, "a")
		if len(d.said) > 0 || !strings.Contains(s.note, "the list has moved") {
			t.Errorf("said %v, note %q, want nothing said", d.said, s.note)
		}
		*now = now.Add(time.Second)
		if press(s, "a"); len(d.said) != 1 || !strings.HasPrefix(d.said[0], "q2 ") {
			t.Errorf("said %v, want it allowed after a look", d.said)
		}
	})
	t.Run("P6 one that is answered elsewhere while a rule is chosen", func(t *testing.T) {
		s, d, _ := open(t, 80, 24, remove(), read())
		press(s, "s")
		send(s, pendingMsg{list: []policy.Question{read()}})
		press(s, "<enter>Y")
		if len(d.said) > 0 || s.look != looksAtList {
			t.Errorf("said %v, want nothing said", d.said)
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
	t.Run("P4 a pasted text is text", func(t *testing.T) {
		s, d, _ := open(t, 80, 24, remove())
		press(s, "d")
		send(s, tea.PasteMsg{Content: "a\r\nb\x1b[31m\tc"})
		if press(s, "<enter>"); len(d.said) != 1 || !strings.Contains(d.said[0], `message="a b[31m c"`) {
			t.Errorf("said %v", d.said)
		}
	})
}

// Nothing that a tool or a model wrote controls the terminal.
func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\u202e\u200b\n\t\r\x9b1m\x07", 80, 24)
	f.Add("\xff\xfe\u2028 \u00a0\u3164", 24, 8)
	f.Fuzz(func(t *testing.T, text string, width, height int) {
		width, height = min(max(width, 1), 200), min(max(height, 1), 60)
		q := remove()
		q.Tool, q.Input, q.Preview, q.Reason, q.Rule, q.Note, q.Wants, q.Source.Name, q.Offers = text, text, text, text, text, text, text, text, []string{text}
		q.Caller = policy.Asker{Principal: text, Session: text, Client: text}
		now := noon
		s := &screen{ctx: t.Context(), clock: func() time.Time { return now }}
		_, _ = s.Update(tea.WindowSizeMsg{Width: width, Height: height})
		_, _ = s.Update(pendingMsg{list: []policy.Question{q}})
		now = now.Add(time.Hour / 2)
		for _, keys := range []string{"", "<end>", "s", "<enter>", "<esc><esc>", "e"} {
			press(s, keys)
			for _, line := range s.lines() {
				if strings.ContainsFunc(line, hidden) {
					t.Fatalf("%q: got a hidden character in %q", keys, line)
				}
			}
		}
	})
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"abc", 5, "abc"},
		{"abcdefgh", 3, "abc|def|gh"},
		{"ab cd ef", 5, "ab |cd ef"},
		{"a  b", 2, "a | b"},
		{"日本語", 4, "日本|語"},
		{"abc", 0, "a|b|c"},
	}
	for _, tt := range tests {
		t.Run("P4 nothing is left out: "+tt.text, func(t *testing.T) {
			got := wrap(tt.text, tt.width)
			if strings.Join(got, "|") != tt.want {
				t.Errorf("wrap(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
			}
			if strings.Join(got, "") != tt.text {
				t.Errorf("wrap(%q, %d) = %q: something is missing", tt.text, tt.width, got)
			}
		})
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		most int
		want string
	}{
		{"a  b\nc", 10, "a b c"},
		{"abcdef", 4, "abc…"},
		{strings.Repeat("日", 100), 3, "日日…"},
		{"a\x1bb", 20, "a‹U+001B›b"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 2, "‹…"},
	}
	for _, tt := range tests {
		t.Run("P4 "+tt.want, func(t *testing.T) {
			if got := Brief(tt.text, tt.most); got != tt.want {
				t.Errorf("Brief(%q, %d) = %q, want %q", tt.text, tt.most, got, tt.want)
			}
		})
	}
}
