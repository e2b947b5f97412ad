package mcptool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// callTool answers tools/call: a turn of its own, through every rule.
func (d *dialogue) callTool() (json.RawMessage, error) {
	name := textMember(d.given, "name")
	if name == "" {
		return nil, &Fault{Code: codeInvalidParams, Message: "tools/call: got no name of a tool"}
	}
	arguments, _ := member(d.given, "arguments")
	if kindOf(arguments) == 'n' {
		arguments = nil
	}
	view, wire := d.face.lookUp(d.ctx, name)
	call := tool.Call{ID: d.callID(), Name: wire, Input: arguments}
	watch := d.watch()
	res := d.perform(view, watch, call)
	watch.end()
	return d.resultOf(name, wire, res)
}

// callID is the id of the request, as the record names it.
func (d *dialogue) callID() string {
	l := d.current()
	if l == nil {
		return ""
	}
	if text, ok := unquote(l.id); ok {
		return text
	}
	return string(l.id)
}

// resultOf is the answer to a tools/call: what the server sent, where the runtime
// has left it as it is. Where a key stands beside what the runtime has seen, that
// does not pass, nor does what the guard does not let through.
func (d *dialogue) resultOf(name, wire string, res tool.Result) (json.RawMessage, error) {
	d.mu.Lock()
	got := d.got
	d.mu.Unlock()
	switch {
	case res.Err != nil && res.Err.Kind == tool.UnknownTool:
		near, itself := strings.CutPrefix(res.Err.Text, "Tool not found: "+wire)
		if !itself { // the one that it was to call: that is the model's fault, not the client's
			return d.rendered(res), nil
		}
		return nil, &Fault{Code: codeInvalidParams, Message: "Unknown tool: " + short(name) + near}
	case got.fault != nil && isFault(res.Err, got.fault):
		return nil, d.saying(got.request(wire), got.fault, res.Err)
	case got.raw == nil || unseen(got.raw) > maxUnseen || !d.mayRead() || !d.keyless(got.raw):
		return d.rendered(res), nil
	}
	raw := got.raw
	if !got.untouched(&res) {
		patched, ok := got.patched(&res)
		if !ok {
			return d.rendered(res), nil
		}
		raw = patched
	}
	raw, report, ok := d.looked(got.request(wire), raw)
	switch {
	case ok:
		return raw, nil
	case report.Unsafe:
		res = tool.Result{Err: guard.Unsafe(report.String())}
	}
	return d.rendered(res), nil
}

// mayRead reports whether the model accepts what tools of servers return (G4): else
// nothing of it may go beside what the runtime has withheld.
func (d *dialogue) mayRead() bool {
	return d.client.gate.Runtime.Guard.Accepts(guard.Model, tool.Internal)
}

// request names the tool that has answered, by the name that models call it, to the
// guard.
func (a *answered) request(wire string) *tool.Request {
	r := &tool.Request{Name: wire, Tool: &tool.Info{Name: a.tool}}
	if a.from != nil {
		r.Source = a.from.source()
	}
	return r
}

// saying is a fault with what the runtime has made of its text, and with its data where
// nothing speaks against it.
func (d *dialogue) saying(r *tool.Request, f *Fault, err *tool.Error) *Fault {
	said := &Fault{Code: f.Code, Message: err.Text}
	if len(f.Data) == 0 || !d.mayRead() {
		return said
	}
	data, report := d.face.session.Look(r, f.Data)
	switch note := report.Note(); {
	case report.Unsafe:
		said.Message += "\n[Its data was withheld.]"
		return said
	case note != "":
		said.Message += "\n" + note
	}
	said.Data = data
	return said
}

// isFault reports whether a failure is a server's fault, as it was.
func isFault(err *tool.Error, fault *Fault) bool {
	if err == nil || err.Kind != tool.Failed {
		return false
	}
	f := (*Fault)(nil)
	return errors.As(error(err), &f) && f == fault
}

// rendered is a result of the runtime as the protocol says it.
func (d *dialogue) rendered(res tool.Result) json.RawMessage {
	var (
		blocks     []json.RawMessage
		structured json.RawMessage
	)
	d.mu.Lock()
	kept := d.kept
	d.mu.Unlock()
	if failure := res; res.Err != nil {
		failure.Content = nil
		text := failure.String()
		blocks = append(blocks, textBlock(text))
		if tool.TextOf(res.Content) == text {
			res.Content = nil
		}
	}
	for i := range res.Content {
		b := &res.Content[i]
		if b.Type == tool.JSONContent && structured == nil && kindOf(b.JSON) == '{' {
			structured = b.JSON
			if i > 0 {
				continue // the text before it says it
			}
		}
		blocks = append(blocks, block(b))
	}
	if len(blocks) == 0 && structured == nil {
		blocks = append(blocks, textBlock(res.String()))
	}
	if kept != "" && d.linksKept() {
		blocks = append(blocks, setMembers(nil, pair{"type", quote("resource_link")}, pair{"uri", quote(keptScheme + kept)},
			pair{"name", quote(kept)}, pair{"title", quote("The whole result")}, pair{"mimeType", quote("text/plain")}))
	}
	result := setMembers(nil, pair{"content", array(blocks)})
	if structured != nil && res.Err == nil {
		result = setMembers(result, pair{"structuredContent", structured})
	}
	if res.Err != nil {
		result = setMembers(result, pair{"isError", json.RawMessage("true")})
	}
	return result
}

// linksKept reports whether the client knows links in results.
func (d *dialogue) linksKept() bool { return d.face.intro.version >= "2025-06-18" }

func array(items []json.RawMessage) json.RawMessage {
	text := []byte{'['}
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	return append(text, ']')
}

func textBlock(text string) json.RawMessage {
	return setMembers(nil, pair{"type", quote("text")}, pair{"text", quote(text)})
}

// block is one block of content.
func block(b *tool.Content) json.RawMessage {
	switch b.Type {
	case tool.ImageContent, tool.AudioContent:
		return setMembers(nil, pair{"type", quote(string(b.Type))}, pair{"data", quote(base64.StdEncoding.EncodeToString(b.Data))},
			pair{"mimeType", quote(b.MediaType)})
	case tool.LinkContent:
		name := b.Name
		if name == "" {
			name = b.URI[strings.LastIndexByte(b.URI, '/')+1:]
		}
		members := []pair{{"type", quote("resource_link")}, {"uri", quote(b.URI)}, {"name", quote(name)}}
		if b.Text != "" {
			members = append(members, pair{"title", quote(b.Text)})
		}
		if b.MediaType != "" {
			members = append(members, pair{"mimeType", quote(b.MediaType)})
		}
		return setMembers(nil, members...)
	case tool.TextContent, tool.JSONContent:
	}
	return textBlock(b.String())
}

// untouched reports whether the runtime has left a result as the server sent it.
// What it did not change is the same memory, so that this costs nothing.
func (a *answered) untouched(res *tool.Result) bool {
	same := slices.EqualFunc(a.result.Content, res.Content, sameBlock)
	if a.err == nil {
		return res.Err == nil && same
	}
	failure := tool.AsError(a.err)
	return res.Err != nil && res.Err.Kind == failure.Kind && res.Err.Text == failure.Text && (same || len(res.Content) == 0)
}

func sameBlock(a, b tool.Content) bool {
	return a.Type == b.Type && a.Text == b.Text && a.MediaType == b.MediaType && a.Name == b.Name && a.URI == b.URI &&
		bytes.Equal(a.JSON, b.JSON) && bytes.Equal(a.Data, b.Data)
}
