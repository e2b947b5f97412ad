package mcptool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// toolList is a list of tools as it is sent, with the way back from the names in
// it. It does not change.
type toolList struct {
	ids   []toolID
	items json.RawMessage   // an array
	wires map[string]string // the names of the runtime, by served name
	// The whole results, as they are sent in each era.
	old, new func() json.RawMessage
}

// listKey is what a list was made of: while that is the same, so is the list.
type listKey struct {
	view    any            // the view's
	servers []**listedTool // the list of each
}

// madeList is a list with what it was made of.
type madeList struct {
	key  listKey
	list *toolList
}

func (g *Gateway) listKey(v *ferrule.View) listKey {
	k := listKey{view: v.Key()}
	for _, s := range g.servers() {
		k.servers = append(k.servers, s.listedAt())
	}
	return k
}

// listOf is the list of what a view offers: the last one, if nothing has changed.
func (f *face) listOf(v *ferrule.View, last *atomic.Pointer[madeList]) *toolList {
	g := f.client.gate
	key := g.listKey(v)
	if m := last.Load(); m != nil && m.key.view == key.view && slices.Equal(m.key.servers, key.servers) {
		return m.list
	}
	list := g.listOf(v)
	last.Store(&madeList{key, list})
	return list
}

// toolID tells definitions apart without looking into them: what is there as the
// same bytes is the same. A list keeps the bytes, so that no others can have their
// place in memory.
type toolID struct {
	name       string
	input, raw *byte
}

// listCache keeps the last lists: clients of one kind see the same one.
type listCache struct {
	mu    sync.Mutex
	lists []*toolList
}

const maxLists = 16

// find is the list of these tools; else it is made.
func (l *listCache) find(ids []toolID, write func() *toolList) *toolList {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(o *toolList) bool { return slices.Equal(o.ids, ids) }
	if i := slices.IndexFunc(l.lists, same); i >= 0 {
		return l.lists[i]
	}
	list := write()
	list.ids = ids
	if len(l.lists) == maxLists {
		l.lists = slices.Delete(l.lists, 0, 1)
	}
	l.lists = append(l.lists, list)
	return list
}

// offer is what a client is offered, and how.
type offer struct {
	mode Mode // Full or Deferred
	list *toolList
	all  *toolList // of the view before it was deferred
}

// offered is what the client would be listed now. To ask changes nothing: only
// listTools, which does list it, has calls looked up in another way.
func (f *face) offered(ctx context.Context) offer { return f.offerOf(f.session.View(ctx)) }

func (f *face) offerOf(view *ferrule.View) offer {
	all := f.listOf(view, &f.lastAll)
	if f.modeOf(view) == Full {
		return offer{Full, all, all}
	}
	return offer{Deferred, f.listOf(f.deferred(view), &f.lastDeferred), all}
}

func (f *face) deferred(view *ferrule.View) *ferrule.View {
	return view.Defer(ferrule.DeferOptions{Names: f.client.gate.Names})
}

// auto reports whether it goes by the tools how they are listed to this client.
func (f *face) auto() bool {
	mode := f.client.gate.Mode
	return (mode == nil || mode(f.name) == Auto) && !defersItself(f.name)
}

// modeOf is how the tools of a view are listed now: Full or Deferred. By itself a
// list that was deferred stays so, else it would be another one, back and forth,
// where a few tools more or less decide.
func (f *face) modeOf(view *ferrule.View) Mode {
	g := f.client.gate
	switch {
	case f.auto():
		if f.stays.Load() || view.Auto(0, ferrule.DeferOptions{Names: g.Names}) != view {
			return Deferred
		}
	case g.Mode != nil && g.Mode(f.name) == Deferred:
		return Deferred
	}
	return Full
}

// listed remembers how the client was listed its tools.
func (f *face) listed(mode Mode) {
	f.mode.Store(&mode)
	if mode == Deferred {
		f.stays.Store(true)
	}
}

// lookUp is the view for a call, and the runtime's name of the tool. How tools are
// listed was settled when they were, whatever has changed since; only a name that
// was shortened is looked up in the list.
func (f *face) lookUp(ctx context.Context, served string) (*ferrule.View, string) {
	view := f.session.View(ctx)
	wire := served
	if shortened(served) {
		o := f.offerOf(view)
		wire = o.wire(served)
	}
	mode := f.mode.Load()
	if mode == nil {
		now := f.modeOf(view)
		mode = &now
	}
	if *mode == Deferred || f.finds(view, served) {
		view = f.deferred(view)
	}
	return view, wire
}

// finds reports whether a name is one of those that stand for deferred tools, for a
// client that may have been listed them when nobody remembers it: a stateless one
// may call for as long as it likes after it was listed its tools.
func (f *face) finds(view *ferrule.View, served string) bool {
	switch served {
	case "tool_search", "tool_describe", "tool_call":
		return f.auto() && !slices.Contains(view.Names(), served) // another may have the name
	}
	return false
}

// shortened reports whether a name looks as if it was too long: it ends in a hash.
func shortened(served string) bool {
	const hash = 10
	at := len(served) - hash - len("_x")
	return at >= 0 && strings.HasPrefix(served[at:], "_x")
}

// defersItself reports whether a client is known to keep definitions from its
// model until they are needed.
func defersItself(client string) bool { return client == "claude-code" }

// wire is the runtime's name of a tool.
func (o *offer) wire(served string) string {
	for _, l := range []*toolList{o.list, o.all} {
		if name, ok := l.wires[served]; ok {
			return name
		}
	}
	return served
}

// listOf is the list of what a view offers. What reads kept results is always in
// it, at the end, so that the list is the same for all sessions.
//
// Most sessions find it made: of each tool only what tells it apart is looked at
// until it is known that this one is not.
func (g *Gateway) listOf(v *ferrule.View) *toolList {
	var (
		raws []json.RawMessage
		ids  []toolID
	)
	for r := range v.Offered() {
		if !isReader(&r) {
			raw := g.definition(&r)
			raws, ids = append(raws, raw), append(ids, toolID{r.Name, first(r.Info.Input), first(raw)})
		}
	}
	reader, reads := g.Runtime.Find(readerName)
	if reads = reads && isReader(&reader) && g.Runtime.Blobs != nil; reads {
		// A copy each time: it is always the same.
		raws, ids = append(raws, nil), append(ids, toolID{name: readerName})
	}
	return g.house.lists.find(ids, func() *toolList {
		tools := make([]ferrule.Resolved, 0, len(ids))
		for r := range v.Offered() { // the same as before: a view does not change
			if !isReader(&r) {
				tools = append(tools, r)
			}
		}
		if reads {
			tools = append(tools, reader)
		}
		return g.writeList(tools, raws)
	})
}

// readerName is the tool that reads kept results.
const readerName = "read_result"

func isReader(r *ferrule.Resolved) bool {
	return r.Name == readerName && r.Source.Trust == tool.BuiltIn && r.Source.Name == "ferrule"
}

func first(b json.RawMessage) *byte {
	if len(b) == 0 {
		return nil
	}
	return &b[0]
}

// definition is a tool as its server defines it; nil: it has no server.
func (g *Gateway) definition(r *ferrule.Resolved) json.RawMessage {
	if s := g.server(r.Source.Name); s != nil {
		return s.definition(r.Info.Name)
	}
	return nil
}

// listTools answers tools/list, in one page.
func (d *dialogue) listTools() (json.RawMessage, error) {
	if err := noCursor(d.given); err != nil {
		return nil, err
	}
	o := d.face.offered(d.ctx)
	d.face.listed(o.mode)
	if d.era() == newEra {
		d.whole = true
		return o.list.new(), nil
	}
	c := d.client
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = o.list
	return o.list.old(), nil
}

// wrapList is the result that holds a list.
func wrapList(name string, items json.RawMessage) json.RawMessage {
	var b strings.Builder
	b.Grow(len(items) + len(name) + len(`{"":}`))
	b.WriteString(`{"` + name + `":`)
	b.Write(items)
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// noCursor refuses a cursor: all lists are one page, so none was given out.
func noCursor(params json.RawMessage) error {
	if cursor, ok := member(params, "cursor"); ok && kindOf(cursor) != 'n' {
		return &Fault{Code: codeInvalidParams, Message: "invalid cursor"}
	}
	return nil
}
