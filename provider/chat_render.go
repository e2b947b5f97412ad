package provider

import (
	"encoding/json"
	"fmt"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// Render writes a tool as Chat Completions takes it.
func (Chat) Render(d tool.Definition) ([]byte, error) {
	parameters, err := openAISchema(d)
	if err != nil {
		return nil, err
	}
	var w writer
	w.open('{')
	w.text("type", "function")
	w.name("function")
	w.open('{')
	writeFunction(&w, d, parameters)
	w.close('}')
	w.close('}')
	return w, nil
}

// Render writes a tool as Responses takes it. It says that it is not strict, because
// that API takes silence for strict.
func (Responses) Render(d tool.Definition) ([]byte, error) {
	parameters, err := openAISchema(d)
	if err != nil {
		return nil, err
	}
	var w writer
	w.open('{')
	w.text("type", "function")
	writeFunction(&w, d, parameters)
	w.flag("strict", false)
	w.close('}')
	return w, nil
}

func writeFunction(w *writer, d tool.Definition, parameters []byte) {
	w.text("name", d.Name)
	if words := describe(d); words != "" {
		w.text("description", words)
	}
	w.member("parameters", parameters)
}

// openAISchema is the schema of a tool in OpenAI's dialect. A tool that takes nothing
// takes an object all the same.
func openAISchema(d tool.Definition) (json.RawMessage, error) {
	in := d.Input
	if blank(string(in)) {
		in = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	flat, err := schema.Flatten(in, schema.OpenAI)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", d.Name, err)
	}
	return flat.Schema, nil
}
