package tool

import "encoding/json"

// Definition is what a model sees of a tool, and all that it sees: claims,
// approval and secrets have no place in it.
type Definition struct {
	Name        string `json:"name"` // on the wire
	Description string `json:"description"`
	// Input is the schema that arguments are checked against. Providers with a
	// dialect of their own get it flattened.
	Input    json.RawMessage `json:"input_schema"`
	Tags     []string        `json:"tags,omitempty"`
	Examples []Example       `json:"examples,omitempty"`
}

// maxExamples is how many examples are shown.
const maxExamples = 5

// Definition is what a model sees of the tool when it is called wire there.
func (i *Info) Definition(wire string) Definition {
	c := i.Clone()
	return Definition{
		Name: wire, Description: c.Description, Input: c.Input,
		Tags: c.Tags, Examples: c.Examples[:min(len(c.Examples), maxExamples)],
	}
}
