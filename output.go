package ferrule

import (
	"encoding/json"
	"errors"
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
		check := func(text json.RawMessage) error { return schema.Valid(string(text)) }
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
	w.Text = strings.ToValidUTF8(w.Text, "\uFFFD")
	return &w
}

func (c *call) invalidOutput(res tool.Result, text string, err error) tool.Result {
	c.failed = c.ran
	if res.Err != nil {
		err = fmt.Errorf("%w; beside the error %w", err, res.Err)
	}
	return tool.Result{Err: &tool.Error{Kind: tool.InvalidOutput, Text: text, Detail: err.Error(), Cause: err}}
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
