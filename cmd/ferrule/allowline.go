package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// allowLine lets Claude Code call Ferrule without asking itself: Ferrule asks.
const allowLine = "mcp__" + client

// allowed are the lines that a client's own settings allow.
func allowed(text []byte) (permissions json.RawMessage, lines []json.RawMessage, err error) {
	if len(text) == 0 {
		return nil, nil, nil
	}
	if permissions, err = value(text, "permissions"); err != nil || permissions == nil {
		return permissions, nil, err
	}
	raw, err := value(permissions, "allow")
	if err != nil || raw == nil {
		return permissions, nil, err
	}
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, nil, fmt.Errorf("permissions.allow: %w", err)
	}
	return permissions, lines, nil
}

// withAllow is the text of settings with the line that lets Ferrule be called.
func withAllow(text []byte) ([]byte, error) {
	permissions, lines, err := allowed(text)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(allowLine)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(lines, func(l json.RawMessage) bool { return string(l) == string(line) }) {
		return text, nil
	}
	return putAllow(text, permissions, append(lines, line))
}

// withoutAllow takes the line out.
func withoutAllow(text []byte) ([]byte, error) {
	permissions, lines, err := allowed(text)
	if err != nil || permissions == nil || lines == nil {
		return text, err
	}
	return putAllow(text, permissions, slices.DeleteFunc(lines, func(l json.RawMessage) bool { return string(l) == `"`+allowLine+`"` }))
}

func putAllow(text []byte, permissions json.RawMessage, lines []json.RawMessage) ([]byte, error) {
	if lines == nil {
		lines = []json.RawMessage{}
	}
	list, err := json.MarshalIndent(lines, "    ", "  ")
	if err != nil {
		return nil, err
	}
	if permissions == nil {
		permissions = json.RawMessage("{\n    \"allow\": " + string(list) + "\n  }")
	} else if permissions, err = put(permissions, "allow", list); err != nil {
		return nil, err
	}
	return put(text, "permissions", permissions)
}
