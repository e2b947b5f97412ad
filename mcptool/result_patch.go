package mcptool

import (
	"encoding/json"

	"github.com/ferrule-dev/ferrule/tool"
)

// patched is what the server sent, with texts that the runtime has marked or cleaned
// in the place of its own, and what stands beside them. All else of it stays:
// annotations, _meta. It is false where the runtime has changed more than texts.
func (a *answered) patched(res *tool.Result) (json.RawMessage, bool) {
	if a.raw == nil || (a.err != nil) != (res.Err != nil) || len(res.Content) < len(a.result.Content) {
		return nil, false
	}
	if res.Err != nil && (res.Err.Kind != tool.Failed || res.Err.Text != tool.TextOf(res.Content)) {
		return nil, false
	}
	list, _ := member(a.raw, "content")
	blocks, ok := items(list)
	if !ok {
		return nil, false
	}
	structured, has := member(a.raw, "structuredContent")
	has = has && kindOf(structured) != 'n'
	patched := make([]json.RawMessage, 0, len(blocks)+1)
	next := 0
	for _, block := range blocks {
		if has && repeats(block, structured) {
			patched = append(patched, block)
			continue
		}
		block, ok := patchedBlock(block, &a.result.Content[next], &res.Content[next])
		if !ok {
			return nil, false
		}
		patched = append(patched, block)
		next++
	}
	if has {
		if !sameBlock(a.result.Content[next], res.Content[next]) {
			return nil, false
		}
		next++
	}
	for i := range res.Content[next:] {
		patched = append(patched, block(&res.Content[next+i]))
	}
	return setMembers(a.raw, pair{"content", array(patched)}), true
}

// patchedBlock is a block as the server sent it, with another text.
func patchedBlock(raw json.RawMessage, was, is *tool.Content) (json.RawMessage, bool) {
	if sameBlock(*was, *is) {
		return raw, true
	}
	if was.Type == tool.LinkContent {
		return patchedLink(raw, was, is)
	}
	other := *is
	if other.Text = was.Text; was.Type != tool.TextContent || !sameBlock(*was, other) {
		return nil, false
	}
	switch textMember(raw, "type") {
	case "text":
		return setMembers(raw, pair{"text", quote(is.Text)}), true
	case "resource":
		resource, _ := member(raw, "resource")
		if textMember(resource, "text") == was.Text {
			return setMembers(raw, pair{"resource", setMembers(resource, pair{"text", quote(is.Text)})}), true
		}
	}
	return nil, false
}

// patchedLink is a link as the server sent it, with other texts.
func patchedLink(raw json.RawMessage, was, is *tool.Content) (json.RawMessage, bool) {
	other := *is
	other.Text, other.Name, other.URI = was.Text, was.Name, was.URI
	if textMember(raw, "type") != "resource_link" || !sameBlock(*was, other) || is.URI == "" {
		return nil, false
	}
	for _, m := range []struct{ key, was, is string }{{"uri", was.URI, is.URI}, {"name", was.Name, is.Name}, {"title", was.Text, is.Text}} {
		if m.was != m.is {
			raw = setMembers(raw, pair{m.key, quote(m.is)})
		}
	}
	return raw, true
}
