package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestConsoleHistory(t *testing.T) {
	t.Parallel()
	t.Run("U1 what tools changed is seen, undone and on the record", func(t *testing.T) {
		t.Parallel()
		changesAndBack(t)
	})
}

// changesAndBack has a tool change a file twice, and undoes it by the console.
func changesAndBack(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ferrule.yaml", "policy:\n  allow: [\"fs_write(path: *.txt)\"]\n")
	write("a.txt", "old\n")
	r := up(t, dir, nil)
	c := r.caller(t, r.token)
	c.hello(t)
	for _, text := range []string{"new\n", "newer\n"} {
		if got, err := c.called(t.Context(), "fs_write", map[string]any{"path": "a.txt", "content": text}); err != nil || !strings.Contains(got, "Replaced") {
			t.Fatalf("got %s, %v, want that it is written", got, err)
		}
	}
	key := r.out.find(t, `key=(\S+)`)
	ask := func(method, path, body string, want int, v any) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(r.url, mcpPath)+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Fatalf("%s: got %d: %s, %v, want %d", path, res.StatusCode, text, err, want)
		}
		if v != nil {
			if err := json.Unmarshal(text, v); err != nil {
				t.Fatalf("%s: got %s: %v", path, text, err)
			}
		}
		return string(text)
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	var list struct{ Changes []web.Change }
	ask(http.MethodGet, "/api/changes", "", http.StatusOK, &list)
	if len(list.Changes) != 2 || list.Changes[0].File != "a.txt" || list.Changes[0].Call == "" {
		t.Fatalf("got %+v, want the two changes", list)
	}
	newer, older := list.Changes[0], list.Changes[1]
	var one struct{ Diff, Since string }
	ask(http.MethodGet, "/api/changes/"+older.ID, "", http.StatusOK, &one)
	if !strings.Contains(one.Diff, "-newer\n+old\n") || !strings.Contains(one.Since, newer.ID) {
		t.Errorf("got %+v, want what undoing would do, and who has changed it since", one)
	}
	if text := ask(http.MethodPost, "/api/changes/"+older.ID+"/undo", "", http.StatusUnprocessableEntity, nil); !strings.Contains(text, newer.ID) {
		t.Errorf("got %s, want who has changed it since", text)
	}
	holds("newer\n")
	ask(http.MethodPost, "/api/changes/"+newer.ID+"/undo", "", http.StatusOK, nil)
	holds("new\n")
	ask(http.MethodGet, "/api/changes", "", http.StatusOK, &list)
	if undo := list.Changes[0]; undo.Of != newer.ID || list.Changes[1].UndoneBy != undo.ID {
		t.Errorf("got %+v, want what was undone by what", list)
	}
	ask(http.MethodPost, "/api/changes/"+list.Changes[0].ID+"/undo", "", http.StatusOK, nil) // an undo is undone
	holds("newer\n")
	write("a.txt", "by hand\n")
	if ask(http.MethodGet, "/api/changes/"+older.ID, "", http.StatusOK, &one); one.Since != "somebody" {
		t.Errorf("got %+v, want that somebody has changed it", one)
	}
	ask(http.MethodPost, "/api/changes/"+older.ID+"/undo", `{"force": true}`, http.StatusOK, nil)
	holds("old\n")
	ask(http.MethodPost, "/api/changes/nope/undo", "", http.StatusNotFound, nil)

	record := ask(http.MethodGet, "/api/export", "", http.StatusOK, nil)
	if n := strings.Count(record, `"kind":"governed"`); n != 3 || !strings.Contains(record, "undo of "+newer.ID) || !strings.Contains(record, "as it was before call "+newer.Call) {
		t.Errorf("got %s, want three undoings on the record", record)
	}
	var life struct {
		Phases  []struct{ Kind string }
		Changes []web.Change
	}
	ask(http.MethodGet, "/api/calls/"+newer.Call, "", http.StatusOK, &life)
	if len(life.Phases) < 4 || len(life.Changes) != 1 || life.Changes[0].ID != newer.ID {
		t.Errorf("got %+v, want the life of the call", life)
	}
	var stands web.Chain
	ask(http.MethodGet, "/api/record", "", http.StatusOK, &stands)
	if stands.Rows == 0 || len(stands.Faults) != 0 {
		t.Errorf("got %+v, want that it is as it was written", stands)
	}
}

// A process was killed while a call of it ran that changes something.
func TestConsoleCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, ".ferrule")
	if _, err := store.Home(home); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(home, "ferrule.db"))
	if err != nil {
		t.Fatal(err)
	}
	r := &tool.Request{ID: "run-1.0", Turn: 1, Name: "bank__pay", Caller: tool.Caller{Session: "s1"}, Source: tool.Source{Name: "bank"}}
	_, begun := s.Begin(t.Context(), durable.Record{Place: durable.Place{Session: "s1", Turn: 1}, ID: "run-1.0", Source: "bank", Tool: "pay", Given: "g", Input: `{"to":"eve"}`})
	_, told := s.Append(audit.Event{Kind: audit.Requested, Time: time.Now(), Request: r, Args: `{"to":"eve"}`}, audit.Event{Kind: audit.Started, Time: time.Now(), Request: r})
	if err := errors.Join(begun, told, s.Flush(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	v := up(t, dir, nil).visitor(t)
	var now web.Now
	v.ask(t, "/api/now", nil, &now)
	if len(now.Unknown) != 1 || now.Unknown[0].Call != "run-1.0" || now.Unknown[0].Tool != "bank__pay" || now.Running != 0 || now.Groups[0].Calls[0].State != web.Lost {
		t.Fatalf("got %+v, want that it is not known what became of it", now)
	}
	t.Run("J2 what became of a call that was cut off is said once", func(t *testing.T) {
		var got became
		if status := v.ask(t, "/api/calls/run-1.0/resolve", map[string]any{"done": true, "note": "the bank says so"}, &got); status != http.StatusOK {
			t.Fatalf("got %d, %+v", status, got)
		}
		if status := v.ask(t, "/api/calls/run-1.0/resolve", map[string]any{"done": false}, &got); status != http.StatusUnprocessableEntity || !strings.Contains(got.Error, "nothing is left to say") {
			t.Errorf("got %d, %+v, want that it was said", status, got)
		}
		v.ask(t, "/api/now", nil, &now)
		if call := now.Groups[0].Calls[0]; len(now.Unknown) != 0 || call.State != web.Done || !strings.HasSuffix(call.Text, ": it was done: the bank says so") {
			t.Errorf("got %+v, %+v, want what was said", now.Unknown, call)
		}
	})
}

// BenchmarkHistory is what pages of the console take with 10,000 calls in the store. The
// first page of History is to take less than 50 ms, and less than 100 KB.
func BenchmarkHistory(b *testing.B) {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	callsIn(b, s, 10_000)
	c := &web.Console{Key: "k", Place: "/work", Pending: s.Pending, Last: s.LastPlace}
	c.Lines = func(ctx context.Context, f web.Filter) ([]web.Line, error) { return linesOf(ctx, s, f) }
	for _, page := range []struct{ name, path string }{
		{"now", "/"},
		{"first page", "/history"},
		{"a page in the middle", "/history?before=25000"},
		{"by tool", "/history?tool=fs_write"},
		{"by a tool that is rare", "/history?tool=rare"},
		{"by an old session", "/history?session=mcp-KWWI7RHTJRMCUJ2GO5GSIAIS1"},
		{"by state", "/history?state=failed"},
		{"by a text that is nowhere", "/history?text=nowhere"},
		{"one call", "/history/run-42.0"},
		{"one call that was asked for", "/history/run-50.0"},
		{"export", "/api/export"},
	} {
		b.Run(page.name, func(b *testing.B) {
			var size int
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1"+page.path, http.NoBody)
				r.RemoteAddr = "127.0.0.1:1"
				r.Header.Set("Authorization", "Bearer k")
				w := httptest.NewRecorder()
				c.ServeHTTP(w, r)
				if size = w.Body.Len(); w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte("Nothing was called")) {
					b.Fatalf("%s: got %d: %s", page.path, w.Code, w.Body)
				}
			}
			b.ReportMetric(float64(size)/1000, "KB")
		})
	}
}

// callsIn puts calls on the record, as sessions of clients make them.
func callsIn(tb testing.TB, s *store.Store, n int) {
	tb.Helper()
	at := time.Now().Add(-time.Hour)
	for i := range n {
		r := &tool.Request{
			ID: fmt.Sprintf("run-%d.0", i), CallID: fmt.Sprintf("toolu_01A09q90qw90lq917835lq%d", i), Turn: i + 1, Name: []string{"fs_read", "fs_write", "github_search", "shell"}[i%4],
			Caller: tool.Caller{Session: fmt.Sprintf("mcp-KWWI7RHTJRMCUJ2GO5GSIAIS%d", i/50), Client: "claude-code"},
			Source: tool.Source{Name: "builtin", Trust: tool.BuiltIn},
		}
		at = at.Add(100 * time.Millisecond)
		event := func(e audit.Event) audit.Event {
			at = at.Add(time.Millisecond)
			e.Request, e.Time, e.Name, e.Session, e.Turn = r, at, r.Name, r.Caller.Session, r.Turn
			return e
		}
		result := &tool.Result{Content: []tool.Content{tool.Text(fmt.Sprintf("line %d of a file, which says that all is well, and then some more of the same", i))}}
		if i%7 == 0 {
			result = &tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "There is no such file. Did you mean notes.txt?"}}
		}
		if i == 30 {
			r.Name = "rare"
		}
		question := ""
		if i%10 == 0 {
			question = fmt.Sprintf("q-%d", i)
		}
		_, err := s.Append(
			event(audit.Event{Kind: audit.Requested, Args: fmt.Sprintf(`{"path": "internal/notes/%d.md", "content": "some text with a few words in it, as files have"}`, i)}),
			event(audit.Event{Kind: audit.Decided, By: "default", Decision: &tool.Decision{Verdict: tool.Allow, Reason: "it only reads, on this machine"}}),
			event(audit.Event{Kind: audit.Answered, Question: question, Text: "allow"}),
			event(audit.Event{Kind: audit.Started}),
			event(audit.Event{Kind: audit.Scrubbed, Text: "GITHUB_TOKEN"}),
			event(audit.Event{Kind: audit.Ended, Result: result, Took: 1234 * time.Microsecond}),
		)
		if err == nil && i%1000 == 0 {
			err = s.Flush(tb.Context())
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}
