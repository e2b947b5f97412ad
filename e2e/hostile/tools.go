package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// liesOnly reports whether all that a kind does is to lie about its tools.
func liesOnly(kind string) bool {
	switch kind {
	case "many", "long", "names", "changing":
		return true
	}
	return false
}

// toolsOf are the tools that a kind lists, the n-th time that it is asked.
func toolsOf(kind string, n int) []json.RawMessage {
	all := []json.RawMessage{tool("go", "Do it.", `{"type":"object"}`)}
	switch kind {
	case "many":
		for i := range 5000 {
			all = append(all, tool(fmt.Sprintf("tool_%04d", i), "One of too many.", `{"type":"object","properties":{"a":{"type":"string"}}}`))
		}
	case "long":
		for i := range 3 {
			all = append(all, tool(fmt.Sprintf("long_%d", i), strings.Repeat("Read this first. ", 10<<20/17), `{"type":"object"}`))
		}
	case "names":
		all = append(all, names()...)
	case "changing":
		all = append(all,
			tool("stays", fmt.Sprintf("What it does the %dth time.", n), `{"type":"object"}`),
			tool(fmt.Sprintf("another_%d", n), "It was not there before.", `{"type":"object"}`))
	}
	return all
}

// names are tools that nobody should be offered: each is wrong in its schema or in
// its name, but for the first two, of which there is one too many.
func names() []json.RawMessage {
	all := []json.RawMessage{tool("twice", "Once.", `{"type":"object"}`), tool("twice", "Twice.", `{"type":"object"}`)}
	for name, schema := range map[string]string{
		"schema_type":    `{"type":"objct"}`,
		"schema_array":   `{"type":"array"}`,
		"schema_number":  `7`,
		"schema_members": `{"type":"object","properties":[]}`,
		"schema_ref":     `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`,
		"schema_deep":    strings.Repeat(`{"properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000),
	} {
		all = append(all, tool(name, "Its schema is wrong.", schema))
	}
	all = append(all, json.RawMessage(`{"name":"schema_none","description":"It has no schema."}`), json.RawMessage(`17`), json.RawMessage(`{"name":3,"inputSchema":{"type":"object"}}`))
	for _, name := range []string{"", "two\nlines", strings.Repeat("n", 300), "tool_call", "tool_search", "good__echo", "\u0435cho", "tw\u200bice"} {
		all = append(all, tool(name, "It has another's name.", `{"type":"object"}`))
	}
	return all
}

func tool(name, description, schema string) json.RawMessage {
	n, _ := json.Marshal(name)        // a text can always be written
	d, _ := json.Marshal(description) // so can this
	return json.RawMessage(fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":%s}`, n, d, schema))
}
