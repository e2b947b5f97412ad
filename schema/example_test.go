package schema_test

import (
	"errors"
	"fmt"

	"github.com/ferrule-dev/ferrule/schema"
)

// Arguments are checked more strictly than JSON Schema asks for, and every
// violation is said in words a model can repair from.
func ExampleCompile() {
	s, err := schema.Compile([]byte(`{
		"type": "object",
		"properties": {"path": {"type": "string"}, "limit": {"type": "integer", "maximum": 100}},
		"required": ["path"]
	}`), schema.Options{Arguments: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Check(`{"path": "a.go", "limit": 1e2}`))

	err = s.Check(`{"Path": "a.go", "limit": 500}`)
	if invalid, ok := errors.AsType[*schema.InvalidError](err); ok {
		for _, v := range invalid.Violations {
			fmt.Println(v)
		}
	}

	fmt.Println(s.Check(`{"path": "a.go", "path": "b.go"}`))
	// Output:
	// <nil>
	// (root): got unknown "Path", want only "limit", "path" ("Path": did you mean "path"?)
	// (root): got no "path", want "path" (string)
	// /limit: got number 500, want at most 100
	// duplicate key "path" at byte 17 (line 1, column 18, in /path)
}

// Gemini takes no references, no const and no open bounds. What a dialect has no
// keyword for is said in a description.
func ExampleFlatten() {
	flat, err := schema.Flatten([]byte(`{
		"type": "object",
		"properties": {"from": {"$ref": "#/$defs/point"}, "mode": {"const": "fast"}},
		"required": ["from"],
		"$defs": {"point": {"type": "object", "properties": {"x": {"type": "number", "exclusiveMinimum": 0}}}}
	}`), schema.Gemini)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(flat.Schema))
	for _, c := range flat.Changes {
		fmt.Printf("%s: %s\n", c.Pointer, c.What)
	}
	// Output:
	// {"type":"object","properties":{"from":{"type":"object","properties":{"x":{"type":"number","description":"Greater than 0.","minimum":0}}},"mode":{"enum":["fast"],"type":"string"}},"required":["from"]}
	// /$defs/point/properties/x: exclusiveMinimum became minimum
}

// What is cut off within a value is not guessed.
func ExampleRepair() {
	mended, changes, err := schema.Repair(`{'path': 'a.go', recursive: True,}`)
	fmt.Println(mended, err)
	for _, c := range changes {
		fmt.Println("-", c)
	}

	_, _, err = schema.Repair(`{"command": "rm -rf /`)
	fmt.Println(err)
	// Output:
	// {"path": "a.go", "recursive": true} <nil>
	// - wrote single quotes as double quotes (2 times)
	// - put a key in quotes
	// - wrote True as true
	// - removed a trailing comma
	// the text was cut off within a string at byte 21 (line 1, column 22)
}
