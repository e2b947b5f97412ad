package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// wireKinds are kinds of calls that are none of our tools, and why. They must stand
// in the answer as the provider's own.
func wireKinds() map[string]string {
	const (
		provided = "it runs at the provider"
		native   = "a native kind, which no definition of ours brings about"
		free     = "its input is a text, which no definition of ours asks for"
	)
	return map[string]string{
		"server_tool_use": provided, "mcp_tool_use": provided, "mcp_call": provided, "web_search_call": provided,
		"file_search_call": provided, "code_interpreter_call": provided, "image_generation_call": provided,
		"shell_call": native, "local_shell_call": native, "apply_patch_call": native, "computer_call": native, "tool_search_call": native,
		"custom_tool_call": free,
	}
}

// whole joins the pieces of calls that were listed piece by piece.
func whole(calls []wireCall) []wireCall {
	var out []wireCall
	open := false
	for _, c := range calls {
		if open && c.Name == "" {
			open = c.Partial
			continue
		}
		open = c.Partial
		out = append(out, c)
	}
	return out
}

// sameCalls compares the calls of an answer with those expected; events are what the
// latter were taken from.
func (r *wireReport) sameCalls(a provider.Answer, expect []wireCall, events []json.RawMessage) {
	calls := a.Calls()
	for _, want := range expect {
		r.expected++
		if len(calls) > 0 && sameCall(calls[0], want) {
			calls = calls[1:]
			continue
		}
		detail := fmt.Sprintf("%s %s %s is no call of the answer", want.Kind, want.ID, want.Name)
		why, ok := wireKinds()[want.Kind]
		if ok && keptOwn(a, want.ID) {
			r.explain(detail, why)
			continue
		}
		if len(calls) > 0 {
			detail += fmt.Sprintf("; there is %s %s with %s", calls[0].ID, calls[0].Name, calls[0].Input)
		}
		r.fault("calls", "%s", detail)
	}
	for _, c := range calls {
		detail := fmt.Sprintf("%s %s is not expected", c.ID, c.Name)
		if inStart(events, c.ID) {
			r.explain(detail, "it stands whole in message_start, where those expected were not looked for")
			continue
		}
		r.fault("calls", "%s", detail)
	}
}

// inStart reports whether a call came in the first event of Anthropic's, which has
// content when code that runs at the provider goes on.
func inStart(events []json.RawMessage, id string) bool {
	for _, text := range events {
		var e struct {
			Type    string
			Message struct{ Content []struct{ Type, ID string } }
		}
		if json.Unmarshal(text, &e) != nil || e.Type != "message_start" {
			continue
		}
		for _, b := range e.Message.Content {
			if b.Type == "tool_use" && b.ID == id {
				return true
			}
		}
	}
	return false
}

// sameCall compares by value what is known of a call.
func sameCall(got tool.Call, want wireCall) bool {
	return got.Name == want.Name && (want.ID == "" || got.ID == want.ID) && (want.Arguments == nil || sameArguments(string(got.Input), *want.Arguments))
}

// sameArguments compares by value; blank arguments are {}. What is no JSON is
// compared as it is, and as the string that it may have been made into.
func sameArguments(got, want string) bool {
	if strings.TrimSpace(got) == "" {
		got = "{}"
	}
	if strings.TrimSpace(want) == "" {
		want = "{}"
	}
	var a, b any
	if json.Unmarshal([]byte(got), &a) != nil {
		return got == want
	}
	if json.Unmarshal([]byte(want), &b) != nil {
		return a == any(want)
	}
	return reflect.DeepEqual(a, b)
}

// keptOwn reports whether an answer keeps what has an id as the provider's own.
func keptOwn(a provider.Answer, id string) bool {
	for _, p := range a.Parts {
		if p.Kind == provider.PartOwn && bytes.Contains(p.Own, []byte(id)) {
			return true
		}
	}
	return false
}
