package mcptool

import (
	"encoding/json"
	"sync"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// writeList writes a list.
func (g *Gateway) writeList(tools []ferrule.Resolved, raws []json.RawMessage) *toolList {
	l := &toolList{wires: make(map[string]string)}
	text := []byte{'['}
	for i := range tools {
		r, raw := &tools[i], raws[i]
		name := servedName(r)
		if _, taken := l.wires[name]; taken {
			continue // a hash that two names share: the first has it
		}
		l.wires[name] = r.Name
		if raw == nil {
			raw = written(r, name)
		} else {
			raw = setMembers(raw, pair{"name", quote(name)})
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, raw...)
	}
	l.items = append(text, ']')
	l.old = sync.OnceValue(func() json.RawMessage { return wrapList("tools", l.items) })
	l.new = sync.OnceValue(func() json.RawMessage { return g.complete("tools/list", wrapList("tools", l.items)) })
	return l
}

// maxServed is how long a name is at most that is served: clients put one of
// their own in front.
const maxServed = 50

// servedName is what clients call a tool. It depends on source and name alone.
func servedName(r *ferrule.Resolved) string {
	switch {
	case len(r.Name) <= maxServed:
		return r.Name
	case r.Name == tool.WireName("", r.Info.Name):
		return tool.MCPName("", r.Info.Name)
	}
	return tool.MCPName(r.Source.Name, r.Info.Name)
}

// written is the definition of a tool that has no server.
func written(r *ferrule.Resolved, name string) json.RawMessage {
	members := []pair{{"name", quote(name)}, {"description", quote(r.Info.Description)}, {"inputSchema", objectSchema(r.Info.Input)}}
	if kind := textMember(r.Info.Output, "type"); kind == "object" {
		members = append(members, pair{"outputSchema", r.Info.Output})
	}
	word := func(b bool) json.RawMessage {
		if b {
			return json.RawMessage("true")
		}
		return json.RawMessage("false")
	}
	c := r.Claims
	members = append(members, pair{"annotations", setMembers(nil,
		pair{"readOnlyHint", word(c.ReadOnly)},
		pair{"destructiveHint", word(!c.ReadOnly && !c.Reversible)},
		pair{"idempotentHint", word(c.Idempotent)},
		pair{"openWorldHint", word(!c.Local)},
	)})
	return setMembers(nil, members...)
}

// objectSchema says the type that the protocol wants said.
func objectSchema(schema json.RawMessage) json.RawMessage {
	if _, has := member(schema, "type"); has {
		return schema
	}
	return setMembers(schema, pair{"type", json.RawMessage(`"object"`)})
}
