package ferrule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Resolved is all that is known of a registered tool.
type Resolved struct {
	Name       string // as models call it
	Info       tool.Info
	Source     tool.Source // with the trust that counts
	Claims     tool.Claims // the constant ones, as far as they are believed
	Class      string      // read-only, write or unsafe
	SideEffect string      // pure, read-only, side-effecting or external-stateful
	Varies     bool        // what its calls claim depends on their arguments
	Deferred   bool        // not in the prompt until it is loaded
	Keyed      bool        // it names the effect of its calls
	Hidden     string      // why no view shows it; "": they do
	Definition string      // names what it says of itself, as questions and grants do
	Findings   []string
}

// entry is one registered tool.
type entry struct {
	tool     *tool.Tool
	given    *tool.Tool  // what was registered
	source   tool.Source // with the trust that counts
	base     bool        // built-in or the program's own
	believed bool
	wire     string
	claims   tool.Claims // constant, believed
	findings []string
	gate     *gate // its own cap; nil: none
	digest   func() string
	shown    func() *Resolved // made once; nobody changes it
	cost     cost
	inLine   func() (arguments, about string) // what a search says of it, made once
	rendered *renderings
	count    func(string) int // tokens; nil: by length
	guard    *guard.Guard
	static   *entry // of a form made for one session: the registered one
	pages    bool   // it reads kept results
	calls    bool   // it is tool_call: another tool before it runs
	looks    bool   // it is tool_search: placeholders in what it is asked stay as they are
}

func (e *entry) deferred() bool { return e.tool.Deferred }

// same reports whether two entries are one tool, perhaps in forms for different
// sessions or registered anew.
func (e *entry) same(o *entry) bool {
	return e.source.Name == o.source.Name && e.tool.Name == o.tool.Name
}

func (e *entry) origin() *entry {
	if e.static != nil {
		return e.static
	}
	return e
}

// varies reports whether the claims depend on the arguments.
func (e *entry) varies() bool { return e.believed && e.tool.ClaimsOf != nil }

// claimsOf are the claims of one call, as far as they are believed.
func (e *entry) claimsOf(a tool.Args) (tool.Claims, error) {
	if !e.believed {
		return tool.Claims{}, nil
	}
	if e.tool.ClaimsOf == nil {
		return e.claims, nil // shared; nobody writes to it
	}
	return e.tool.ClaimsFor(a)
}

func (e *entry) resolved(hidden string) Resolved {
	return Resolved{
		Name: e.wire, Info: e.tool.Clone(), Source: e.source, Claims: copyClaims(e.claims), Class: e.claims.Class(), SideEffect: e.claims.SideEffect(),
		Varies: e.varies(), Deferred: e.deferred(), Keyed: e.tool.Key != nil, Hidden: hidden, Definition: e.origin().digest(), Findings: slices.Clone(e.findings),
	}
}

func (e *entry) showOnce() func() *Resolved {
	return sync.OnceValue(func() *Resolved {
		r := e.resolved("")
		return &r
	})
}

func copyClaims(c tool.Claims) tool.Claims {
	c.Touches = slices.Clone(c.Touches)
	return c
}

// entries makes entries of tools, checking each once more: the registry keeps
// its own copy. Those it has already are kept.
func (r *registry) entries(s tool.Source, tools []*tool.Tool, had []*entry) ([]*entry, error) {
	s, base := r.judgeSource(s)
	known := make(map[*tool.Tool]*entry, len(had))
	for _, e := range had {
		if e.source == s && e.base == base {
			known[e.given] = e
		}
	}
	list := make([]*entry, len(tools))
	names := make(map[string]bool, len(tools))
	for i, t := range tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d: got nil: the error of tool.New was not checked", i+1)
		}
		e := known[t]
		if e == nil {
			checked, err := t.Check()
			if err != nil {
				return nil, err
			}
			e = r.entry(s, base, r.believes(s, checked), checked)
			e.given = t
		}
		if names[e.tool.Name] {
			return nil, fmt.Errorf("two tools of the name %q", e.tool.Name)
		}
		list[i], names[e.tool.Name] = e, true
	}
	return list, nil
}

// judgeSource gives a source the trust that counts, and says whether its tools
// belong to the base. What is no class of trust is the least.
func (r *registry) judgeSource(s tool.Source) (tool.Source, bool) {
	declared := s.Trust
	if raised, ok := r.rt.set.trust[s.Name]; ok && s.Name != "" {
		s.Trust = raised
	}
	if s.Trust > tool.BuiltIn {
		s.Trust = tool.Inbound
	}
	return s, s.Name == "" || declared == tool.BuiltIn && s.Trust == tool.BuiltIn
}

// believes reports whether the claims of a tool count.
func (r *registry) believes(s tool.Source, t *tool.Tool) bool {
	if !s.Trust.Untrusted() || r.rt.set.believe == nil {
		return !s.Trust.Untrusted()
	}
	info := t.Clone()
	ok, err := bounded(context.Background(), otherTime, func(context.Context) (bool, error) { return r.rt.set.believe(s, &info), nil })
	return ok && err == nil
}

func (r *registry) entry(s tool.Source, base, believed bool, t *tool.Tool) *entry {
	e := &entry{tool: t, source: s, base: base, believed: believed, rendered: new(renderings), guard: r.rt.set.guard, count: r.rt.set.countTokens}
	if e.believed {
		e.claims = t.Claims
	}
	if e.wire = tool.WireName("", t.Name); !r.bare(s, base, e.wire) {
		e.wire = tool.WireName(s.Name, t.Name)
	}
	e.gate = r.rt.set.gateOf(e, false)
	e.digest = sync.OnceValue(func() string { return definitionDigest(s, &t.Info) })
	e.findings = append(inspect(e), r.rt.set.guard.Definition(s, &t.Info)...)
	e.shown, e.cost, e.inLine = e.showOnce(), e.costOnce(), e.lineOnce()
	return e
}

// bare reports whether models see no source in front of a name. Where others have
// one, a name that looks as if it had one gets it too: it could be taken for a tool
// of that source, by models and by rules.
func (r *registry) bare(s tool.Source, base bool, wire string) bool {
	return base || r.rt.set.names != Prefix || s.Bare && !strings.Contains(wire, "__")
}

// definitionDigest names a definition: an answer given for one is not good for
// another. It uses the static form.
func definitionDigest(s tool.Source, i *tool.Info) string {
	rest, _ := json.Marshal([]any{i.Open, i.Claims, i.Approval, i.Secrets, i.Isolation}) // all of it plain data
	return policy.Digest(s.Name, i.Name, i.Description, string(i.Input), string(i.Output), string(rest), i.Pin)
}

// isDynamic reports whether sessions may see it differently.
func (e *entry) isDynamic() bool { return e.tool.Enabled != nil || e.hasForms() }

// hasForms reports whether it has a description or a schema for each session.
// Tools of outside sources have one form for all.
func (e *entry) hasForms() bool {
	return e.base && (e.tool.DescriptionOf != nil || e.tool.InputOf != nil)
}
