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
	"strings"
	"sync"
	"testing"

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
	d.answered = make(map[string]policy.Answer)
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
