package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// find has a client look for tools that it is not listed, read and call them: those
// of real servers, among 527 of a data set.
func find(ctx context.Context, w *world, s *score) error {
	work, err := w.folder("work")
	if err != nil {
		return err
	}
	if err := layOut(ctx, work); err != nil {
		return err
	}
	file, err := w.liveTools()
	if err != nil {
		return err
	}
	many, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return err
	}
	all := []upstream{{name: "live", command: []string{many, "-tools", file}}}
	for _, r := range w.realServers(work) {
		all = append(all, r.upstream)
	}
	url, err := w.gateway(ctx, object{"tools": "deferred"}, all...)
	if err != nil {
		return err
	}
	for _, stateless := range []bool{false, true} {
		c := &wire{url: url, stateless: stateless}
		if err := c.find(ctx, s, all, wishes(work)); err != nil {
			return err
		}
	}
	return nil
}

// wish is what a model wants done, in few words, not all of them those of the tool.
type wish struct {
	words string
	toolCall
	want string // in the result
}

// loosely are the same as people say it who do not know that there are tools. How
// many are found is told, and no more.
func loosely() map[string]string {
	return map[string]string{
		"repeat what I say": "everything__echo",
		"how big is this document and when was it modified":    "files__get_file_info",
		"which folders may I look into":                        "files__list_allowed_directories",
		"remember a person and what is known of them":          "memory__create_entities",
		"think a hard problem through":                         "thinking__sequentialthinking",
		"what changed in the repository since the last commit": "git__git_status",
		"who wrote each line of a file":                        "git__git_blame",
		"what is in the database":                              "dbhub__search_objects",
	}
}

func wishes(work string) []wish {
	at := func(name string) string { return filepath.Join(work, filepath.FromSlash(name)) }
	return []wish{
		{"add two numbers up", toolCall{"everything__get-sum", object{"a": 19, "b": 23}}, "42"},
		{"send a message back as it is", toolCall{"everything__echo", object{"message": "so be it"}}, "so be it"},
		{"size and modification time of a file", toolCall{"files__get_file_info", object{"path": at("files/a.txt")}}, "size"},
		{"show the content of a text file", toolCall{"files__read_text_file", object{"path": at("files/a.txt")}}, "three"},
		{"directories that I am allowed to access", toolCall{"files__list_allowed_directories", object{}}, "files"},
		{"store a person with observations in the knowledge graph", toolCall{"memory__create_entities", object{"entities": []object{{"name": "Ann", "entityType": "person", "observations": []string{"hums"}}}}}, ""},
		{"everything in the knowledge graph", toolCall{"memory__read_graph", object{}}, "Ann"},
		{"think a hard problem through step by step", toolCall{"thinking__sequentialthinking", object{"thought": "first", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}}, "thoughtNumber"},
		{"uncommitted changes of a working tree", toolCall{"git__git_status", object{"path": at("repo")}}, "main"},
		{"who last changed each line of a file", toolCall{"git__git_blame", object{"path": at("repo"), "filePath": "a.txt"}}, "E2E"},
		{"history of commits", toolCall{"git__git_log", object{"path": at("repo")}}, "first"},
		{"run a SELECT against the database", toolCall{"dbhub__execute_sql", object{"sql": "SELECT 6 * 7 AS answer"}}, "42"},
	}
}

// find is one session: what it is listed stays the same, byte for byte.
func (c *wire) find(ctx context.Context, s *score, all []upstream, wishes []wish) error {
	era := "2025"
	if c.stateless {
		era = "2026"
	}
	defer c.close(context.WithoutCancel(ctx))
	if err := c.hello(ctx); err != nil {
		return err
	}
	if err := c.knows(ctx, all); err != nil {
		return err
	}
	listed, err := c.do(ctx, "tools/list", object{})
	if err != nil {
		return err
	}
	for _, w := range wishes {
		check := fmt.Sprintf("%s, %q", era, w.words)
		found, err := c.text(ctx, "tool_search", object{"query": w.words})
		if err != nil {
			return err
		}
		s.hold(check+" finds it", foundIn(found, w.Name), found, w.Name)
		read, err := c.text(ctx, "tool_describe", object{"name": w.Name})
		if err != nil {
			return err
		}
		s.hold(check+" reads it", strings.Contains(read, `Input schema: {`), read[:min(len(read), 80)], "its input schema")
		got, err := c.text(ctx, "tool_call", object{"name": w.Name, "arguments": w.Arguments})
		if err != nil {
			return err
		}
		s.hold(check+" calls it", strings.Contains(got, w.want), got[:min(len(got), 400)], w.want)
	}
	said := 0
	for words, name := range loosely() {
		found, err := c.text(ctx, "tool_search", object{"query": words})
		if err != nil {
			return err
		}
		if foundIn(found, name) {
			said++
		}
	}
	s.note(era+", found among ten as people say it", fmt.Sprintf("%d of %d", said, len(loosely())))
	none, err := c.text(ctx, "tool_search", object{"query": "select:files__nothing"})
	if err != nil {
		return err
	}
	s.hold(era+", a name that no tool has", strings.Contains(none, "files__nothing") && !strings.Contains(none, "("), none, "that there is none")
	again, err := c.do(ctx, "tools/list", object{})
	if err != nil {
		return err
	}
	s.hold(era+", the list is the same bytes after it all", bytes.Equal(listed, again), len(again), len(listed))
	return nil
}

// foundIn reports whether a tool is in an answer of tool_search: in a line of its own,
// or beside one that is much the same.
func foundIn(answer, name string) bool {
	for line := range strings.Lines(answer) {
		said, _, _ := strings.Cut(line, "]: ") // what its source says of it stands behind
		_, alike, _ := strings.Cut(said, "; much the same: ")
		if strings.HasPrefix(line, name+"(") || slices.Contains(strings.Split(alike, ", "), name) {
			return true
		}
	}
	return false
}

// knows waits until tools of all servers can be found.
func (c *wire) knows(ctx context.Context, all []upstream) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		list, err := c.do(ctx, "tools/list", object{})
		if err != nil {
			return err
		}
		missing := slices.IndexFunc(all, func(u upstream) bool { return !bytes.Contains(list, []byte(u.name+" ")) })
		if missing < 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("got %s, want tools of %s in the index", list, all[missing].name)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// text is what a tool answers, as text; what it says of a failure too.
func (c *wire) text(ctx context.Context, name string, args object) (string, error) {
	result, err := c.do(ctx, "tools/call", object{"name": name, "arguments": args})
	if err != nil {
		return "", err
	}
	var r struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return "", err
	}
	var all []string
	for _, b := range r.Content {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n"), nil
}
