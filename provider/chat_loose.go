package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// loose is text that some servers send as null, which is none, or as a value of
// another kind, which is then the JSON of that value: arguments as an object.
type loose string

// UnmarshalJSON fails on no JSON.
func (l *loose) UnmarshalJSON(text []byte) error {
	switch {
	case len(text) > 0 && text[0] == '"':
		var s string
		err := json.Unmarshal(text, &s)
		*l = loose(s)
		return err
	case string(text) == "null":
		*l = ""
	default:
		*l = loose(text)
	}
	return nil
}

// given tells whether a member is there and is not null.
func given(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// beyond tells whether an object has members besides those that are known. Empty
// ones, and null, count as not there.
func beyond(object []byte, known ...string) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return true
	}
	for name, value := range all {
		switch string(value) {
		case "null", "[]", "{}", `""`:
			continue
		}
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}

// misfit tells whether a value was JSON of another kind than its place wants. The
// rest has been read all the same.
func misfit(err error) bool {
	var wrong *json.UnmarshalTypeError
	return errors.As(err, &wrong)
}

// argumentsOf is the input of a call as text. None is an empty object, and what is no
// JSON goes back as it came: it is text here.
func argumentsOf(input json.RawMessage) string {
	if blank(string(input)) {
		return "{}"
	}
	return string(input)
}

// inputOf is the text of arguments as the input of a call.
func inputOf(arguments string) json.RawMessage {
	return json.RawMessage(argumentsOf(json.RawMessage(arguments)))
}

// closed tells whether text is one whole JSON object or array. Half of one never is,
// while half of a number may be a number, and nothing may be the beginning of anything.
func closed(text string) bool {
	return len(text) > 1 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// openAIBody begins a request to OpenAI.
func openAIBody(r Request) (*body, error) {
	w, err := newBody(r.Extra)
	if err == nil && w.wants("model") {
		w.text("model", r.Model)
	}
	return w, err
}

// openAIMessages writes the list of messages, which begins with what the host says.
func openAIMessages(w *body, list string, messages []Message, host func(), assistant, user func(w *writer, parts []Part)) {
	if !w.wants(list) {
		return
	}
	w.name(list)
	w.open('[')
	host()
	for _, m := range turns(messages) {
		if m.Role == Assistant {
			assistant(&w.writer, m.Parts)
		} else {
			user(&w.writer, m.Parts)
		}
	}
	w.close(']')
}

// openAITools writes tools, tool_choice and parallel_tool_calls. The last two are refused
// where there are no tools.
func openAITools(w *body, r Request, named func(name string) []byte) error {
	if some, err := someTools(r.Tools); !some {
		return err
	}
	if w.wants("tools") {
		w.member("tools", r.Tools)
	}
	if w.wants("tool_choice") {
		switch c := r.Choice; c.Mode {
		case "":
		case "any":
			w.text("tool_choice", "required")
		case "tool":
			w.member("tool_choice", named(c.Name))
		default:
			w.text("tool_choice", c.Mode)
		}
	}
	if r.Choice.Alone && w.wants("parallel_tool_calls") {
		w.flag("parallel_tool_calls", false)
	}
	return nil
}

// readOpenAIChoice takes both out of a body, as far as Choice can hold them.
func readOpenAIChoice(all map[string]json.RawMessage) (c Choice) {
	if string(all["parallel_tool_calls"]) == "false" {
		c.Alone = true
		delete(all, "parallel_tool_calls")
	}
	var named struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	switch word := jsonText(all["tool_choice"]); {
	case word == "auto", word == "none":
		c.Mode = word
	case word == "required":
		c.Mode = "any"
	case isObject(all["tool_choice"]) && json.Unmarshal(all["tool_choice"], &named) == nil && named.Type == "function":
		c.Mode, c.Name = "tool", named.Name+named.Function.Name
	default:
		return c
	}
	delete(all, "tool_choice")
	return c
}

// someTools tells whether there are tools to choose from.
func someTools(tools json.RawMessage) (bool, error) {
	if !given(bytes.TrimSpace(tools)) {
		return false, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(tools, &all); err != nil {
		return false, fmt.Errorf("tools: got %.40q, want a JSON array: %w", tools, err)
	}
	return len(all) > 0, nil
}

// number takes a whole number out of a body; what is none stays there.
func number(all map[string]json.RawMessage, name string) int {
	var n int
	if !given(all[name]) || json.Unmarshal(all[name], &n) != nil || n <= 0 {
		return 0
	}
	delete(all, name)
	return n
}

// namesOf are the names of calls by their ids, so that results can carry them.
type namesOf map[string]string

func (n namesOf) see(parts []Part) {
	for _, p := range parts {
		if p.Kind == PartCall {
			n[p.Call.ID] = p.Call.Name
		}
	}
}

// resultOf is the result of a call with what stands in it.
func (n namesOf) resultOf(id string, parts []Part) Part {
	r := &Result{CallID: id, Name: n[id]}
	for _, p := range parts {
		if p.Kind == PartMedia {
			r.Content = append(r.Content, *p.Media)
		} else {
			r.Content = append(r.Content, tool.Text(p.Text))
		}
	}
	return Part{Kind: PartResult, Result: r}
}

// say adds parts to a conversation, to the last message where its role is the same.
func say(messages []Message, role Role, parts ...Part) []Message {
	if len(parts) == 0 {
		return messages
	}
	if n := len(messages); n > 0 && messages[n-1].Role == role {
		messages[n-1].Parts = append(messages[n-1].Parts, parts...)
		return messages
	}
	return append(messages, Message{Role: role, Parts: parts})
}

// joined is two texts of the host, the second behind the first.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
