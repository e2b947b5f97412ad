package mcptool

import (
	"encoding/json"
	"slices"
	"strings"
)

// knownParams are the members of params that the protocol knows.
func knownParams() []string {
	return []string{
		"_meta", "name", "arguments", "uri", "ref", "argument", "context", "level", "cursor", "type",
		"notifications", "inputResponses", "requestState", "task", "taskId",
	}
}

// plain are params without members that some servers would read as others (most
// that read JSON into a struct take "URI" for "uri", and the last one wins), and
// without answers that no server has asked for. It is the same bytes where there
// are none.
func plain(params json.RawMessage) json.RawMessage {
	known, odd := knownParams(), false
	mistaken := func(key string) bool {
		if key == "inputResponses" || key == "requestState" || key == "task" {
			return true // the server is sent them when it has asked for them
		}
		return !slices.Contains(known, key) && slices.ContainsFunc(known, func(k string) bool { return sameLetters(k, key) })
	}
	each(params, func(key string, _ json.RawMessage) { odd = odd || mistaken(key) })
	if !odd {
		return params
	}
	text := []byte{'{'}
	each(params, func(key string, value json.RawMessage) {
		if mistaken(key) {
			return
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(appendString(text, key), ':'), value...)
	})
	return append(text, '}')
}

// sameLetters reports whether two names differ in case alone, by any of the ways
// in which languages compare them.
func sameLetters(a, b string) bool {
	return strings.EqualFold(a, b) || strings.ToUpper(a) == strings.ToUpper(b) || strings.ToLower(a) == strings.ToLower(b) //nolint:gocritic,staticcheck // EqualFold knows no Turkish i, which others map
}

// tasksExtension is what tasks are called in the new era.
const tasksExtension = "io.modelcontextprotocol/tasks"

// withoutTasks are capabilities without tasks, of a client or a server: what a
// task comes to would get past the runtime.
func withoutTasks(capabilities json.RawMessage) json.RawMessage {
	if _, has := member(capabilities, "tasks"); has {
		capabilities = setMembers(capabilities, pair{"tasks", nil})
	}
	extensions, _ := member(capabilities, "extensions")
	if _, has := member(extensions, tasksExtension); has {
		capabilities = setMembers(capabilities, pair{"extensions", setMembers(extensions, pair{tasksExtension, nil})})
	}
	return capabilities
}

// withoutClientTasks is a request of the new era that does not say that its client
// knows tasks.
func withoutClientTasks(params json.RawMessage) json.RawMessage {
	can, _ := metaMember(params, metaCapabilities)
	if less := withoutTasks(can); len(less) != len(can) {
		return setMeta(params, pair{metaCapabilities, less})
	}
	return params
}
