package scripted_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/agent/scripted"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "script:1: got no answer, want -- answer --"},
		{"a comment alone", "hello\n", "script:2: got no answer"},
		{"another file", "-- anser --\nhi\n", `script:1: got the file "anser", want want or answer`},
		{"an empty answer", "-- answer --\n\n", "script:1: got an answer of nothing"},
		{"two wants", "-- want --\na\n-- want --\nb\n-- answer --\nc\n", "script:3: got a second want, want the answer to the one in line 1"},
		{"a want at the end", "-- answer --\nc\n-- want --\na\n", "script:3: got a want at the end"},
		{"a bad pattern", "x\n-- want --\na\n/(/\n-- answer --\nc\n", "script:4: got /(/, want a regular expression: error parsing regexp"},
		{"a call of nothing", "-- answer --\n>\n", `script:2: got "> ", want > NAME {…}`},
		{"a call without a name", "-- answer --\n> {}\n", `script:2: got "> {}", want > NAME {…}`},
		{"arguments that are none", "-- answer --\ntext\n> a [1]\n", "script:3: a: got [1], want a JSON object"},
		{"arguments that are null", "-- answer --\n> a null\n", "script:2: a: got null, want a JSON object"},
		{"an id of nothing", "-- answer --\n> a # {}\n", "script:2: got # and no id, want > NAME #ID {…}"},
		{"an id twice", "-- answer --\n> a #1\n> b #1\n", `script:1: got the id "1" more than once`},
		{"text behind the end", "-- answer --\ncut\nmore\n", `script:3: got "more", want nothing behind line 2`},
		{"a stop that is none", "-- answer --\na\n= soon\n", "script:3: got = soon, want one of [end calls"},
		{"a half call of nothing", "-- answer --\ncut > a b\n", `script:2: got "cut > a b", want cut > NAME`},
		{"an unchecked call of nothing", "-- answer --\n>! \n", "script:2: got a call without a name"},
		{"all of them", "-- b --\n-- answer --\n> a 1\n", "script:1: got the file \"b\", want want or answer\nscripted: script:3: a: got 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := scripted.Parse([]byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), "scripted: "+tt.want) {
				t.Errorf("got %v, want scripted: %s", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.txtar")
	if _, err := scripted.Load(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such file", err)
	}
	if err := os.WriteFile(file, []byte("-- answer --\n> a 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := scripted.Load(file); err == nil || !strings.Contains(err.Error(), file+":2: a: got 1") {
		t.Errorf("got %v, want the file and the line", err)
	}
}

// script parses a text that is right.
func script(t testing.TB, text string) *scripted.Script {
	t.Helper()
	s, err := scripted.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func user(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.User, Parts: parts}
}

func said(text string) []provider.Message { return []provider.Message{user(provider.Text(text))} }

func result(id, text string, failed bool) provider.Part {
	return provider.Part{Kind: provider.PartResult, Result: &provider.Result{CallID: id, Name: "f", Content: []tool.Content{tool.Text(text)}, Error: failed}}
}

// told asks, and gives what was told in a line.
func told(t *testing.T, m *scripted.Model, messages []provider.Message) (provider.Answer, string, error) {
	t.Helper()
	var b strings.Builder
	a, err := m.Ask(t.Context(), provider.Request{Messages: messages}, func(d provider.Delta) {
		switch d.Kind {
		case provider.DeltaText:
			b.WriteString("[" + d.Text + "]")
		case provider.DeltaThought:
			b.WriteString("?[" + d.Text + "]")
		case provider.DeltaBegun:
			b.WriteString("<" + d.Call.Name + string(d.Call.Input) + ">")
		case provider.DeltaCall:
			b.WriteString("{" + d.Call.ID + " " + d.Call.Name + string(d.Call.Input) + "}")
		case provider.DeltaRefusal:
			b.WriteString("!" + d.Text)
		case provider.DeltaPart:
		}
	})
	return a, b.String(), err
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer, told string
		parts              int
		stop               provider.Stop
	}{
		{"text", "Hello  there.\n\nAgain.\n", "[Hello  ][there.\n\n][Again.]", 1, provider.StopEnd},
		{"calls", "\nI look.\n\n> a\n\n> b #x {\"p\": 1}\n", "[I ][look.]<a>{call_1_1 a{}}<b>{x b{\"p\": 1}}", 3, provider.StopCalls},
		{"thoughts", "? so\n? it is\nYes.\n", "?[so\n]?[it ]?[is][Yes.]", 2, provider.StopEnd},
		{"no JSON", ">! a {\"p\":\n", "<a>{call_1_1 a{\"p\":}", 1, provider.StopCalls},
		{"what looks like something else", "\\> quoted\n\\cut\n>>> more\n", "[> ][quoted\n][cut\n][>>> ][more]", 1, provider.StopEnd},
		{"why it ends", "I cannot.\n= refusal\n", "[I ][cannot.]", 1, provider.StopRefusal},
		{"lines of Windows", "a\r\n> b {}\r\n", "[a]<b>{call_1_1 b{}}", 2, provider.StopCalls},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, got, err := told(t, script(t, "-- answer --\n"+tt.answer).Model(), said("hi"))
			if err != nil || got != tt.told || a.Stop != tt.stop || len(a.Parts) != tt.parts {
				t.Errorf("got %s (%d parts, stop %q), %v, want %s (%d, %q)", got, len(a.Parts), a.Stop, err, tt.told, tt.parts, tt.stop)
			}
		})
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	t.Run("a provider's error", func(t *testing.T) {
		t.Parallel()
		a, got, err := told(t, script(t, "-- answer --\nI am\n! 429 slow down\n").Model(), said("hi"))
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || e.Status != 429 || e.Text != "slow down" || !e.Again || got != "[I ][am]" || a.Text() != "I am" || a.Stop != "" {
			t.Errorf("got %+v %q %q, %v, want status 429, and what was said before", a, got, a.Stop, err)
		}
	})
	t.Run("a status alone, and what a provider sends", func(t *testing.T) {
		t.Parallel()
		for line, want := range map[string]provider.Error{
			"401": {Status: 401, Text: "unauthorized"},
			"503": {Status: 503, Text: "service unavailable", Again: true},
			`404 {"error":{"type":"not_found_error","message":"no such model"}}`: {Status: 404, Code: "not_found_error", Text: "no such model"},
		} {
			_, _, err := told(t, script(t, "-- answer --\n! "+line+"\n").Model(), said("hi"))
			if e, ok := errors.AsType[*provider.Error](err); !ok || *e != want {
				t.Errorf("%s: got %+v, want %+v", line, e, want)
			}
		}
	})
	t.Run("one without a status", func(t *testing.T) {
		t.Parallel()
		_, _, err := told(t, script(t, "-- answer --\n! 4 things went wrong\n").Model(), said("hi"))
		if e, ok := errors.AsType[*provider.Error](err); !ok || e.Status != 0 || e.Text != "4 things went wrong" || e.Again {
			t.Errorf("got %v, want an error of the provider without a status", err)
		}
	})
	t.Run("A2 a stream that breaks off keeps what was whole", func(t *testing.T) {
		t.Parallel()
		a, got, err := told(t, script(t, "-- answer --\n> a\ncut > b\n").Model(), said("hi"))
		if !errors.Is(err, io.ErrUnexpectedEOF) || got != "<a>{call_1_1 a{}}<b>" || len(a.Calls()) != 1 || a.Stop != "" {
			t.Errorf("got %s %+v, %v, want one whole call", got, a, err)
		}
	})
}

func TestWant(t *testing.T) {
	t.Parallel()
	call := provider.Message{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: &tool.Call{ID: "1", Name: "f"}}}}
	sent := []provider.Message{user(provider.Text("old")), call, user(result("1", "no such file\nmore", true), provider.Text("and stop"))}
	for _, tt := range []struct{ want, err string }{
		{"no such\nand stop", ""},
		{"/^failed f #1: no such file$/\n/^user: and/", ""},
		{"old", "script:4: answer 2: got\n  failed f #1: no such file\n  more\n  user: and stop\nwant a line with\n  old"},
		{"/^such/", "script:4: answer 2: got"},
	} {
		_, _, err := told(t, script(t, "-- answer --\nx\n-- want --\n"+tt.want+"\n-- answer --\ny\n").Model(), sent)
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("%s: got %v", tt.want, err)
		case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), "scripted: "+tt.err)):
			t.Errorf("%s: got %v, want %s", tt.want, err, tt.err)
		}
	}
}

// A conversation finds its answer by those that it has, in whichever process.
func TestPlace(t *testing.T) {
	t.Parallel()
	s := script(t, "-- answer --\none\n-- answer --\ntwo\n-- answer --\nthree\n")
	answered := func(n int) []provider.Message {
		list := said("hi")
		for range n {
			list = append(list, provider.Message{Role: provider.Assistant, Parts: []provider.Part{provider.Text("…")}}, user(provider.Text("go on")))
		}
		return list
	}
	if _, got, err := told(t, s.Model(), answered(1)); got != "[two]" || err != nil {
		t.Errorf("got %s, %v, want the second answer", got, err)
	}
	if left := s.Left(); len(left) != 1 || left[0] != "script:5: answer 3 was not asked for" {
		t.Errorf("got %q, want the third", left)
	}
	m := s.Model()
	for _, tt := range []struct {
		answers int
		want    string
	}{{0, "[one]"}, {1, "[two]"}, {1, "[two]"}, {2, "[three]"}, {0, "[one]"}} {
		if _, got, err := told(t, m, answered(tt.answers)); got != tt.want || err != nil {
			t.Errorf("%d answers: got %s, %v, want %s", tt.answers, got, err, tt.want)
		}
	}
	if left := s.Left(); len(left) != 0 {
		t.Errorf("got %q, want none", left)
	}
	_, _, err := told(t, m, answered(3))
	if err == nil || !strings.Contains(err.Error(), "script: got a request for answer 4, want no more than 3") || !strings.Contains(err.Error(), "user: go on") {
		t.Errorf("got %v, want that the script has ended, and what was sent", err)
	}
}

// An answer that left nothing behind is over: the model goes on with the next one.
func TestPlaceAfterFailure(t *testing.T) {
	t.Parallel()
	m := script(t, "-- answer --\n! 500 a\n-- answer --\n! 500 b\n-- answer --\nhalf of it\ncut\n-- answer --\nfour\n").Model()
	for i, want := range []string{"", "", "[half ][of ][it]"} {
		if _, got, err := told(t, m, said("hi")); got != want || err == nil {
			t.Fatalf("%d: got %s, %v, want %q and an error", i, got, err, want)
		}
	}
	kept := append(said("hi"), provider.Message{Role: provider.Assistant, Parts: []provider.Part{provider.Text("half of it")}}, user(provider.Text("go on")))
	if _, got, err := told(t, m, kept); got != "[four]" || err != nil {
		t.Errorf("got %s, %v, want the fourth answer", got, err)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := script(t, "-- answer --\none two three four\n> a\n")
		s.Pace = time.Second
		began := time.Now()
		if _, _, err := told(t, s.Model(), said("hi")); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %s, want 5s", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		a, err := s.Model().Ask(ctx, provider.Request{Messages: said("hi")}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || a.Text() != "one two " || len(a.Calls()) != 0 {
			t.Errorf("got %+v, %v, want what was said by then", a, err)
		}
		if _, err := s.Model().Ask(ctx, provider.Request{Messages: said("hi")}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want nothing after the end", err)
		}
	})
}

// A conversation that providers refuse is refused.
func TestValid(t *testing.T) {
	t.Parallel()
	calls := func(ids ...string) provider.Message {
		m := provider.Message{Role: provider.Assistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, provider.Part{Kind: provider.PartCall, Call: &tool.Call{ID: id, Name: "f"}})
		}
		return m
	}
	hi := said("hi")[0]
	for _, tt := range []struct {
		name     string
		messages []provider.Message
		want     string // "": it is right
	}{
		{"right", []provider.Message{hi, calls("1", "2"), user(result("2", "", false), result("1", "", false)), calls("3"), user(result("3", "", true))}, ""},
		{"nothing", nil, "got no messages"},
		{"begins with an answer", []provider.Message{calls(), hi}, `message 1: got role "assistant"`},
		{"ends with one", []provider.Message{hi, calls()}, `message 2, the last: got role "assistant"`},
		{"a call without a result", []provider.Message{hi, calls("1", "2"), user(result("2", "", false))}, `message 3, the last: got no result of "1"`},
		{"before the next answer", []provider.Message{hi, calls("1"), hi, calls(), user(result("1", "", false))}, `message 4: got an answer, want the result of "1" first`},
		{"a result twice", []provider.Message{hi, calls("1"), user(result("1", "", false), result("1", "", false))}, `message 3: got a result of role "user" for "1"`},
		{"an id twice", []provider.Message{hi, calls("1"), user(result("1", "", false)), calls("1"), user(result("1", "", false))}, `message 4: got a call of f with id "1"`},
		{"no id", []provider.Message{hi, calls(""), user(result("", "", false))}, `message 2: got a call of f with id ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := told(t, script(t, "-- answer --\na\n-- answer --\nb\n-- answer --\nc\n").Model(), tt.messages)
			if got := err != nil; got != (tt.want != "") || got && !strings.Contains(err.Error(), "script: "+tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	s := script(t, "-- answer --\na\n")
	if got := s.Model().Format(); got != (provider.Anthropic{}) {
		t.Errorf("got %v, want anthropic", got)
	}
	s.As = provider.Chat{}
	if got := s.Model().Format(); got != (provider.Chat{}) {
		t.Errorf("got %v, want openai-chat", got)
	}
}

// What is told is what the answer holds, whatever the script says.
func checkPlay(t interface {
	Fatalf(format string, args ...any)
}, s *scripted.Script,
) {
	m, messages := s.Model(), said("hi")
	for len(s.Left()) > 0 {
		var text strings.Builder
		var calls []tool.Call
		before := len(s.Left())
		a, err := m.Ask(context.Background(), provider.Request{Messages: messages}, func(d provider.Delta) {
			switch d.Kind {
			case provider.DeltaText:
				text.WriteString(d.Text)
			case provider.DeltaCall:
				calls = append(calls, d.Call)
			case provider.DeltaThought, provider.DeltaBegun, provider.DeltaRefusal, provider.DeltaPart:
			}
		})
		if len(s.Left()) != before-1 {
			t.Fatalf("got %d answers left, want %d: %v", len(s.Left()), before-1, err)
		}
		if a.Text() != text.String() || len(a.Calls()) != len(calls) {
			t.Fatalf("got %q and %d calls, told %q and %d", a.Text(), len(a.Calls()), text.String(), len(calls))
		}
		if len(a.Parts) == 0 {
			return // a want that is not met, or a failure
		}
		next := user(provider.Text("go on"))
		for _, c := range calls {
			next.Parts = append(next.Parts, result(c.ID, "ok", false))
		}
		messages = append(messages, provider.Message{Role: provider.Assistant, Parts: a.Parts}, next)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return
		}
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	s := script(t, "-- answer --\nWait.\n= pause\n-- answer --\n! 500 no\n-- answer --\n! 500 no\n-- answer --\nGo on.\n-- answer --\nMore.\n")
	m := s.Model()
	messages := said("hi")
	a, _, err := told(t, m, messages)
	if err != nil || a.Stop != provider.StopPause {
		t.Fatalf("got %+v, %v, want a pause", a, err)
	}
	messages = append(messages, provider.Message{Role: provider.Assistant, Parts: a.Parts})
	for range 2 {
		if _, _, err := told(t, m, messages); err == nil || !strings.Contains(err.Error(), "no") {
			t.Fatalf("got %v, want that the provider fails", err)
		}
	}
	if a, _, err = told(t, m, messages); err != nil || a.Text() != "Go on." {
		t.Fatalf("got %q, %v, want that it goes on behind its pause", a.Text(), err)
	}
	messages = append(messages, provider.Message{Role: provider.Assistant, Parts: a.Parts})
	if _, _, err := told(t, m, messages); err == nil || !strings.Contains(err.Error(), `the last: got role "assistant"`) {
		t.Errorf("got %v, want that nothing was said behind what was no pause", err)
	}
	if _, _, err := told(t, script(t, "-- answer --\nWait.\n= pause\n-- answer --\nGo on.\n").Model(), messages[:2]); err != nil {
		t.Errorf("got %v, want that another model goes on behind the pause", err)
	}
}

func TestPlay(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(rapid.SampledFrom([]string{"> a", "> b {\"x\":1}", "? hm", "", "a  b", "\\cut", ">! c {"}), rapid.StringMatching(`[a-c ]{0,8}`))
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "answers") {
			b.WriteString("-- answer --\nso\n" + strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "lines"), "\n") + "\n")
		}
		s, err := scripted.Parse([]byte(b.String()))
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		checkPlay(t, s)
		if left := s.Left(); len(left) > 0 {
			t.Fatalf("%q: got %q left, want all played", b.String(), left)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"c\n-- want --\nhi\n/h./\n-- answer --\n? t\ntext\n> a {}\n> b #1 {\"x\":[1]}\n-- answer --\n! 429 no\n",
		"-- answer --\ncut > a\n-- answer --\n>! a {\n= length\n-- answer --\n\\= x\ncut\n",
		"-- answer --\r\n> a\r\n", "-- want --\n(\n", "-- answer --\n> a #1\n-- answer --\n> a #1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scripted.Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "scripted: script:") {
				t.Fatalf("got %v, want the line", err)
			}
			return
		}
		if len(s.Left()) == 0 {
			t.Fatal("got a script without answers")
		}
	})
}
