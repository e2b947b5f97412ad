package web

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/http-api.md")

// TestReference compares docs/http-api.md with the description that the console gives
// of itself:
//
//	go test ./internal/web -run TestReference -update
func TestReference(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "docs", "http-api.md")
	got := reference(described(t, filled("x")))
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("P6 docs/http-api.md says what the description says", func(t *testing.T) {
		want, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), got) {
			t.Errorf("%s is not what the console says of itself: go test ./internal/web -run TestReference -update", page)
		}
	})
}

// reference is the page.
func reference(d object) []byte {
	var b bytes.Buffer
	b.WriteString(`# Reference: HTTP API of the console

What the pages of the [console](console.md) show and do, as JSON. This page is generated from ` + "`/api/openapi.json`" + `, which is
OpenAPI 3.1: ` + "`go test ./internal/web -run TestReference -update`" + ` writes it.

` + "```sh shown" + `
curl -s -H "Authorization: Bearer $(cat .ferrule/console-key)" http://127.0.0.1:7711/api/questions
` + "```" + `

Who asks is known by the key of the console as a bearer token, or by the cookie of a browser. What changes something takes a body of
JSON, and from a browser also the header ` + "`" + formHeader + "`" + `. A list that may be null says so. Fields may be added to answers; what is
sent must have no field that is not named here.

A request that is not answered as it was meant gets ` + "`{\"error\": \"…\"}`" + ` and one of these:

| status | when |
|---|---|
| 400 | the body or the query is not what is wanted |
| 401 | no key, or a wrong one |
| 403 | it comes from another machine, by another name, or from another page |
| 404 | there is no such thing |
| 408, 413 | the body took too long, or is too long |
| 409 | it was answered already, or is another by now |
| 422 | it could not be done |
| 500 | something broke |

| what | |
|---|---|
`)
	paths := part(d, "paths")
	var entries bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range slices.Sorted(maps.Keys(part(paths, path))) {
			title := strings.ToUpper(method) + " " + path
			o := part(part(paths, path), method)
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", title, anchor(title), o["summary"])
			operationEntry(&entries, title, o)
		}
	}
	b.Write(entries.Bytes())
	b.WriteString("\n## Fields\n")
	schemas := part(part(d, "components"), "schemas")
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		fmt.Fprintf(&b, "\n### %s\n\n", name)
		fields(&b, part(schemas, name))
	}
	return b.Bytes()
}

// operationEntry is what the page has of one operation.
func operationEntry(b *bytes.Buffer, title string, o object) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", title, o["summary"])
	if parameters, _ := o["parameters"].([]any); len(parameters) > 0 {
		var rows strings.Builder
		for _, p := range parameters {
			p := p.(object)
			if p["in"] == "header" {
				continue // it is said above
			}
			about, _ := p["description"].(string)
			fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", p["name"], p["in"], about)
		}
		if rows.Len() > 0 {
			fmt.Fprintf(b, "\n| parameter | in | |\n|---|---|---|\n%s", rows.String())
		}
	}
	if body := part(o, "requestBody"); body != nil {
		fmt.Fprintf(b, "\nTakes %s.\n", contentOf(body))
	}
	if text := contentOf(part(part(o, "responses"), "200")); text != "" {
		fmt.Fprintf(b, "\nAnswers %s.\n", text)
	}
}

// contentOf is a body in words.
func contentOf(body object) string {
	var list []string
	content := part(body, "content")
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		if kind != "application/json" {
			list = append(list, "`"+kind+"`")
			continue
		}
		list = append(list, kindOf(part(part(content, kind), "schema")))
	}
	return strings.Join(list, " or ")
}

// fields is the table of an object.
func fields(b *bytes.Buffer, schema object) {
	properties := part(schema, "properties")
	required, _ := schema["required"].([]any)
	b.WriteString("| field | |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		kind := kindOf(part(properties, name))
		if schema["additionalProperties"] == nil && !slices.Contains(required, any(name)) {
			kind += ", may be left out"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, kind)
	}
}

// kindOf is a schema in words.
func kindOf(s object) string {
	if ref, ok := s["$ref"].(string); ok {
		name := ref[strings.LastIndex(ref, "/")+1:]
		return fmt.Sprintf("[%s](#%s)", name, anchor(name))
	}
	if either, ok := s["anyOf"].([]any); ok {
		var list []string
		for _, one := range either {
			list = append(list, kindOf(one.(object)))
		}
		return strings.Join(list, " or ")
	}
	null, kind := "", s["type"]
	if list, ok := kind.([]any); ok {
		kind, null = list[0], " or null"
	}
	switch kind {
	case "array":
		return "list of " + kindOf(part(s, "items")) + null
	case "object":
		if properties := part(s, "properties"); len(properties) > 0 {
			names := slices.Sorted(maps.Keys(properties))
			for i, name := range names {
				names[i] = "`" + name + "`: " + kindOf(part(properties, name))
			}
			return "object (" + strings.Join(names, ", ") + ")" + null
		}
		if of := part(s, "additionalProperties"); of != nil {
			return "names with " + kindOf(of) + null
		}
		return "an empty object" + null
	case "string":
		switch {
		case s["format"] == "date-time":
			return "time"
		case s["contentEncoding"] == "base64":
			return "bytes in base64"
		}
		return "text" + null
	case "boolean":
		return "true or false"
	case "integer":
		return "whole number"
	case "number":
		return "number"
	case "null":
		return "null"
	}
	return "any JSON"
}

// part is an object within one; nil: there is none.
func part(o object, name string) object {
	inner, _ := o[name].(object)
	return inner
}

// anchor is what a heading is linked to by.
func anchor(heading string) string {
	keep := func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			return c
		}
		return -1
	}
	return strings.Map(keep, strings.ToLower(heading))
}
