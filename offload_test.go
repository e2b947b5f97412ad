package ferrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// fixed is a tool with one result.
func fixed(name string, res tool.Result) tool.Tool {
	return doing(readerTool(name), func(context.Context, tool.Args) (tool.Result, error) { return res, nil })
}

// log is a long text of numbered lines.
func logOf(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of the log\n", i+1)
	}
	return b.String()
}

// handleIn is the handle that a shortened result names.
func handleIn(t testing.TB, res tool.Result) string {
	t.Helper()
	m := regexp.MustCompile(`"handle":"([^"]*)"`).FindStringSubmatch(res.String())
	if m == nil {
		t.Fatalf("result = %.300q…, want a handle in it", res)
	}
	return m[1]
}

// readAll reads a kept result page by page, as a model would.
func readAll(t testing.TB, s *ferrule.Session, handle string) string {
	t.Helper()
	var b strings.Builder
	next := regexp.MustCompile(`Go on with offset (\d+)`)
	offset := "0"
	for {
		res := s.Call(t.Context(), "read_result", fmt.Sprintf(`{"handle":%q,"offset":%s}`, handle, offset))
		if res.Err != nil {
			t.Fatalf("page at %s: %v", offset, res.Err)
		}
		if len(res.Content) == 2 {
			b.WriteString(res.Content[0].Text)
		}
		m := next.FindStringSubmatch(res.Content[len(res.Content)-1].Text)
		if m == nil {
			return b.String()
		}
		offset = m[1]
	}
}

func TestOffload(t *testing.T) {
	t.Parallel()
	text := logOf(10_000)
	t.Run("O5 the model gets a preview, the size, a handle and what to do next; read_result gives all of it", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Blobs: new(durable.Memory)}
		v := viewWith(t, rt, fixed("log", sayText(text)))
		if got := v.Names(); !slices.Equal(got, []string{"log"}) {
			t.Errorf("offered %q before anything is kept, want log alone", got)
		}
		res := v.Do(t.Context(), tool.Call{Name: "log"})[0]
		handle := handleIn(t, res)
		want := text[:2000] + fmt.Sprintf("\n[Truncated: %d chars total, showing first 2000 and last 2000]\n", len(text)) + text[len(text)-2000:] +
			fmt.Sprintf("\n[All %d bytes are kept. Read on with read_result {\"handle\":%q,\"offset\":2000}; it also takes lines or a pattern.]", len(text), handle)
		if res.String() != want {
			t.Errorf("result = %q, want %q", res, want)
		}
		s := ferrule.SessionOf(v)
		if got := s.View(t.Context()).Names(); !slices.Equal(got, []string{"log", "read_result"}) {
			t.Errorf("offered %q after something is kept, want read_result too", got)
		}
		if got := readAll(t, s, handle); got != text {
			t.Errorf("read %d bytes, want the %d that were kept", len(got), len(text))
		}
	})
	t.Run("O5 it can be read by an agent whose view has no other tool, unless that is said", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, fixed("log", sayText(text)), readerTool("other"))
		handle := handleIn(t, v.Do(t.Context(), tool.Call{Name: "log"})[0])
		now := ferrule.SessionOf(v).View(t.Context())
		few := now.Only(ferrule.Filter{Names: []string{"other"}})
		res := few.Do(t.Context(), tool.Call{Name: "read_result", Input: fmt.Appendf(nil, `{"handle":%q}`, handle)})[0]
		if got := few.Names(); res.Err != nil || !slices.Equal(got, []string{"other", "read_result"}) {
			t.Errorf("offered %q, result %v", got, res.Err)
		}
		without := now.Only(ferrule.Filter{Names: []string{"read_result"}, Not: true})
		if got := without.Names(); !slices.Equal(got, []string{"log", "other"}) {
			t.Errorf("offered %q, want it without read_result", got)
		}
	})
	t.Run("O5 across a restart: the session is offered read_result at once, an old transcript works", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		caller := tool.Caller{Session: "long-lived", Principal: "ann"}
		open := func() *ferrule.Runtime {
			store, err := durable.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			rt := &ferrule.Runtime{Blobs: store}
			viewWith(t, rt, fixed("log", sayText(text)))
			return rt
		}
		handle := handleIn(t, open().Session(caller).Call(t.Context(), "log", ""))
		rt := open()
		if got := rt.Session(caller).View(t.Context()).Names(); !slices.Equal(got, []string{"log", "read_result"}) {
			t.Errorf("offered %q after a restart", got)
		}
		if got := readAll(t, rt.Session(caller), handle); got != text {
			t.Errorf("read %d bytes after a restart, want %d", len(got), len(text))
		}
	})
	t.Run("O5 another session, a guess, a path: refused, and all read the same", func(t *testing.T) {
		t.Parallel()
		for name, store := range stores(t) {
			rt := &ferrule.Runtime{Blobs: store}
			v := viewWith(t, rt, fixed("log", sayText(text)))
			owner := tool.Caller{Session: "owner", Principal: "ann", Tenant: "one"}
			handle := handleIn(t, rt.Session(owner).Call(t.Context(), "log", ""))
			ask := func(c tool.Caller, handle string) tool.Result {
				in, _ := json.Marshal(map[string]string{"handle": handle})
				return rt.Session(c).Call(t.Context(), "read_result", string(in))
			}
			if res := ask(owner, handle); res.Err != nil {
				t.Errorf("%s: the owner: %v", name, res.Err)
			}
			never := "r_" + strings.Repeat("0", 32)
			for what, res := range map[string]tool.Result{
				"another session":      ask(tool.Caller{Session: "other", Principal: "ann", Tenant: "one"}, handle),
				"another principal":    ask(tool.Caller{Session: "owner", Principal: "bob", Tenant: "one"}, handle),
				"another tenant":       ask(tool.Caller{Session: "owner", Principal: "ann", Tenant: "two"}, handle),
				"a guess":              ask(owner, never),
				"a path":               ask(owner, "../"+handle),
				"a longer path":        ask(owner, "../../../../etc/passwd"),
				"a folder":             ask(owner, ".."),
				"no handle":            ask(owner, ""),
				"a very long one":      ask(owner, strings.Repeat("r", 1<<16)),
				"with a zero byte":     ask(owner, handle+"\x00"),
				"in capitals":          ask(owner, strings.ToUpper(handle)),
				"a session of no name": ask(tool.Caller{}, handle),
			} {
				wantFailure(t, res, tool.InvalidValue, "There is no kept result of that handle. Results are kept for 7 days.")
				if t.Failed() {
					t.Fatalf("%s: %s", name, what)
				}
			}
			_ = v
		}
	})
	t.Run("O5 a page keeps trust, sensitivity and origin", func(t *testing.T) {
		t.Parallel()
		web := tool.Web
		d := fixed("fetch", tool.Result{Content: []tool.Content{tool.Text(text)}, Trust: &web, Origin: &tool.Origin{Tool: "liar"}})
		d.OutputSensitivity = tool.Public
		rt := &ferrule.Runtime{Blobs: new(durable.Memory), Policy: allowAll}
		if err := rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, checkedTool(t, d)); err != nil {
			t.Fatal(err)
		}
		s := rt.Session(tool.Caller{})
		first := s.Call(t.Context(), "srv__fetch", "")
		page := s.Call(t.Context(), "read_result", fmt.Sprintf(`{"handle":%q}`, handleIn(t, first)))
		if first.Origin != nil || page.Trust == nil || *page.Trust != tool.Web || page.Origin == nil || *page.Origin != (tool.Origin{Source: "srv", Tool: "fetch", Sensitivity: tool.Public}) {
			t.Errorf("origins %v and %v, trust %v; want none, then that of fetch, and web", first.Origin, page.Origin, page.Trust)
		}
	})
	t.Run("O5 the same result is kept once, and has one handle", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		store, err := durable.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		v := viewWith(t, &ferrule.Runtime{Blobs: store}, fixed("log", sayText(text)))
		res := v.Do(t.Context(), tool.Call{Name: "log"}, tool.Call{Name: "log"}, tool.Call{Name: "log"})
		if a, b := handleIn(t, res[0]), handleIn(t, res[2]); a != b {
			t.Errorf("handles %s and %s, want one", a, b)
		}
		if n := filesIn(t, dir); n != 1 {
			t.Errorf("%d files, want 1", n)
		}
	})
	t.Run("O5 results are swept after 7 days", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			store := new(durable.Memory)
			v := viewWith(t, &ferrule.Runtime{Blobs: store}, fixed("log", sayText(text)), fixed("more", sayText(text+text)))
			s := ferrule.SessionOf(v)
			handle := handleIn(t, s.Call(t.Context(), "log", ""))
			time.Sleep(6 * 24 * time.Hour)
			s.Call(t.Context(), "more", "")
			if got := readAll(t, s, handle); got != text {
				t.Error("it is gone after 6 days")
			}
			time.Sleep(25 * time.Hour)
			s.Call(t.Context(), "more", "")
			wantFailure(t, s.Call(t.Context(), "read_result", fmt.Sprintf(`{"handle":%q}`, handle)), tool.InvalidValue, "")
		})
	})
	t.Run("O7 a secret result is cut in place and never kept; records withhold it", func(t *testing.T) {
		t.Parallel()
		r := new(recorder)
		store := new(durable.Memory)
		d := fixed("log", sayText(text))
		d.OutputSensitivity = tool.Secret
		res := callOne(t, &ferrule.Runtime{Guard: unguarded(), Blobs: store, Observe: r.observe}, d, "")
		if strings.Contains(res.String(), "handle") || !strings.Contains(res.String(), "showing first 32000 and last 32000]") {
			t.Errorf("result = %.100q…", res)
		}
		if holds, err := store.Sweep(t.Context(), time.Now().Add(time.Hour)); holds != 0 || err != nil {
			t.Errorf("%d results were kept", holds)
		}
		for _, e := range r.events {
			if strings.Contains(e.text, "log") {
				t.Errorf("the event %s holds %.60q…", e.Kind, e.text)
			}
		}
	})
	t.Run("O7 structured output that is offloaded is left out whole; its text can be read", func(t *testing.T) {
		t.Parallel()
		list, _ := json.Marshal(strings.Split(text, "\n"))
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, fixed("rows", tool.Result{Content: []tool.Content{
			tool.Text("The rows:"), {Type: tool.JSONContent, JSON: list}, {Type: tool.ImageContent, Data: []byte{1}, MediaType: "image/png"},
		}}))
		res := v.Do(t.Context(), tool.Call{Name: "rows"})[0]
		if len(res.Content) != 2 || res.Content[0].Type != tool.TextContent || res.Content[1].Type != tool.ImageContent {
			t.Errorf("content = %v, want a text and the image", res.Content)
		}
		if got := readAll(t, ferrule.SessionOf(v), handleIn(t, res)); got != "The rows:\n"+string(list) {
			t.Errorf("read %.60q…", got)
		}
	})
	t.Run("O4 without a store, or where it fails, the middle goes; the operator hears why", func(t *testing.T) {
		t.Parallel()
		for name, rt := range map[string]*ferrule.Runtime{
			"": {}, "no space left on device": {Blobs: brokenBlobs{errors.New("no space left on device")}}, "panic: oh": {Blobs: brokenBlobs{}},
		} {
			r := new(recorder)
			rt.Observe = r.observe
			res := callOne(t, rt, fixed("log", sayText(text)), "")
			if want := fmt.Sprintf("\n[Truncated: %d chars total, showing first 32000 and last 32000]\n", len(text)); res.Err != nil || !strings.Contains(res.String(), want) || strings.Contains(res.String(), "handle") {
				t.Errorf("%s: result = %.100q…, %v", name, res, res.Err)
			}
			said := slices.ContainsFunc(r.events, func(e recorded) bool { return e.Kind == audit.Cut && strings.Contains(e.Text, name) })
			if !said {
				t.Errorf("no event says %q", name)
			}
		}
	})
	t.Run("O5 a store that is gone, damaged or slow: a result for the model, an error for the operator", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		store, err := durable.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		v := viewWith(t, &ferrule.Runtime{Blobs: store}, fixed("log", sayText(text)))
		s := ferrule.SessionOf(v)
		in := fmt.Sprintf(`{"handle":%q}`, handleIn(t, s.Call(t.Context(), "log", "")))
		damaged := false
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				damaged = true
				return os.Truncate(path, 1000)
			}
			return err
		})
		if err != nil || !damaged {
			t.Fatalf("damage the store: %v", err)
		}
		res := s.Call(t.Context(), "read_result", in)
		wantFailure(t, res, tool.Failed, "The kept result cannot be read now. Call the tool that gave it again, if you need it.")
		if strings.Contains(res.String(), dir) || res.Err == nil || res.Err.Detail == "" {
			t.Errorf("the model reads %q, the operator %q", res, res.Err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if res := s.Call(t.Context(), "read_result", in); res.Err == nil {
			t.Errorf("result = %.60q… although the store is gone", res)
		}
	})
	t.Run("O6 the largest results are kept elsewhere first", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)},
			fixed("a", sayText(strings.Repeat("a", 60_000))), fixed("b", sayText(strings.Repeat("b", 63_000))), fixed("c", sayText(strings.Repeat("c", 50_000))),
			fixed("d", sayText(strings.Repeat("d", 61_000))), fixed("e", sayText("e")))
		res := v.Do(t.Context(), tool.Call{Name: "a"}, tool.Call{Name: "b"}, tool.Call{Name: "c"}, tool.Call{Name: "d"}, tool.Call{Name: "e"})
		var cut []string
		for i, r := range res {
			if strings.Contains(r.String(), "handle") {
				cut = append(cut, string(rune('a'+i)))
			}
		}
		if !slices.Equal(cut, []string{"b"}) {
			t.Errorf("kept elsewhere: %q, want b: the others have room in 200,000", cut)
		}
		if got := readAll(t, ferrule.SessionOf(v), handleIn(t, res[1])); got != strings.Repeat("b", 63_000) {
			t.Errorf("read %d characters", len(got))
		}
	})
	t.Run("O6 without a store all are cut to the same size", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{TurnChars: 1000}, fixed("a", sayText(strings.Repeat("a", 900))), fixed("b", sayText(strings.Repeat("b", 300))), fixed("c", sayText(strings.Repeat("c", 800))))
		res := v.Do(t.Context(), tool.Call{Name: "a"}, tool.Call{Name: "b"}, tool.Call{Name: "c"})
		for i, want := range []string{"showing first 175 and last 175]", strings.Repeat("b", 300), "showing first 175 and last 175]"} {
			if !strings.Contains(res[i].String(), want) {
				t.Errorf("result %d = %q, want %q in it", i, res[i], want)
			}
		}
	})
	t.Run("O6 what is short is not cut: what is said about that would be as long", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{TurnChars: 300}, fixed("a", sayText(strings.Repeat("a", 200))), fixed("b", sayText(strings.Repeat("b", 150))), fixed("c", sayText(strings.Repeat("c", 201))))
		res := v.Do(t.Context(), tool.Call{Name: "a"}, tool.Call{Name: "b"}, tool.Call{Name: "c"})
		if len(res[0].String()) != 200 || len(res[1].String()) != 150 || !strings.Contains(res[2].String(), "showing first 0 and last 0]") {
			t.Errorf("results = %q", res)
		}
	})
	t.Run("O6 pages of kept results are outside of the budget", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), TurnChars: 1000}, fixed("log", sayText(text)))
		s := ferrule.SessionOf(v)
		in := fmt.Appendf(nil, `{"handle":%q}`, handleIn(t, s.Call(t.Context(), "log", "")))
		for i, res := range s.View(t.Context()).Do(t.Context(), tool.Call{Name: "read_result", Input: in}, tool.Call{Name: "read_result", Input: in}) {
			if len(res.Content) != 2 || len(res.Content[0].Text) != 63_000 {
				t.Errorf("page %d = %.60q…", i, res)
			}
		}
	})
	t.Run("O6 a host can have no budget", func(t *testing.T) {
		t.Parallel()
		d := fixed("log", sayText(strings.Repeat("x", 300_000)))
		d.Limit = tool.Limit{Chars: tool.Unlimited, Tokens: tool.Unlimited}
		if res := callOne(t, &ferrule.Runtime{TurnChars: tool.Unlimited}, d, ""); len(res.String()) != 300_000 {
			t.Errorf("%d characters are left", len(res.String()))
		}
		if res := callOne(t, new(ferrule.Runtime), d, ""); len(res.String()) > 200_100 {
			t.Errorf("%d characters are left, want the budget of a turn", len(res.String()))
		}
	})
	t.Run("O4 summarize is the host's function; failing: middle", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			summary string
			err     error
			want    string
		}{
			{"It is a log.", nil, fmt.Sprintf("It is a log.\n[Summarized: %d chars total]", len(text))},
			{"", errBroken, "showing first 32000 and last 32000]"},
			{" ", nil, "showing first 32000 and last 32000]"},
		} {
			d := fixed("log", sayText(text))
			d.Limit.Cut = "summarize"
			rt := &ferrule.Runtime{Summarize: func(_ context.Context, r *tool.Request, got string) (string, error) {
				if r.Name != "log" || got != text {
					t.Errorf("asked to summarize %d characters of %s", len(got), r.Name)
				}
				return tt.summary, tt.err
			}}
			if res := callOne(t, rt, d, ""); !strings.Contains(res.String(), tt.want) {
				t.Errorf("result = %.100q…, want %q in it", res, tt.want)
			}
		}
	})
	t.Run("O4 a summary that is too long is cut, and the whole result is kept where it can be", func(t *testing.T) {
		t.Parallel()
		d := fixed("log", sayText(text))
		d.Limit = tool.Limit{Chars: 100, Cut: "summarize"}
		rt := &ferrule.Runtime{Blobs: new(durable.Memory), Summarize: func(context.Context, *tool.Request, string) (string, error) { return strings.Repeat("s", 1000), nil }}
		v := viewWith(t, rt, d)
		res := v.Do(t.Context(), tool.Call{Name: "log"})[0]
		if want := strings.Repeat("s", 100) + "\n[Summarized: "; !strings.HasPrefix(res.String(), want) {
			t.Errorf("result = %q, want %q first", res, want)
		}
		if got := readAll(t, ferrule.SessionOf(v), handleIn(t, res)); got != text {
			t.Error("the whole result was not kept")
		}
	})
	t.Run("O3 tokens are counted exactly only near the limit", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			bytes, counted int
		}{{100, 0}, {16_384, 0}, {16_385, 1}, {63_000, 1}, {300_000, 1}, {10 << 20, 1}} {
			var mu sync.Mutex
			counted, most := 0, 0
			rt := &ferrule.Runtime{CountTokens: func(s string) int {
				mu.Lock()
				defer mu.Unlock()
				counted, most = counted+1, max(most, len(s))
				return len(s) / 4
			}}
			callOne(t, rt, fixed("log", sayText(strings.Repeat("x", tt.bytes))), "")
			if (counted > 0) != (tt.counted > 0) || counted > 2 || most > 64_001 {
				t.Errorf("%d bytes: counted %d times, at most %d bytes at once", tt.bytes, counted, most)
			}
		}
	})
	t.Run("O3 the smaller of both limits wins; a counter that fails counts bytes", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			limit tool.Limit
			count func(string) int
			want  string
		}{
			{tool.Limit{Chars: 10, Tokens: 100, Cut: "head"}, nil, "showing first 10]"},
			{tool.Limit{Chars: 100, Tokens: 10, Cut: "head"}, nil, "showing first 40]"},
			{tool.Limit{Chars: 100, Tokens: 10, Cut: "head"}, func(s string) int { return len(s) }, "showing first 10]"},
			{tool.Limit{Chars: 100, Tokens: 10, Cut: "head"}, func(string) int { panic("oh") }, "showing first 10]"},
			{tool.Limit{Chars: 100, Tokens: 10, Cut: "head"}, func(string) int { return -1 }, "showing first 10]"},
			{tool.Limit{Chars: 100, Tokens: 10, Cut: "head"}, func(string) int { return 1e9 }, "showing first 10]"},
			{tool.Limit{Chars: 100, Tokens: 10, Cut: "head"}, func(string) int { return 1 }, "showing first 100]"},
		} {
			d := fixed("log", sayText(strings.Repeat("x", 200)))
			d.Limit = tt.limit
			if res := callOne(t, &ferrule.Runtime{CountTokens: tt.count}, d, ""); !strings.Contains(res.String(), tt.want) {
				t.Errorf("%+v: result = %q, want %q in it", tt.limit, res, tt.want)
			}
		}
	})
	t.Run("R4 the program's own read_result wins, and the name of Ferrule's source cannot be taken", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Blobs: new(durable.Memory)}
		v := viewWith(t, rt, fixed("read_result", sayText("own")))
		if res := v.Do(t.Context(), tool.Call{Name: "read_result"})[0]; res.String() != "own" {
			t.Errorf("result = %q", res)
		}
		if err := rt.Set(tool.Source{Name: "ferrule"}, checkedTool(t, readerTool("x"))); err == nil {
			t.Error("the source was taken")
		}
	})
	t.Run("P1 reading what was kept is allowed where local reads are", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), AskReads: true, Policy: policy.AllowOwn{}}, fixed("log", sayText(text)))
		s := ferrule.SessionOf(v)
		handle := handleIn(t, s.Call(t.Context(), "log", ""))
		wantFailure(t, s.Call(t.Context(), "read_result", fmt.Sprintf(`{"handle":%q}`, handle)), tool.Denied, "")
	})
}

// brokenBlobs is a store that cannot keep anything.
type brokenBlobs struct{ err error }

func (b brokenBlobs) Put(context.Context, string, durable.Note, ...string) (string, error) {
	if b.err == nil {
		panic("oh")
	}
	return "", b.err
}

func (b brokenBlobs) Open(context.Context, string, string) (*durable.Blob, error) { return nil, b.err }

func (b brokenBlobs) Holds(context.Context, string) (bool, error) { return false, b.err }

func (b brokenBlobs) Sweep(context.Context, time.Time) (int, error) { return 0, b.err }

// stores are one of each kind.
func stores(t *testing.T) map[string]durable.Blobs {
	t.Helper()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return map[string]durable.Blobs{"memory": new(durable.Memory), "dir": dir}
}

func filesIn(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestImages(t *testing.T) {
	t.Parallel()
	picture := image.NewGray(image.Rect(0, 0, 30, 20))
	encode := func(f func(io.Writer) error) []byte {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := encode(func(w io.Writer) error { return png.Encode(w, picture) })
	for _, tt := range []struct {
		rule          string
		block         tool.Content
		width, height int
	}{
		{"O1 the size of an image is what its tool says", tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: asPNG, Width: 3, Height: 2}, 3, 2},
		{"O1 else what a PNG says", tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: asPNG}, 30, 20},
		{"O1 else what a JPEG says", tool.Content{Type: tool.ImageContent, MediaType: "image/jpeg", Data: encode(func(w io.Writer) error { return jpeg.Encode(w, picture, nil) })}, 30, 20},
		{"O1 else what a GIF says", tool.Content{Type: tool.ImageContent, MediaType: "image/gif", Data: encode(func(w io.Writer) error { return gif.Encode(w, picture, nil) })}, 30, 20},
		{"O1 what is no image has no size", tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: asPNG[:20]}, 0, 0},
		{"O1 a size that cannot be", tool.Content{Type: tool.ImageContent, MediaType: "image/webp", Data: []byte("RIFF"), Width: -3, Height: 2}, 0, 0},
		{"O1 sounds have none", tool.Content{Type: tool.AudioContent, MediaType: "audio/wav", Data: asPNG, Width: 3, Height: 3}, 0, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			res := callOne(t, new(ferrule.Runtime), fixed("draw", tool.Result{Content: []tool.Content{tool.Text("Here it is."), tt.block}}), "")
			if res.Err != nil || len(res.Content) != 2 {
				t.Fatalf("result = %v", res)
			}
			if b := res.Content[1]; b.Width != tt.width || b.Height != tt.height || !bytes.Equal(b.Data, tt.block.Data) {
				t.Errorf("got %d by %d, want %d by %d", b.Width, b.Height, tt.width, tt.height)
			}
		})
	}
}
