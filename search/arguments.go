package search

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxNested is how many objects inside of one another are looked into.
const maxNested = 4

// Arguments are those of a JSON Schema, by name, each before those inside of it.
// What cannot be read has none.
func Arguments(schema json.RawMessage) []Argument {
	return appendArguments(nil, schema, maxNested)
}

func appendArguments(all []Argument, schema json.RawMessage, deep int) []Argument {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if deep == 0 || json.Unmarshal(schema, &object) != nil {
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		if len(all) >= maxTexts {
			break
		}
		var about struct {
			Description string `json:"description"`
		}
		if json.Unmarshal(object.Properties[name], &about) != nil {
			continue
		}
		all = append(all, Argument{name, about.Description})
		all = appendArguments(all, object.Properties[name], deep-1)
	}
	return all
}
