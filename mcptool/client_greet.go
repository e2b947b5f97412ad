package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// initialize is the handshake of the old era.
func (d *dialogue) initialize() (json.RawMessage, error) {
	c, p := d.client, d.given
	wanted := textMember(p, "protocolVersion")
	info, _ := member(p, "clientInfo")
	capabilities, _ := member(p, "capabilities")
	switch {
	case wanted == "":
		return nil, &Fault{Code: codeInvalidParams, Message: "initialize: got no protocolVersion"}
	case info != nil && kindOf(info) != '{':
		return nil, &Fault{Code: codeInvalidParams, Message: "initialize: clientInfo: want an object"}
	case capabilities != nil && kindOf(capabilities) != '{':
		return nil, &Fault{Code: codeInvalidParams, Message: "initialize: capabilities: want an object"}
	}
	if fault := tooLong(info, capabilities); fault != nil {
		return nil, fault
	}
	agreed := wanted
	if !slices.Contains(spokenVersions(), wanted) || wanted >= newVersion {
		agreed = oldVersion
	}
	c.mu.Lock()
	if c.old != nil {
		c.mu.Unlock()
		return nil, &Fault{Code: codeInvalid, Message: "initialize: the session is initialized already"}
	}
	c.agreed = agreed
	c.old = c.newFaceLocked(oldEra, introduction{version: agreed, info: slices.Clone(info), capabilities: slices.Clone(withoutTasks(capabilities))})
	d.face = c.old
	c.mu.Unlock()
	c.gate.settle(d.ctx)
	result := setMembers(nil,
		pair{"protocolVersion", quote(agreed)},
		pair{"capabilities", d.capabilities()},
		pair{"serverInfo", c.gate.info()},
	)
	if text := d.instructions(); text != "" {
		result = setMembers(result, pair{"instructions", quote(text)})
	}
	return result, nil
}

// discover is what a client of the new era asks first.
func (d *dialogue) discover() (json.RawMessage, error) {
	g := d.client.gate
	g.settle(d.ctx)
	all, err := json.Marshal(spokenVersions())
	if err != nil {
		return nil, err
	}
	result := setMembers(nil, pair{"supportedVersions", all}, pair{"capabilities", d.capabilities()})
	if text := d.instructions(); text != "" {
		result = setMembers(result, pair{"instructions", quote(text)})
	}
	return result, nil
}

// info is what clients are told of this program.
func (g *Gateway) info() json.RawMessage {
	return setMembers(nil, pair{"name", quote(g.Name)}, pair{"version", quote(g.Version)})
}

// can is what the servers and the runtime can do for clients, by capability.
type can map[string]map[string]json.RawMessage

// add joins what one more can do: what is true of one is true of all together.
func (c can) add(name string, details json.RawMessage) {
	if c[name] == nil {
		c[name] = make(map[string]json.RawMessage)
	}
	each(details, func(key string, value json.RawMessage) {
		if old, ok := c[name][key]; !ok || kindOf(old) == 'f' {
			c[name][key] = value
		}
	})
}

// capabilities are those of all servers together, and of the runtime. What is no
// part of the protocol is said only for a server that is alone.
func (d *dialogue) capabilities() json.RawMessage {
	g, all := d.client.gate, make(can)
	all.add("tools", json.RawMessage(`{"listChanged":true}`))
	if g.Runtime.Blobs != nil {
		all.add("resources", nil) // long results that are kept
	}
	for _, s := range d.seen() {
		hello := s.greeting()
		if hello == nil {
			continue
		}
		each(withoutTasks(hello.capabilities), func(name string, details json.RawMessage) {
			switch name {
			case "tools": // as the gateway lists them
			case "resources", "prompts", "logging", "completions":
				all.add(name, details)
			default:
				if g.alone() == s && kindOf(details) == '{' {
					all.add(name, details)
				}
			}
		})
	}
	text, err := json.Marshal(all)
	if err != nil { // what servers say was parsed before
		return json.RawMessage(`{"tools":{"listChanged":true}}`)
	}
	return text
}

// maxInstructions is how much of a server's instructions clients are told, in
// bytes: they are in the context of every conversation.
const maxInstructions = 4 << 10

// instructions are those of the servers, each under its name. None can write in the
// name of another, or what a person would not see.
func (d *dialogue) instructions() string {
	var parts []string
	for _, s := range d.seen() {
		hello := s.greeting()
		if hello == nil || strings.TrimSpace(hello.instructions) == "" {
			continue
		}
		text := hello.instructions
		if len(text) > maxInstructions {
			text = strings.ToValidUTF8(text[:maxInstructions], "") + "…"
		}
		if text = unhidden(text); d.client.gate.alone() == s && s.Unprefixed {
			return text
		}
		parts = append(parts, fmt.Sprintf("# %s\n\n%s", s.Name, below(text)))
	}
	return strings.Join(parts, "\n\n")
}
