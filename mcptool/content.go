package mcptool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// callResult is a result of tools/call for the runtime.
func callResult(raw json.RawMessage) (tool.Result, error) {
	list, _ := member(raw, "content")
	blocks, _ := items(list)
	structured, has := member(raw, "structuredContent")
	has = has && kindOf(structured) != 'n'
	content := make([]tool.Content, 0, len(blocks)+1)
	for _, block := range blocks {
		if has && repeats(block, structured) {
			continue
		}
		content = append(content, contentOf(block))
	}
	if has {
		content = append(content, tool.Content{Type: tool.JSONContent, JSON: structured})
	}
	result := tool.Result{Content: content}
	if kind := kindOf(list); kind != 0 && kind != '[' && kind != 'n' {
		return result, &tool.Error{Kind: tool.InvalidOutput, Text: fmt.Sprintf("The server's result is none: content: got %s, want an array.", kindName(kind)), Own: true}
	}
	if wrong, _ := member(raw, "isError"); kindOf(wrong) == 't' {
		text := tool.TextOf(content)
		return result, &tool.Error{Kind: tool.Failed, Text: text}
	}
	return result, nil
}

// repeats reports whether a block is the structured content as text, which servers
// add for old clients: a model would read it twice.
func repeats(block, structured json.RawMessage) bool {
	if textMember(block, "type") != "text" {
		return false
	}
	var a, b bytes.Buffer
	text := textMember(block, "text")
	return json.Compact(&a, []byte(text)) == nil && json.Compact(&b, structured) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

// contentOf is one block. What is not known, or lacks what its type must have, is
// kept as the JSON it is.
func contentOf(block json.RawMessage) tool.Content {
	switch kind := textMember(block, "type"); kind {
	case "text":
		if text, ok := member(block, "text"); ok && kindOf(text) == '"' {
			return tool.Text(textMember(block, "text"))
		}
	case "image", "audio":
		if c, ok := blobOf(tool.ContentType(kind), textMember(block, "data"), textMember(block, "mimeType")); ok {
			return c
		}
	case "resource_link":
		if c, ok := linkTo(block); ok {
			return c
		}
	case "resource":
		resource, _ := member(block, "resource")
		if c, ok := embedded(resource); ok {
			return c
		}
	}
	return tool.Text(string(block))
}

func blobOf(kind tool.ContentType, text, media string) (tool.Content, bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || media == "" || len(media) > maxMedia {
		return tool.Content{}, false
	}
	return tool.Content{Type: kind, Data: b, MediaType: media}, true
}

// What the runtime takes.
const (
	maxMedia   = 255
	maxAddress = 8 << 10
)

func linkTo(block json.RawMessage) (tool.Content, bool) {
	c := tool.Content{
		Type: tool.LinkContent, URI: textMember(block, "uri"), Name: textMember(block, "name"),
		Text: textMember(block, "title"), MediaType: textMember(block, "mimeType"),
	}
	return c, c.URI != "" && len(c.URI) <= maxAddress && len(c.MediaType) <= maxMedia
}

// embedded is a resource within a result: its text, its picture or sound, or a
// link to what no model reads.
func embedded(resource json.RawMessage) (tool.Content, bool) {
	if text, ok := member(resource, "text"); ok && kindOf(text) == '"' {
		return tool.Text(textMember(resource, "text")), true
	}
	media, blob := textMember(resource, "mimeType"), textMember(resource, "blob")
	for _, kind := range []tool.ContentType{tool.ImageContent, tool.AudioContent} {
		if strings.HasPrefix(media, string(kind)+"/") {
			c, ok := blobOf(kind, blob, media)
			c.Name = textMember(resource, "uri")
			return c, ok
		}
	}
	return linkTo(resource)
}
