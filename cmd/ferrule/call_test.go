package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// safe is a buffer that is read while it is written to.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// tryCall runs a command with the tools of tests. holds is called when the tool
// hold runs.
func tryCall(ctx context.Context, dir string, holds func(), args ...string) (stdout, stderr string, code int) {
	var out, errs safe
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: time.Now, helper: helper, own: testTools(dir, holds)}
	code = p.run(ctx, args)
	return out.String(), errs.String(), code
}

// pending waits until so many questions wait in the store of a folder, and gives
// them.
func pending(t *testing.T, dir string, want int) (*store.Store, []policy.Question) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	path := filepath.Join(dir, ".ferrule", "ferrule.db")
	for _, err := os.Stat(path); err != nil; _, err = os.Stat(path) {
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for {
		list, err := s.Pending(t.Context())
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("got %d questions, %v, want %d", len(list), err, want)
		}
		if len(list) == want {
			return s, list
		}
		time.Sleep(time.Millisecond)
	}
}

func TestCallInterrupted(t *testing.T) {
	t.Parallel()
	t.Run("Y4 a call that is interrupted is 130, and its result is printed", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		stdout, stderr, code := tryCall(ctx, t.TempDir(), cancel, "call", "hold")
		if code != statusInterrupted || stdout != "" || !strings.Contains(stderr, "hold: aborted") || !strings.HasSuffix(stderr, "ferrule: interrupted\n") {
			t.Errorf("got %d, %q, %q, want 130 and that it was aborted", code, stdout, stderr)
		}
	})
	t.Run("Y4 of a batch that is interrupted every call has its result", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "calls"), `{"name":"note_write","input":{"name":"a","text":"x"}}`+"\n"+`{"name":"hold"}`+"\n"+`{"name":"wipe"}`+"\n"+`{"name":"note_read","input":{"name":"a"}}`+"\n")
		write(t, filepath.Join(dir, "ferrule.yaml"), "policy: {allow: [note_write, wipe]}\n")
		ctx, cancel := context.WithCancel(t.Context())
		stdout, stderr, code := tryCall(ctx, dir, cancel, "batch", "calls", "--json")
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if code != statusInterrupted || len(lines) != 4 || !strings.Contains(lines[0], "wrote a") {
			t.Errorf("got %d, %q and\n%s\nwant 130 and four results", code, stderr, stdout)
		}
		for _, l := range lines[1:] {
			if !strings.Contains(l, `"kind":"aborted"`) {
				t.Errorf("got %s, want aborted", l)
			}
		}
	})
	t.Run("P6 a question of a call that is interrupted waits no more", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan int, 1)
		go func() {
			_, _, code := tryCall(ctx, dir, nil, "call", "wipe")
			over <- code
		}()
		s, _ := pending(t, dir, 1)
		cancel()
		if code := <-over; code != statusInterrupted {
			t.Errorf("got %d, want 130", code)
		}
		if list, err := s.Pending(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("got %d, %v, want none", len(list), err)
		}
	})
}

func TestCallAsked(t *testing.T) {
	t.Parallel()
	t.Run("P6 a call waits, says where it is answered, and goes on", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		type ended struct {
			out, err string
			code     int
		}
		over := make(chan ended, 1)
		go func() {
			out, err, code := tryCall(t.Context(), dir, nil, "call", "wipe")
			over <- ended{out, err, code}
		}()
		s, list := pending(t, dir, 1)
		if err := s.Answer(t.Context(), list[0].ID, policy.Answer{Allow: true, By: "ada"}); err != nil {
			t.Fatal(err)
		}
		if e := <-over; e.code != 0 || e.out != "wiped\n" || !strings.Contains(e.err, "wipe waits for an answer. In another terminal:\n  ferrule approvals show "+list[0].ID) {
			t.Errorf("got %+v, want that it ran, and where it was asked", e)
		}
	})
	t.Run("P5 two equal calls that wait are two questions", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		over := make(chan int, 2)
		for range 2 {
			go func() {
				_, _, code := tryCall(t.Context(), dir, nil, "call", "wipe")
				over <- code
			}()
		}
		s, list := pending(t, dir, 2)
		for _, q := range list {
			if err := s.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := <-over, <-over; a != 0 || b != 0 {
			t.Errorf("got %d and %d, want both done", a, b)
		}
	})
}

func TestBoard(t *testing.T) {
	t.Parallel()
	t.Run("B1 what is passed on is printed as it comes, and not again with the result", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct{ streamed, result, want string }{
			{"", "all\n", "all\n"},
			{"one\n", "one\ntwo", "one\ntwo\n"},
			{"one\n", "one\n", "one\n"},
			{"one", "one", "one\n"},
			{"one", "one\nexit status 1", "one\nexit status 1\n"},
			{"on the way\n", "other", "on the way\nother\n"},
		} {
			var out, errs bytes.Buffer
			p := &program{stdout: &out, stderr: &errs}
			p.out, p.errs = &shown{to: &out}, &shown{to: &errs}
			b := p.board(true, false)
			if tt.streamed != "" {
				b.print(func() { b.heard(&tool.Request{}, &tool.Update{Stream: "stdout", Text: tt.streamed}) })
			}
			if err := p.showResult(b, "x", tool.Result{Content: []tool.Content{tool.Text(tt.result)}}); err != nil {
				t.Fatal(err)
			}
			b.close()
			if out.String() != tt.want {
				t.Errorf("%q, %q: got %q, want %q", tt.streamed, tt.result, out.String(), tt.want)
			}
		}
	})
	t.Run("B1 a line of the board is never wider than the terminal", func(t *testing.T) {
		t.Parallel()
		b := &board{}
		r := &row{index: 11, name: "shell", message: "compiling 漢字漢字 \x1b[31m github.com/ferrule-dev/ferrule/internal/terminal\nand more"}
		for width := 1; width < 120; width++ {
			if got := b.line(r, 90*time.Second, width); len([]rune(got)) > width || strings.ContainsAny(got, "\x1b\n") {
				t.Errorf("%d: got %q", width, got)
			}
		}
	})
	t.Run("P6 what is printed while a question is on the screen waits, and comes in its order", func(t *testing.T) {
		t.Parallel()
		var both bytes.Buffer
		p := &program{stdout: &both, stderr: &both}
		p.out, p.errs = &shown{to: &both}, &shown{to: &both}
		b := p.board(true, false)
		defer b.close()
		b.leave()
		b.print(func() { p.printf("one\n") })
		b.print(func() { p.complain("two") })
		b.print(func() { b.heard(&tool.Request{}, &tool.Update{Stream: "stdout", Text: "three\n"}) })
		if both.Len() > 0 {
			t.Errorf("got %q on the screen of somebody else", both.String())
		}
		b.comeBack()
		if got := both.String(); got != "one\ntwo\nthree\n" {
			t.Errorf("got %q, want all of it", got)
		}
	})
	t.Run("B1 the time always takes the same room", func(t *testing.T) {
		t.Parallel()
		for _, d := range []time.Duration{0, time.Second, 99 * time.Second, 100 * time.Second, 59 * time.Minute, 2 * time.Hour, 99 * time.Hour} {
			if got := elapsed(d); len(got) != 6 {
				t.Errorf("%s: got %q", d, got)
			}
		}
	})
}

func TestStatusOf(t *testing.T) {
	t.Parallel()
	t.Run("Y4 each kind of result has a status", func(t *testing.T) {
		t.Parallel()
		for kind, want := range map[tool.Kind]int{
			tool.UnknownTool: 2, tool.InvalidInput: 2, tool.InvalidValue: 4, tool.Denied: 3, tool.Rejected: 3, tool.Expired: 3, tool.NeedsUser: 3, tool.HookBlocked: 3,
			tool.Failed: 4, tool.Timeout: 4, tool.Sandbox: 4, tool.RateLimited: 3, tool.OutcomeUnknown: 4, tool.Suspended: 3, tool.Aborted: 4,
		} {
			if got := statusOf(tool.Result{Err: &tool.Error{Kind: kind}}); got != want {
				t.Errorf("%s: got %d, want %d", kind, got, want)
			}
		}
		for _, tt := range [][3]int{{0, 0, 0}, {0, 2, 2}, {2, 3, 3}, {3, 4, 4}, {4, 2, 4}} {
			if got := worse(tt[0], tt[1]); got != tt[2] || worse(tt[1], tt[0]) != got {
				t.Errorf("%v: got %d", tt, got)
			}
		}
	})
	t.Run("P5 rules of the configuration stand beside those of the store", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		g := policy.Grant{Rule: "a", Caller: policy.Asker{Principal: "local"}}
		if _, err := s.Grant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		k := &kept{Store: s, always: []policy.Grant{g, {Rule: "b", Caller: policy.Asker{Principal: "local"}}, {Rule: "c", Caller: policy.Asker{Principal: "bob"}}}}
		for i := range k.always {
			k.always[i].ID = k.always[i].Name()
		}
		if list, err := k.Grants(t.Context(), policy.Asker{}, policy.Grant{Source: "other"}); err != nil || len(list) != 0 {
			t.Errorf("rules for another source: got %+v, %v, want none", list, err)
		}
		for of, want := range map[policy.Asker]string{{}: "a b c", {Principal: "local", Session: "s"}: "a b", {Principal: "bob"}: "c"} {
			list, err := k.Grants(t.Context(), of)
			var rules []string
			for _, g := range list {
				rules = append(rules, g.Rule)
			}
			slices.Sort(rules)
			if got := strings.Join(rules, " "); err != nil || got != want {
				t.Errorf("%+v: got %q, %v, want %q", of, got, err, want)
			}
		}
	})
}
