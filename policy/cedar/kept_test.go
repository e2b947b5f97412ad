package cedar_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// Two requests that differ in one thing that a rule reads are two, whichever is
// asked about first.
func TestKey(t *testing.T) {
	t.Parallel()
	plain := func() *tool.Request {
		return &tool.Request{Name: "a", Tool: &tool.Info{Name: "a"}, Source: tool.Source{Name: "s", Trust: tool.Own}}
	}
	for _, tt := range []struct {
		condition string
		change    func(*tool.Request)
	}{
		{`principal == Principal::"ann"`, func(q *tool.Request) { q.Caller.Principal = "ann" }},
		{`Principal::"ann" has tenant`, func(q *tool.Request) { q.Caller.Principal = "ann" }},
		{`Principal::"local" has tenant && Principal::"local".tenant == "t"`, func(q *tool.Request) { q.Caller.Tenant = "t" }},
		{`principal.tenant == "t"`, func(q *tool.Request) { q.Caller.Tenant = "t" }},
		{`context.tenant == "t"`, func(q *tool.Request) { q.Caller.Tenant = "t" }},
		{`context.session == "t"`, func(q *tool.Request) { q.Caller.Session = "t" }},
		{`context.client == "t"`, func(q *tool.Request) { q.Caller.Client = "t" }},
		{`context.agent == "t"`, func(q *tool.Request) { q.Caller.Agent = "t" }},
		{`context.attended`, func(q *tool.Request) { q.Caller.Attended = true }},
		{`context.mode == "auto"`, func(q *tool.Request) { q.Mode = "auto" }},
		{`resource.needs_user`, func(q *tool.Request) { q.Tool.NeedsUser = true }},
		{`Tool::"a".needs_user`, func(q *tool.Request) { q.Tool.NeedsUser = true }},
		{`resource.tags.contains("t")`, func(q *tool.Request) { q.Tool.Tags = []string{"t"} }},
		{`resource.tags == ["t", "u"]`, func(q *tool.Request) { q.Tool.Tags = []string{"t", "u"} }},
		{`resource in Tag::"t"`, func(q *tool.Request) { q.Tool.Tags = []string{"t"} }},
		{`Tool::"a" in Tag::"t"`, func(q *tool.Request) { q.Tool.Tags = []string{"t"} }},
		{`[resource].contains(Tool::"b")`, func(q *tool.Request) { q.Name = "b" }},
		{`resource.own_name == "b.c"`, func(q *tool.Request) { q.Name, q.Tool.Name = tool.WireName("", "b.c"), "b.c" }},
		{`resource.source == "o"`, func(q *tool.Request) { q.Source.Name = "o" }},
		{`resource.trust == "mcp"`, func(q *tool.Request) { q.Source.Trust = tool.MCP }},
		{`context.claims.read_only`, func(q *tool.Request) { q.Claims.ReadOnly = true }},
		{`context.claims.parallel`, func(q *tool.Request) { q.Claims.Parallel = true }},
		{`context.claims.reversible`, func(q *tool.Request) { q.Claims.Reversible = true }},
		{`context.claims.local`, func(q *tool.Request) { q.Claims.Local = true }},
		{`context.claims.idempotent`, func(q *tool.Request) { q.Claims.Idempotent = true }},
		{`context.claims.class == "write"`, func(q *tool.Request) { q.Claims.Touches = []tool.Access{} }},
		{`context.claims.read_only`, func(q *tool.Request) { q.Varies, q.Claims.ReadOnly = true, true }},
	} {
		text := "permit (principal, action, resource) when { " + tt.condition + " };"
		other := plain()
		tt.change(other)
		for _, order := range [][]*tool.Request{{plain(), other}, {other, plain()}} {
			s := set(t, cedar.Rules{}, text)
			for _, q := range order {
				want := tool.Silent
				if q == other {
					want = tool.Allow
				}
				if got := s.Decide(q); got.Verdict != want {
					t.Errorf("R2 %s: got %+v, want %s", tt.condition, got, want)
				}
			}
		}
	}
	s, q := set(t, cedar.Rules{}, `permit (principal, action, resource) when { context.claims.side_effect == "pure" };`), plain()
	q.Claims = tool.Claims{ReadOnly: true, Local: true, Touches: []tool.Access{{Resource: "file:/a"}}}
	if got := s.Decide(q); got.Verdict != tool.Silent {
		t.Errorf("R2 a call that touches a file: got %+v, want silent", got)
	}
	if q.Claims.Touches = []tool.Access{}; s.Decide(q).Verdict != tool.Allow {
		t.Errorf("R2 a call that touches nothing: got %+v, want allow", s.Decide(q))
	}
}

// A hash of tags finds what is kept, but does not decide: two lists may have the
// same.
func TestTagsAreCompared(t *testing.T) {
	t.Parallel()
	s, q := set(t, cedar.Rules{Deny: []string{"tag:web"}}), request(t, "a", `{}`)
	s.Fixed(q)
	if !s.KeptFor(q, q.Tool.Tags) || s.KeptFor(q, []string{"other"}) || s.KeptFor(q, nil) {
		t.Errorf("R2 got %v, %v, %v, want what is kept for %q and for no other tags", s.KeptFor(q, q.Tool.Tags), s.KeptFor(q, []string{"other"}), s.KeptFor(q, nil), q.Tool.Tags)
	}
}

// More callers than a set keeps rules for, at once.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	s := set(t, cedar.Rules{}, `permit (principal, action, resource) when { context.session like "7*" };
		@ask permit (principal, action, resource) when { context.session like "8*" && context.args.x == 1 };`)
	long := strings.Repeat("x", 64<<10)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			q := request(t, "a", `{"x":1}`)
			for i := range 2000 {
				q.Caller.Session = fmt.Sprint(i%1000, long)
				want := map[byte]tool.Verdict{'7': tool.Allow, '8': tool.Ask}[q.Caller.Session[0]]
				if want == tool.Deny {
					want = tool.Silent
				}
				if d := s.Decide(q); d.Verdict != want {
					t.Errorf("P2 session %d: got %+v, want %s", i%1000, d, want)
				}
			}
		})
	}
	wait.Wait()
	known, different, bytes := s.Kept()
	if bytes > cedar.MostKept || known < 100 || known > 600 {
		t.Errorf("R2 got %d callers in %d bytes, want as many as %d bytes hold", known, bytes, cedar.MostKept)
	}
	if different != 3 {
		t.Errorf("R2 got %d different things left of the rules, want 3", different)
	}
}

// Thousands of tools are narrowed once: what is left of the rules is the same for
// nearly all of them. It counts allocations, and so runs alone.
func TestManyTools(t *testing.T) {
	s := set(t, fiftyRules(), `forbid (principal, action, resource) when { context.args has limit && context.args.limit > 1000 };`)
	const tools = 10_000
	requests := make([]*tool.Request, tools)
	for i := range requests {
		name := fmt.Sprintf("tool_%d", i)
		requests[i] = &tool.Request{Name: name, Source: tool.Source{Name: "box"}, Tool: &tool.Info{Name: name, Tags: []string{"web", "files"}}}
	}
	view := func() time.Duration {
		start := time.Now()
		for _, q := range requests {
			s.Fixed(q)
		}
		return time.Since(start)
	}
	first, again := view(), view()
	t.Logf("a view of %d tools: %s, and again %s", tools, first, again)
	if known, different, bytes := s.Kept(); known != tools || different != 1 || bytes > cedar.MostKept {
		t.Errorf("R2 got %d tools, %d different, in %d bytes, want %d that share one", known, different, bytes, tools)
	}
	if again > first/3 {
		t.Errorf("R2 got %s for a view, and again %s, want that to be much quicker", first, again)
	}
	if got := testing.AllocsPerRun(100, func() { s.Fixed(requests[0]) }); got > 0 {
		t.Errorf("R2 Fixed of a tool with tags: got %v allocations, want none", got)
	}
}

func fiftyRules() (r cedar.Rules) {
	for i := range 25 {
		r.Allow = append(r.Allow, fmt.Sprintf("a%d_*", i))
	}
	for i := range 10 {
		r.Ask = append(r.Ask, fmt.Sprintf("tag:t%d", i))
	}
	for i := range 15 {
		r.Deny = append(r.Deny, fmt.Sprintf("shell%d(rm*)", i))
	}
	return r
}

// Rules that share what is left of them must not share more: an entity that is
// left has attributes of its own.
func TestSharedRules(t *testing.T) {
	t.Parallel()
	s := set(t, cedar.Rules{}, `permit (principal, action, resource) when { (if context.args.x == 1 then resource else Tool::"b").needs_user };`)
	for _, needs := range []bool{true, false, true} {
		q := request(t, "a", `{"x":1}`)
		q.Tool.NeedsUser = needs
		want := tool.Silent
		if needs {
			want = tool.Allow
		}
		if got := s.Decide(q); got.Verdict != want {
			t.Errorf("P2 needs_user %v: got %+v, want %s", needs, got, want)
		}
	}
}
