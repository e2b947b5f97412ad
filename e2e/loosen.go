package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
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
		"get-env": "a server behind the gateway gets few variables of its environment (N2)",
	}
}

// notByInspector are tools that the inspector's command line cannot call.
func notByInspector() map[string]string {
	asks := "it asks its client for something, and a command line has nobody to ask"
	return map[string]string{
		"get-roots-list":              asks,
		"trigger-elicitation-request": asks,
		"trigger-url-elicitation":     asks,
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
	if v["isError"] == true && refusal().MatchString(o.text()) {
		return "its arguments are refused"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return quiet(string(text))
}

// refusal is how a text begins that refuses a tool's arguments: the runtime's, which
// checks them before the server sees them, or the server's.
func refusal() *regexp.Regexp {
	return regexp.MustCompile(`^(InputValidationError: |MCP error -32602: Input validation error: )`)
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

// ofTheGateway are tools that it adds to those of its servers.
func ofTheGateway() map[string]string {
	return map[string]string{
		"read_result": "the rest of results that are too long (M3)",
	}
}

// comparable is a definition without what may differ from the other one: its name,
// as the gateway puts the server's in front.
func (d definition) comparable(other definition) string {
	rest := maps.Clone(d)
	delete(rest, "name")
	// It says how a tool is run as a task, which only the old era has: the client of
	// the 2026 generation takes it out of lists that it got in the new era (as through
	// the gateway), and leaves it in those of the old one (as directly). That the
	// gateway keeps it the client of the 2025 generation shows.
	if other["execution"] == nil {
		delete(rest, "execution")
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
