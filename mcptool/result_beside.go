package mcptool

import (
	"bytes"
	"encoding/json"
)

// clean is the answer to a request without secrets and what looks like a key. In
// lists nobody looks for keys: they hold what is pinned, and no content. In the
// result of a call the runtime has.
func (d *dialogue) clean(result json.RawMessage) json.RawMessage {
	switch d.method {
	case methodCall, "initialize", "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return d.client.scrubKnown(result)
	}
	return d.client.scrub(result)
}

// keyless reports whether no key stands in what the runtime has not seen of a result.
func (d *dialogue) keyless(raw json.RawMessage) bool {
	if !d.client.gate.Runtime.Guard.Redacts() {
		return true
	}
	rest := beside(raw)
	return bytes.Equal(d.client.scrub(rest), rest)
}

// beside is a result without what the runtime has seen of it, as [seen] counts.
func beside(raw json.RawMessage) json.RawMessage {
	list, _ := member(raw, "content")
	blocks, _ := items(list)
	left := make([]json.RawMessage, len(blocks))
	for i, block := range blocks {
		left[i] = setMembers(block, pair{"text", nil}, pair{"data", nil})
		if resource, ok := member(block, "resource"); ok {
			left[i] = setMembers(left[i], pair{"resource", setMembers(resource, pair{"text", nil}, pair{"blob", nil})})
		}
	}
	return setMembers(raw, pair{"content", array(left)}, pair{"structuredContent", nil})
}
