package provider

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// responsesMedia is media as a piece of content.
func responsesMedia(c *tool.Content) json.RawMessage {
	var w writer
	w.open('{')
	switch {
	case isImage(c):
		w.text("type", "input_image")
		w.text("image_url", addressOf(c))
	case isAudio(c) && len(c.Data) > 0:
		w.text("type", "input_audio")
		w.name("input_audio")
		w.open('{')
		w.data(c.Data)
		w.text("format", audioFormat(c.MediaType))
		w.close('}')
	case len(c.Data) > 0:
		w.text("type", "input_file")
		w.text("filename", cmp.Or(c.Name, "file"))
		w.text("file_data", addressOf(c))
	default:
		w.text("type", "input_file")
		w.text("file_url", c.URI)
	}
	w.close('}')
	return json.RawMessage(w)
}

func responsesUserPart(raw json.RawMessage) Part {
	var piece struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image string `json:"image_url"`
		Audio struct {
			Data   []byte `json:"data"`
			Format string `json:"format"`
		} `json:"input_audio"`
		Name string `json:"filename"`
		Data string `json:"file_data"`
		URL  string `json:"file_url"`
	}
	own := Part{Kind: PartOwn, Own: raw, Of: Responses{}.String()}
	if json.Unmarshal(raw, &piece) != nil {
		return own
	}
	p := Part{Kind: PartMedia}
	switch {
	case strings.HasSuffix(piece.Type, "text") && piece.Text != "":
		return Text(piece.Text)
	case piece.Type == "input_image" && piece.Image != "":
		p.Media = mediaAt(piece.Image, "", "image/*")
	case piece.Type == "input_audio" && len(piece.Audio.Data) > 0:
		p.Media = mediaOf(audioType(piece.Audio.Format), "", piece.Audio.Data, "")
	case piece.Type == "input_file" && strings.HasPrefix(piece.Data, "data:"):
		p.Media = mediaAt(piece.Data, piece.Name, "")
	case piece.Type == "input_file" && piece.URL != "":
		p.Media = mediaOf("", "", nil, piece.URL)
	default:
		return own
	}
	if beyond(raw, "type", "image_url", "input_audio", "filename", "file_data", "file_url") {
		p.Own, p.Of = raw, own.Of // the detail of an image
	}
	return p
}
