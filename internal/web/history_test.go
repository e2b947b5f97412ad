package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/policy"
)

// strange is what a stranger may write anywhere.
const strange = "<script>alert(1)</script>\"' onload=x \u202etxt.exe"

// pastHost is a host with a past: a record, and files that were changed.
type pastHost struct {
	lines    []web.Line
	pending  []policy.Question
	changes  []web.Change
	diff     string
	since    string
	undone   []string // "id" or "id force"
	verified int
	faults   []string
	broken   int64 // the record cannot be read behind this place; 0: it can
}

func (h *pastHost) console(t *testing.T) *pastPages {
	t.Helper()
	c := &web.Console{
		Key: "key", Place: "/work", By: "ann",
		Pending: func(context.Context) ([]policy.Question, error) { return h.pending, nil },
		Lines:   h.read,
		Last:    func(context.Context) (int64, error) { return int64(len(h.lines)), nil },
		Verify: func(context.Context) (web.Chain, error) {
			h.verified++
			return web.Chain{Rows: len(h.lines), Writers: 1, Faults: h.faults, Text: "some entries"}, nil
		},
		Changes: func(context.Context) ([]web.Change, error) { return h.changes, nil },
		Diff:    func(context.Context, string) (string, string, error) { return h.diff, h.since, nil },
		Undo: func(_ context.Context, id string, force bool) (string, error) {
			if h.since != "" && !force {
				return "", errors.New(h.since + " has changed it since")
			}
			if force {
				id += " force"
			}
			h.undone = append(h.undone, id)
			return "it was put back", nil
		},
	}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	t.Cleanup(c.Close)
	return &pastPages{t: t, url: s.URL}
}

// read gives lines as a store does.
func (h *pastHost) read(_ context.Context, f web.Filter) (all []web.Line, err error) {
	for _, l := range h.lines {
		switch {
		case f.Calls != nil:
			if slices.Contains(f.Calls, l.ID) {
				all = append(all, l)
			}
		case f.Questions != nil:
			if slices.Contains(f.Questions, l.Question) {
				all = append(all, l)
			}
		case f.Kind != "" && l.Kind != f.Kind, f.Tool != "" && l.Tool != f.Tool, f.Session != "" && l.Session != f.Session,
			f.Before > 0 && l.Place >= f.Before, l.Place <= f.After:
		default:
			if all = append(all, l); f.Oldest > 0 && len(all) == f.Oldest {
				return all, h.wrong(all)
			}
		}
	}
	if n := len(all) - f.Newest; f.Newest > 0 && n > 0 {
		all = all[n:]
	}
	return all, h.wrong(all)
}

func (h *pastHost) wrong(all []web.Line) error {
	if h.broken > 0 && len(all) > 0 && all[len(all)-1].Place > h.broken {
		return errors.New("the record cannot be read there")
	}
	return nil
}

// add puts a line on the record.
func (h *pastHost) add(e audit.Entry) {
	n := int64(len(h.lines) + 1)
	e.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(n) * time.Millisecond)
	h.lines = append(h.lines, web.Line{Place: n, Entry: e})
}

// call puts a call on the record, from its request to its end.
func (h *pastHost) call(id string, e audit.Entry, verdict string, r *audit.Outcome) {
	e.ID, e.Kind = id, audit.Requested
	h.add(e)
	who := audit.Entry{ID: id, Tool: e.Tool, Session: e.Session}
	who.Kind, who.By, who.Decision = audit.Decided, "default", &audit.Judgement{Verdict: verdict, Reason: "so it is", Rule: "rule 1"}
	h.add(who)
	who.Kind, who.By, who.Decision = audit.Started, "", nil
	if verdict == "allow" {
		h.add(who)
	}
	if r != nil {
		who.Kind, who.Result, who.Took = audit.Ended, r, 3*time.Millisecond
		h.add(who)
	}
}

// pastPages is a browser or a program that looks at it.
type pastPages struct {
	t      *testing.T
	url    string
	cookie *http.Cookie // nil: it has the key
}

func (p *pastPages) do(method, path, kind, body string) (status int, text string, h http.Header) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if p.cookie != nil {
		r.AddCookie(p.cookie)
	} else {
		r.Header.Set("Authorization", "Bearer key")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, string(b), res.Header // it was cut off
	}
	return res.StatusCode, string(b), res.Header
}

func (p *pastPages) get(path string, want int) string {
	p.t.Helper()
	status, text, _ := p.do(http.MethodGet, path, "", "")
	if status != want {
		p.t.Fatalf("%s: got %d: %s, want %d", path, status, text, want)
	}
	return text
}

func (p *pastPages) json(path string, v any) {
	p.t.Helper()
	if text := p.get(path, http.StatusOK); json.Unmarshal([]byte(text), v) != nil {
		p.t.Fatalf("%s: got %s, want JSON", path, text)
	}
}

// browser has the cookie, and gives the word that forms send.
func (p *pastPages) browser() (word string) {
	p.t.Helper()
	_, _, h := p.do(http.MethodGet, "/?key=key", "", "")
	cookie, err := http.ParseSetCookie(h.Get("Set-Cookie"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.cookie = cookie
	found := regexp.MustCompile(`name="ferrule-form" content="(\w+)"`).FindStringSubmatch(p.get("/history", http.StatusOK))
	if found == nil {
		p.t.Fatal("got a page without the word of its forms")
	}
	return found[1]
}

// pastList is what a page of calls says.
type pastList struct {
	Calls []struct {
		ID    string
		State string
		Marks []string
	}
	Older   int64
	Looked  int
	Bounded bool
}

func (l *pastList) ids() (ids []string) {
	for _, c := range l.Calls {
		ids = append(ids, c.ID)
	}
	return ids
}

// walk follows the links to older calls to the end.
func (p *pastPages) walk(query url.Values) (ids []string, pages int) {
	p.t.Helper()
	for {
		var l pastList
		p.json("/api/history?"+query.Encode(), &l)
		ids = append(ids, l.ids()...)
		if pages++; l.Older == 0 {
			return ids, pages
		}
		query.Set("before", fmt.Sprint(l.Older))
	}
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("U1 each call stands on one page, newest first, whatever order their lines came in: %d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			h := new(pastHost)
			var all, failed, open []string
			for i := range 301 + random.IntN(200) {
				id := fmt.Sprintf("run-%d.0", i)
				all = append(all, id)
				h.add(audit.Entry{Kind: audit.Requested, ID: id, Tool: "t", Session: fmt.Sprint("s", i%3)})
				open = append(open, id)
				for len(open) > 0 && random.IntN(3) > 0 { // others go on, end, or come again
					at := random.IntN(len(open))
					switch id := open[at]; random.IntN(4) {
					case 0:
						h.add(audit.Entry{Kind: audit.Requested, ID: id, Tool: "t"})
					case 1:
						h.add(audit.Entry{Kind: audit.Started, ID: id})
					case 2:
						h.add(audit.Entry{Kind: audit.Governed, Text: "of no call"})
					default:
						r := &audit.Outcome{Preview: "well"}
						if random.IntN(2) == 0 {
							r = &audit.Outcome{IsError: true, Kind: "timeout"}
							failed = append(failed, id)
						}
						h.add(audit.Entry{Kind: audit.Ended, ID: id, Result: r})
						open = slices.Delete(open, at, at+1)
					}
				}
			}
			slices.Reverse(all)
			p := h.console(t)
			got, pages := p.walk(url.Values{})
			if !slices.Equal(got, all) {
				t.Errorf("got %d calls: %q, want %d: %q", len(got), got, len(all), all)
			}
			if pages != (len(all)+99)/100 {
				t.Errorf("got %d pages of %d calls, want 100 on each", pages, len(all))
			}
			got, _ = p.walk(url.Values{"kind": {"timeout"}})
			slices.Sort(got)
			slices.Sort(failed)
			if !slices.Equal(got, failed) {
				t.Errorf("timeouts: got %q, want %q", got, failed)
			}
		})
	}
	t.Run("P6 a call that was made anew, in another session too, is one row wherever its pages end", func(t *testing.T) {
		t.Parallel()
		for between := range 220 {
			if between > 3 && between%49 != 0 {
				continue
			}
			h := new(pastHost)
			made := func(id, session string, kinds ...audit.Kind) {
				for _, k := range kinds {
					e := audit.Entry{ID: id, Tool: "write", Session: session, Kind: k}
					switch k { //nolint:exhaustive // the others have nothing more
					case audit.Asked:
						e.Question = "q1"
					case audit.Ended:
						e.Result = &audit.Outcome{IsError: true, Kind: "suspended"}
					}
					h.add(e)
				}
			}
			made("first", "s1", audit.Requested, audit.Asked, audit.Ended)
			for i := range between {
				h.call(fmt.Sprintf("c%d", i), audit.Entry{Tool: "t", Session: "s"}, "allow", &audit.Outcome{})
			}
			made("second", "s2", audit.Requested, audit.Asked, audit.Started)
			p := h.console(t)
			for query, want := range map[string]int{"": between + 1, "tool=write": 1, "session=s1": 1, "session=s2": 1, "text=q1": 1, "state=running": 1} {
				values, _ := url.ParseQuery(query)
				got, _ := p.walk(values)
				if len(got) != want || !slices.Contains(got, "second") || slices.Contains(got, "first") {
					t.Errorf("%d between, %q: got %d calls, want %d, and both as one", between, query, len(got), want)
				}
				if text := p.get("/api/export?"+query, http.StatusOK); strings.Count(text, `"first"`) != 3 || strings.Count(text, `"second"`) != 3 {
					t.Errorf("%d between, export of %q: got %s, want the lines of both", between, query, text)
				}
			}
			var now struct {
				Groups []struct{ Calls []struct{ ID string } }
			}
			p.json("/api/calls/first", new(any))
			p.json("/api/now", &now)
		}
	})
	t.Run("U1 a search says how far it looked, and goes on from there", func(t *testing.T) {
		t.Parallel()
		h := new(pastHost)
		for i := range 5600 {
			text := "much the same"
			if i == 3 {
				text = "the needle"
			}
			h.add(audit.Entry{Kind: audit.Requested, ID: fmt.Sprint(i), Tool: "t", Args: text})
		}
		p := h.console(t)
		var l pastList
		p.json("/api/history?text=NEEDLE", &l)
		if len(l.Calls) != 0 || !l.Bounded || l.Older == 0 || l.Looked != 5000 {
			t.Errorf("got %+v, want that it was looked no further than 5000", l)
		}
		if text := p.get("/history?text=NEEDLE", http.StatusOK); !strings.Contains(text, "Look further back") || !strings.Contains(text, "5000 calls were looked through, and") {
			t.Errorf("got %s, want that there are older ones", text)
		}
		if got, pages := p.walk(url.Values{"text": {"NEEDLE"}}); !slices.Equal(got, []string{"3"}) || pages != 2 {
			t.Errorf("got %q on %d pages, want the one", got, pages)
		}
	})
}

func TestHistoryLinks(t *testing.T) {
	t.Parallel()
	t.Run("U1 links lead on with what is looked for", func(t *testing.T) {
		t.Parallel()
		h := new(pastHost)
		for i := range 150 {
			h.call(fmt.Sprintf("c%d", i), audit.Entry{Tool: "read", Session: "one"}, "allow", nil)
		}
		text := h.console(t).get("/history?tool=read&state=running", http.StatusOK)
		for _, want := range []string{`href="/history?before=`, `&amp;state=running&amp;tool=read"`, `href="/api/export?state=running&amp;tool=read"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not there: %s", want, text)
			}
		}
	})
}

func TestHistoryFilters(t *testing.T) {
	t.Parallel()
	h := new(pastHost)
	h.call("a", audit.Entry{Tool: "read", Session: "one", Args: `{"path": "Notes.md"}`}, "allow", &audit.Outcome{Preview: "the moon"})
	h.call("b", audit.Entry{Tool: "write", Session: "one", Source: "files"}, "deny", &audit.Outcome{IsError: true, Kind: "denied", Text: "It was denied."})
	h.call("c", audit.Entry{Tool: "read", Session: "two", Source: "files", Client: "editor"}, "allow", &audit.Outcome{IsError: true, Kind: "timeout", Detail: "after 5 s"})
	h.call("d", audit.Entry{Tool: "write", Session: "two"}, "allow", nil)
	h.add(audit.Entry{ID: "e", Kind: audit.Requested, Tool: "write", Session: "two"})
	h.add(audit.Entry{ID: "e", Kind: audit.Decided, Decision: &audit.Judgement{Verdict: "ask"}})
	h.add(audit.Entry{ID: "e", Kind: audit.Asked, Question: "q1"})
	h.add(audit.Entry{ID: "e", Kind: audit.Ended, Result: &audit.Outcome{IsError: true, Kind: "suspended"}})
	h.add(audit.Entry{ID: "f", Kind: audit.Requested, Tool: "write", Session: "two"})
	h.add(audit.Entry{ID: "f", Kind: audit.Asked, Question: "gone"})
	h.add(audit.Entry{ID: "f", Kind: audit.Ended, Result: &audit.Outcome{IsError: true, Kind: "suspended"}})
	h.add(audit.Entry{Kind: audit.Governed, By: "ann", Text: "of no call"})
	h.pending = []policy.Question{{ID: "q1", Tool: "write"}}
	p := h.console(t)
	for _, tt := range []struct{ query, want string }{
		{"", "fedcba"},
		{"tool=read", "ca"},
		{"source=files", "cb"},
		{"source=own", "feda"},
		{"state=done", "a"},
		{"state=running", "d"},
		{"state=asked", "e"},
		{"state=stopped", "f"},
		{"state=refused", "b"},
		{"kind=timeout", "c"},
		{"decision=ask", "e"},
		{"decision=deny", "b"},
		{"decision=allow&tool=read", "ca"},
		{"session=one", "ba"},
		{"text=notes.MD", "a"},
		{"text=moon", "a"},
		{"text=after+5", "c"},
		{"text=EDITOR", "c"},
		{"text=nowhere", ""},
		{"session=one&state=done&text=moon", "a"},
		{"before=2", "a"},
	} {
		t.Run("U1 "+tt.query, func(t *testing.T) {
			t.Parallel()
			p := &pastPages{t: t, url: p.url}
			var l pastList
			p.json("/api/history?"+tt.query, &l)
			if got := strings.Join(l.ids(), ""); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			page := p.get("/history?"+tt.query, http.StatusOK)
			for id := range strings.SplitSeq(tt.want, "") {
				if !strings.Contains(page, `id="c-`+id+`"`) {
					t.Errorf("got %s, want a row of %s", page, id)
				}
			}
			if tt.want == "" && !strings.Contains(page, "No call is like that") {
				t.Errorf("got %s, want that nothing fits", page)
			}
		})
	}
	for _, query := range []string{"state=odd", "kind=odd", "decision=odd", "before=odd", "before=-1"} {
		t.Run("U1 not one that there is: "+query, func(t *testing.T) {
			t.Parallel()
			p := &pastPages{t: t, url: p.url}
			for _, path := range []string{"/history?", "/api/history?", "/api/export?"} {
				if text := p.get(path+query, http.StatusBadRequest); !strings.Contains(text, "want") {
					t.Errorf("%s: got %s, want what is wanted", path, text)
				}
			}
		})
	}
}

func TestHistoryEmpty(t *testing.T) {
	t.Parallel()
	t.Run("U1 nothing was called yet", func(t *testing.T) {
		t.Parallel()
		p := new(pastHost).console(t)
		for path, want := range map[string]string{"/history": "Nothing was called yet", "/history/changes": "No tool has changed a file", "/history/record": "Nothing is on it yet"} {
			if text := p.get(path, http.StatusOK); !strings.Contains(text, want) {
				t.Errorf("%s: got %s, want %q", path, text, want)
			}
		}
		if text := p.get("/api/export", http.StatusOK); text != "" {
			t.Errorf("got %q, want nothing", text)
		}
	})
	t.Run("U1 what there is not", func(t *testing.T) {
		t.Parallel()
		p := new(pastHost).console(t)
		for _, path := range []string{"/history/nope", "/api/calls/nope", "/history/changes/nope", "/api/changes/nope", "/history/changes?before=nope", "/history/a/b"} {
			if text := p.get(path, http.StatusNotFound); !strings.Contains(text, "nope") && !strings.Contains(text, "no such page") {
				t.Errorf("%s: got %s, want what there is not", path, text)
			}
		}
	})
}

func TestHistoryLife(t *testing.T) {
	t.Parallel()
	h := new(pastHost)
	h.add(audit.Entry{ID: "a", Kind: audit.Requested, Tool: "send", Session: "s", Client: "editor", Source: "mail", Trust: "mcp", Class: "write", Args: `{"to": "x"}`})
	h.add(audit.Entry{
		ID: "a", Kind: audit.Decided, By: "cedar", Decision: &audit.Judgement{Verdict: "ask", Rule: "ask(send)", Reason: "it sends"},
		Flow: json.RawMessage(`{"flows":["a"],"to":["x"],"copied":[{"argument":"to","how":"exact","tool":"fetch","call":"earlier","untrusted":true,"sensitive":false}]}`),
	})
	h.add(audit.Entry{ID: "a", Kind: audit.Asked, Question: "q1"})
	h.add(audit.Entry{ID: "b", Kind: audit.Requested, Tool: "other", Session: "s"})
	h.add(audit.Entry{ID: "a", Kind: audit.Answered, By: "ann", Text: "allow"})
	h.add(audit.Entry{ID: "a", Kind: audit.Changed, Args: `{"to": "y"}`})
	h.add(audit.Entry{ID: "a", Kind: audit.Decided, By: "cedar", Decision: &audit.Judgement{Verdict: "ask", Rule: "ask(send)", Reason: "it sends"}})
	h.add(audit.Entry{ID: "a", Kind: audit.Started})
	h.add(audit.Entry{ID: "a", Kind: audit.Isolated, Text: "by bubblewrap"})
	h.add(audit.Entry{ID: "a", Kind: audit.Scrubbed, Text: "TOKEN"})
	h.add(audit.Entry{ID: "a", Kind: audit.Ended, Result: &audit.Outcome{IsError: true, Kind: "failed", Text: "It bounced.", Detail: "smtp 550"}, Took: 2 * time.Millisecond, Flow: json.RawMessage(`{"tool":"send","untrusted":true}`)})
	h.changes = []web.Change{{ID: "c2", Call: "b", File: "other.txt"}, {ID: "c1", Call: "a", File: "sent.txt", What: "created", Tool: "send"}}
	p := h.console(t)
	t.Run("U1 phase by phase, with times", func(t *testing.T) {
		t.Parallel()
		p := &pastPages{t: t, url: p.url}
		var l struct {
			Call   struct{ State, Kind, Args string }
			Phases []struct {
				Kind, By, Text, Rule, Look string
				After                      float64 `json:"after_ms"`
			}
			Changes []struct{ ID string }
			Lines   []json.RawMessage
			Flow    struct {
				Copied    []struct{ Call string }
				Untrusted bool
			}
		}
		p.json("/api/calls/a", &l)
		var kinds []string
		for i, ph := range l.Phases {
			kinds = append(kinds, ph.Kind)
			if i > 0 && ph.After <= l.Phases[i-1].After {
				t.Errorf("%s: got %v ms after the first, want later than the one before", ph.Kind, ph.After)
			}
		}
		if got, want := strings.Join(kinds, " "), "requested decided asked answered changed decided started isolated scrubbed ended"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if l.Call.Args != `{"to": "y"}` || l.Call.State != "failed" || len(l.Lines) != 10 {
			t.Errorf("got %+v, want what it came to", l.Call)
		}
		if l.Phases[1].Rule != "ask(send)" || l.Phases[5].Text != "still ask" || l.Phases[9].Look != "failed" {
			t.Errorf("got %+v, want who decided by which rule, once", l.Phases)
		}
		if len(l.Changes) != 1 || l.Changes[0].ID != "c1" {
			t.Errorf("got the changes %+v, want its own", l.Changes)
		}
		if len(l.Flow.Copied) != 1 || l.Flow.Copied[0].Call != "earlier" || !l.Flow.Untrusted {
			t.Errorf("got %+v, want where data came from", l.Flow)
		}
	})
	t.Run("U1 as a page", func(t *testing.T) {
		t.Parallel()
		p := &pastPages{t: t, url: p.url}
		text := p.get("/history/a", http.StatusOK)
		for _, want := range []string{
			"ask(send)", "by bubblewrap", "It bounced.", "smtp 550", `href="/history/earlier"`, `href="/history?session=s"`, `href="/tools/send"`,
			`action="/api/changes/c1/undo"`, "trust mcp", "untrusted",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("got %s, want %q", text, want)
			}
		}
		if strings.Contains(text, "other.txt") {
			t.Error("got the change of another call")
		}
	})
}

func TestHistoryStrange(t *testing.T) {
	t.Parallel()
	t.Run("G1 what strangers wrote is shown as text on every page", func(t *testing.T) {
		t.Parallel()
		h := &pastHost{diff: "--- a\n+++ b\n+" + strange, since: strange, faults: []string{strange}}
		h.add(audit.Entry{
			ID: "a", Kind: audit.Requested, Tool: strange, Session: strange, Client: strange, Agent: strange, Source: strange, Trust: strange, Class: strange,
			Mode: strange, Principal: strange, CallID: strange, Args: strange,
		})
		h.add(audit.Entry{ID: "a", Kind: audit.Decided, By: strange, Decision: &audit.Judgement{Verdict: strange, Rule: strange, Reason: strange}, Flow: json.RawMessage(
			`{"flows":["x"],"to":[` + quoted(strange) + `],"unseen":` + quoted(strange) + `,"refused":` + quoted(strange) + `,"copied":[{"argument":` + quoted(strange) + `,"how":"exact","tool":` + quoted(strange) + `,"call":` + quoted(strange) + `}]}`)})
		h.add(audit.Entry{ID: "a", Kind: audit.Answered, By: strange, Text: strange})
		h.add(audit.Entry{ID: "a", Kind: audit.Changed, Args: strange})
		h.add(audit.Entry{ID: "a", Kind: audit.Kind(strange), Text: strange})
		h.add(audit.Entry{ID: "a", Kind: audit.Ended, Text: strange, Result: &audit.Outcome{IsError: true, Kind: strange, Text: strange, Detail: strange, Preview: strange}})
		h.changes = []web.Change{{ID: "c1", Path: strange, File: strange, What: strange, Tool: strange, Call: "a", Session: strange, Of: strange}, {ID: "c2", File: strange, UndoneBy: strange}}
		p := h.console(t)
		q := url.QueryEscape(strange)
		unseen := regexp.MustCompile(` (value|class)="[^"<>]*"`)
		for path, status := range map[string]int{
			"/history": 200, "/history/a": 200, "/history/changes": 200, "/history/changes/c1": 200, "/history/changes/c2": 200, "/history/record": 200,
			"/history?text=" + q + "&tool=" + q + "&source=" + q + "&session=" + q: 200, "/history?state=" + q: 400, "/history/" + url.PathEscape(strange): 404,
			"/history/changes/" + url.PathEscape(strange): 404, "/history?said=" + q: 200,
		} {
			text := unseen.ReplaceAllString(p.get(path, status), "") // what is sent back must be what it was
			for _, bad := range []string{"<script>alert", "\u202e", `"' onload`} {
				if strings.Contains(text, bad) {
					i := strings.Index(text, bad)
					t.Errorf("%s: got %q in %q", path, bad, text[max(0, i-100):i+60])
				}
			}
		}
	})
	t.Run("G1 an id that is a path leads nowhere else", func(t *testing.T) {
		t.Parallel()
		h := new(pastHost)
		h.call("../rules?x=1#y", audit.Entry{Tool: "../../etc", Session: "a&state=done"}, "allow", &audit.Outcome{})
		p := h.console(t)
		text := p.get("/history", http.StatusOK)
		for _, want := range []string{`href="/history/..%2Frules%3Fx=1%23y"`, `href="/history?session=a%26state%3ddone"`} {
			if !strings.Contains(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
		}
	})
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestHistoryExport(t *testing.T) {
	t.Parallel()
	h := new(pastHost)
	for i := range 700 {
		name := []string{"read", "write"}[i%2]
		h.call(fmt.Sprint(i), audit.Entry{Tool: name, Args: strange}, "allow", &audit.Outcome{})
	}
	h.add(audit.Entry{Kind: audit.Governed, Text: "of no call"})
	read := func(t *testing.T, text string) (places []int64, tools map[string]int) {
		t.Helper()
		tools = make(map[string]int)
		for line := range strings.Lines(text) {
			var l web.Line
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("got %q: %v", line, err)
			}
			places = append(places, l.Place)
			tools[l.Tool]++
		}
		return places, tools
	}
	t.Run("U1 all of it, oldest first", func(t *testing.T) {
		t.Parallel()
		status, text, header := h.console(t).do(http.MethodGet, "/api/export", "", "")
		places, _ := read(t, text)
		if status != http.StatusOK || len(places) != len(h.lines) || !slices.IsSorted(places) {
			t.Errorf("got %d: %d lines, want %d in their order", status, len(places), len(h.lines))
		}
		if header.Get("Content-Type") != "application/x-ndjson" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") {
			t.Errorf("got %v, want a file", header)
		}
	})
	t.Run("U1 what fits", func(t *testing.T) {
		t.Parallel()
		_, tools := read(t, h.console(t).get("/api/export?tool=write&state=done", http.StatusOK))
		if len(tools) != 1 || tools["write"] != 350*4 {
			t.Errorf("got %v, want the lines of all that wrote", tools)
		}
	})
	t.Run("U1 one that breaks off is seen to", func(t *testing.T) {
		t.Parallel()
		broken := &pastHost{lines: h.lines, broken: 900}
		if status, text, _ := broken.console(t).do(http.MethodGet, "/api/export", "", ""); status != 0 || text == "" {
			t.Errorf("got %d and %d bytes, want a beginning and an error", status, len(text))
		}
		broken = &pastHost{lines: h.lines, broken: 1}
		broken.console(t).get("/api/export", http.StatusInternalServerError)
	})
}

func TestHistoryRecord(t *testing.T) {
	t.Parallel()
	t.Run("U1 it is looked at when somebody asks, and then for a while is not", func(t *testing.T) {
		t.Parallel()
		h := new(pastHost)
		h.call("a", audit.Entry{Tool: "t"}, "allow", &audit.Outcome{})
		p := h.console(t)
		if text := p.get("/history", http.StatusOK); h.verified != 0 || !strings.Contains(text, "Check that it is as it was written") {
			t.Errorf("got %d looks and %s, want none", h.verified, text)
		}
		var r struct {
			Rows   int
			Faults []string
		}
		p.json("/api/record", &r)
		p.get("/history/record", http.StatusOK)
		if h.verified != 1 || r.Rows != 4 || r.Faults == nil {
			t.Errorf("got %d looks, %+v, want one", h.verified, r)
		}
		if text := p.get("/history", http.StatusOK); !strings.Contains(text, "The record is as it was written") {
			t.Errorf("got %s, want how it stands", text)
		}
	})
	t.Run("U1 faults are listed, and History says so", func(t *testing.T) {
		t.Parallel()
		h := &pastHost{faults: []string{"place 7: it was changed"}}
		h.call("a", audit.Entry{Tool: "t"}, "allow", &audit.Outcome{})
		p := h.console(t)
		if text := p.get("/history/record", http.StatusOK); !strings.Contains(text, "place 7: it was changed") {
			t.Errorf("got %s, want the fault", text)
		}
		if text := p.get("/history", http.StatusOK); !strings.Contains(text, "The record is not as it was written") {
			t.Errorf("got %s, want that something is wrong", text)
		}
	})
}
