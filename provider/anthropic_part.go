package provider

import (
	"encoding/base64"
	"encoding/json"

	"github.com/ferrule-dev/ferrule/tool"
)

// anthropicBlock is a block of content, in a request, an answer or at its beginning
// in a stream. Which fields count depends on its type.
type anthropicBlock struct {
	Type      string           `json:"type"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Text      string           `json:"text"`
	Thinking  string           `json:"thinking"`
	Signature string           `json:"signature"`
	Input     json.RawMessage  `json:"input"`
	Citations json.RawMessage  `json:"citations"` // of text: an array
	ToolUseID string           `json:"tool_use_id"`
	Content   json.RawMessage  `json:"content"` // of a result: a string or blocks
	IsError   bool             `json:"is_error"`
	Source    *anthropicSource `json:"source"`
	Title     string           `json:"title"`
	Context   string           `json:"context"`
	Caller    *anthropicCaller `json:"caller"`
	Cache     json.RawMessage  `json:"cache_control"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URL       string `json:"url"`
}

// anthropicCaller says who called: the model itself, or a program that it runs at the
// provider.
type anthropicCaller struct {
	Type   string `json:"type"`
	ToolID string `json:"tool_id"` // of that program
}

// anthropicBlockOf reads a block as far as it can be read.
func anthropicBlockOf(text []byte) anthropicBlock {
	var b anthropicBlock
	if err := json.Unmarshal(text, &b); err != nil {
		return anthropicBlock{}
	}
	return b
}

// part is the block as a part; text is the block as it came, which is kept where the
// part cannot hold all of it.
func (b *anthropicBlock) part(text json.RawMessage) Part {
	p := Part{Kind: PartOwn}
	keep := true
	switch b.Type {
	case "text":
		p, keep = Text(b.Text), !empty(b.Citations)
	case "thinking":
		p, keep = Part{Kind: PartThought, Text: b.Thinking}, b.Signature != ""
	case "tool_use":
		p.Kind = PartCall
		p.Call = &tool.Call{ID: b.ID, Name: b.Name, Input: b.Input}
		if len(b.Input) == 0 {
			p.Call.Input = json.RawMessage("{}")
		}
		keep = b.Caller != nil && b.Caller.Type != "direct"
	case "tool_result":
		p.Kind = PartResult
		p.Result, keep = b.result()
	case "image", "document":
		media, all := b.media()
		if media == nil {
			break
		}
		p.Kind, p.Media, keep = PartMedia, media, !all
	}
	if keep {
		p.Own, p.Of = text, "anthropic"
	}
	return p
}

// empty reports whether a member is missing, null or an empty array.
func empty(v json.RawMessage) bool {
	return len(v) == 0 || string(v) == "null" || string(v) == "[]"
}

// result reads the result of a call, and whether it has what ours cannot hold.
func (b *anthropicBlock) result() (*Result, bool) {
	r := &Result{CallID: b.ToolUseID, Error: b.IsError}
	if empty(b.Content) {
		return r, false
	}
	var text string
	if json.Unmarshal(b.Content, &text) == nil {
		r.Content = []tool.Content{tool.Text(text)}
		return r, false
	}
	var blocks []anthropicBlock
	if json.Unmarshal(b.Content, &blocks) != nil {
		return r, true
	}
	keep := false
	for i := range blocks {
		switch c := &blocks[i]; c.Type {
		case "text":
			r.Content = append(r.Content, tool.Text(c.Text))
		case "image", "document":
			media, all := c.media()
			if media != nil {
				r.Content = append(r.Content, *media)
			}
			keep = keep || !all
		default: // a search result, a tool that was found
			keep = true
		}
	}
	return r, keep
}

// media reads an image or document, and whether ours holds all of it.
func (b *anthropicBlock) media() (*tool.Content, bool) {
	if b.Source == nil {
		return nil, false
	}
	c := &tool.Content{Type: tool.ImageContent, MediaType: b.Source.MediaType}
	if b.Type == "document" {
		c.Type, c.Name = tool.LinkContent, b.Title
	}
	switch b.Source.Type {
	case "base64":
		data, err := base64.StdEncoding.DecodeString(b.Source.Data)
		if err != nil || len(data) == 0 {
			return nil, false
		}
		c.Data = data
	case "text":
		if b.Source.Data == "" {
			return nil, false
		}
		c.Data = []byte(b.Source.Data)
	case "url":
		c.URI = b.Source.URL
	default: // a file at the provider
		return nil, false
	}
	return c, b.Context == "" && empty(b.Citations)
}
