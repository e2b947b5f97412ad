package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
)

// This file is about what servers ask the user of a client. A client shows it as it
// shows Ferrule's own questions, all of which come from its one server: so each says
// who asks, in front, and shows what it hides.

// askedBy are the params of a request of a server, as its client is to get them.
func askedBy(server, method string, params json.RawMessage) json.RawMessage {
	if method != methodElicit || kindOf(params) != '{' {
		return params
	}
	who, _ := member(params, "message")
	text, _ := unquote(who)
	return setMembers(unmistaken(params, "message", "mode", "requestedSchema", "url"),
		pair{"message", quote(fmt.Sprintf("server %s asks: %s", server, Visible(text)))})
}

// unmistaken is an object without members that some clients would read as one of
// these: see plain.
func unmistaken(object json.RawMessage, known ...string) json.RawMessage {
	var odd []pair
	each(object, func(key string, _ json.RawMessage) {
		if !slices.Contains(known, key) && slices.ContainsFunc(known, func(k string) bool { return sameLetters(k, key) }) {
			odd = append(odd, pair{key, nil})
		}
	})
	if odd == nil {
		return object
	}
	return setMembers(object, odd...)
}
