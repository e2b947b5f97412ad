package mcptool

import "encoding/json"

// listTTL is how long a client may keep a list, in milliseconds.
const listTTL = "10000"

// complete adds what each result of the new era carries, where it is missing.
func (d *dialogue) complete(result json.RawMessage) json.RawMessage {
	if d.era() == oldEra || d.whole || kindOf(result) != '{' {
		return result
	}
	return d.client.gate.complete(d.method, result)
}

// complete is that for a result of a method.
func (g *Gateway) complete(method string, result json.RawMessage) json.RawMessage {
	add := make([]pair, 0, 4)
	lack := func(key string, value json.RawMessage) {
		if _, has := member(result, key); !has {
			add = append(add, pair{key, value})
		}
	}
	lack("resultType", json.RawMessage(`"complete"`))
	if kind, _ := member(result, "resultType"); string(kind) != `"input_required"` && cacheable(method) {
		lack("ttlMs", json.RawMessage(listTTL))
		lack("cacheScope", json.RawMessage(`"private"`))
	}
	if len(add) > 0 {
		result = setMembers(result, add...)
	}
	if _, has := metaMember(result, metaServerInfo); !has {
		result = setMeta(result, pair{metaServerInfo, g.info()})
	}
	return result
}

// cacheable reports whether results of a method say how long they hold.
func cacheable(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}
