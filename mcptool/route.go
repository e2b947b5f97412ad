package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// answer leads a request to who answers it.
func (d *dialogue) answer() (json.RawMessage, error) {
	switch d.method {
	case "initialize":
		return d.initialize()
	case "ping":
		return json.RawMessage("{}"), nil
	case "server/discover":
		return d.discover()
	case "tools/list":
		return d.listTools()
	case "tools/call":
		return d.callTool()
	case "prompts/list":
		return d.listPrompts()
	case "prompts/get":
		return d.prompt()
	case "completion/complete":
		return d.completion()
	case "resources/list":
		return d.listResources("resources")
	case "resources/templates/list":
		return d.listResources("resourceTemplates")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return d.resource()
	case "subscriptions/listen":
		return d.listen()
	case "logging/setLevel":
		return d.setLevel()
	}
	if s := d.client.gate.alone(); s != nil && !reserved(d.method) && d.sees(s) {
		return d.relay(s, d.given)
	}
	return nil, noMethod(d.method)
}

// reserved reports whether a method that is not known may be taken by a server for
// one that must not get past the runtime.
func reserved(method string) bool {
	method = strings.ToLower(strings.TrimSpace(method))
	return strings.HasPrefix(method, "tools/") || strings.HasPrefix(method, "tasks/")
}

func noMethod(method string) *Fault {
	return &Fault{Code: codeNoMethod, Message: fmt.Sprintf("Method not found: %s", short(method))}
}

// relay sends the request on to a server.
func (d *dialogue) relay(s *server, params json.RawMessage) (json.RawMessage, error) {
	result, err := s.do(d.ctx, d, d.method, plain(params))
	return s.shown(result), d.faulted(s, err)
}

// having are the servers that have a capability and that the client sees, by name.
func (d *dialogue) having(capability string) []*server {
	all := slices.DeleteFunc(d.seen(), func(s *server) bool {
		hello := s.greeting()
		if hello == nil {
			return true
		}
		value, _ := member(hello.capabilities, capability)
		return kindOf(value) != '{'
	})
	slices.SortStableFunc(all, func(a, b *server) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// seen are the servers that the client sees: not those that somebody has left out, or
// that have tools of which it is offered none.
func (d *dialogue) seen() []*server {
	offered := make(map[string]bool)
	for r := range d.face.session.View(d.ctx).Offered() {
		offered[r.Source.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(d.client.gate.servers()), func(s *server) bool {
		return s.withheld(offered[s.Name])
	})
}

func (d *dialogue) sees(s *server) bool { return slices.Contains(d.seen(), s) }

// gather is one list of the lists of servers. A server that cannot give its own
// is left out, unless none can.
func (d *dialogue) gather(servers []*server, change func(*server, json.RawMessage) json.RawMessage) (json.RawMessage, error) {
	if err := noCursor(d.given); err != nil {
		return nil, err
	}
	text := []byte{'['}
	var failed error
	worked := len(servers) == 0
	lists := d.listEach(servers, d.method)
	for i, s := range servers {
		list, err := lists[i].items, lists[i].err
		if err != nil {
			d.client.gate.logger().LogAttrs(d.ctx, slog.LevelWarn, "list", slog.String("server", s.Name), slog.String("method", d.method), slog.Any("error", err))
			failed = d.faulted(s, err)
			continue
		}
		worked = true
		for _, item := range list {
			if item = change(s, item); item == nil {
				continue
			}
			if len(text) > 1 {
				text = append(text, ',')
			}
			text = append(text, s.shown(item)...)
		}
	}
	if !worked {
		return nil, failed
	}
	return append(text, ']'), nil
}

// listPrompts answers prompts/list.
func (d *dialogue) listPrompts() (json.RawMessage, error) {
	items, err := d.gather(d.having("prompts"), func(s *server, item json.RawMessage) json.RawMessage {
		if s.Unprefixed {
			return item
		}
		return setMembers(item, pair{"name", quote(s.Name + "__" + textMember(item, "name"))})
	})
	if err != nil {
		return nil, err
	}
	return wrapList("prompts", items), nil
}

// prompt answers prompts/get.
func (d *dialogue) prompt() (json.RawMessage, error) {
	name := textMember(d.given, "name")
	s, own := d.promptServer(name)
	if s == nil {
		return nil, &Fault{Code: codeInvalidParams, Message: "Unknown prompt: " + short(name)}
	}
	return d.relay(s, renamed(d.given, name, own))
}

// renamed are params with the name that a server knows. Where that is what the
// client said no byte changes.
func renamed(params json.RawMessage, name, own string) json.RawMessage {
	if name == own {
		return params
	}
	return setMembers(params, pair{"name", quote(own)})
}

// promptServer is whose prompt a name is, and its name there.
func (d *dialogue) promptServer(name string) (*server, string) {
	servers := d.having("prompts")
	if of, own, ok := strings.Cut(name, "__"); ok { // no server has __ in its name
		for _, s := range servers {
			if s.Name == of && !s.Unprefixed {
				return s, own
			}
		}
	}
	bare := slices.DeleteFunc(servers, func(s *server) bool { return !s.Unprefixed })
	if len(bare) == 1 {
		return bare[0], name
	}
	for i, list := range d.listEach(bare, "prompts/list") {
		if slices.ContainsFunc(list.items, func(p json.RawMessage) bool { return textMember(p, "name") == name }) {
			return bare[i], name
		}
	}
	return nil, ""
}

// completion answers completion/complete, by what is to be completed.
func (d *dialogue) completion() (json.RawMessage, error) {
	ref, _ := member(d.given, "ref")
	if bare := plain(ref); len(bare) != len(ref) {
		ref, d.given = bare, setMembers(d.given, pair{"ref", bare})
	}
	switch textMember(ref, "type") {
	case "ref/prompt":
		name := textMember(ref, "name")
		s, own := d.promptServer(name)
		switch {
		case s == nil:
			return nil, &Fault{Code: codeInvalidParams, Message: "Unknown prompt: " + short(name)}
		case own == name:
			return d.relay(s, d.given)
		}
		return d.relay(s, setMembers(d.given, pair{"ref", renamed(ref, name, own)}))
	case "ref/resource":
		uri := textMember(ref, "uri")
		servers := d.resourceServers(uri)
		if len(servers) == 0 {
			return nil, noResource(uri)
		}
		return d.firstOf(servers)
	}
	if s := d.client.gate.alone(); s != nil && d.sees(s) {
		return d.relay(s, d.given)
	}
	return nil, &Fault{Code: codeInvalidParams, Message: "completion/complete: ref: want a prompt or a resource"}
}

// firstOf relays to one server after another as long as they say that they do not
// know what is meant.
func (d *dialogue) firstOf(servers []*server) (result json.RawMessage, err error) {
	for _, s := range servers {
		if result, err = d.relay(s, d.given); !isNotFound(err) || d.ctx.Err() != nil {
			return result, err
		}
	}
	return nil, err
}

// codeNoResource is what servers of the old era say of a resource they do not have.
const codeNoResource = -32002

func isNotFound(err error) bool {
	f := (*Fault)(nil)
	return errors.As(err, &f) && (f.Code == codeNoResource || f.Code == codeInvalidParams || f.Code == codeNoMethod)
}

// setLevel tells all servers that log from which level on. One of them judges the
// level; those that the session is not connected to hear of it when it connects: a
// client that sets a level does not start the processes of all servers.
func (d *dialogue) setLevel() (json.RawMessage, error) {
	servers := d.having("logging")
	if len(servers) == 0 {
		return nil, noMethod(d.method)
	}
	var (
		result json.RawMessage
		failed error
	)
	judged := 0
	for ; judged < len(servers) && result == nil && d.ctx.Err() == nil; judged++ {
		d.askEach(servers[judged:judged+1], func(ctx context.Context, _ int) {
			if result, failed = servers[judged].do(ctx, d, d.method, plain(d.given)); failed != nil {
				result = nil
				d.client.gate.logger().LogAttrs(ctx, slog.LevelWarn, "set the level of logs", slog.String("server", servers[judged].Name), slog.Any("error", failed))
			}
			result, failed = servers[judged].shown(result), d.faulted(servers[judged], failed)
		})
	}
	if result == nil {
		return nil, failed
	}
	rest := slices.DeleteFunc(servers[judged:], func(s *server) bool { return s.levelLater(d.audience(), plain(d.given)) })
	d.askEach(rest, func(ctx context.Context, i int) {
		if _, err := rest[i].do(ctx, d, d.method, plain(d.given)); err != nil {
			d.client.gate.logger().LogAttrs(ctx, slog.LevelWarn, "set the level of logs", slog.String("server", rest[i].Name), slog.Any("error", err))
		}
	})
	return result, nil
}
