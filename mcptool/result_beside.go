package mcptool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about what stands in the result of a call beside the content that the
// runtime has seen: annotations, _meta, descriptions of links, what is not known.

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
	rest := remainsOf(raw).text()
	return bytes.Equal(d.client.scrub(rest), rest)
}

// looked is a result as it is handed on: what the runtime has not seen of it was looked
// through now. What was found is told beside it, as it is of structured content. It is
// false where the result must not be handed on as it is.
func (d *dialogue) looked(r *tool.Request, raw json.RawMessage) (json.RawMessage, guard.Report, bool) {
	rest := remainsOf(raw)
	if rest.nothing() {
		return raw, guard.Report{}, true
	}
	clean, report := d.face.session.Look(r, rest.text())
	if report.How == guard.Pass {
		return raw, report, true
	}
	if report.Unsafe || !rest.isList || !rest.take(clean) {
		return nil, report, false
	}
	return rest.joined(report.Note()), report, true
}

// remains is a result without what the runtime has seen of it.
type remains struct {
	raw    json.RawMessage
	outer  json.RawMessage // the result, with nothing for content
	blocks []remainder
	isList bool // content is a list, or is not there

	structured json.RawMessage // nil: there is none
	seen       bool            // content is there
}

// remainder is a block of content, with nothing in the place of what was seen of it.
type remainder struct {
	was, rest json.RawMessage
	within    string // where that stands: "": in the block; else in this member of it
	key       string // "": the runtime has seen all of it
}

// remainsOf takes a result apart.
func remainsOf(raw json.RawMessage) *remains {
	list, has := member(raw, "content")
	blocks, ok := items(list)
	r := &remains{raw: raw, outer: raw, isList: ok || !has || kindOf(list) == 'n', seen: has && ok}
	empty := quote("")
	if r.seen {
		r.outer = setMembers(r.outer, pair{"content", empty})
	}
	if structured, has := member(raw, "structuredContent"); has {
		r.structured = structured
		r.outer = setMembers(r.outer, pair{"structuredContent", empty})
	}
	for _, block := range blocks {
		r.blocks = append(r.blocks, remainderOf(block))
	}
	return r
}

func remainderOf(block json.RawMessage) remainder {
	r := remainder{was: block, rest: block}
	switch textMember(block, "type") {
	case "text":
		r.key = "text"
	case "image", "audio":
		r.key = "data"
	case "resource_link":
		return r // all of it is short
	case "resource":
		resource, _ := member(block, "resource")
		if kindOf(resource) != '{' {
			break
		}
		r.within, r.key = "resource", "text"
		if text, _ := member(resource, "text"); kindOf(text) != '"' {
			r.key = "blob"
			if media := textMember(resource, "mimeType"); !strings.HasPrefix(media, "image/") && !strings.HasPrefix(media, "audio/") {
				return remainder{was: block, rest: block} // of which nobody has read the bytes
			}
		}
		if value, _ := member(resource, r.key); kindOf(value) != '"' {
			r.within, r.key = "", ""
			break
		}
		r.rest = setMembers(block, pair{"resource", setMembers(resource, pair{r.key, quote("")})})
		return r
	}
	if value, _ := member(block, r.key); r.key == "" || kindOf(value) != '"' {
		return remainder{was: block, rest: quote("")} // the runtime has it as the JSON it is
	}
	r.rest = setMembers(block, pair{r.key, quote("")})
	return r
}

// plainText is a block of text of which nothing is left.
const plainText = `{"type":"text","text":""}`

// left are the blocks of which something is left.
func (r *remains) left(f func(b *remainder)) {
	for i := range r.blocks {
		if b := &r.blocks[i]; string(b.rest) != plainText && string(b.rest) != `""` {
			f(b)
		}
	}
}

// nothing reports whether the runtime has seen all of it, and it can be read in one
// way only.
func (r *remains) nothing() bool {
	nothing := r.isList && !twice(r.raw)
	each(r.outer, func(key string, value json.RawMessage) {
		kind := kindOf(value)
		nothing = nothing && (key == "content" || key == "structuredContent" || key == "isError" && (kind == 't' || kind == 'f'))
	})
	r.left(func(*remainder) { nothing = false })
	return nothing && !slices.ContainsFunc(r.blocks, func(b remainder) bool { return b.key != "" && twice(b.was) })
}

func twice(object json.RawMessage) bool { _, is := repeated(object); return is }

// text is all that is left, as one text.
func (r *remains) text() json.RawMessage {
	all := []json.RawMessage{r.outer}
	r.left(func(b *remainder) { all = append(all, b.rest) })
	return array(all)
}

// take takes back what text has given, when it was cleaned.
func (r *remains) take(clean json.RawMessage) bool {
	all, ok := items(clean)
	n := 1
	r.left(func(*remainder) { n++ })
	if !ok || len(all) != n {
		return false
	}
	r.outer, all = all[0], all[1:]
	r.left(func(b *remainder) { b.rest, all = all[0], all[1:] })
	return true
}

// joined is the result, with a note beside its content. Members that some clients would
// read as one that the runtime has looked at are left out, and of two of one name there
// is the last, which it has seen.
func (r *remains) joined(note string) json.RawMessage {
	blocks := make([]json.RawMessage, 0, len(r.blocks)+1)
	for i := range r.blocks {
		blocks = append(blocks, r.blocks[i].joined())
	}
	told := func(block json.RawMessage) bool { return textMember(block, "text") == note }
	if note != "" && !slices.ContainsFunc(blocks, told) {
		blocks = append(blocks, textBlock(note))
	}
	whole := once(unmistaken(r.outer, "content", "structuredContent", "isError", "_meta", "resultType"))
	if r.seen || len(blocks) > 0 {
		whole = setMembers(whole, pair{"content", array(blocks)})
	}
	if r.structured != nil {
		whole = setMembers(whole, pair{"structuredContent", r.structured})
	}
	return whole
}

func (b *remainder) joined() json.RawMessage {
	if string(b.rest) == `""` {
		return b.was
	}
	block := onlyKnown(b.rest)
	resource, has := member(block, "resource")
	if has && kindOf(resource) == '{' {
		resource = onlyKnown(resource)
	}
	switch {
	case b.within != "":
		was, _ := member(b.was, b.within)
		seen, _ := member(was, b.key)
		return setMembers(block, pair{b.within, setMembers(resource, pair{b.key, seen})})
	case b.key != "":
		seen, _ := member(b.was, b.key)
		block = setMembers(block, pair{b.key, seen})
	}
	if has {
		block = setMembers(block, pair{"resource", resource})
	}
	return block
}

// onlyKnown is a block, or a resource in one, that can be read in one way only.
func onlyKnown(block json.RawMessage) json.RawMessage {
	return once(unmistaken(block, "type", "text", "data", "blob", "mimeType", "resource", "uri", "name", "title", "description", "size", "annotations", "icons", "_meta"))
}

// once is an object with the last of members of one name.
func once(object json.RawMessage) json.RawMessage {
	if !twice(object) {
		return object
	}
	var last []pair
	each(object, func(key string, value json.RawMessage) {
		i := slices.IndexFunc(last, func(p pair) bool { return p.key == key })
		if i < 0 {
			last = append(last, pair{key, value})
			return
		}
		last[i].value = value
	})
	return setMembers(nil, last...)
}
