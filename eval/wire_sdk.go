package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ferrule-dev/ferrule/provider"
)

// unknownMembers are the members of a request that the vendor's SDK does not know:
// those that are lost when it reads the request into its own types and writes it
// again. Elements of lists are read one by one: of a list with an element that it
// does not know, an SDK may lose all. There is no SDK for Gemini.
func unknownMembers(f provider.Format, body []byte) ([]string, error) {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	delete(m, "stream") // how it is asked is a method of the SDK, no member
	var lost []string
	// look takes the type that loses least: a union goes by one member, and what it
	// chooses by that is not always what was meant.
	look := func(path string, v any, types ...any) error {
		var least []string
		for i, into := range types {
			missing, err := lostIn(path, v, into)
			if err != nil {
				return err
			}
			if unread := slices.Equal(least, []string{path}); i == 0 || unread || len(missing) < len(least) && !slices.Equal(missing, []string{path}) {
				least = missing
			}
		}
		lost = append(lost, least...)
		return nil
	}
	// each reads a list apart, and leaves the object without it.
	each := func(in map[string]any, key, path string, one func(path string, v any) error) error {
		list, ok := in[key].([]any)
		if !ok {
			return nil
		}
		delete(in, key)
		for i, v := range list {
			if err := one(fmt.Sprintf("%s.%s[%d]", path, key, i), v); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	switch f.(type) {
	case provider.Anthropic:
		err = each(m, "messages", "", func(path string, v any) error {
			message, ok := v.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: got %s, want an object", path, brief(v))
			}
			message = maps.Clone(message)
			message["content"] = blocks(message["content"], "text")
			if err := each(message, "content", path, func(path string, v any) error {
				return look(path, v, &anthropic.ContentBlockParamUnion{}, &anthropic.BetaContentBlockParamUnion{})
			}); err != nil {
				return err
			}
			return look(path, message, &anthropic.MessageParam{})
		})
		if err == nil {
			err = each(m, "tools", "", func(path string, v any) error {
				return look(path, v, &anthropic.ToolUnionParam{}, &anthropic.BetaToolUnionParam{})
			})
		}
		if system, ok := m["system"].(string); ok {
			m["system"] = blocks(system, "text")
		}
		if err == nil {
			err = look("", m, &anthropic.MessageNewParams{}, &anthropic.BetaMessageNewParams{})
		}
	case provider.Responses:
		err = each(m, "input", "", func(path string, v any) error {
			if item, ok := v.(map[string]any); ok && item["role"] != nil {
				return look(path, v, &responses.EasyInputMessageParam{}, &responses.ResponseInputItemMessageParam{}, &responses.ResponseOutputMessageParam{})
			}
			return look(path, v, &responses.ResponseInputItemUnionParam{})
		})
		if err == nil {
			err = each(m, "tools", "", func(path string, v any) error { return look(path, v, &responses.ToolUnionParam{}) })
		}
		if err == nil {
			err = look("", m, &responses.ResponseNewParams{})
		}
	case provider.Chat:
		err = each(m, "messages", "", func(path string, v any) error { return look(path, v, &openai.ChatCompletionMessageParamUnion{}) })
		if err == nil {
			err = each(m, "tools", "", func(path string, v any) error { return look(path, v, &openai.ChatCompletionToolUnionParam{}) })
		}
		if err == nil {
			err = look("", m, &openai.ChatCompletionNewParams{})
		}
	}
	return lost, err
}

// lostIn reads a value into a type, writes it again, and names what was lost.
func lostIn(path string, v, into any) ([]string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(text, into) != nil {
		return []string{path}, nil
	}
	again, err := json.Marshal(into)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var kept any
	if err := json.Unmarshal(again, &kept); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lostMembers(path, v, kept), nil
}

// lostMembers are the members of a value that another one lacks or has otherwise. A
// member that is null is none.
func lostMembers(path string, v, kept any) []string {
	var lost []string
	switch v := v.(type) {
	case map[string]any:
		k, ok := kept.(map[string]any)
		if !ok {
			return []string{path}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, ok := k[name]
			switch {
			case ok:
				lost = append(lost, lostMembers(path+"."+name, v[name], inner)...)
			case v[name] != nil:
				lost = append(lost, path+"."+name)
			}
		}
	case []any:
		k, ok := kept.([]any)
		if !ok || len(k) != len(v) {
			return []string{path}
		}
		for i := range v {
			lost = append(lost, lostMembers(fmt.Sprintf("%s[%d]", path, i), v[i], k[i])...)
		}
	default:
		if v != kept {
			return []string{path}
		}
	}
	return lost
}
