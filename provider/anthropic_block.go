package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// appendBlocks writes a part of a message as blocks of content: one, or none where
// the API would refuse it.
func (f Anthropic) appendBlocks(blocks []json.RawMessage, role Role, p *Part) []json.RawMessage {
	own := p.own("anthropic")
	var w writer
	switch p.Kind {
	case PartText, PartRefusal:
		if own != nil && (p.Kind == PartRefusal || anthropicBlockOf(own).Text == p.Text) {
			return append(blocks, own)
		}
		if blank(p.Text) {
			return blocks
		}
		w.block(p.Text, false)
	case PartThought, PartOwn:
		if own == nil {
			return blocks
		}
		return append(blocks, own)
	case PartMedia:
		if own != nil {
			return append(blocks, own)
		}
		if p.Media == nil {
			return blocks
		}
		if role == Assistant || !anthropicMedia(&w, p.Media) { // it takes none of the assistant's
			w.block(p.Media.String(), false)
		}
	case PartCall:
		if p.Call == nil {
			return blocks
		}
		if own != nil {
			return append(blocks, anthropicOwnCall(own, p.Call))
		}
		anthropicCall(&w, p.Call, inputObject(p.Call.Input))
	case PartResult:
		if p.Result == nil {
			return blocks
		}
		if own != nil && anthropicBlockOf(own).ToolUseID == anthropicID(p.Result.CallID) {
			return append(blocks, own)
		}
		return append(blocks, anthropicResult(p.Result))
	default:
		return blocks
	}
	return append(blocks, json.RawMessage(w))
}

// anthropicCall writes a call.
func anthropicCall(w *writer, c *tool.Call, input []byte) {
	w.open('{')
	w.text("type", "tool_use")
	w.text("id", anthropicID(c.ID))
	w.text("name", c.Name)
	w.member("input", input)
	w.close('}')
}

// anthropicOwnCall is a call's own form with the id of the conversation, where the one
// sent was empty or repeated, and with the name and input that ran, where a hook changed
// them.
func anthropicOwnCall(own json.RawMessage, c *tool.Call) json.RawMessage {
	was := anthropicBlockOf(own)
	if id := anthropicID(c.ID); was.ID != id {
		own = withMember(own, "id", quoted(id))
	}
	if was.Name != c.Name {
		own = withMember(own, "name", quoted(c.Name))
	}
	if !sameInput(was.Input, c.Input) {
		own = withMember(own, "input", inputObject(c.Input))
	}
	return own
}

// anthropicID is an id in the letters that the API takes: those of other providers
// may have others. No two ids become one: where a letter was replaced, a digest of the
// id stands behind it, and so it does where the id looks as if one stood there.
func anthropicID(id string) string {
	taken := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	if taken == id && !digested(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return taken + "_" + hex.EncodeToString(sum[:digestSize])
}

// digestSize is how many bytes of a digest stand in an id.
const digestSize = 8

// digested reports whether an id ends as those do that have a digest.
func digested(id string) bool {
	n := len(id) - 2*digestSize
	if n < 1 || id[n-1] != '_' {
		return false
	}
	return strings.Trim(id[n:], "0123456789abcdef") == ""
}

// anthropicResult writes the result of a call. Of a failed one the API takes nothing
// but text, and wants some: its images come behind all results, see besideResults.
func anthropicResult(r *Result) json.RawMessage {
	var content writer
	for i := range r.Content {
		c := &r.Content[i]
		if !r.Error && isMedia(c) && anthropicMedia(&content, c) {
			continue
		}
		if text := c.String(); !blank(text) {
			content.block(text, false)
		}
	}
	if r.Error && len(content) == 0 {
		content.block("The tool failed and gave no reason.", false)
	}
	var w writer
	w.open('{')
	w.text("type", "tool_result")
	w.text("tool_use_id", anthropicID(r.CallID))
	if len(content) > 0 {
		w.name("content")
		w.open('[')
		w = append(append(w, content...), ']')
	}
	if r.Error {
		w.flag("is_error", true)
	}
	w.close('}')
	return json.RawMessage(w)
}

// besideResults are the images and documents of failed results as blocks.
func besideResults(blocks []json.RawMessage, results []Part) []json.RawMessage {
	for i := range results {
		r := results[i].Result
		if r == nil || !r.Error || results[i].own("anthropic") != nil {
			continue
		}
		for j := range r.Content {
			var w writer
			if isMedia(&r.Content[j]) && anthropicMedia(&w, &r.Content[j]) {
				blocks = append(blocks, json.RawMessage(w))
			}
		}
	}
	return blocks
}

// isMedia reports whether content is data, or a link to an image or document.
func isMedia(c *tool.Content) bool {
	return len(c.Data) > 0 || c.Type == tool.ImageContent && c.URI != ""
}

// anthropicMedia writes an image or document, and reports whether the API takes it.
func anthropicMedia(w *writer, c *tool.Content) bool {
	media, _, _ := strings.Cut(c.MediaType, ";")
	kind := "document"
	link := len(c.Data) == 0
	switch media {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		kind = "image"
	case "application/pdf", "text/plain":
	default:
		if !link {
			return false
		}
		if c.Type == tool.ImageContent {
			kind = "image"
		} else if media != "" {
			return false
		}
	}
	if link && c.URI == "" {
		return false
	}
	w.open('{')
	w.text("type", kind)
	w.name("source")
	w.open('{')
	switch {
	case link:
		w.text("type", "url")
		w.text("url", c.URI)
	case media == "text/plain":
		w.text("type", "text")
		w.text("media_type", media)
		w.text("data", string(c.Data))
	default:
		w.text("type", "base64")
		w.text("media_type", media)
		w.data(c.Data)
	}
	w.close('}')
	if kind == "document" && c.Name != "" {
		w.text("title", c.Name)
	}
	w.close('}')
	return true
}
