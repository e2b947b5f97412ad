package mcptool

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule"
)

// face is a client as servers see it: what it says of itself. A session of the
// old era has one. In the new era each request says it anew, and those that say
// the same share one.
type face struct {
	departure

	client  *client
	era     era
	name    string
	intro   introduction
	session *ferrule.Session
	calls   int                  // requests under way; guarded by the client's mutex
	mode    atomic.Pointer[Mode] // how tools were listed last; nil: they were not
	stays   *atomic.Bool         // they were deferred once; those of one name share it
	// What was listed last: all tools, and those that stand for deferred ones.
	lastAll, lastDeferred atomic.Pointer[madeList]

	said atomic.Bool // a server has said to this client that its tools have changed
}

var _ audience = (*face)(nil)

func (f *face) introduction() introduction { return f.intro }

// spokenVersions are those that are spoken, newest first.
func spokenVersions() []string {
	all := append(oldVersions(), newVersion)
	slices.Reverse(all)
	return all
}

// faceOf is who sends a request; nil where that need not be known (ping,
// initialize).
func (c *client) faceOf(m message) (*face, *Fault) {
	version, said := metaMember(m.params, metaVersion)
	text, isText := unquote(version)
	if isText && text >= newVersion || c.joined.stateless {
		if !said || !isText {
			return nil, &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", metaVersion)}
		}
		return c.newFace(m, text)
	}
	c.mu.Lock()
	old := c.old
	c.mu.Unlock()
	switch m.method {
	case "initialize", "ping":
		return old, nil
	case "server/discover":
		return nil, &Fault{Code: codeNoMethod, Message: fmt.Sprintf("%q is only supported in protocol version >= %s", m.method, newVersion)}
	}
	if old == nil {
		return nil, &Fault{Code: codeInvalid, Message: fmt.Sprintf("method %q is invalid before initialize", m.method)}
	}
	return old, nil
}

// Bounds of what a client says of itself, which is kept for as long as its session
// lasts and is the client's choice.
const (
	maxIntroduction = 64 << 10 // bytes of clientInfo and capabilities together
	maxClientName   = 256      // bytes of the name that sessions and records know it by
)

// tooLong is what a client is told that says too much of itself; nil: it does not.
func tooLong(info, capabilities json.RawMessage) *Fault {
	if n := len(info) + len(capabilities); n > maxIntroduction {
		return &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("clientInfo and capabilities: got %d bytes, want at most %d", n, maxIntroduction)}
	}
	return nil
}

// clientName is how sessions and records call a client: as it calls itself, or
// where that is long by its beginning and a hash.
func clientName(info json.RawMessage) string {
	name := textMember(info, "name")
	if len(name) <= maxClientName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := fmt.Sprintf("…%x", sum[:8])
	return strings.ToValidUTF8(name[:maxClientName-len(end)], "") + end
}

// newFace is who sends a request of the new era.
func (c *client) newFace(m message, version string) (*face, *Fault) {
	info, _ := metaMember(m.params, metaClientInfo)
	if info != nil && (kindOf(info) != '{' || textMember(info, "name") == "") {
		return nil, &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("invalid _meta field %q", metaClientInfo)}
	}
	capabilities, _ := metaMember(m.params, metaCapabilities)
	if kindOf(capabilities) != '{' {
		return nil, &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", metaCapabilities)}
	}
	if fault := tooLong(info, capabilities); fault != nil {
		return nil, fault
	}
	if version != newVersion {
		data, err := json.Marshal(map[string]any{"supported": spokenVersions(), "requested": version})
		if err != nil {
			data = nil // strings only: it does not happen
		}
		return nil, &Fault{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
	}
	switch m.method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return nil, &Fault{Code: codeNoMethod, Message: fmt.Sprintf("%q is not supported in protocol version %s", m.method, newVersion)}
	}
	return c.faceFor(introduction{version: version, info: info, capabilities: capabilities}), nil
}

// maxFaces is how many clients that say different things of themselves one
// stateless session remembers.
const maxFaces = 32

// faceFor is the face of the new era that says this.
func (c *client) faceFor(i introduction) *face {
	key := sha256.Sum256(slices.Concat(i.info, []byte{0}, i.capabilities))
	c.mu.Lock()
	f := c.faces[key]
	var dropped *face
	if f == nil {
		i.info, i.capabilities = slices.Clone(i.info), slices.Clone(i.capabilities) // they are part of the request
		f = c.newFaceLocked(newEra, i)
		if len(c.faces) >= maxFaces {
			for old, other := range c.faces {
				if !c.inUse(other) {
					dropped = other
					delete(c.faces, old)
					break
				}
			}
		}
		c.faces[key] = f
	}
	f.calls++
	c.mu.Unlock()
	if dropped != nil && c.gate.Hub != nil {
		c.gate.Hub.forget(dropped)
	}
	return f
}

// release is the end of a request that faceOf was asked for.
func (c *client) release(f *face) {
	if f == nil || f.era == oldEra {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.calls--
}

// inUse reports whether a face listens or waits. The mutex is held.
func (c *client) inUse(f *face) bool {
	for h := range c.hearing {
		if h.d.face == f {
			return true
		}
	}
	for _, d := range c.held {
		if d.face == f {
			return true
		}
	}
	return f.calls > 0
}

// newFaceLocked makes a face and its view of the session. The mutex is held.
func (c *client) newFaceLocked(e era, i introduction) *face {
	f := &face{client: c, era: e, name: clientName(i.info), intro: i, stays: new(atomic.Bool)}
	for _, other := range c.faces {
		if other.name == f.name {
			f.stays = other.stays
		}
	}
	caller := c.caller
	caller.Client = f.name
	f.session = c.gate.Runtime.Session(caller)
	if c.session == nil {
		c.session = f.session
	}
	return f
}

// can reports whether the client has a capability.
func (f *face) can(name string) bool {
	value, _ := member(f.intro.capabilities, name)
	return kindOf(value) == '{'
}

// refuses is the answer that the client would give to what it cannot do; nil: it
// can.
func (f *face) refuses(method string, params json.RawMessage) *Fault {
	switch method {
	case "elicitation/create":
		how, _ := member(f.intro.capabilities, "elicitation")
		mode := textMember(params, "mode")
		_, form := member(how, "form")
		_, url := member(how, "url")
		switch {
		case kindOf(how) != '{':
			return &Fault{Code: codeInvalidParams, Message: "client does not support elicitation"}
		case mode == "url" && !url, mode != "url" && url && !form:
			return &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("client does not support %q elicitation", cmp.Or(mode, "form"))}
		}
		return nil
	case methodSample:
		if f.can("sampling") {
			return nil
		}
	case "roots/list":
		if f.can("roots") {
			return nil
		}
	default:
		if f.era == oldEra {
			return nil // it may know more than we do
		}
	}
	return &Fault{Code: codeNoMethod, Message: "Method not found"}
}
