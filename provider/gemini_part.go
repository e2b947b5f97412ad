package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// note remembers the calls of an answer.
func (c *geminiCalls) note(parts []Part) {
	c.place = map[string]int{}
	for i := range parts {
		p := &parts[i]
		if p.Kind != PartCall || p.Call == nil {
			continue
		}
		c.place[p.Call.ID] = i
		c.name[p.Call.ID] = p.Call.Name
		delete(c.id, p.Call.ID)
		if own := p.own("gemini"); own != nil {
			var part geminiPart
			if json.Unmarshal(own, &part) == nil && part.Call != nil && part.Call.ID != "" {
				c.id[p.Call.ID] = part.Call.ID
			}
		}
	}
}

// inOrder puts results, which stand first, into the order of their calls.
func (c *geminiCalls) inOrder(parts []Part) []Part {
	n := 0
	for n < len(parts) && parts[n].Kind == PartResult && parts[n].Result != nil {
		n++
	}
	before := func(a, b Part) int { return c.place[a.Result.CallID] - c.place[b.Result.CallID] }
	if slices.IsSortedFunc(parts[:n], before) {
		return parts
	}
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts[:n], before)
	return parts
}

// geminiOwn is a part's own form, or nil. A text that was changed since has none; a call
// goes back as it ran, and keeps its signature, without which it would be refused.
func geminiOwn(p *Part) json.RawMessage {
	own := p.own("gemini")
	if own == nil || p.Kind != PartCall && p.Kind != PartText {
		return own
	}
	var g geminiPart
	if json.Unmarshal(own, &g) != nil {
		return nil
	}
	was := g.part(own)
	switch {
	case was.Kind != p.Kind:
		return nil
	case p.Kind == PartText && was.Text == p.Text:
		return own
	case p.Kind == PartText || p.Call == nil:
		return nil
	case was.Call.Name == p.Call.Name && sameInput(was.Call.Input, p.Call.Input):
		return own
	}
	var w writer
	w.open('{')
	geminiCall(&w, g.Call.ID, p.Call.Name, inputObject(p.Call.Input))
	if g.Signature != "" {
		w.text("thoughtSignature", g.Signature)
	}
	w.close('}')
	return json.RawMessage(w)
}

// writePart writes one part, or nothing where the API would refuse it.
func (Gemini) writePart(w *writer, p *Part, calls *geminiCalls) {
	if own := geminiOwn(p); own != nil {
		w.raw(own)
		return
	}
	switch p.Kind {
	case PartText, PartRefusal:
		if p.Text != "" {
			w.open('{')
			w.text("text", p.Text)
			w.close('}')
		}
	case PartMedia:
		if p.Media != nil && (len(p.Media.Data) > 0 || p.Media.URI != "") {
			geminiMedia(w, p.Media)
		}
	case PartCall:
		if p.Call != nil {
			w.open('{')
			geminiCall(w, "", p.Call.Name, inputObject(p.Call.Input))
			w.close('}')
		}
	case PartResult:
		if p.Result == nil {
			return
		}
		w.open('{')
		w.name("functionResponse")
		w.open('{')
		if id := calls.id[p.Result.CallID]; id != "" {
			w.text("id", id)
		}
		name := p.Result.Name
		if known := calls.name[p.Result.CallID]; known != "" {
			name = known
		}
		w.text("name", name)
		w.member("response", geminiResponse(p.Result))
		w.close('}')
		w.close('}')
	case PartThought, PartOwn:
	}
}

// geminiCall writes the member functionCall.
func geminiCall(w *writer, id, name string, args []byte) {
	w.name("functionCall")
	w.open('{')
	if id != "" {
		w.text("id", id)
	}
	w.text("name", name)
	w.member("args", args)
	w.close('}')
}

// geminiPart is a part of content. Which fields count depends on which are there.
type geminiPart struct {
	Text      *string               `json:"text"`
	Thought   bool                  `json:"thought"`
	Signature string                `json:"thoughtSignature"`
	Inline    *geminiData           `json:"inlineData"`
	File      *geminiFile           `json:"fileData"`
	Call      *geminiFunctionCall   `json:"functionCall"`
	Response  *geminiFunctionResult `json:"functionResponse"`
}

type geminiData struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type geminiFile struct {
	MimeType string `json:"mimeType"`
	URI      string `json:"fileUri"`
}

type geminiFunctionCall struct {
	ID           string             `json:"id"`
	Name         string             `json:"name"`
	Args         json.RawMessage    `json:"args"`
	Partial      []geminiPartialArg `json:"partialArgs"`
	WillContinue bool               `json:"willContinue"`
}

type geminiFunctionResult struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
	Parts    json.RawMessage `json:"parts"`
}

// part is the part as ours; text is the part as it came, which is kept where ours
// cannot hold all of it.
func (g *geminiPart) part(text json.RawMessage) Part {
	p := Part{Kind: PartOwn}
	keep := true
	switch {
	case g.Call != nil:
		c := tool.Call{ID: g.Call.ID, Name: g.Call.Name, Input: g.Call.Args}
		if len(c.Input) == 0 || string(c.Input) == "null" {
			c.Input = json.RawMessage("{}")
		}
		p.Kind, p.Call, keep = PartCall, &c, c.ID != ""
	case g.Response != nil:
		r := readGeminiResponse(g.Response.Response)
		r.CallID, r.Name = g.Response.ID, g.Response.Name
		p.Kind, p.Result, keep = PartResult, &r, g.Response.ID != "" || !empty(g.Response.Parts)
	case g.Inline != nil:
		data, err := base64.StdEncoding.DecodeString(g.Inline.Data)
		if err != nil || len(data) == 0 {
			break
		}
		p.Kind, p.Media, keep = PartMedia, &tool.Content{Type: mediaKind(g.Inline.MimeType), MediaType: g.Inline.MimeType, Data: data}, false
	case g.File != nil && g.File.URI != "":
		p.Kind, p.Media, keep = PartMedia, &tool.Content{Type: mediaKind(g.File.MimeType), MediaType: g.File.MimeType, URI: g.File.URI}, false
	case g.Text != nil && g.Thought:
		p, keep = Part{Kind: PartThought, Text: *g.Text}, false
	case g.Text != nil:
		p, keep = Text(*g.Text), false
	}
	if keep || g.Signature != "" {
		p.Own, p.Of = text, "gemini"
	}
	return p
}

// mediaKind is the type of content that a media type is of; a document is a link,
// with its data or without.
func mediaKind(media string) tool.ContentType {
	switch kind, _, _ := bytes.Cut([]byte(media), []byte("/")); string(kind) {
	case "image":
		return tool.ImageContent
	case "audio":
		return tool.AudioContent
	}
	return tool.LinkContent
}

// readGeminiResponse reads the response of a function.
func readGeminiResponse(response json.RawMessage) Result {
	if empty(response) {
		return Result{}
	}
	var name string
	var value json.RawMessage
	n := 0
	err := eachMember(response, func(key string, v json.RawMessage) { name, value, n = key, v, n+1 })
	if err != nil || n != 1 || name != "result" && name != "error" {
		return Result{Content: []tool.Content{{Type: tool.JSONContent, JSON: response}}}
	}
	r := Result{Error: name == "error"}
	var s string
	if json.Unmarshal(value, &s) == nil && value[0] == '"' {
		if s != "" {
			r.Content = []tool.Content{tool.Text(s)}
		}
		return r
	}
	r.Content = []tool.Content{{Type: tool.JSONContent, JSON: value}}
	return r
}
