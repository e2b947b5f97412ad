package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// DeferOptions are how a deferred view shows what can be found in it.
type DeferOptions struct {
	// Names lists the names of all tools that can be found. Zero: their sources,
	// with how many tools each has.
	Names bool
	// Load offers tool_search alone. What it finds is offered too, behind all else,
	// in the views that are deferred from then on, and is called by its own name: the
	// beginning of what is offered stays the same, byte for byte. So does what it says
	// of sources: an agent reads what was there when it first looked. Of what an agent
	// can see, 64 tools are loaded so in a session and stay; of others that are found
	// later the input schema is shown at once, and a call by name runs as well. Zero:
	// nothing is loaded, and it says what is there now.
	Load bool
	// Examples shows those of a tool where it is found. Zero: where it is read or
	// loaded.
	Examples bool
}

// Defer is a view of the same tools that offers only those that say AlwaysLoad.
// The others can be found with tool_search, read with tool_describe and called
// with tool_call: rules, limits, hooks and records see the inner tool. Nothing is
// loaded, unless o says so, and what is offered stays the same; a call of such a
// tool by its own name runs too. Where a tool of the program has one of the three names, it keeps
// it, and a finding says so.
func (v *View) Defer(o DeferOptions) *View {
	switch {
	case v.picked != nil:
		return v.picked.from.Defer(o).offering(v.picked.names)
	case v.whole != nil:
		return v.whole.Defer(o)
	}
	n := *v
	n.whole, n.how, n.tools = v, o, v.deferredTools(o)
	if n.loaded = v.session.conv.loadedIn(v.of, n.tools); !o.Load {
		n.loaded = n.loaded.among(v.loaded)
	}
	return &n
}

// The three tools that stand for those of a deferred view, in this order.
const (
	toolSearch = iota
	toolDescribe
	toolCall
	allFinders
)

// maxFound is how many tools a search shows at most, usualFound where it is not
// said, and usualLoaded where what it shows is loaded.
const (
	maxFound    = 50
	usualFound  = 10
	usualLoaded = 5
)

type searchRequest struct {
	Query string `json:"query" jsonschema:"description=words; or select: and exact names with commas between"`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,description=how many to show"`
}

type describeRequest struct {
	Name string `json:"name" jsonschema:"description=of the tool"`
}

// innerCall is what tool_call is given.
type innerCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

const innerSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","minLength":1,"description":"of the tool"},` +
	`"arguments":{"type":"object","description":"as the input schema of that tool says"}},"required":["name"]}`

// finders makes the three tools, for a set of tools that can be found.
func finders(r *registry, s *toolset, o DeferOptions) ([]*tool.Tool, error) {
	reads := tool.Claims{ReadOnly: true, Local: true, Idempotent: true, Touches: []tool.Access{}}
	looks := reads
	if e := r.library.index.Embedder; e != nil {
		looks.Local = e.Local // it is given what was asked
	}
	limit := tool.Limit{Chars: defaultChars, Tokens: defaultTokens}
	next := "Read one with tool_describe, run it with tool_call."
	if o.Load {
		next = "What is found is listed, and can be called, from your next turn on."
	}
	search, err := tool.Spec[searchRequest, string]{
		Info: tool.Info{
			Name:        "tool_search",
			Description: "Find tools that are not listed here: say in a few words what is to be done. A line for each: name(arguments, with ? if optional) [why it was found; near copies]: what its source says. " + next,
			Claims:      looks, Cooperative: true, Cancel: true, Limit: limit,
		},
		Run: func(ctx context.Context, q searchRequest) (string, error) {
			text, found := s.search(ctx, r, q, o)
			if !o.Load || len(found) == 0 {
				return text, nil
			}
			left := r.rt.load(tool.From(ctx).Request().Caller, s, found)
			if len(left) < len(found) {
				text += "\nThey can be called from the next turn on."
			}
			return text + unlisted(left), nil
		},
	}.Tool()
	if err != nil {
		return nil, err
	}
	describe, err := tool.Spec[describeRequest, string]{
		Info: tool.Info{
			Name:        "tool_describe",
			Description: "Read the description and the input schema of a tool that can be found.",
			Claims:      reads, Cooperative: true, Cancel: true, Limit: limit,
		},
		Run: func(_ context.Context, r describeRequest) (string, error) { return s.describe(r.Name) },
	}.Tool()
	if err != nil {
		return nil, err
	}
	call, err := (&tool.Tool{
		Info: tool.Info{
			Name:        "tool_call",
			Description: "Call a tool that can be found, with arguments as tool_describe shows them.",
			Input:       json.RawMessage(innerSchema), Limit: limit,
			InputSensitivity: tool.Secret, // what cannot be read may be meant for a tool that keeps it so
		},
		Run: func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{}, errors.New("tool_call is another tool before it runs")
		},
	}).Check()
	return []*tool.Tool{search, describe, call}, err
}

// deferKey names a form of a set of tools for deferred views.
type deferKey struct {
	DeferOptions
	without [allFinders]bool
	index   string // "": as the set has it
}

// deferredTools is the set of tools of a deferred view. It is kept, so that it is
// made and written once.
func (v *View) deferredTools(o DeferOptions) *toolset {
	s := v.tools
	key := deferKey{DeferOptions: o}
	if v.stands != nil {
		key.without = v.stands.unfindable()
	}
	if o.Load {
		key.without[toolDescribe], key.without[toolCall] = true, true
		key.index = v.session.conv.index(v, o.Names)
	}
	for i, name := range finderNames() {
		if key.without[i] {
			continue
		}
		taken := s.names[name]
		if hidden := v.stands.denies(name); taken == nil && hidden != nil && hidden.wire == name {
			taken = hidden
		}
		if taken != nil && taken.base {
			key.without[i] = true
			v.session.rt.set.find(Finding{name, fmt.Sprintf("%s has this name: views that defer tools do without Ferrule's own", sourceTitle(taken.source))})
		}
	}
	d, err := s.deferral(&v.session.rt.reg, key)
	if err != nil { // no way leads here; if one did, all is offered as it was
		v.session.rt.set.find(Finding{"View.Defer", err.Error()})
		return s
	}
	return d
}

func finderNames() [allFinders]string {
	return [...]string{"tool_search", "tool_describe", "tool_call"}
}

// deferral is the set that offers the finders instead of what they find.
func (s *toolset) deferral(r *registry, key deferKey) (*toolset, error) {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if had := s.deferrals[key]; had != nil {
		return had, nil
	}
	tools, err := finders(r, s, key.DeferOptions)
	if err != nil {
		return nil, err
	}
	from, base := r.judgeSource(tool.Source{Name: ferruleSource, Trust: tool.BuiltIn})
	made := make([]*entry, len(tools))
	for i, t := range tools {
		made[i] = r.entry(from, base, !from.Trust.Untrusted(), t)
		made[i].given = t
	}
	index := key.index
	if index == "" {
		index = s.index(key.Names)
	}
	made[toolSearch] = made[toolSearch].saying(index)
	made[toolSearch].looks, made[toolCall].calls = true, true
	var offered []*entry
	for i, e := range made {
		if !key.without[i] {
			offered = append(offered, e)
		}
	}
	// One of an outside source with such a name would take the calls of others.
	list := slices.DeleteFunc(slices.Clone(s.list), func(e *entry) bool {
		return slices.ContainsFunc(offered, func(f *entry) bool { return f.wire == e.wire })
	})
	d := newToolset(slices.Concat(offered, list))
	for _, e := range list {
		if e.tool.AlwaysLoad {
			offered = append(offered, e)
		}
	}
	d.offered, d.defers, d.loads = offered, true, key.Load
	keep(&s.deferrals, key, d)
	return d, nil
}

// saying is a tool with more to its description. It is the same definition to who
// was asked about it.
func (e *entry) saying(more string) *entry {
	t := *e.tool
	t.Description += more
	f := *e
	f.tool, f.static, f.rendered = &t, e, new(renderings)
	f.shown, f.cost, f.inLine = f.showOnce(), f.costOnce(), f.lineOnce()
	return &f
}
