package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Everything that may differ between a direct call and one through the gateway
// stands in this file, with its reason. All else must be the same.

// noise is a text in results that differs from one call to the next, even without
// a gateway.
type noise struct {
	pattern *regexp.Regexp
	why     string
}

func noises() []noise {
	return []noise{
		{regexp.MustCompile(`\d{1,2}:\d{2}:\d{2}( [AP]M)?`), "server-everything writes the time of the call into resources"},
		{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "ids of sessions and of requests"},
		{regexp.MustCompile(`(created|modified|accessed): [^\\"\n]*`), "when a file was made cannot be set"},
		{regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})`), "the time of the call"},
		{regexp.MustCompile(`"?(execution_time_ms|executionTime|durationMs|duration_ms)\\?"?: ?[0-9.]+`), "how long the call took"},
		{regexp.MustCompile(`"timestamp\\?": ?\d+`), "git_log's and git_reflog's times are fixed, git_stash's are not"},
		{regexp.MustCompile(`session (undefined|[0-9a-zA-Z_-]+)`), "server-everything names its session, which a stdio server does not have and an HTTP server does"},
	}
}

// onlyThere are tools of which only is compared that they answer, and whether
// with an error.
func onlyThere() map[string]string {
	return map[string]string{
		"get-env": "a server behind the gateway gets few variables of its environment (M6)",
	}
}

// notByInspector are tools that the inspector's command line cannot call.
func notByInspector() map[string]string {
	asks := "it asks its client for something, and a command line has nobody to ask"
	return map[string]string{
		"get-roots-list":              asks,
		"trigger-elicitation-request": asks,
		"trigger-sampling-request":    asks,
		"simulate-research-query":     asks,
		"toggle-simulated-logging":    "it sends log messages for as long as the session lasts",
		"toggle-subscriber-updates":   "it sends updates for as long as the session lasts",
	}
}

// addedMeta are keys of _meta that whoever answers sets about itself.
func addedMeta() []string {
	return []string{"io.modelcontextprotocol/serverInfo"}
}

// comparable is a result without what may differ, with its keys in order.
func (o outcome) comparable() string {
	if o.Error != nil {
		return "error " + quiet(string(o.Error))
	}
	var v map[string]any
	if err := json.Unmarshal(o.Result, &v); err != nil {
		return "not an object: " + string(o.Result)
	}
	if _, ok := onlyThere()[o.Name]; ok {
		v = map[string]any{"isError": v["isError"]}
	}
	// Of the new era only; a client may be spoken to in another era through the
	// gateway than directly.
	delete(v, "resultType")
	if meta, ok := v["_meta"].(map[string]any); ok {
		for key := range meta {
			if slices.Contains(addedMeta(), key) {
				delete(meta, key)
			}
		}
		if len(meta) == 0 {
			delete(v, "_meta")
		}
	}
	if text := string(o.Result); v["isError"] == true && (strings.Contains(text, "InputValidationError") || strings.Contains(text, "Input validation error")) {
		return "its arguments are refused" // by the runtime, in its own words, before the server sees them
	}
	if v["isError"] == false {
		delete(v, "isError") // that is what it is without
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return quiet(string(text))
}

// quiet replaces what differs from call to call.
func quiet(text string) string {
	// The tool's name, in an error of the client or the server.
	text = regexp.MustCompile(`\b(everything|files|memory|thinking|git|dbhub)__`).ReplaceAllString(text, "")
	for _, n := range noises() {
		text = n.pattern.ReplaceAllString(text, "~")
	}
	return text
}

// enough reports whether a server's tools are all there. There may be more: a
// server may list some only to clients that can do more, and the gateway asks for
// the list as one that can do everything.
func enough(offered, listed int) bool { return offered >= listed }

// comparable is a definition without what may differ: its name, as the gateway
// puts the server's in front, and execution, which says how a tool is run as a
// task in the old era and which clients drop in the new one.
func (d definition) comparable(prefix string) (name, rest string) {
	full, _ := d["name"].(string)
	others := make(map[string]any)
	for k, v := range d {
		if k != "name" && k != "execution" {
			others[k] = v
		}
	}
	text, err := json.Marshal(others)
	if err != nil {
		return full, err.Error()
	}
	return strings.TrimPrefix(full, prefix), string(text)
}
