package ferrule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// checkOutput is phase 8: content that can be sent to a model, and structured
// output that fits the tool's schema.
func (c *call) checkOutput(res tool.Result) tool.Result {
	if res.Err != nil {
		res.Err = hooked(res.Err)
	}
	first := true // the first structured block is the one that the schema is about
	for i := range res.Content {
		b := &res.Content[i]
		if text := checkBlock(b); text != "" {
			return c.invalidOutput(res, text, fmt.Errorf("block %d of %d", i+1, len(res.Content)))
		}
		if b.Type != tool.JSONContent {
			continue
		}
		check := func(text json.RawMessage) error { return schema.ValidBytes(text) }
		if first && res.Err == nil {
			check = c.entry.tool.CheckOutput
		}
		first = false
		if err := check(b.JSON); err != nil {
			return c.invalidOutput(res, "The tool returned output that does not fit its schema.", err)
		}
	}
	if first && res.Err == nil && len(c.entry.tool.Output) > 0 {
		return c.invalidOutput(res, "The tool returned no structured output, which it must.", errNoJSON)
	}
	return mended(res)
}

var errNoJSON = errors.New("it has an output schema and returned no JSON")

// hooked is an error as a wrapper or an output hook may give it: of the closed
// set, and none of those that are about waiting.
func hooked(e *tool.Error) *tool.Error {
	if e.Kind.Known() && e.Kind != tool.Suspended && e.Kind != tool.Pending {
		return e
	}
	w := *e
	w.Kind = tool.Failed
	return &w
}

// wellFormed is an error whose text a model can be sent.
func wellFormed(e *tool.Error) *tool.Error {
	if utf8.ValidString(e.Text) {
		return e
	}
	w := *e
	w.Text = valid(w.Text)
	return &w
}

func (c *call) invalidOutput(res tool.Result, text string, err error) tool.Result {
	c.failed = c.ran
	if res.Err != nil {
		err = fmt.Errorf("%w; beside the error %w", err, res.Err)
	}
	return tool.Result{Err: &tool.Error{Kind: tool.InvalidOutput, Text: text, Detail: err.Error(), Cause: err, Own: true}}
}

// Bounds of what is not cut with a result: an address that was cut would lead
// elsewhere.
const (
	maxURI       = 8 << 10 // bytes
	maxMediaType = 255     // bytes
	maxLabel     = 1000    // characters of a name or a link's title; more are cut
)

// checkBlock says what is wrong with a block; "": nothing.
func checkBlock(b *tool.Content) string {
	switch b.Type {
	case tool.TextContent, tool.JSONContent:
	case tool.ImageContent, tool.AudioContent:
		switch {
		case len(b.Data) == 0:
			return fmt.Sprintf("The tool returned %s content of 0 bytes.", b.Type)
		case b.MediaType == "":
			return fmt.Sprintf("The tool returned %s content without a media type.", b.Type)
		case len(b.MediaType) > maxMediaType:
			return fmt.Sprintf("The tool returned %s content with a media type that is too long.", b.Type)
		}
	case tool.LinkContent:
		switch {
		case b.URI == "":
			return "The tool returned a link without an address."
		case len(b.URI) > maxURI:
			return "The tool returned a link with an address that is too long."
		case len(b.MediaType) > maxMediaType:
			return "The tool returned a link with a media type that is too long."
		}
	default:
		return "The tool returned content of an unknown type."
	}
	return ""
}

// mended is content of which every block is proper. The tool's own content is
// not written to.
func mended(res tool.Result) tool.Result {
	copied := false
	for i := range res.Content {
		b := &res.Content[i]
		p := proper(b)
		if p.Text == b.Text && p.Name == b.Name && p.MediaType == b.MediaType && p.URI == b.URI &&
			len(p.JSON) == len(b.JSON) && len(p.Data) == len(b.Data) && p.Width == b.Width && p.Height == b.Height {
			continue
		}
		if !copied {
			res.Content = slices.Clone(res.Content)
			copied = true
		}
		res.Content[i] = p
	}
	return res
}

// proper is a block with the fields of its type and no others: nobody has
// looked at those. Bytes in texts that are not UTF-8 are replaced.
func proper(b *tool.Content) tool.Content {
	p := tool.Content{Type: b.Type}
	switch b.Type {
	case tool.TextContent:
		p.Text = valid(b.Text)
	case tool.JSONContent:
		p.JSON = b.JSON
	case tool.ImageContent, tool.AudioContent:
		p.Data, p.MediaType, p.Name = b.Data, valid(b.MediaType), label(b.Name)
		if b.Type == tool.ImageContent {
			p.Width, p.Height = dimensions(b)
		}
	case tool.LinkContent:
		p.URI, p.MediaType, p.Text, p.Name = valid(b.URI), valid(b.MediaType), label(b.Text), label(b.Name)
	}
	return p
}

// dimensions are how large an image is: as its tool says, or as its first bytes
// do; 0: it is not known.
func dimensions(b *tool.Content) (width, height int) {
	if b.Width > 0 && b.Height > 0 {
		return b.Width, b.Height
	}
	for _, format := range []struct {
		magic string
		read  func(io.Reader) (image.Config, error)
	}{{"\x89PNG", png.DecodeConfig}, {"\xff\xd8", jpeg.DecodeConfig}, {"GIF8", gif.DecodeConfig}} {
		if !bytes.HasPrefix(b.Data, []byte(format.magic)) {
			continue
		}
		config, err := safely(func() (image.Config, error) { return format.read(bytes.NewReader(b.Data)) })
		if err == nil && config.Width > 0 && config.Height > 0 {
			return config.Width, config.Height
		}
	}
	return 0, 0
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// label is a text that is short: the beginning of s, if s is not.
func label(s string) string {
	n := 0
	for at := range s {
		if n == maxLabel {
			return valid(s[:at]) + "…"
		}
		n++
	}
	return valid(s)
}
