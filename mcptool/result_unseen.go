package mcptool

import "encoding/json"

// maxUnseen is how many bytes of a result may go to the client that the runtime
// has not seen (annotations, _meta, what is not known): more could carry what its
// limits are there for.
const maxUnseen = 16 << 10

// framing is what a block of text costs beside its text.
const framing = len(`{"type":"text","text":},`)

// unseen is how many bytes of a result the runtime has not counted.
func unseen(raw json.RawMessage) int {
	left := len(raw)
	structured, _ := member(raw, "structuredContent")
	left -= len(structured)
	list, _ := member(raw, "content")
	blocks, _ := items(list)
	for _, block := range blocks {
		left -= seen(block)
	}
	return left
}

// seen is how many bytes of a block the runtime has counted, as [contentOf] reads
// it.
func seen(block json.RawMessage) int {
	size := func(of json.RawMessage, key string) int {
		value, _ := member(of, key)
		return len(value)
	}
	switch kind := textMember(block, "type"); kind {
	case "text":
		if text, _ := member(block, "text"); kindOf(text) == '"' {
			return len(text) + framing
		}
	case "image", "audio":
		if size(block, "data") > 0 && size(block, "mimeType") > 0 {
			return size(block, "data") + framing
		}
	case "resource_link":
		return min(size(block, "uri"), maxAddress) // what else a link says is in no text
	case "resource":
		resource, _ := member(block, "resource")
		if text, _ := member(resource, "text"); kindOf(text) == '"' {
			return len(text) + framing
		}
		if c, ok := embedded(resource); ok && len(c.Data) > 0 {
			return size(resource, "blob") + framing
		}
		return min(size(resource, "uri"), maxAddress)
	}
	return len(block) // as the JSON it is
}
