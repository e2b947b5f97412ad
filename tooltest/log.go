package tooltest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Log checks a log. Each call of open gives one that is empty, a way to read what
// it keeps, in order, and takes care of closing it.
//
//	func TestLog(t *testing.T) {
//		tooltest.Log(t, func(*testing.T) (audit.Log, func() ([]audit.Entry, error)) {
//			l := new(mine.Log)
//			return l, l.Entries
//		})
//	}
func Log(t *testing.T, open func(t *testing.T) (log audit.Log, entries func() ([]audit.Entry, error))) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(l logging)
	}{
		{"U1 what was appended is kept, in order", logging.order},
		{"U1 everything about a call is kept", logging.whole},
		{"U1 what belongs to no call, or to no tool, is kept", logging.bare},
		{"U1 output and progress are not kept", logging.updates},
		{"U1 what is appended is taken at once", logging.taken},
		{"U1 what is no text is made one", logging.hostile},
		{"U1 what is long is cut, and says so", logging.long},
		{"U1 many at once: none is lost, and each is behind what came before", logging.crowded},
		{"U1 nothing is there to be kept", logging.nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log, entries := open(t)
			tt.test(logging{t, log, entries})
		})
	}
}

// logging is a log under test.
type logging struct {
	*testing.T
	audit.Log
	entries func() ([]audit.Entry, error)
}

// at is when things happen: a time of a place far from Greenwich.
func at(i int) time.Time {
	return time.Date(2026, 2, 3, 4, 5, 6, 7, time.FixedZone("far", 5*3600)).Add(time.Duration(i) * 1234567 * time.Microsecond)
}

func (l logging) append(events ...audit.Event) {
	l.Helper()
	if _, err := l.Append(events...); err != nil {
		l.Fatalf("Append: %v", err)
	}
}

// kept is what is there after a Flush.
func (l logging) kept() []audit.Entry {
	l.Helper()
	if err := l.Flush(l.Context()); err != nil {
		l.Fatalf("Flush: %v", err)
	}
	all, err := l.entries()
	if err != nil {
		l.Fatalf("read: %v", err)
	}
	return all
}

func (l logging) want(want ...audit.Entry) {
	l.Helper()
	got := l.kept()
	if len(got) != len(want) {
		l.Fatalf("got %d entries, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		if !g.Time.Equal(w.Time) {
			l.Errorf("%d: got the time %s, want %s", i, g.Time, w.Time)
		}
		if g.Time, w.Time = (time.Time{}), (time.Time{}); !reflect.DeepEqual(g, w) {
			l.Errorf("%d: got  %+v\nwant %+v", i, g, w)
		}
	}
}

func (l logging) order() {
	var want []audit.Entry
	for i := range 30 {
		e := audit.Event{Kind: audit.Found, Time: at(i), Name: fmt.Sprint(i)}
		switch i % 3 {
		case 0:
			l.append(e)
		case 1: // several at once
			next := audit.Event{Kind: audit.Registered, Time: at(i), Name: fmt.Sprint(i, "b")}
			l.append(e, next)
		default:
			l.append(e)
			l.kept() // what comes behind a Flush is behind what was before
		}
		want = append(want, audit.Entry{Kind: audit.Found, Time: at(i), Tool: fmt.Sprint(i)})
		if i%3 == 1 {
			want = append(want, audit.Entry{Kind: audit.Registered, Time: at(i), Tool: fmt.Sprint(i, "b")})
		}
	}
	l.want(want...)
}

// requested is a call with everything that is known of one.
func requested() *tool.Request {
	return &tool.Request{
		Caller: tool.Caller{Tenant: "t", Principal: "ada", Session: "s1", Client: "cl", Agent: "ag", Run: "r1", Prompt: "not this", Values: map[string]any{"not": "this"}},
		Source: tool.Source{Name: "github", Trust: tool.MCP}, Tool: &tool.Info{Name: "send"}, Name: "github__send", CalledAs: "send_it",
		ID: "call-1.2", CallID: "toolu_1", Turn: 3, Index: 2, Claims: tool.Claims{Reversible: true}, Mode: "auto", Key: "not this",
	}
}

func (l logging) whole() {
	r := requested()
	of := func(k audit.Kind, i int) audit.Entry {
		return audit.Entry{Kind: k, Time: at(i), Tenant: "t", Principal: "ada", Session: "s1", Turn: 3, Index: 2, ID: "call-1.2", CallID: "toolu_1", Tool: "github__send"}
	}
	first, decided, asked, ended := of(audit.Requested, 0), of(audit.Decided, 1), of(audit.Asked, 2), of(audit.Ended, 3)
	first.CalledAs, first.Source, first.Trust, first.Mode, first.Class = "send_it", "github", "mcp", "auto", "write"
	first.Client, first.Agent, first.Run, first.Args = "cl", "ag", "r1", `{"to":"bob"}`
	decided.Mode, decided.By, decided.Text = "auto", "policy", "why"
	decided.Decision = &audit.Judgement{Verdict: "ask", Rule: "send*", Reason: "it sends"}
	decided.Flow, ended.Flow = json.RawMessage(`{"flows":["a"],"to":["bob"]}`), json.RawMessage(`{"tool":"send","untrusted":true}`)
	asked.By, asked.Question = "send*", "q1"
	ended.Took = 1500 * time.Microsecond
	ended.Result = &audit.Outcome{IsError: true, Kind: "tool_error", Text: "for the model", Detail: "for the operator", Blocks: 2, Chars: 7, Bytes: 8, Preview: "né"}
	ended.Result.Trust, ended.Result.Origin = "web", &tool.Origin{Source: "github", Tool: "read", Sensitivity: tool.Secret}
	low := tool.Web
	l.append(
		audit.Event{Kind: audit.Requested, Time: at(0), Request: r, Session: "s1", Turn: 3, Name: "send_it", Args: `{"to":"bob"}`},
		audit.Event{Kind: audit.Decided, Time: at(1), Request: r, By: "policy", Text: "why", Decision: &tool.Decision{Verdict: tool.Ask, Rule: "send*", Reason: "it sends", Message: "not this"}, Flow: `{"flows":["a"],"to":["bob"]}`},
		audit.Event{Kind: audit.Asked, Time: at(2), Request: r, By: "send*", Question: "q1"},
		audit.Event{Kind: audit.Ended, Time: at(3), Request: r, Took: 1500 * time.Microsecond, Result: &tool.Result{
			Content: []tool.Content{tool.Text("né"), {Type: tool.JSONContent, JSON: []byte(`{"a":1}`)[:5]}},
			Err:     &tool.Error{Kind: "tool_error", Text: "for the model", Detail: "for the operator"},
			Trust:   &low, Origin: &tool.Origin{Source: "github", Tool: "read", Sensitivity: tool.Secret},
		}, Flow: `{"tool":"send","untrusted":true}`},
	)
	l.want(first, decided, asked, ended)
}

func (l logging) bare() {
	l.append(
		audit.Event{Kind: audit.Refreshed, Time: at(0), Session: "s", Turn: 4, Text: "it could not"},
		audit.Event{Kind: audit.Requested, Time: at(1), Request: &tool.Request{Name: "nobody", CalledAs: "nobody", ID: "x"}},
		audit.Event{Kind: audit.Ended, Time: at(2), Result: &tool.Result{}, Flow: "{\n}"}, // it would be two lines
		audit.Event{Kind: audit.Found, Time: at(3), Name: "x", Flow: "no JSON"},
	)
	l.want(
		audit.Entry{Kind: audit.Refreshed, Time: at(0), Session: "s", Turn: 4, Text: "it could not"},
		audit.Entry{Kind: audit.Requested, Time: at(1), ID: "x", Tool: "nobody"},
		audit.Entry{Kind: audit.Ended, Time: at(2), Result: &audit.Outcome{}},
		audit.Entry{Kind: audit.Found, Time: at(3), Tool: "x"},
	)
}

func (l logging) updates() {
	l.append(audit.Event{Kind: audit.Updated, Update: &tool.Update{Text: "so far"}},
		audit.Event{Kind: audit.Started, Time: at(0), Name: "x"}, audit.Event{Kind: audit.Updated})
	l.append(audit.Event{Kind: audit.Updated})
	l.want(audit.Entry{Kind: audit.Started, Time: at(0), Tool: "x"})
}

func (l logging) taken() {
	r := requested()
	res := &tool.Result{Content: []tool.Content{tool.Text("before")}}
	events := []audit.Event{{Kind: audit.Ended, Time: at(0), Request: r, Result: res}}
	l.append(events...)
	events[0], r.ID, r.Caller.Session, res.Content[0].Text = audit.Event{Kind: audit.Late}, "after", "after", "after"
	if got := l.kept(); len(got) != 1 || got[0].Kind != audit.Ended || got[0].ID != "call-1.2" || got[0].Session != "s1" || got[0].Result.Preview != "before" {
		l.Errorf("got %+v, want what was appended", got)
	}
}

func (l logging) hostile() {
	const odd = "\"\\\x00\x1b\n\r\t\u2028\u202e</script>é\xff\xc3"
	const clean = "\"\\\x00\x1b\n\r\t\u2028\u202e</script>é\uFFFD"
	r := &tool.Request{ID: odd, CallID: odd, Name: odd, CalledAs: odd, Caller: tool.Caller{Session: odd, Principal: odd, Tenant: odd}}
	l.append(audit.Event{
		Kind: audit.Blocked, Time: at(0), Request: r, By: odd, Text: odd, Args: odd, Question: odd,
		Decision: &tool.Decision{Verdict: tool.Deny, Rule: odd, Reason: odd + "."},
		Result:   &tool.Result{Content: []tool.Content{{Type: tool.TextContent, Text: odd}}, Err: &tool.Error{Kind: odd, Text: odd, Detail: odd}},
	}, audit.Event{Kind: audit.Found, Time: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)}, audit.Event{Kind: audit.Found, Time: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)})
	got := l.kept()
	if len(got) != 3 {
		l.Fatalf("got %d entries, want 3: %+v", len(got), got)
	}
	e := got[0]
	for _, text := range []string{
		e.ID, e.CallID, e.Tool, e.Session, e.Principal, e.Tenant, e.By, e.Text, e.Args, e.Question, e.Decision.Rule,
		strings.TrimSuffix(e.Decision.Reason, "."), e.Result.Text, e.Result.Detail, e.Result.Kind, e.Result.Preview,
	} {
		if text != clean {
			l.Errorf("got %q, want %q", text, clean)
		}
	}
}

func (l logging) long() {
	args, text := strings.Repeat("é", 10_000), strings.Repeat("x", 100_000)
	l.append(audit.Event{Kind: audit.Requested, Time: at(0), Args: args, Text: text, Result: &tool.Result{Content: []tool.Content{tool.Text(text)}}})
	got := l.kept()
	if len(got) != 1 {
		l.Fatalf("got %d entries, want 1", len(got))
	}
	e := got[0]
	if c := e.ArgsCut; c == nil || c.Bytes != len(args) || c.SHA256 != audit.Hash(sha256.Sum256([]byte(args))) || !strings.HasPrefix(args, e.Args) || len(e.Args) < 1000 || len(e.Args) == len(args) {
		l.Errorf("got %d bytes of arguments and %+v", len(e.Args), c)
	}
	if !strings.HasPrefix(e.Text, text[:1000]) || !strings.HasSuffix(e.Text, " [cut: 100000 bytes]") || len(e.Text) > 10_000 {
		l.Errorf("got %d bytes of text that end with %q", len(e.Text), e.Text[max(0, len(e.Text)-30):])
	}
	if e.Result.Preview != text[:200] || e.Result.Bytes != len(text) {
		l.Errorf("got %+v, want the first 200 characters", e.Result)
	}
}

func (l logging) crowded() {
	const each = 20
	count := atOnce(func(i int) error {
		for k := range each {
			if _, err := l.Append(audit.Event{Kind: audit.Found, Time: at(k), Name: fmt.Sprint(i), Turn: k + 1}); err != nil {
				return err
			}
			if k%7 == 0 {
				if err := l.Flush(context.Background()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if count[nil] != crowd {
		l.Fatalf("got %v, want no error", count)
	}
	turns := make(map[string][]int)
	for _, e := range l.kept() {
		turns[e.Tool] = append(turns[e.Tool], e.Turn)
	}
	for i := range crowd {
		if got := turns[fmt.Sprint(i)]; len(got) != each || !slices.IsSorted(got) {
			l.Errorf("%d: got %v, want 1 to %d", i, got, each)
		}
	}
}

func (l logging) nothing() {
	l.append()
	l.want()
	l.append(audit.Event{Kind: audit.Found, Time: at(1)})
	l.kept()
	l.want(audit.Entry{Kind: audit.Found, Time: at(1)})
}
