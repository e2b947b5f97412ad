package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// shifting is a server whose tools change.
type shifting struct {
	t    *testing.T
	h    *Hub
	mu   sync.Mutex
	defs []string
}

// pinnedServer is a started hub with pins and an inbox, and one server s.
func pinnedServer(t *testing.T, dir string, inbox policy.Inbox, defs ...string) *shifting {
	t.Helper()
	s := &shifting{t: t, defs: defs}
	s.h = hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": s.list}}})
	s.h.Pins, s.h.Runtime.Inbox = dir, inbox
	return s
}

func (s *shifting) list(*testCall) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.RawMessage(`{"tools":[` + strings.Join(s.defs, ",") + `]}`), nil
}

// now makes these the tools, and has them listed.
func (s *shifting) now(defs ...string) {
	s.t.Helper()
	s.mu.Lock()
	s.defs = defs
	s.mu.Unlock()
	of := s.h.server("s")
	l, err := of.connected(s.t.Context())
	if err == nil {
		_, err = of.listTools(s.t.Context(), l)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// stands is what is offered and what is not: + before a tool that is accepted, * before
// one that is new, - before one that is quarantined.
func (s *shifting) stands() string {
	var all []string
	for r := range s.h.Runtime.All() {
		if r.Source.Name != "s" {
			continue
		}
		sign := "+"
		if r.Info.New {
			sign = "*"
		}
		all = append(all, sign+r.Info.Name)
	}
	for _, q := range s.h.Status()[0].Quarantined {
		all = append(all, "-"+q.Tool)
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a[1:], b[1:]) })
	return strings.Join(all, " ")
}

func (s *shifting) want(want string) {
	s.t.Helper()
	if got := s.stands(); got != want {
		s.t.Errorf("tools: got %q, want %q (%+v)", got, want, s.h.Status()[0].Quarantined)
	}
}

// becomes waits until the tools stand so.
func (s *shifting) becomes(want string) {
	s.t.Helper()
	told := make(chan struct{}, 1)
	stop := s.h.watch(func(string, string) {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	defer stop()
	for s.stands() != want {
		select {
		case <-told:
		case <-s.t.Context().Done():
			s.t.Fatalf("tools: got %q, want %q", s.stands(), want)
		case <-time.After(10 * time.Second):
			s.t.Fatalf("tools: got %q, want %q (%+v)", s.stands(), want, s.h.Status()[0].Quarantined)
		}
	}
}

func (s *shifting) why(name string) string {
	for _, q := range s.h.Status()[0].Quarantined {
		if q.Tool == name {
			return q.Why
		}
	}
	return ""
}

// open are the questions that wait.
func open(t *testing.T, inbox policy.Inbox) []policy.Question {
	t.Helper()
	all, err := inbox.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func saysThat(name, text string) string {
	return fmt.Sprintf(`{"name":%q,"description":%s,"inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, name, quote(text))
}

func TestPins(t *testing.T) {
	t.Run("M4 first sight accepts what there is, and nothing is asked", func(t *testing.T) {
		dir, inbox := filepath.Join(t.TempDir(), "pins"), new(policy.Memory)
		s := pinnedServer(t, dir, inbox, plainTool("a"), plainTool("b"))
		start(t, s.h)
		s.want("+a +b")
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none", n)
		}
		got, err := (&Pins{Dir: dir}).Of("s")
		if err != nil || got.Identity != "/bin/s" || len(got.Tools) != 2 || got.Tools[0].State != PinAccepted || got.Tools[0].By != "first sight" {
			t.Errorf("got %+v, %v, want two accepted tools of /bin/s", got, err)
		}
		files, err := (&Pins{Dir: dir}).files()
		if err != nil || len(files) != 1 {
			t.Fatalf("got %v, %v, want one file", files, err)
		}
		if info, err := os.Stat(files[0].path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("got %v, %v, want a file that only its owner reads", info.Mode(), err)
		}
	})
	t.Run("M4 a change takes that tool out and asks once; others go on", func(t *testing.T) {
		inbox := new(policy.Memory)
		s := pinnedServer(t, t.TempDir(), inbox, saysThat("a", "Reads."), plainTool("b"))
		start(t, s.h)
		s.now(saysThat("a", "Reads, and sends it away."), plainTool("b"))
		s.want("-a +b")
		if why := s.why("a"); !strings.Contains(why, "description has changed") || !strings.Contains(why, "ferrule pins diff s") {
			t.Errorf("got %q, want what has changed and what to do", why)
		}
		for range 2 {
			s.now(saysThat("a", "Reads, and sends it away."), plainTool("b"))
		}
		all := open(t, inbox)
		if len(all) != 1 {
			t.Fatalf("got %d questions, want 1", len(all))
		}
		q := all[0]
		for _, want := range []string{"a: changed", "- Reads.", "+ Reads, and sends it away."} {
			if !strings.Contains(q.Preview, want) {
				t.Errorf("preview: got %q, want %q in it", q.Preview, want)
			}
		}
		if strings.Contains(q.Preview, "b:") || q.Tool != "pins of s" || q.Source.Name != "s" || !strings.Contains(q.Reason, "changed: a") {
			t.Errorf("got %+v, want a question about a", q)
		}
		if err := inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true, By: "ada"}); err != nil {
			t.Fatal(err)
		}
		s.becomes("+a +b")
		got, err := (&Pins{Dir: s.h.Pins}).Of("s")
		if err != nil || got.Tools[0].By != "ada" {
			t.Errorf("got %+v, %v, want a accepted by ada", got, err)
		}
		s.now(saysThat("a", "Reads."), plainTool("b")) // back to what was accepted before that
		s.want("-a +b")
	})
	t.Run("M4 the order of members and spaces are no change", func(t *testing.T) {
		s := pinnedServer(t, t.TempDir(), nil, `{"name":"a","description":"d\u0065","inputSchema":{"type":"object","properties":{}}}`)
		start(t, s.h)
		s.now(`{"inputSchema":{"properties" : {},"type":"object"}, "description":"de","name":"a"}`)
		s.want("+a")
	})
	for part, def := range map[string]string{
		"title":        `{"name":"a","title":"T","description":"d","inputSchema":{"type":"object"}}`,
		"inputSchema":  `{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`,
		"outputSchema": `{"name":"a","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`,
		"annotations":  `{"name":"a","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
	} {
		t.Run("M4 a change of "+part, func(t *testing.T) {
			s := pinnedServer(t, t.TempDir(), nil, `{"name":"a","description":"d","inputSchema":{"type":"object"}}`)
			start(t, s.h)
			before, _ := s.h.Runtime.Find("s__a")
			s.now(def)
			s.want("-a")
			if why := s.why("a"); !strings.Contains(why, part+" has changed") {
				t.Errorf("got %q, want %s in it", why, part)
			}
			p := &Pins{Dir: s.h.Pins}
			shown, err := p.Of("s")
			if err == nil {
				err = p.Accept(shown, "ada")
			}
			if err != nil {
				t.Fatal(err)
			}
			s.becomes("+a")
			if after, _ := s.h.Runtime.Find("s__a"); after.Definition == before.Definition {
				t.Error("T5 got the same definition, want another: rules are bound to it")
			}
		})
	}
	t.Run("M4 a question is replaced when the tools change again", func(t *testing.T) {
		inbox := new(policy.Memory)
		s := pinnedServer(t, t.TempDir(), inbox, saysThat("a", "1"), saysThat("b", "1"))
		start(t, s.h)
		s.now(saysThat("a", "2"), saysThat("b", "1"))
		first := open(t, inbox)[0]
		s.now(saysThat("a", "2"), saysThat("b", "2"))
		all := open(t, inbox)
		if len(all) != 1 || all[0].ID == first.ID || all[0].Digest == first.Digest {
			t.Fatalf("got %+v, want one question that is another", all)
		}
		if err := inbox.Answer(t.Context(), first.ID, policy.Answer{Allow: true}); !errors.Is(err, policy.ErrAnswered) {
			t.Errorf("answer to the first: got %v, want %v", err, policy.ErrAnswered)
		}
		s.now(saysThat("a", "1"), saysThat("b", "1"))
		s.want("+a +b")
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions about tools that are what they were, want none", n)
		}
	})
	t.Run("M4 a server that changes all the time is asked about ever more rarely", func(t *testing.T) {
		f := &pinFile{Server: "s", Tools: []pinEntry{{Tool: "a", Accepted: &pinForm{Digest: "0"}}}}
		now, put := time.Now(), 0
		for i := range 3600 { // an hour of changes, each second
			f.Tools[0].Waiting = &pinForm{Digest: fmt.Sprint(i), Why: "it has changed"}
			if i%2 == 1 {
				f.Tools[0].Waiting = nil
			}
			before := f.Question
			if f.question(now); f.Question != before && f.Question.ID != "" {
				put++
			}
			now = now.Add(time.Second)
		}
		if put < 3 || put > 20 {
			t.Errorf("got %d questions, want a few", put)
		}
		f.Tools[0].Waiting = &pinForm{Digest: "last", Why: "it has changed"}
		f.question(now)
		if f.question(now.Add(calmTime)); f.Question.ID == "" {
			t.Error("got no question about the last change, want one when it is time")
		}
	})
	t.Run("M4 a no leaves it blocked, and is not asked again until it changes", func(t *testing.T) {
		inbox := new(policy.Memory)
		s := pinnedServer(t, t.TempDir(), inbox, saysThat("a", "1"), plainTool("b"))
		start(t, s.h)
		s.now(saysThat("a", "2"), plainTool("b"))
		if err := inbox.Answer(t.Context(), open(t, inbox)[0].ID, policy.Answer{By: "ada"}); err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(s.why("a"), "ada has rejected it") {
			s.now(saysThat("a", "2"), plainTool("b"))
		}
		s.now(saysThat("a", "2"), plainTool("b"))
		s.want("-a +b")
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none", n)
		}
		s.now(saysThat("a", "3"), plainTool("b"))
		if n := len(open(t, inbox)); n != 1 {
			t.Errorf("got %d questions after another change, want 1", n)
		}
		s.now(saysThat("a", "1"), plainTool("b"))
		s.want("+a +b")
	})
	t.Run("M4 the answer outlives the process that asked", func(t *testing.T) {
		dir, inbox := t.TempDir(), new(policy.Memory)
		s := pinnedServer(t, dir, inbox, saysThat("a", "1"))
		start(t, s.h)
		s.now(saysThat("a", "2"))
		q := open(t, inbox)[0]
		closeHub(t, s.h)
		if err := inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true, By: "ada"}); err != nil {
			t.Fatal(err)
		}
		again := pinnedServer(t, dir, inbox, saysThat("a", "2"))
		start(t, again.h)
		again.want("+a")
	})
	t.Run("M4 a question that another process asked is not asked twice", func(t *testing.T) {
		dir, inbox := t.TempDir(), new(policy.Memory)
		one, two := pinnedServer(t, dir, inbox, saysThat("a", "1")), pinnedServer(t, dir, inbox, saysThat("a", "1"))
		start(t, one.h)
		start(t, two.h)
		one.now(saysThat("a", "2"))
		two.now(saysThat("a", "2"))
		all := open(t, inbox)
		if len(all) != 1 {
			t.Fatalf("got %d questions, want 1", len(all))
		}
		if err := inbox.Answer(t.Context(), all[0].ID, policy.Answer{Allow: true}); err != nil {
			t.Fatal(err)
		}
		one.becomes("+a")
		two.becomes("+a")
	})
	t.Run("M4 a tool new to a known server is offered, and only a rule that names it allows it", func(t *testing.T) {
		inbox := new(policy.Memory)
		s := pinnedServer(t, t.TempDir(), inbox, plainTool("a"))
		start(t, s.h)
		s.now(plainTool("a"), plainTool("b"))
		s.want("+a *b")
		before, _ := s.h.Runtime.Find("s__b")
		s.now(plainTool("a"), plainTool("b"))
		if again := s.h.server("s"); again.tools.byName["b"].tool != again.pins.fresh[plainTool("b")] {
			t.Error("got another tool for the same definition, want the very same")
		}
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none: its calls are asked for", n)
		}
		p := &Pins{Dir: s.h.Pins}
		shown, err := p.Of("s")
		if err == nil {
			err = p.Accept(shown, "ada", "b")
		}
		if err != nil {
			t.Fatal(err)
		}
		s.becomes("+a +b")
		if after, _ := s.h.Runtime.Find("s__b"); after.Definition != before.Definition {
			t.Error("got another definition, want the same: an answer given to a call of it stays good")
		}
	})
	t.Run("M4 accepted from another process: exactly what was shown", func(t *testing.T) {
		inbox := new(policy.Memory)
		s := pinnedServer(t, t.TempDir(), inbox, saysThat("a", "1"), saysThat("b", "1"))
		start(t, s.h)
		s.now(saysThat("a", "2"), saysThat("b", "2"))
		p := &Pins{Dir: s.h.Pins}
		old, err := p.Of("s")
		if err != nil || len(old.Waiting()) != 2 {
			t.Fatalf("got %+v, %v, want two that wait", old, err)
		}
		s.now(saysThat("a", "3"), saysThat("b", "2"))
		if err := p.Accept(old, "ada"); err == nil || !strings.Contains(err.Error(), "not what was shown") {
			t.Errorf("got %v, want that it is not what was shown", err)
		}
		s.want("-a -b")
		if err := p.Accept(old, "ada", "b"); err != nil {
			t.Error(err)
		}
		s.becomes("-a +b")
		shown, err := p.Of("s")
		if err == nil {
			err = p.Accept(shown, "ada")
		}
		if err != nil {
			t.Fatal(err)
		}
		s.becomes("+a +b")
		if n := len(open(t, inbox)); n != 0 {
			t.Errorf("got %d questions, want none any more", n)
		}
	})
	t.Run("M4 a rename is pointed out", func(t *testing.T) {
		inbox := new(policy.Memory)
		s := pinnedServer(t, t.TempDir(), inbox, saysThat("read_file", "Reads."), plainTool("b"))
		start(t, s.h)
		s.now(saysThat("fetch", "Reads."), plainTool("b"))
		s.want("+b *fetch")
		got, err := (&Pins{Dir: s.h.Pins}).Of("s")
		if err != nil || got.Tools[1].RenameOf != "read_file" || !strings.Contains(got.Tools[1].Why, "it may be read_file") || got.Tools[2].State != PinGone {
			t.Errorf("got %+v, %v, want fetch as a rename of read_file", got.Tools, err)
		}
	})
	t.Run("M4 what is kept on disk goes through the pins too", func(t *testing.T) {
		dir, cache := t.TempDir(), t.TempDir()
		s := pinnedServer(t, dir, nil, saysThat("a", "1"), plainTool("b"))
		s.h.Cache = cache
		start(t, s.h)
		s.now(saysThat("a", "2"), plainTool("b"))
		closeHub(t, s.h)
		again := pinnedServer(t, dir, nil)
		again.h.Cache = cache
		again.h.dial = func(ctx context.Context, _ *server, _ introduction, _ *listener) (link, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		if err := again.h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeHub(t, again.h) })
		again.want("-a +b")
	})
	t.Run("M4 pins that cannot be read block the server until they can", func(t *testing.T) {
		dir := t.TempDir()
		s := pinnedServer(t, dir, nil, plainTool("a"), plainTool("b"))
		start(t, s.h)
		file := s.h.server("s").pinFile()
		good, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte("{"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.now(plainTool("a"), plainTool("b"))
		s.want("-a -b")
		if why := s.why("a"); !strings.Contains(why, "cannot be used") || !strings.Contains(why, "take the file away") {
			t.Errorf("got %q, want what is wrong and what to do", why)
		}
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
		s.now(plainTool("a"), plainTool("b"))
		s.want("+a +b")
	})
	t.Run("M4 pins that cannot be written block the server", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "pins")
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the folder should be
			t.Fatal(err)
		}
		s := pinnedServer(t, dir, nil, plainTool("a"))
		start(t, s.h)
		s.want("-a")
	})
	t.Run("M4 forgotten pins are a first sight again", func(t *testing.T) {
		s := pinnedServer(t, t.TempDir(), nil, saysThat("a", "1"))
		start(t, s.h)
		s.now(saysThat("a", "2"))
		s.want("-a")
		if err := (&Pins{Dir: s.h.Pins}).Forget("s"); err != nil {
			t.Fatal(err)
		}
		s.becomes("+a")
	})
	t.Run("M4 forgotten pins do not begin with the list of the cache", func(t *testing.T) {
		dir, cache := t.TempDir(), t.TempDir()
		s := pinnedServer(t, dir, nil, saysThat("a", "1"), plainTool("b"))
		s.h.Cache = cache
		start(t, s.h)
		closeHub(t, s.h)
		p := &Pins{Dir: dir}
		forget := func() {
			t.Helper()
			if err := p.Forget("s"); err != nil {
				t.Fatal(err)
			}
		}
		reach := make(chan struct{})
		again := pinnedServer(t, dir, nil, saysThat("a", "2"), plainTool("c"))
		again.h.Cache = cache
		dial := again.h.dial
		again.h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
			select {
			case <-reach:
				return dial(ctx, s, who, hears)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		forget()
		if err := again.h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeHub(t, again.h) })
		again.want("") // nobody knows what it says now
		if known, err := p.Of("s"); err != nil || !known.First.IsZero() || again.h.server("s").greeting() != nil {
			t.Errorf("got %+v, %v, want a server that nobody has seen", known, err)
		}
		close(reach)
		again.becomes("+a +c")
		if known, err := p.Of("s"); err != nil || len(known.Tools) != 2 || known.Tools[0].By != byFirstSight {
			t.Errorf("got %+v, %v, want what it says now, as a first sight", known, err)
		}
	})
	t.Run("M4 forgotten while only the cache is there: nothing of it is left", func(t *testing.T) {
		dir, cache := t.TempDir(), t.TempDir()
		s := pinnedServer(t, dir, nil, plainTool("a"))
		s.h.Cache = cache
		start(t, s.h)
		closeHub(t, s.h)
		again := pinnedServer(t, dir, nil)
		again.h.Cache = cache
		again.h.dial = func(ctx context.Context, _ *server, _ introduction, _ *listener) (link, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		if err := again.h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeHub(t, again.h) })
		again.want("+a")
		if err := (&Pins{Dir: dir}).Forget("s"); err != nil {
			t.Fatal(err)
		}
		again.becomes("")
	})
	t.Run("K3 no secret is kept", func(t *testing.T) {
		const value = "s3cr3t-value-1"
		t.Setenv("FERRULE_TEST_KEY", value)
		vault, err := secret.NewVault(map[string]secret.Entry{"key": {Source: secret.Env("FERRULE_TEST_KEY"), Tools: []string{"server:s"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := vault.Use(t.Context(), "server:s", []string{"key"}, "key", func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		s := pinnedServer(t, t.TempDir(), nil, saysThat("a", "the key is "+value))
		s.h.Runtime.Secrets = vault
		s.h.Servers[0].Command = []string{"s", "--key=" + value}
		start(t, s.h)
		s.want("+a")
		b, err := os.ReadFile(s.h.server("s").pinFile())
		if err != nil || strings.Contains(string(b), value) || !strings.Contains(string(b), "the key is ") {
			t.Errorf("got %s, %v, want it without the secret", b, err)
		}
		s.now(saysThat("a", "the key is "+value))
		s.want("+a")
	})
	t.Run("M4 no folder: nothing is pinned", func(t *testing.T) {
		s := pinnedServer(t, "", nil, saysThat("a", "1"))
		start(t, s.h)
		s.now(saysThat("a", "2"), plainTool("b"))
		s.want("+a +b")
	})
}

func TestFollow(t *testing.T) {
	t.Run("M4 a server that is followed may change its tools, and not hide anything", func(t *testing.T) {
		s := pinnedServer(t, t.TempDir(), nil, saysThat("a", "1"))
		s.h.Servers[0].Trust, s.h.Servers[0].Follow = tool.Own, true
		start(t, s.h)
		s.now(saysThat("a", "2"), plainTool("b"))
		s.want("+a +b")
		s.now(saysThat("a", "2\u200b"), plainTool("b"))
		s.want("-a +b")
	})
	t.Run("M4 of a server that is followed nothing is kept that it has no more, but what was accepted before", func(t *testing.T) {
		dir := t.TempDir()
		s := pinnedServer(t, dir, nil, plainTool("a"))
		s.h.Servers[0].Trust, s.h.Servers[0].Follow = tool.Own, true
		start(t, s.h)
		for _, name := range []string{"b", "c", "d"} {
			s.now(plainTool(name))
			s.want("+" + name)
		}
		known, err := (&Pins{Dir: dir}).Of("s")
		var names []string
		for _, p := range known.Tools {
			names = append(names, p.Tool)
		}
		if want := []string{"a", "d"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("got %q, %v, want %q", names, err, want)
		}
		s.now(plainTool("b"))
		s.want("+b")
	})
	t.Run("M4 who begins to follow accepts what waits", func(t *testing.T) {
		dir := t.TempDir()
		s := pinnedServer(t, dir, nil, saysThat("a", "1"))
		start(t, s.h)
		s.now(saysThat("a", "2"))
		s.want("-a")
		closeHub(t, s.h)
		again := pinnedServer(t, dir, nil, saysThat("a", "2"))
		again.h.Servers[0].Trust, again.h.Servers[0].Follow = tool.Own, true
		start(t, again.h)
		again.want("+a")
	})
	for trust, want := range map[tool.Trust]bool{0: false, tool.MCP: false, tool.SkillTrusted: false, tool.Own: true, tool.BuiltIn: true} {
		t.Run(fmt.Sprintf("M4 a source of trust %s may be followed: %v", trust, want), func(t *testing.T) {
			s := Server{Name: "s", Command: []string{"s"}, Trust: trust, Follow: true}
			if err := s.check(nil); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "want own") {
				t.Errorf("got %v, want it refused: %v", err, !want)
			}
		})
	}
	t.Run("M4 nor one that the runtime trusts less", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": {}})
		h.Servers[0].Trust, h.Servers[0].Follow = tool.Own, true
		h.Runtime = &ferrule.Runtime{Guard: unguarded(), Trust: map[string]tool.Trust{"s": tool.Web}}
		if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Runtime.Trust says web") {
			t.Errorf("got %v, want that it may not be followed", err)
		}
	})
}
