package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"

	"github.com/ferrule-dev/ferrule"
)

// keptScheme begins the name of a result that was too long and is kept.
const keptScheme = "ferrule://results/"

func noResource(uri string) *Fault {
	return &Fault{Code: codeInvalidParams, Message: "Resource not found: " + short(uri), Data: setMembers(nil, pair{"uri", quote(uri)})}
}

// listResources answers resources/list and resources/templates/list. Of two
// resources with one name the first is the one that is read.
func (d *dialogue) listResources(name string) (json.RawMessage, error) {
	seen := make(map[string]bool)
	items, err := d.gather(d.having("resources"), func(_ *server, item json.RawMessage) json.RawMessage {
		uri := textMember(item, "uri") + textMember(item, "uriTemplate")
		if seen[uri] {
			return nil
		}
		seen[uri] = true
		return item
	})
	if err != nil {
		return nil, err
	}
	return wrapList(name, items), nil
}

// resource answers what is asked of one resource.
func (d *dialogue) resource() (json.RawMessage, error) {
	uri := textMember(d.given, "uri")
	if handle, ok := strings.CutPrefix(uri, keptScheme); ok && d.method == "resources/read" {
		return d.readKept(uri, handle)
	}
	servers := d.resourceServers(uri)
	if len(servers) == 0 {
		if d.method != "resources/read" && len(d.having("resources")) == 0 {
			return nil, noMethod(d.method)
		}
		return nil, noResource(uri)
	}
	return d.firstOf(servers)
}

// resourceServers are those that may have a resource: the one that lists it, else
// the one that has a template for it, else those that have templates. A server that
// lists all it has is not told of what belongs to others.
func (d *dialogue) resourceServers(uri string) []*server {
	servers := d.having("resources")
	if len(servers) < 2 {
		return servers
	}
	for i, list := range d.listEach(servers, "resources/list") {
		if slices.ContainsFunc(list.items, func(item json.RawMessage) bool { return textMember(item, "uri") == uri }) {
			return servers[i : i+1]
		}
	}
	var others []*server
	for i, list := range d.listEach(servers, "resources/templates/list") {
		if slices.ContainsFunc(list.items, func(item json.RawMessage) bool { return fitsTemplate(textMember(item, "uriTemplate"), uri) }) {
			return servers[i : i+1]
		}
		if len(list.items) > 0 {
			others = append(others, servers[i])
		}
	}
	return others
}

// fitsTemplate reports whether a URI may come from a template, or is it: what
// stands between its expressions is there, in that order.
func fitsTemplate(template, uri string) bool {
	if template == uri {
		return true
	}
	literal, rest, ok := strings.Cut(template, "{")
	if !ok || !strings.HasPrefix(uri, literal) {
		return false
	}
	uri = uri[len(literal):]
	for {
		if _, rest, ok = strings.Cut(rest, "}"); !ok {
			return false
		}
		next, more, again := strings.Cut(rest, "{")
		if !again {
			return strings.HasSuffix(uri, next)
		}
		at := strings.Index(uri, next)
		if at < 0 {
			return false
		}
		uri, rest = uri[at+len(next):], more
	}
}

// readKept reads a result that was kept, through the tool that does: a page, which
// says how to go on.
func (d *dialogue) readKept(uri, handle string) (json.RawMessage, error) {
	handle, query, _ := strings.Cut(handle, "?")
	input := setMembers(nil, pair{"handle", quote(handle)})
	if offset, ok := strings.CutPrefix(query, "offset="); ok && strings.Trim(offset, "0123456789") == "" && offset != "" {
		input = setMembers(input, pair{"offset", json.RawMessage(offset)})
	}
	view := d.face.session.View(d.ctx)
	res := view.DoTurn(d.ctx, ferrule.TurnOptions{Apart: true, Ends: true}, tool.Call{Name: readerName, Input: input})[0]
	if res.Err != nil {
		if res.Err.Kind == tool.InvalidValue || res.Err.Kind == tool.UnknownTool {
			return nil, noResource(uri)
		}
		return nil, &Fault{Code: codeInternal, Message: res.String()}
	}
	text := setMembers(nil, pair{"uri", quote(uri)}, pair{"mimeType", quote("text/plain")}, pair{"text", quote(res.String())})
	return fmt.Appendf(nil, `{"contents":[%s]}`, text), nil
}
