package provider

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// addressOf is where media is: its own address, or one that holds the data.
func addressOf(c *tool.Content) string {
	if len(c.Data) == 0 {
		return c.URI
	}
	return "data:" + cmp.Or(c.MediaType, "application/octet-stream") + ";base64," + base64.StdEncoding.EncodeToString(c.Data)
}

// mediaAt is what an address leads to; fallback is the type of what does not say it.
func mediaAt(address, name, fallback string) *tool.Content {
	head, data, found := strings.Cut(address, ",")
	kind, ok := strings.CutPrefix(head, "data:")
	if kind, is64 := strings.CutSuffix(kind, ";base64"); found && ok && is64 {
		if bytes, err := base64.StdEncoding.DecodeString(data); err == nil && len(bytes) > 0 {
			return mediaOf(cmp.Or(kind, fallback), name, bytes, "")
		}
	}
	return mediaOf(fallback, name, nil, address)
}

// mediaOf is data, or what stands at an address, as content.
func mediaOf(mediaType, name string, data []byte, address string) *tool.Content {
	kind := tool.LinkContent
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		kind = tool.ImageContent
	case strings.HasPrefix(mediaType, "audio/"):
		kind = tool.AudioContent
	}
	return &tool.Content{Type: kind, MediaType: mediaType, Name: name, Data: data, URI: address}
}

// isImage and isAudio go by the type of the data, and by what the block is called
// where that is not said.
func isImage(c *tool.Content) bool {
	return strings.HasPrefix(c.MediaType, "image/") || c.MediaType == "" && c.Type == tool.ImageContent
}

func isAudio(c *tool.Content) bool {
	return strings.HasPrefix(c.MediaType, "audio/") || c.MediaType == "" && c.Type == tool.AudioContent
}

// audioFormat is OpenAI's word for a media type of sound.
func audioFormat(mediaType string) string {
	switch format := strings.TrimPrefix(mediaType, "audio/"); format {
	case "mpeg":
		return "mp3"
	case "x-wav", "wave", "":
		return "wav"
	default:
		return format
	}
}

// audioType is the media type of OpenAI's word.
func audioType(format string) string {
	if format == "mp3" {
		return "audio/mpeg"
	}
	return "audio/" + format
}

// chatMedia is media as a piece of content.
func chatMedia(c *tool.Content) json.RawMessage {
	var w writer
	w.open('{')
	switch {
	case isImage(c):
		w.text("url", addressOf(c))
		w.close('}')
		return chatPart("image_url", w)
	case isAudio(c) && len(c.Data) > 0:
		w.data(c.Data)
		w.text("format", audioFormat(c.MediaType))
		w.close('}')
		return chatPart("input_audio", w)
	case len(c.Data) > 0:
		w.text("filename", cmp.Or(c.Name, "file"))
		w.text("file_data", addressOf(c))
		w.close('}')
		return chatPart("file", w)
	}
	return chatPart("text", quoted(c.String())) // what stands elsewhere has no other form
}

// parts are what a user said, each piece read by one. What we have no form for is kept as
// it came.
func (c *chatContent) parts(one func(raw json.RawMessage) Part) []Part {
	if len(c.pieces) == 0 {
		if c.text == "" {
			return nil
		}
		return []Part{Text(c.text)}
	}
	parts := make([]Part, 0, len(c.pieces))
	for _, raw := range c.pieces {
		parts = append(parts, one(raw))
	}
	return parts
}

func chatUserPart(raw json.RawMessage) Part {
	var piece struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
		Audio struct {
			Data   []byte `json:"data"`
			Format string `json:"format"`
		} `json:"input_audio"`
		File struct {
			Name string `json:"filename"`
			Data string `json:"file_data"`
		} `json:"file"`
	}
	own := Part{Kind: PartOwn, Own: raw, Of: Chat{}.String()}
	if json.Unmarshal(raw, &piece) != nil {
		return own
	}
	p := Part{Kind: PartMedia}
	switch {
	case piece.Type == "text" && piece.Text != "":
		return Text(piece.Text)
	case piece.Type == "image_url" && piece.Image.URL != "":
		p.Media = mediaAt(piece.Image.URL, "", "image/*")
	case piece.Type == "input_audio" && len(piece.Audio.Data) > 0:
		p.Media = mediaOf(audioType(piece.Audio.Format), "", piece.Audio.Data, "")
	case piece.Type == "file" && strings.HasPrefix(piece.File.Data, "data:"):
		p.Media = mediaAt(piece.File.Data, piece.File.Name, "")
	default:
		return own
	}
	if string(chatMedia(p.Media)) != string(raw) && beyondInside(raw, piece.Type) {
		p.Own, p.Of = raw, own.Of // the detail of an image
	}
	return p
}

// beyondInside tells whether a piece of content says more than we would write.
func beyondInside(raw json.RawMessage, kind string) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return true
	}
	return beyond(raw, "type", kind) || beyond(all[kind], "url", "data", "format", "filename", "file_data")
}
