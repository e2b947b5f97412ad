package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// desk is a host with questions, which remembers what was answered.
type desk struct {
	mu       sync.Mutex
	pending  []policy.Question
	answered map[string]policy.Answer
	stopped  []string
}

func (d *desk) console() *Console {
	d.mu.Lock()
	d.answered = make(map[string]policy.Answer)
	d.mu.Unlock()
	return &Console{
		Key: testKey, By: "ada",
		Pending: func(context.Context) ([]policy.Question, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return append([]policy.Question{}, d.pending...), nil
		},
		Answer: func(_ context.Context, id string, a policy.Answer) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			for i, q := range d.pending {
				if q.ID == id {
					d.answered[id] = a
					d.pending = append(d.pending[:i:i], d.pending[i+1:]...)
					return nil
				}
			}
			return policy.ErrAnswered
		},
		Stop: func(call string) bool { d.stopped = append(d.stopped, call); return call == "runs" },
	}
}

func question(id string, change ...func(*policy.Question)) policy.Question {
	q := policy.Question{
		ID: id, Tool: "fs_write", Source: tool.Source{Name: "builtin", Trust: tool.BuiltIn}, Input: `{"path":"a.txt"}`, Digest: "d", Claims: tool.Claims{Reversible: true, Local: true},
		Preview: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n", Reason: "no rule speaks about it", Offers: []string{"fs_write(args: X)", "fs_write"}, Asked: began,
	}
	for _, f := range change {
		f(&q)
	}
	return q
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, json, form string
		want             policy.Answer
		fails            string
	}{
		{"P6 yes", `{"do":"allow"}`, "do=allow", policy.Answer{Allow: true}, ""},
		{"P6 no, with words", `{"do":"deny","message":"not here","reason":"r"}`, "do=deny&message=not+here&reason=r", policy.Answer{Message: "not here", Reason: "r"}, ""},
		{"P10 for a session", `{"do":"session","rule":"fs_write"}`, "do=session&rule=fs_write", policy.Answer{Allow: true, Rule: "fs_write"}, ""},
		{"P10 always, with the second key", `{"do":"always","rule":"fs_write","second":true}`, "do=always&rule=fs_write&second=1", policy.Answer{Allow: true, Rule: "fs_write", Always: true, Second: true}, ""},
		{"P5 with other arguments", `{"do":"allow","input":{"path":"b"}}`, "do=edit&edited=%7B%22path%22%3A%22b%22%7D", policy.Answer{Allow: true, Input: json.RawMessage(`{"path":"b"}`)}, ""},
		{"P6 in words, where nothing is asked", `{"do":"allow","text":"Rostock"}`, "do=allow&text=Rostock", policy.Answer{}, "asks nothing"},
		{"P6 a message with a yes", `{"do":"allow","message":"not here"}`, "do=allow&message=not+here", policy.Answer{}, "it goes with a no"},
		{"P5 arguments as they were typed", `{"do":"allow","edited":"{\"n\": 12345678901234567890}"}`, "do=edit&edited=%7B%22n%22%3A+12345678901234567890%7D", policy.Answer{Allow: true, Input: json.RawMessage(`{"n": 12345678901234567890}`)}, ""},
		{"P5 another question than was shown", `{"do":"allow","digest":"e"}`, "do=allow&digest=e", policy.Answer{}, "another one than was shown"},
		{"P5 the one that was shown", `{"do":"allow","digest":"d"}`, "do=allow&digest=d", policy.Answer{Allow: true}, ""},
		{"P6 a no takes no arguments with it", `{"do":"deny","input":{"path":"b"},"second":true}`, "", policy.Answer{}, ""},
		{"P6 nothing that is an answer", `{"do":"perhaps"}`, "do=perhaps", policy.Answer{}, "want allow, deny, session or always"},
		{"P10 for longer without a rule", `{"do":"session"}`, "do=session", policy.Answer{}, "want one of those that the question offers"},
		{"P5 arguments that are none", `{"do":"allow","input":}`, "do=edit&edited=%7B", policy.Answer{}, "JSON"},
		{"P6 a member that nobody knows", `{"do":"allow","alow":true}`, "", policy.Answer{}, "alow"},
	} {
		for kind, body := range map[string]string{kindJSON: tt.json, kindForm: tt.form} {
			if body == "" {
				continue
			}
			t.Run(tt.name+" by "+kind, func(t *testing.T) {
				t.Parallel()
				d := &desk{pending: []policy.Question{question("q1"), question("q2")}}
				c := d.console()
				w := post(t, c, "/api/questions/q1", kind, body)
				said := w.Body.String() + " " + w.Header().Get("Location")
				if unescaped, err := url.QueryUnescape(said); err == nil {
					said += unescaped
				}
				got, ok := d.answered["q1"]
				switch {
				case tt.fails != "" && (ok || !strings.Contains(said, tt.fails) || w.Code == http.StatusOK):
					t.Errorf("got %d, %s, %+v, want %s", w.Code, said, got, tt.fails)
				case tt.fails == "":
					want := tt.want
					want.By = "ada"
					if diff := cmp.Diff(want, got); diff != "" || len(d.answered) != 1 {
						t.Errorf("%d, %s: %s", w.Code, said, diff)
					}
				}
			})
		}
	}
	t.Run("P10 what may destroy takes the second key, and what a tool asks an answer", func(t *testing.T) {
		t.Parallel()
		d := &desk{pending: []policy.Question{
			question("q1", func(q *policy.Question) { q.Claims = tool.Claims{} }),
			question("q2", func(q *policy.Question) { q.Wants = "Which city?" }),
		}}
		c := d.console()
		for path, body := range map[string]string{"/api/questions/q1": `{"do":"always","rule":"fs_write"}`, "/api/questions/q2": `{"do":"allow"}`} {
			if w := post(t, c, path, kindJSON, body); w.Code != http.StatusUnprocessableEntity || len(d.answered) > 0 {
				t.Errorf("%s: got %d, %s", path, w.Code, w.Body)
			}
		}
		post(t, c, "/api/questions/q2", kindJSON, `{"do":"allow","text":"Rostock"}`)
		post(t, c, "/api/questions/q1", kindJSON, `{"do":"always","rule":"fs_write","second":true}`)
		if d.answered["q2"].Text != "Rostock" || !d.answered["q1"].Second {
			t.Errorf("got %+v", d.answered)
		}
		if w := post(t, c, "/api/questions/q1", kindJSON, `{"do":"allow"}`); w.Code != http.StatusConflict {
			t.Errorf("got %d, %s, want that it is answered", w.Code, w.Body)
		}
	})
	t.Run("P6 several at once, and one that somebody else has answered", func(t *testing.T) {
		t.Parallel()
		d := &desk{pending: []policy.Question{question("q1"), question("q2"), question("q3")}}
		c := d.console()
		w := post(t, c, "/api/questions", kindJSON, `{"do":"allow","ids":["q1","gone","q2"]}`)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "gone: ") || len(d.answered) != 2 {
			t.Errorf("got %d, %s, %v, want two answered and one named", w.Code, w.Body, d.answered)
		}
		for body, want := range map[string]string{
			`{"do":"allow"}`: "nothing was chosen", `{"do":"session","rule":"fs_write","ids":["q3","q4"]}`: "are for one",
		} {
			if w := post(t, c, "/api/questions", kindJSON, body); !strings.Contains(w.Body.String(), want) || d.answered["q3"].Allow {
				t.Errorf("%s: got %d, %s, want %s", body, w.Code, w.Body, want)
			}
		}
	})
	t.Run("D6 a call is stopped, and one that does not run is not", func(t *testing.T) {
		t.Parallel()
		d := new(desk)
		c := d.console()
		if w := post(t, c, "/api/calls/runs/stop", kindJSON, ""); w.Code != http.StatusOK {
			t.Errorf("got %d, %s", w.Code, w.Body)
		}
		if w := post(t, c, "/api/calls/other/stop", kindJSON, ""); w.Code != http.StatusNotFound {
			t.Errorf("got %d, %s", w.Code, w.Body)
		}
	})
}

func TestNow(t *testing.T) {
	t.Parallel()
	t.Run("P6 what waits is shown with all that a person must know", func(t *testing.T) {
		t.Parallel()
		d := &desk{pending: []policy.Question{
			question("q1"),
			question("q2", func(q *policy.Question) {
				q.Claims = tool.Claims{}
				q.Preview, q.Input, q.From, q.Rule = "rm -rf /", `{"command":"rm -rf /"}`, []string{"command: from fetch"}, "ask: shell"
			}),
			question("q3", func(q *policy.Question) { q.Wants = "Which city?" }),
		}}
		text := get(t, d.console(), "/").Body.String()
		for _, want := range []string{
			"Waiting for you", `class="add">&#43;new`, `class="del">-old`, "can be undone", "may destroy", `class="card destroys"`, "reaches outside",
			"command: from fetch", "ask: shell", "Which city?", `name="text"`, "(3) Now", "every call of the tool",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not there", want)
			}
		}
	})
	t.Run("U1 where nothing is, it says what would be", func(t *testing.T) {
		t.Parallel()
		if text := get(t, new(desk).console(), "/").Body.String(); !strings.Contains(text, "Nothing was called in the last hour") {
			t.Error(text)
		}
	})
	t.Run("U1 a failure of the host is told", func(t *testing.T) {
		t.Parallel()
		c := new(desk).console()
		c.Lines = func(context.Context, Filter) ([]Line, error) { return nil, errors.New("the disk is gone") }
		for _, path := range []string{"/", "/api/now"} {
			if w := get(t, c, path); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "the disk is gone") {
				t.Errorf("%s: got %d, %s", path, w.Code, w.Body)
			}
		}
	})
}

func TestFeed(t *testing.T) {
	t.Parallel()
	t.Run("D9 what a running call says is shown, and no more than its end", func(t *testing.T) {
		t.Parallel()
		c := new(Console)
		request := &tool.Request{ID: "a"}
		c.Observe(audit.Event{Kind: audit.Started, Request: request})
		for range 100 {
			c.Observe(audit.Event{Kind: audit.Updated, Request: request, Update: &tool.Update{Text: strings.Repeat("é", 100)}})
		}
		c.Observe(audit.Event{Kind: audit.Updated, Request: request, Update: &tool.Update{Progress: true, Current: 3, Total: 4, Message: "soon"}})
		live := c.feed.live()["a"]
		if len(live.Output) > maxOutput || len(live.Output) < maxOutput-2 || strings.Trim(live.Output, "é") != "" || live.Current != 3 || live.Message != "soon" {
			t.Errorf("got %d bytes, %+v", len(live.Output), live.Current)
		}
		c.Observe(audit.Event{Kind: audit.Ended, Request: request})
		if n := len(c.feed.live()); n != 0 {
			t.Errorf("got %d calls, want none", n)
		}
	})
	t.Run("P6 a page is told at once, and the stream ends with the console", func(t *testing.T) {
		t.Parallel()
		d := new(desk)
		c := d.console()
		s := httptest.NewServer(c)
		defer s.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+testKey)
		res, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		lines := bufio.NewScanner(res.Body)
		heard := func() (now state) {
			t.Helper()
			for lines.Scan() {
				if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					if err := json.Unmarshal([]byte(text), &now); err != nil {
						t.Error(err)
					}
					return now
				}
			}
			t.Fatal("the stream has ended")
			return now
		}
		if now := heard(); now.Pending != 0 {
			t.Errorf("got %+v, want nothing", now)
		}
		d.mu.Lock()
		d.pending = []policy.Question{question("q1")}
		d.mu.Unlock()
		c.Observe(audit.Event{Kind: audit.Asked, Request: &tool.Request{ID: "a"}})
		if now := heard(); now.Pending != 1 {
			t.Errorf("got %+v, want the question", now)
		}
		if _, err := c.reply(t.Context(), Reply{Do: "allow"}, "q1"); err != nil {
			t.Error(err)
		}
		if now := heard(); now.Pending != 0 {
			t.Errorf("got %+v, want it answered", now)
		}
		c.Close()
		for lines.Scan() {
			continue
		}
		if w := get(t, c, "/api/events"); fmt.Sprint(w.Body) != "" {
			t.Errorf("got %s, want nothing from a console that is closed", w.Body)
		}
	})
}

// A process that crashed writes no end. Its calls are not "running" for ever: what they
// were is not known, and a person says it.
func TestCutOff(t *testing.T) {
	t.Parallel()
	lines := toldLines("reads requested@0, reads started@1, pays requested@2, pays started@3, runs requested@4, runs started@5, waits requested@6, again requested@7, again started@8, over requested@9, over started@10, over ended@11")
	for i := range lines {
		lines[i].Writer = "gone"
		if lines[i].ID == "runs" {
			lines[i].Writer = "here"
		}
	}
	resolved := ""
	left := []Left{{Call: "pays", Tool: "bank__pay", Source: "bank", Args: `{"to":"<eve>"}`, Why: "its process is gone"}, {Call: "again", Why: "it is idempotent", Again: true}}
	c := &Console{
		Key:    testKey,
		Writes: func(writer string) bool { return writer == "here" },
		Left:   func(context.Context) ([]Left, error) { return slices.Clone(left), nil },
		Lines: func(_ context.Context, f Filter) (all []Line, _ error) {
			for _, l := range lines {
				if l.Time = l.Time.Add(time.Since(began)); slices.Contains(f.Calls, l.ID) || f.Kind == l.Kind {
					all = append(all, l)
				}
			}
			return all, nil
		},
		Resolve: func(_ context.Context, call string, done bool, note string) error {
			resolved += fmt.Sprint(call, " ", done, " ", note)
			return nil
		},
	}
	var now Now
	if err := json.Unmarshal(get(t, c, "/api/now").Body.Bytes(), &now); err != nil {
		t.Fatal(err)
	}
	t.Run("J2 calls of a process that is gone do not run", func(t *testing.T) {
		got := make(map[string]State)
		for _, g := range now.Groups {
			for _, call := range g.Calls {
				got[call.ID] = call.State
			}
		}
		if diff := cmp.Diff(map[string]State{"reads": Lost, "pays": Lost, "runs": Running, "waits": Stopped, "again": Lost, "over": Done}, got); diff != "" || now.Running != 1 {
			t.Errorf("%d running: %s", now.Running, diff)
		}
	})
	t.Run("J2 what a person must say is asked on Now and on the call's page", func(t *testing.T) {
		if len(now.Unknown) != 1 || now.Unknown[0].Call != "pays" {
			t.Errorf("got %+v, want the call that may have happened, and only that", now.Unknown)
		}
		for path, want := range map[string]string{"/": "Nobody knows what became of this call", "/history/pays": "What became of it is not known", "/history/again": "it runs again when its turn goes on", "/history/reads": "it only read"} {
			text := get(t, c, path).Body.String()
			if form := strings.Contains(text, `action="/api/calls/pays/resolve"`); !strings.Contains(text, want) || form != (path == "/" || path == "/history/pays") {
				t.Errorf("%s: got a form: %t, want %q: %s", path, form, want, text)
			}
		}
	})
	t.Run("J2 and said there", func(t *testing.T) {
		for body, want := range map[string]int{`{"done":true,"note":"I saw it"}`: http.StatusOK, `{}`: http.StatusUnprocessableEntity} {
			if w := post(t, c, "/api/calls/pays/resolve", kindJSON, body); w.Code != want {
				t.Errorf("%s: got %d, %s", body, w.Code, w.Body)
			}
		}
		if w := post(t, c, "/api/calls/again/resolve", kindForm, "done=false&note=+no+&back=/history/again"); w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/history/again?") {
			t.Errorf("got %d, %s", w.Code, w.Header())
		}
		if want := "pays true I saw itagain false no"; resolved != want && resolved != "again false nopays true I saw it" {
			t.Errorf("got %q, want %q", resolved, want)
		}
	})
}

func TestSinkOfPages(t *testing.T) {
	t.Parallel()
	h := toldLines(`a requested@0 {"hush":1}, a changed@1 {"hush":2}, a started@2, a ended@3, b requested@4 {"hush":3}, b started@5, b ended@6 failed`)
	for i := range h {
		if r := h[i].Result; r != nil {
			if r.Preview, r.Bytes = "hush said", 5000; r.IsError {
				r.Preview, r.Text, r.Detail = "", "hush text", "hush detail"
			}
		}
	}
	for name, tt := range map[string]struct{ args, results string }{
		"G4 pages that are given everything": {"", ""},
		"G4 without results":                 {"", "[withheld: secret]"},
		"G4 without arguments":               {"[withheld: internal]", ""},
		"G4 without either":                  {"[withheld: internal]", "[withheld: secret]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Console{
				Key:      testKey,
				Withheld: func(string) (string, string) { return tt.args, tt.results },
				Result:   func(context.Context, []Line, int64, int) (Piece, error) { return PieceOf("hush whole", 0, 100), nil },
				Left:     func(context.Context) ([]Left, error) { return []Left{{Call: "a", Args: `{"hush":4}`}}, nil },
				Lines: func(_ context.Context, f Filter) (all []Line, _ error) {
					for _, l := range h {
						if l.Time = l.Time.Add(time.Since(began)); f.Kind == "" && f.Calls == nil || slices.Contains(f.Calls, l.ID) || f.Kind == l.Kind {
							all = append(all, l)
						}
					}
					return all, nil
				},
			}
			r := &tool.Request{ID: "live", Name: "t"}
			for _, e := range []audit.Event{
				{Kind: audit.Started, Request: r, Name: "t"},
				{Kind: audit.Updated, Request: r, Name: "t", Update: &tool.Update{Text: "hush out"}},
				{Kind: audit.Updated, Request: r, Name: "t", Update: &tool.Update{Text: "hush more"}},
				{Kind: audit.Updated, Request: r, Name: "t", Update: &tool.Update{Progress: true, Message: "hush message"}},
			} {
				c.Observe(e)
			}
			if live := c.feed.live()["live"]; (tt.results == "") != strings.Contains(live.Output+live.Message, "hush") || tt.results != "" && (live.Output != tt.results || live.Message != tt.results) {
				t.Errorf("what it says while it runs: got %+v", live)
			}
			var all string
			for _, path := range []string{"/", "/history", "/history/a", "/history/b", "/history/result/a", "/api/export", "/api/history?text=hush", "/api/calls/a", "/api/calls/b", "/api/now"} {
				all += get(t, c, path).Body.String()
			}
			for word, instead := range map[string]string{"hush said": tt.results, "hush whole": tt.results, "hush text": tt.results + tt.args, "hush detail": tt.results + tt.args, `hush\":`: tt.args} {
				if got := strings.Contains(all, word); got != (instead == "") {
					t.Errorf("%q is shown: %t, want %t", word, got, instead == "")
				}
			}
			for _, text := range []string{tt.args, tt.results} {
				if !strings.Contains(all, text) {
					t.Errorf("got no %s, want it said", text)
				}
			}
		})
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	t.Run("U1 the whole of a result is read in parts, and no character is cut", func(t *testing.T) {
		t.Parallel()
		text := strings.Repeat("äöü€ 𝄞\n", 300)
		got := ""
		for at, n := int64(0), 0; ; n++ {
			p := PieceOf(text, at, 100)
			if got += p.Text; p.Size != int64(len(text)) || p.At != at || len(p.Text) > 100 || !utf8.ValidString(p.Text) || n > len(text) {
				t.Fatalf("at %d: got %+v", at, p)
			}
			if at = p.Next; at == 0 {
				break
			}
		}
		if got != text {
			t.Errorf("got %d bytes, want %d", len(got), len(text))
		}
		if p := PieceOf("a", 7, 10); p.Text != "" || p.Next != 0 {
			t.Errorf("behind the end: got %+v", p)
		}
		if p := PieceOf(string([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80}), 0, 5); p.Text == "" {
			t.Errorf("what is no text: got %+v, want that it goes on", p)
		}
	})
	t.Run("U1 those of this process are held, and the oldest are let go of", func(t *testing.T) {
		t.Parallel()
		var r results
		long := strings.Repeat("x", mostResult-100)
		for i := range 50 {
			r.keep(fmt.Sprint(i), &tool.Result{Content: []tool.Content{tool.Text(long)}})
		}
		r.keep("49", &tool.Result{Content: []tool.Content{tool.Text("anew")}})
		r.keep("50", &tool.Result{Content: []tool.Content{tool.Text(long + long)}})
		if r.bytes > mostResults || len(r.texts) != len(r.order) || r.texts["49"] != "anew" || r.texts["0"] != "" || r.texts["50"] != "" || r.texts["48"] != long {
			t.Errorf("got %d bytes of %d results", r.bytes, len(r.texts))
		}
		for i := range 100_000 {
			r.keep(fmt.Sprint("short", i), &tool.Result{Content: []tool.Content{tool.Text("ok")}})
		}
		if got := len(r.texts); got > mostResults/toFind || r.bytes > mostResults {
			t.Errorf("short ones: got %d, %d bytes, want what it takes to find them counted", got, r.bytes)
		}
	})
	t.Run("U1 a call's page has its result, and leads to all of it", func(t *testing.T) {
		t.Parallel()
		lines := toldLines("a requested@0, a started@1, a ended@2, b requested@3, b started@4, b ended@5")
		for i := range lines {
			if r := lines[i].Result; r != nil {
				r.Bytes = 70_000
			}
		}
		c := &Console{Key: testKey, Lines: func(_ context.Context, f Filter) (all []Line, _ error) {
			for _, l := range lines {
				if slices.Contains(f.Calls, l.ID) {
					all = append(all, l)
				}
			}
			return all, nil
		}}
		c.Observe(audit.Event{Kind: audit.Ended, Request: &tool.Request{ID: "a"}, Result: &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("<b>", 30_000) + "the end")}}})
		for path, want := range map[string]string{
			"/history/a": `href="/history/result/a"`, "/history/result/a": `href="?at=65536"`, "/history/result/a?at=65536": "&lt;b&gt;the end",
			"/history/b": "the whole of it is not kept any more", "/history/result/b": "not kept any more", "/history/result/a?at=x": "want a number", "/history/result/a?at=99999": "want less than 90007", "/history/result/c": "no call on the record",
		} {
			if text := get(t, c, path).Body.String(); !strings.Contains(text, want) || strings.Contains(text, "<b>") {
				t.Errorf("%s: got %.200s, want %s", path, text, want)
			}
		}
	})
}

func TestManyCalls(t *testing.T) {
	t.Parallel()
	for calls, more := range map[int]bool{nowCalls: false, nowCalls + 1: true} {
		t.Run(fmt.Sprintf("U1 that there are more than are shown is said: %d", calls), func(t *testing.T) {
			t.Parallel()
			h := make([]Line, calls)
			for i := range h {
				h[i] = Line{Place: int64(i + 1), Entry: audit.Entry{Kind: audit.Requested, ID: fmt.Sprint("c", i), Time: time.Now()}}
			}
			c := &Console{Key: testKey, Lines: func(_ context.Context, f Filter) (all []Line, _ error) {
				if f.Calls == nil {
					return h[max(0, len(h)-f.Newest):], nil
				}
				for _, l := range h {
					if slices.Contains(f.Calls, l.ID) {
						all = append(all, l)
					}
				}
				return all, nil
			}}
			text := get(t, c, "/").Body.String()
			if n := strings.Count(text, `<li id="c-`); n != nowCalls || strings.Contains(text, "Older ones of this hour") != more {
				t.Errorf("got %d calls: %s", n, text)
			}
		})
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()
	ask := question("q1", func(q *policy.Question) {
		q.Tool, q.Wants, q.Input = "ask_user", "Which?\n1. red\n2. <b>blue", `{"question":"Which?","choices":["red","<b>blue"," ","\u202eder"]}`
	})
	t.Run("P6 what a tool offers to choose from is answered by a button", func(t *testing.T) {
		t.Parallel()
		d := &desk{pending: []policy.Question{ask}}
		c := d.console()
		text := get(t, c, "/").Body.String()
		for _, want := range []string{`<button name="choice" value="red">red</button>`, `value="&lt;b&gt;blue">&lt;b&gt;blue</button>`} {
			if !strings.Contains(text, want) || strings.Count(text, `name="choice"`) != 2 {
				t.Errorf("got %s, want %s", text, want)
			}
		}
		if w := post(t, c, "/api/questions/q1", kindForm, "choice=%3Cb%3Eblue&text=&digest=d"); w.Code != http.StatusSeeOther || d.answered["q1"].Text != "<b>blue" || !d.answered["q1"].Allow {
			t.Errorf("got %d, %+v", w.Code, d.answered)
		}
	})
	t.Run("P6 a tool of somebody else offers nothing so", func(t *testing.T) {
		t.Parallel()
		other := ask
		other.Source.Trust = 0
		if got := choicesOf(other); got != nil {
			t.Errorf("got %q", got)
		}
	})
}

func TestFormAgain(t *testing.T) {
	t.Parallel()
	d := &desk{pending: []policy.Question{question("q1")}}
	c := d.console()
	t.Run("P6 what was typed into a form that is refused is shown again", func(t *testing.T) {
		w := post(t, c, "/api/questions/q1", kindForm, url.Values{"do": {"allow"}, "message": {"not <here>"}, "digest": {"d"}, "back": {"/?x=1"}}.Encode())
		for _, want := range []string{"it goes with a no", `name="message" rows="3" spellcheck="false">not &lt;here&gt;</textarea>`, `name="do" value="allow"`, `action="/api/questions/q1"`, `href="/?x=1"`} {
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
				t.Errorf("got %d, %s, want %s", w.Code, w.Body, want)
			}
		}
	})
	t.Run("P6 where nothing was typed the page itself says it", func(t *testing.T) {
		if w := post(t, c, "/api/questions/q9", kindForm, "do=allow&message=&reason=&edited=%7B%7D&rule=fs_write"); w.Code != http.StatusSeeOther {
			t.Errorf("got %d, %s", w.Code, w.Body)
		}
	})
}

func TestCard(t *testing.T) {
	t.Parallel()
	d := &desk{pending: []policy.Question{question("q1", func(q *policy.Question) {
		q.Tool, q.Claims, q.Expires = "bank__rates", tool.Claims{Touches: []tool.Access{{Resource: "file:a<b>", Write: true}}}, time.Now().Add(time.Hour)
		q.Caller.Session = "mcp-SESSION-123456"
	})}}
	t.Run("P4 a card says until when, in which session, and what it touches", func(t *testing.T) {
		t.Parallel()
		text := get(t, d.console(), "/").Body.String()
		for _, want := range []string{"data-until>until ", "…123456", "writes <code>file:a&lt;b&gt;</code>", "may destroy", `class="card destroys"`} {
			if !strings.Contains(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
		}
	})
	t.Run("P4 what only the tool says of itself is said to be that", func(t *testing.T) {
		t.Parallel()
		c := d.console()
		c.Says = func(string) tool.Claims { return tool.Claims{ReadOnly: true} }
		text := get(t, c, "/").Body.String()
		if !strings.Contains(text, "says it only reads") || !strings.Contains(text, ">may destroy<") || !strings.Contains(text, `class="card destroys"`) || !strings.Contains(text, `name="second"`) {
			t.Errorf("got %s, want what it says, and the second key all the same", text)
		}
	})
}

func TestPendingIsReadOnce(t *testing.T) {
	t.Parallel()
	d := &desk{pending: []policy.Question{question("q1")}}
	c := d.console()
	reads, pending := 0, c.Pending
	c.Pending = func(ctx context.Context) ([]policy.Question, error) {
		reads++
		return pending(ctx)
	}
	t.Run("P6 a page looks at the questions once", func(t *testing.T) {
		for _, path := range []string{"/", "/history", "/api/questions"} {
			reads = 0
			if get(t, c, path); reads != 1 {
				t.Errorf("%s: got %d looks, want 1", path, reads)
			}
		}
	})
}
