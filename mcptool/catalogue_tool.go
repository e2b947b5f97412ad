package mcptool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// maxDefinition is how long a definition may be, in bytes.
const maxDefinition = 1 << 20

// listed makes a tool of a definition. What makes it unusable quarantines it; what
// is merely wrong in it is left out. alike are tools that were made already, by their
// input schema.
func (s *server) listed(raw json.RawMessage, alike map[string]*tool.Tool) *listedTool {
	t := &listedTool{raw: raw, name: textMember(raw, "name")}
	if len(raw) <= maxDefinition {
		t.raw = bytes.Clone(raw) // else one tool would hold the memory of the whole list
	}
	if err := s.define(t, alike); err != nil {
		t.tool, t.tidy, t.why, t.final = nil, nil, err.Error(), true
		t.name = short(t.name)
	}
	if t.tidy != nil {
		t.tidy = s.hub.Runtime.Guard.Shown(s.source(), t.name, t.tidy)
	}
	t.made = t.tool
	if len(raw) > maxDefinition { // what stands for it is short, and judged the same
		t.raw = setMembers(nil, pair{"name", quote(t.name)}, pair{"tooLong", strconv.AppendInt(nil, int64(len(raw)), 10)})
	}
	return t
}

// metaAlwaysLoad is what a server writes into the _meta of a tool that is not to be
// deferred.
const metaAlwaysLoad = "anthropic/alwaysLoad"

func (s *server) define(t *listedTool, alike map[string]*tool.Tool) error {
	if kind := kindOf(t.raw); kind != '{' {
		return fmt.Errorf("definition: got %s, want an object", kindName(kind))
	}
	if len(t.raw) > maxDefinition { // soon: reading it is what costs
		return fmt.Errorf("definition: got %d bytes, want at most %d", len(t.raw), maxDefinition)
	}
	if deeper(t.raw, maxDefinitionDepth) { // soon, too: so is looking into it
		return fmt.Errorf("definition: it is nested more than %d deep", maxDefinitionDepth)
	}
	if key, twice := repeated(t.raw); twice {
		return fmt.Errorf("definition: %q is there twice: who reads it may take either", short(key))
	}
	if name, ok := member(t.raw, "name"); !ok || kindOf(name) != '"' {
		return fmt.Errorf("name: got %s, want a string", kindName(kindOf(name)))
	}
	t.tidy = tidied(t.raw)
	t.pin = pinSumOf(t.raw)
	info := tool.Info{
		Name: t.name, Description: description(t.tidy), Claims: s.claimed(t.name, claimsOf(t.tidy)),
		// The server judges what its schema does not say, keeps its own time (it is
		// stopped while a client is asked) and is told when a call is given up.
		Open: true, Timeout: tool.Unlimited, Cancel: true, Cooperative: true,
		// N2: it runs in another process, or elsewhere.
		Pin: s.who().key(t.pin.digest), Isolation: "process",
	}
	if always, ok := metaMember(t.tidy, metaAlwaysLoad); ok {
		info.AlwaysLoad = kindOf(always) == 't'
	}
	input, _ := member(t.tidy, "inputSchema")
	headers, err := headerParamsOf(input)
	if err != nil {
		return err
	}
	run := func(ctx context.Context, a tool.Args) (tool.Result, error) {
		if len(headers) > 0 {
			ctx = withHeaders(ctx, headers.of(json.RawMessage(a.Text())))
		}
		return s.run(ctx, &info, a)
	}
	made, err := withInput(tool.Tool{Info: info, Run: run}, t, alike)
	if err != nil {
		return err
	}
	t.tool = withOutput(made, t)
	return nil
}

// withInput is the tool with its input schema, which is mended if it must be:
// servers write types as their language names them. Many tools of one server take the
// same: its schema is compiled once.
func withInput(made tool.Tool, t *listedTool, alike map[string]*tool.Tool) (*tool.Tool, error) {
	given, ok := member(t.tidy, "inputSchema")
	if !ok {
		return nil, errors.New("inputSchema: got none, want an object")
	}
	input := rooted(given)
	made.Input = input
	if like := alike[string(input)]; like != nil {
		with := *like // with what was compiled
		with.Info, with.Run = made.Info, made.Run
		made = with
	}
	checked, err := made.Check()
	if err != nil {
		mended, changes, cannot := schema.Normalise(input)
		if cannot != nil || len(changes) == 0 {
			return nil, err
		}
		made.Input = rooted(mended)
		again, err2 := made.Check()
		if err2 != nil {
			return nil, err2
		}
		checked = again
	}
	if alike != nil {
		alike[string(made.Input)] = checked
	}
	if !sameJSON(given, made.Input) {
		t.tidy = setMembers(t.tidy, pair{"inputSchema", made.Input})
	}
	return checked, nil
}

// rooted is an input schema that says that it is of an object: clients refuse a
// whole list for one that does not, and arguments are never anything else.
func rooted(input json.RawMessage) json.RawMessage {
	if kindOf(input) != '{' {
		return input
	}
	typ, ok := member(input, "type")
	object := pair{"type", quote("object")}
	if !ok {
		return setMembers(input, object)
	}
	if several, ok := items(typ); ok {
		for _, one := range several {
			if word, _ := unquote(one); word == "object" {
				return setMembers(input, object)
			}
		}
	}
	return input
}

// withOutput is the tool with its output schema, or without where that is of no
// use: what the tool does is as good without it.
func withOutput(made *tool.Tool, t *listedTool) *tool.Tool {
	output, ok := member(t.tidy, "outputSchema")
	if !ok {
		return made
	}
	with := *made
	with.Output = output
	if checked, err := with.Check(); err == nil {
		return checked
	}
	t.tidy = setMembers(t.tidy, pair{"outputSchema", nil})
	return made
}

// tidied is what clients may be sent of a definition: the members that the protocol
// has, if they are of a type that they can have (a client would refuse the whole list
// for one that is not). Others are in no pin, and who reads names without regard to
// case takes "Description" for the description.
func tidied(raw json.RawMessage) json.RawMessage {
	wants := map[string]byte{
		"title": '"', "description": '"', "annotations": '{', "outputSchema": '{', "_meta": '{', "icons": '[', "execution": '{',
	}
	var drop []pair
	each(raw, func(key string, value json.RawMessage) {
		if want, ok := wants[key]; key != "name" && key != "inputSchema" && (!ok || kindOf(value) != want) {
			drop = append(drop, pair{key, nil})
		}
	})
	if drop != nil {
		raw = setMembers(raw, drop...)
	}
	hints, ok := member(raw, "annotations")
	if !ok {
		return raw
	}
	var wrong []pair
	each(hints, func(key string, value json.RawMessage) {
		kind := kindOf(value)
		switch {
		case key == "title" && kind != '"', strings.HasSuffix(key, "Hint") && kind != 't' && kind != 'f':
			wrong = append(wrong, pair{key, nil})
		}
	})
	if wrong == nil {
		return raw
	}
	return setMembers(raw, pair{"annotations", setMembers(hints, wrong...)})
}

// description is what a model chooses the tool by. A server need not give one.
func description(raw json.RawMessage) string {
	hints, _ := member(raw, "annotations")
	for _, text := range []string{textMember(raw, "description"), textMember(raw, "title"), textMember(hints, "title")} {
		if strings.TrimSpace(text) != "" {
			return strings.ToValidUTF8(text, "\uFFFD")
		}
	}
	return cmp.Or(textMember(raw, "name"), "no name")
}

// claimsOf are what the server says of the tool's calls. Only what it says counts:
// a hint that is not there claims nothing, whatever its default is, and neither
// does one that contradicts another.
func claimsOf(raw json.RawMessage) tool.Claims {
	hints, _ := member(raw, "annotations")
	says := func(hint string, want byte) bool {
		if _, twice := repeated(hints); twice {
			return false
		}
		value, _ := member(hints, hint)
		return kindOf(value) == want
	}
	return tool.Claims{
		ReadOnly:   says("readOnlyHint", 't'),
		Reversible: says("destructiveHint", 'f'),
		Local:      says("openWorldHint", 'f'),
		Idempotent: says("idempotentHint", 't'),
	}
}
