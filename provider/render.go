package provider

import (
	"encoding/json"
	"fmt"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// Render writes a tool with name, description and input_schema.
func (Anthropic) Render(d tool.Definition) ([]byte, error) {
	return render(d, schema.Anthropic, "{", "input_schema", "}")
}

// Render writes a tool as Responses takes it. It says that it is not strict, because
// that API takes silence for strict.
func (Responses) Render(d tool.Definition) ([]byte, error) {
	return render(d, schema.OpenAI, `{"type":"function"`, "parameters", `,"strict":false}`)
}

// Render writes a tool as Chat Completions takes it.
func (Chat) Render(d tool.Definition) ([]byte, error) {
	return render(d, schema.OpenAI, `{"type":"function","function":{`, "parameters", "}}")
}

// Render writes a function declaration with name, description and parameters.
func (Gemini) Render(d tool.Definition) ([]byte, error) {
	return render(d, schema.Gemini, "{", "parameters", "}")
}

// render writes a tool: what stands before it, its name, its description, its schema in
// the dialect by the name that the format has for it, and what stands behind it.
func render(d tool.Definition, dialect schema.Profile, before, input, behind string) ([]byte, error) {
	in := d.Input
	if blank(string(in)) { // a tool that takes nothing takes an object all the same
		in = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	flat, err := schema.Flatten(in, dialect)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", d.Name, err)
	}
	w := writer(before)
	w.text("name", d.Name)
	if words := describe(d); !blank(words) {
		w.text("description", words)
	}
	if dialect != schema.Gemini || !flat.Empty { // which refuses an object without properties
		w.member(input, flat.Schema)
	}
	return append(w, behind...), nil
}
