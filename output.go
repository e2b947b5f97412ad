package ferrule

import (
	"encoding/json"
	"fmt"
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
		res.Err = wellFormed(res.Err)
	}
	first := true // the first structured block is the one that the schema is about
	for i := range res.Content {
		b := &res.Content[i]
		if text := checkBlock(b); text != "" {
			return c.invalidOutput(res, text, fmt.Sprintf("block %d of %d", i+1, len(res.Content)))
		}
		if b.Type != tool.JSONContent {
			continue
		}
		check := func(text json.RawMessage) error { return schema.Valid(string(text)) }
		if first && res.Err == nil {
			check = c.entry.tool.CheckOutput
		}
		first = false
		if err := check(b.JSON); err != nil {
			return c.invalidOutput(res, "The tool returned output that does not fit its schema.", err.Error())
		}
	}
	if first && res.Err == nil && len(c.entry.tool.Output) > 0 {
		return c.invalidOutput(res, "The tool returned no structured output, which it must.", "it has an output schema and returned no JSON")
	}
	return mended(res)
}

// wellFormed is an error of the closed set that a model can read.
func wellFormed(e *tool.Error) *tool.Error {
	w := *e
	if !w.Kind.Known() || w.Kind == tool.Suspended || w.Kind == tool.Pending {
		w.Kind = tool.Failed
	}
	w.Text = strings.ToValidUTF8(w.Text, "\uFFFD")
	return &w
}

func (c *call) invalidOutput(res tool.Result, text, detail string) tool.Result {
	c.failed = true
	e := &tool.Error{Kind: tool.InvalidOutput, Text: text, Detail: detail}
	if res.Err != nil {
		e.Cause = res.Err
	}
	return tool.Result{Err: e}
}

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
		}
	case tool.LinkContent:
		if b.URI == "" {
			return "The tool returned a link without an address."
		}
	default:
		return "The tool returned content of an unknown type."
	}
	return ""
}

// mended replaces bytes in texts that are not UTF-8. The tool's own content is
// not written to.
func mended(res tool.Result) tool.Result {
	good := func(s string) bool { return utf8.ValidString(s) }
	copied := false
	for i, b := range res.Content {
		if good(b.Text) && good(b.Name) && good(b.MediaType) && good(b.URI) {
			continue
		}
		if !copied {
			res.Content = slices.Clone(res.Content)
			copied = true
		}
		m := &res.Content[i]
		for _, s := range []*string{&m.Text, &m.Name, &m.MediaType, &m.URI} {
			*s = strings.ToValidUTF8(*s, "\uFFFD")
		}
	}
	return res
}
