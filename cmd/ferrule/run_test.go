package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ input, want string }{
		{`{}`, ""},
		{`{"path":"a b.txt"}`, "a b.txt"},
		{`{"content":"long\n\ntext","path":"a"}`, "path=a content=long text"},
		{`{"n":1,"on":true,"list":[1, 2]}`, "n=1 on=true list=[1, 2]"},
		{`{"path":"\u202etxt.exe\u001b[2K"}`, "‹U+202E›txt.exe‹U+001B›[2K"},
		{`not JSON`, "not JSON"},
		{`{"a=\u001b]0;title\u0007\u001b[2J":"x"}`, "x"},
		{`{"a=b":"c=d"}`, "c=d"},
		{`{"a=\u001b[2J":1,"b":2}`, "b=2 a=‹U+001B›[2J=1"},
	} {
		if got := arguments(json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.input, got, tt.want)
		}
	}
}

// Whatever stands in the names, texts and numbers of a run, none of it reaches the
// terminal but as what can be seen.
func TestForeign(t *testing.T) {
	t.Parallel()
	erase := regexp.MustCompile(`\x1b\[\d+A\r\x1b\[J`)
	foreign := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "\x1b[2J", "a=\x1b]0;title\a", "\u009b2J", "\r\nferrule: done\n", "\u202e", "\x9b31m", "\x7f\b\b", "\u05d0. \u05d1 1", strings.Repeat("long ", 30)}),
		rapid.String(),
	)
	kinds := []agent.Kind{agent.Called, agent.Called, agent.Ended, agent.Asking, agent.Said, agent.Refused, agent.Thought, agent.Writing, agent.Called, agent.Changed, agent.Started, agent.Updated, agent.Waits, agent.Answered, agent.Joined, agent.Ended, agent.Aside, agent.Turned, agent.Noted}
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		p := &program{out: &shown{to: &out}, errs: &shown{to: &out}, stderr: &out, stdout: &out}
		b := &board{p: p, shows: rapid.Bool().Draw(t, "shows")}
		s := &stage{p: p, b: b, lays: b.shows && rapid.Bool().Draw(t, "lays")}
		text := func(label string) string { return foreign.Draw(t, label) }
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			var input json.RawMessage
			switch rapid.IntRange(0, 2).Draw(t, "form") {
			case 0:
				input = json.RawMessage(text("input"))
			case 1:
				input = objectOf(t, map[string]any{"a=" + text("field"): text("value")})
			case 2:
				input = objectOf(t, map[string]any{text("field"): text("value"), "a=" + text("another"): []string{text("item")}})
			}
			e := agent.Event{
				Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Agent: text("agent"), Model: text("model"), Text: text("text"),
				Call:    &tool.Call{ID: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "id"), Name: text("name"), Input: input},
				Result:  &provider.Result{Content: []tool.Content{tool.Text(text("result"))}},
				Failure: tool.Kind(text("failure")),
				Update:  &tool.Update{Progress: rapid.Bool().Draw(t, "progress"), Message: text("message"), Text: text("output")},
				Inside:  rapid.SampledFrom([]string{"", "x"}).Draw(t, "inside"),
			}
			b.print(func() { s.show(e) })
			for _, r := range b.rows {
				r.began = r.began.Add(-time.Hour)
			}
			b.print(func() {})
		}
		b.print(s.endText)
		for _, c := range erase.ReplaceAllString(out.String(), "") {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c == '\u202e' || !utf8.ValidString(out.String()) {
				t.Fatalf("got %q in %q, want nothing that controls a terminal", c, out.String())
			}
		}
	})
}

func objectOf(t *rapid.T, fields map[string]any) json.RawMessage {
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTyped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		" as it is ":               "as it is",
		"a\x1b[Db\x1b[1;5C\x1bOHc": "abc",
		"abx\x7f\bc":               "ac",
		"\x7f":                     "",
		"a\tb\x00\x1b":             "a b",
		"wörld\xff\u009b":          "wörld",
	} {
		if got := typed(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// The line of a call says what became of it, and with which arguments.
func TestCallLine(t *testing.T) {
	t.Parallel()
	ended := agent.Event{Kind: agent.Ended, Result: &provider.Result{Content: []tool.Content{tool.Text("ok")}}}
	failed := ended
	failed.Failure = tool.Failed
	for _, tt := range []struct {
		name   string
		events []agent.Event
		want   string
	}{
		{"P5 it ran with what a person changed", []agent.Event{{Kind: agent.Changed, Text: "a person", Call: &tool.Call{Input: json.RawMessage(`{"to":"eve"}`)}}, {Kind: agent.Started}, ended}, "✓ send, 2 bytes  eve\n"},
		{"A4 it is done already", []agent.Event{{Kind: agent.Joined}, ended}, "· send, done before  bob\n"},
		{"A4 it has failed before", []agent.Event{{Kind: agent.Joined}, failed}, "✗ send failed, done before  bob\n  │ ok\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p := &program{out: &shown{to: &out}, errs: &shown{to: &out}, stderr: &out, stdout: &out}
			s := &stage{p: p, b: &board{p: p}}
			s.show(agent.Event{Kind: agent.Called, Call: &tool.Call{ID: "1", Name: "send", Input: json.RawMessage(`{"to":"bob"}`)}})
			for _, e := range tt.events {
				call := tool.Call{ID: "1", Name: "send"}
				if e.Call != nil {
					call.Input = e.Call.Input
				}
				e.Call = &call
				s.show(e)
			}
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}

func TestSizeOf(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1234: "1.2 kB", 2_500_000: "2.5 MB"} {
		if got := sizeOf(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// What does not fit a line goes up word by word, and the rest stands on the board.
func TestFlow(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &program{out: &shown{to: &out}, errs: &shown{to: &out}, stderr: &out, stdout: &out}
	b := &board{p: p, shows: true}
	s := &stage{p: p, b: b, lays: true}
	text := strings.Repeat("word ", 20) + "\u0928\u093f\x1b[2K end"
	for i, c := range text {
		s.line += string(c)
		s.flow(false)
		if i == 90 && out.Len() == 0 {
			t.Error("got nothing printed, want what did not fit")
		}
	}
	if b.partial == "" || strings.Contains(out.String(), "end") {
		t.Errorf("got %q and %q on the board, want the end there", out.String(), b.partial)
	}
	s.flow(true)
	var words []string
	for line := range strings.Lines(out.String()) {
		if len(line) > 80 {
			t.Errorf("got a line of %d bytes, want at most 80", len(line))
		}
		words = append(words, strings.Fields(line)...)
	}
	if got, want := strings.Join(words, " "), strings.Repeat("word ", 20)+"\u0928\u093f‹U+001B›[2K end"; got != want || b.partial != "" {
		t.Errorf("got %q (%q on the board), want %q", got, b.partial, want)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	r := &runs{dir: filepath.Join(t.TempDir(), "runs")}
	if _, err := r.last(); err == nil {
		t.Error("got a run, want none")
	}
	want := &keptRun{Model: "scripted:a", Transcript: agent.Transcript{Session: "one", Said: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("hi")}}}}}
	if err := r.write(want); err != nil {
		t.Fatal(err)
	}
	got, err := r.read("one")
	if err != nil || got.Model != want.Model || len(got.Said) != 1 || got.Said[0].Parts[0].Text != "hi" {
		t.Errorf("got %+v, %v, want what was written", got, err)
	}
	if name, err := r.last(); name != "one" || err != nil {
		t.Errorf("got %s, %v, want one", name, err)
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want the run alone", entries, err)
	}
	t.Run("J2 a run is gone on with by one program at a time", func(t *testing.T) {
		unlock, err := r.lock(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.lock(t.Context(), "one"); err == nil || !strings.Contains(err.Error(), "another ferrule") {
			t.Errorf("got %v, want that another has it", err)
		}
		time.AfterFunc(10*time.Millisecond, unlock)
		if unlock, err = r.lock(t.Context(), "one"); err != nil {
			t.Fatalf("got %v, want that what ends soon is waited for", err)
		}
		unlock()
	})
}

// While a program gets ready, which may take long where servers start, another cannot
// go on with the same run: its end would be lost.
func TestRunTwice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, args string }{
		{"A4 a run that goes on", "run --model scripted:s.txtar --session one Begin", "run --resume one Next"},
		{"A4 a run that begins", "", "run --model scripted:s.txtar --session one Begin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "s.txtar"), "-- answer --\nOne.\n-- answer --\nTwo.\n-- answer --\nThree.\n")
			if tt.before != "" {
				if _, stderr, code := tryCall(t.Context(), dir, nil, strings.Fields(tt.before)...); code != statusDone {
					t.Fatalf("got %d, %s, want a run", code, stderr)
				}
			}
			var out, errs bytes.Buffer
			var other string
			p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: time.Now, helper: helper}
			p.own = func() []*tool.Tool {
				_, other, _ = tryCall(t.Context(), dir, nil, strings.Fields(tt.args)...)
				return testTools(dir, nil)()
			}
			if code := p.run(t.Context(), strings.Fields(tt.args)); code != statusDone || !strings.Contains(other, "run one: another ferrule goes on with it right now") {
				t.Errorf("got %d, %s, and of the other %s, want that the other is refused", code, errs.String(), other)
			}
			entries, err := os.ReadDir(filepath.Join(dir, ".ferrule", "runs"))
			if err != nil || len(entries) != 1 {
				t.Errorf("got %v, %v, want the run alone", entries, err)
			}
		})
	}
}

func TestRunWithoutKey(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"anthropic:x", "openai:x", "openai-chat:x"} {
		t.Run("A6 a server that needs no key is asked without one, "+model, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Store(true)
				w.WriteHeader(http.StatusBadRequest)
			}))
			defer server.Close()
			_, stderr, code := tryCall(t.Context(), t.TempDir(), nil, "run", "--model", model, "--base-url", server.URL, "hi")
			if code != statusFailed || !asked.Load() {
				t.Errorf("got %d, %s, want that the server was asked", code, stderr)
			}
		})
	}
}

func TestRunNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "s.txtar"), "-- answer --\nOne.\n> note_read {\"name\":\"a\"}\n-- answer --\nTwo.\n")
	half := filepath.Join(dir, ".ferrule", "runs", ".one.half", "x")
	if err := os.MkdirAll(half, 0o700); err != nil { // nothing can be written there
		t.Fatal(err)
	}
	_, stderr, code := tryCall(t.Context(), dir, nil, "run", "--model", "scripted:s.txtar", "--session", "one", "hi")
	if code != statusFailed || strings.Contains(stderr, "It is kept") || !strings.Contains(stderr, "is not kept") {
		t.Errorf("got %d, %s, want that it is not kept", code, stderr)
	}
}

// closedPipe is one that nobody reads.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestRunNotPrinted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "s.txtar"), "-- answer --\nOne.\n")
	var errs bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: closedPipe{}, stderr: &errs, dir: dir, now: time.Now, helper: helper, own: testTools(dir, nil)}
	code := p.run(t.Context(), []string{"run", "--model", "scripted:s.txtar", "--json", "hi"})
	if code != statusFailed || !strings.Contains(errs.String(), "the run is over (done) and kept, but not all of it could be printed") {
		t.Errorf("got %d, %s, want that it is done, and was not printed", code, errs.String())
	}
}

// interrupts runs a script whose call holds, and does something then.
func interrupts(t *testing.T, then func(p *program, cancel func())) (stdout, stderr string, code int, dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "s.txtar"), "-- answer --\nI wait.\n> hold\n-- answer --\nIt was interrupted.\n")
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: time.Now, helper: helper}
	p.own = testTools(dir, func() { go then(p, cancel) })
	code = p.run(ctx, []string{"run", "--model", "scripted:s.txtar", "--session", "one", "Wait"})
	return out.String(), errs.String(), code, dir
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		then func(p *program, cancel func())
	}{
		{"A3 Ctrl-C ends what runs, and the run is kept whole", func(p *program, _ func()) { p.heed.take() }},
		{"A3 the end of the program does so too", func(_ *program, cancel func()) { cancel() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code, dir := interrupts(t, tt.then)
			if code != statusInterrupted || stdout != "I wait.\n" || !strings.Contains(stderr, "hold aborted") || !strings.Contains(stderr, "ferrule run --resume one") {
				t.Errorf("got %d, %q, %q, want 130, that it was aborted, and how to go on", code, stdout, stderr)
			}
			kept, err := (&runs{dir: filepath.Join(dir, ".ferrule", "runs")}).read("one")
			if err != nil || kept.Open != nil || len(kept.Said) != 3 || kept.Why != agent.Stopped {
				t.Fatalf("got %+v, %v, want a call with its result", kept, err)
			}
			stdout, stderr, code = tryCall(t.Context(), dir, nil, "run", "--resume", "one", "And now?")
			if code != statusDone || stdout != "It was interrupted.\n" {
				t.Errorf("got %d, %q, %q, want that it goes on", code, stdout, stderr)
			}
		})
	}
}

// The tour of the examples is one that can be taken.
func TestTour(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "agent", "tour.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tour.txtar"), string(text))
	write(t, filepath.Join(dir, "ferrule.yaml"), "policy: {mode: edit, allow: [shell]}\n")
	stdout, stderr, code := tryCall(t.Context(), dir, nil, "run", "--model", "scripted:tour.txtar", "Give me a tour")
	if _, err := os.Stat(filepath.Join(dir, "tour.txt")); err != nil || code != statusDone || !strings.Contains(stdout, "That was the tour") || !strings.Contains(stderr, "✗ fs_read failed") {
		t.Errorf("got %d, %v,\n%s\n%s\nwant the whole tour", code, err, stdout, stderr)
	}
}
