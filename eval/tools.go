package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// schemas compiles the input schemas of real tools and flattens each under
// every profile. A bad one is refused alone, with its reason.
func schemas(out *json.Encoder, files []string) error {
	rows, err := readLines[struct {
		ID, Name    string
		InputSchema json.RawMessage
	}](files[0])
	if err != nil {
		return err
	}
	var f flatCount
	compiled, refused, missing, fast := 0, 0, 0, 0
	for _, r := range rows {
		if len(r.InputSchema) == 0 || string(r.InputSchema) == "null" {
			missing++
			if err := out.Encode(map[string]any{"id": r.ID, "name": r.Name, "missing": "inputSchema"}); err != nil {
				return err
			}
			continue
		}
		s, err := schema.Compile(r.InputSchema, schema.Options{Arguments: true})
		if err != nil {
			refused++
			if err := out.Encode(map[string]any{"id": r.ID, "name": r.Name, "refused": err.Error()}); err != nil {
				return err
			}
			continue
		}
		compiled++
		if s.Fast() {
			fast++
		}
		if err := f.add(out, r.ID, r.InputSchema); err != nil {
			return err
		}
	}
	if err := out.Encode(map[string]any{
		"program": "schemas", "tools": len(rows), "compiled": compiled, "refused": refused, "missing": missing,
		"flattened": compiled - f.faulty, "faulty": f.faulty, "strict": f.strict, "cut": f.cut,
		"fast": fast, "fast_share": share(fast, compiled),
	}); err != nil {
		return err
	}
	if compiled == 0 || missing > 0 {
		return fmt.Errorf("%d of %d schemas compile, %d rows have none, want more than 0, and 0: %w", compiled, len(rows), missing, errMissed)
	}
	if f.faulty > 0 || 100*fast < 95*compiled {
		return fmt.Errorf("%d schemas do not flatten, the fast engine serves %d of %d, want 0 and 95 %%: %w", f.faulty, fast, compiled, errMissed)
	}
	return nil
}

// bfcl takes tool definitions as they are published, none of them valid JSON
// Schema: each is normalised, compiled and flattened; then calls are checked.
func bfcl(out *json.Encoder, files []string) error {
	rows, err := readLines[struct {
		ID, Name, Description string
		Parameters            json.RawMessage
	}](files[0])
	if err != nil {
		return err
	}
	calls, err := readLines[struct {
		ID, Tool string
		Args     json.RawMessage
	}](files[1])
	if err != nil {
		return err
	}

	var f flatCount
	tools := map[string]*tool.Tool{}
	refused, changed := 0, 0
	for _, r := range rows {
		normal, changes, err := schema.Normalise(r.Parameters)
		if err == nil {
			changed += len(changes)
			tools[r.ID], err = tool.Tool{
				Info: tool.Info{Name: tool.WireName("", r.Name), Description: orName(r.Description, r.Name), Input: normal},
				Run:  notRun,
			}.Check()
		}
		if err != nil {
			refused++
			delete(tools, r.ID)
			if err := out.Encode(map[string]any{"id": r.ID, "name": r.Name, "refused": err.Error()}); err != nil {
				return err
			}
			continue
		}
		if err := f.add(out, r.ID, normal); err != nil {
			return err
		}
	}

	valid, reasons := 0, map[string]int{}
	for _, c := range calls {
		t := tools[c.Tool]
		if t == nil {
			reasons["no tool"]++
			continue
		}
		_, err := t.Admit(c.Args)
		if err == nil {
			valid++
			continue
		}
		reason := "syntax"
		if invalid, ok := errors.AsType[*schema.InvalidError](err); ok && len(invalid.Violations) > 0 {
			reason = invalid.Violations[0].Keyword
		}
		reasons[reason]++
		if err := out.Encode(map[string]any{"call": c.ID, "tool": c.Tool, "reason": reason, "error": err.Error()}); err != nil {
			return err
		}
	}
	if err := out.Encode(map[string]any{
		"program": "bfcl", "tools": len(rows), "refused": refused, "changes": changed,
		"flattened": len(tools) - f.faulty, "faulty": f.faulty, "strict": f.strict, "cut": f.cut,
		"calls": len(calls), "valid": valid, "valid_share": share(valid, len(calls)), "invalid_by_reason": reasons,
	}); err != nil {
		return err
	}
	if refused+f.faulty > 0 || 100*valid < 94*len(calls) {
		return fmt.Errorf("%d definitions refused, %d do not flatten, %d of %d calls valid, want 0, 0 and 94 %%: %w",
			refused, f.faulty, valid, len(calls), errMissed)
	}
	return nil
}

func orName(description, name string) string {
	if description == "" {
		return name
	}
	return description
}

// flatCount flattens schemas under every profile and looks at what comes out.
type flatCount struct{ faulty, strict, cut int }

// add flattens one schema. What is wrong with it becomes a row.
func (f *flatCount) add(out *json.Encoder, id string, text json.RawMessage) error {
	faults := map[string]string{}
	for _, p := range schema.Profiles() {
		flat, err := schema.Flatten(text, p)
		if err == nil {
			err = flatFault(flat)
		}
		if err != nil {
			faults[string(p)] = err.Error()
			continue
		}
		if flat.Strict {
			f.strict++
		}
		if flat.Cut {
			f.cut++
		}
	}
	if len(faults) == 0 {
		return nil
	}
	f.faulty++
	return out.Encode(map[string]any{"id": id, "faults": faults})
}

// flatFault says what is wrong with a flattened schema, by the providers'
// documentation and not by our own tables.
func flatFault(flat schema.Flat) error {
	if _, err := schema.Compile(flat.Schema, schema.Options{}); err != nil {
		return fmt.Errorf("does not compile: %w", err)
	}
	var root any
	if err := json.Unmarshal(flat.Schema, &root); err != nil {
		return err
	}
	return eachSchema(root, "", func(at string, s map[string]any) error {
		for _, gone := range []string{"$ref", "$defs", "definitions", "allOf"} {
			if _, ok := s[gone]; ok {
				return fmt.Errorf("%s: %s is left", at, gone)
			}
		}
		if flat.Strict {
			return strictFault(at, s)
		}
		return nil
	})
}

// strictFault holds one subschema to what OpenAI's strict mode documents.
func strictFault(at string, s map[string]any) error {
	supported := []string{
		"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description", "title",
		"pattern", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems", "maxItems",
	}
	for keyword := range s {
		if !slices.Contains(supported, keyword) {
			return fmt.Errorf("%s: %s is not supported in strict mode", at, keyword)
		}
	}
	props, ok := s["properties"].(map[string]any)
	if !ok && !mayBe(s, "object") {
		return nil
	}
	if s["additionalProperties"] != false {
		return fmt.Errorf("%s: additionalProperties is not false", at)
	}
	required, _ := s["required"].([]any)
	names := slices.Sorted(maps.Keys(props))
	var listed []string
	for _, r := range required {
		name, _ := r.(string)
		listed = append(listed, name)
	}
	slices.Sort(listed)
	if !slices.Equal(names, listed) {
		return fmt.Errorf("%s: required %v, want every property %v", at, listed, names)
	}
	return nil
}

func mayBe(s map[string]any, typ string) bool {
	if list, ok := s["type"].([]any); ok {
		return slices.Contains(list, any(typ))
	}
	return s["type"] == typ
}

// eachSchema calls f with every subschema: only where a schema stands, not
// inside defaults or lists of values.
func eachSchema(node any, at string, f func(at string, s map[string]any) error) error {
	s, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	if err := f(at, s); err != nil {
		return err
	}
	for keyword, v := range s {
		var subs []any
		switch keyword {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			named, _ := v.(map[string]any)
			subs = slices.Collect(maps.Values(named))
		case "anyOf", "oneOf", "allOf", "prefixItems":
			subs, _ = v.([]any)
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			subs = []any{v}
		}
		for _, sub := range subs {
			if err := eachSchema(sub, at+"/"+keyword, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// notRun stands behind tools whose calls are only checked.
func notRun(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil }
