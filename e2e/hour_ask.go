package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// trustAnswer is what a person says of a server.
type trustAnswer struct {
	answer string
	tools  []string // of these
}

// trustScreen is what they are shown.
type trustScreen struct {
	Digest string
	Tools  []struct {
		Tool, Stands, Description string
		Says, Findings            []string
		Reads                     bool
		Tokens                    int
	}
	Totals struct{ Tools, Tokens int }
}

// stands are the tools that stand so.
func (t *trustScreen) stands(how string) []string {
	var names []string
	for _, one := range t.Tools {
		if one.Stands == how {
			names = append(names, one.Tool)
		}
	}
	return names
}

// trust looks at a server and answers for it: one question.
func (n *newcomer) trust(ctx context.Context, server string, a trustAnswer) (shown trustScreen, err error) {
	text, err := n.ferrule(ctx, "trust", server, "--json")
	if err != nil {
		return shown, err
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		return shown, fmt.Errorf("trust %s --json: got %.200q: %w", server, text, err)
	}
	whole := len(shown.Tools) > 0 && shown.Totals.Tools == len(shown.Tools)
	for _, t := range shown.Tools {
		whole = whole && t.Tool != "" && t.Tokens > 0 && t.Stands != "" && t.Says != nil && t.Findings != nil
	}
	n.s.hold("the screen of "+server+": every tool with what it says, what was found, what it costs and how it stands", whole, text, nil)
	args := []string{"trust", server, "--answer", a.answer, "--as", shown.Digest}
	if len(a.tools) > 0 {
		args = append(args, "--tools", strings.Join(a.tools, ","))
	}
	said, err := n.ferrule(ctx, args...)
	n.s.hold("the answer for "+server, err == nil, said, nil)
	n.asked = append(n.asked, "trust "+server)
	return shown, err
}

// openQuestion is what waits for a person.
type openQuestion struct {
	ID, Tool, Input, Preview, Reason string
	Source                           struct{ Name string }
}

// person allows what waits, until the context ends.
func (n *newcomer) person(ctx context.Context) error {
	for ctx.Err() == nil {
		waiting, err := n.waiting(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		for _, q := range waiting {
			if err := n.allow(context.WithoutCancel(ctx), q); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
	return nil
}

func (n *newcomer) waiting(ctx context.Context) (all []openQuestion, err error) {
	text, err := n.ferrule(ctx, "approvals", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &all)
	}
	return all, err
}

// allow says yes: one question. It must be about the one call that needs it, which
// has not run yet.
func (n *newcomer) allow(ctx context.Context, q openQuestion) error {
	n.asked = append(n.asked, "call "+q.Tool)
	call := n.unanswered()
	want, err := json.Marshal(call.Arguments)
	if err != nil {
		return err
	}
	var given object
	var same []byte
	if err := json.Unmarshal([]byte(q.Input), &given); err == nil {
		same, _ = json.Marshal(given) // it was JSON
	}
	n.s.hold("the question about "+q.Tool+": which tool, of which server, with exactly what, and why",
		q.Tool == call.Name && q.Source.Name == "files" && string(same) == string(want) && q.Reason != "", q, string(want))
	from, to := n.moved()
	_, there := os.Stat(from)
	_, moved := os.Stat(to)
	n.s.hold("it has not run before the answer", there == nil && errors.Is(moved, os.ErrNotExist), q, nil)
	_, err = n.ferrule(ctx, "approvals", "allow", q.ID)
	return err
}

// renewed are the tools that say something else behind the update.
func renewed() []string {
	return []string{"read_text_file", "write_file", "edit_file", "list_directory", "search_files"}
}

// update is a new version of the server of files, in which five tools have another
// description. They are asked about once, and lose what was allowed: the person is
// shown the change, looks at the server again and answers anew. That answers the
// question about the change as well: these tools, as they are now.
func (n *newcomer) update(ctx context.Context, again trustAnswer) error {
	n.up.stop()
	path := filepath.Join(n.packages(), "dist", "index.js")
	code, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(code)
	for _, tool := range renewed() {
		at := strings.Index(text, `registerTool("`+tool+`"`)
		begin := strings.Index(text[max(at, 0):], "description: ")
		if at < 0 || begin < 0 {
			return fmt.Errorf("server-filesystem: got no description of %s", tool)
		}
		begin += at + len("description: ")
		text = text[:begin] + `"Since 2.0: " + ` + text[begin:]
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil { //nolint:gosec // a copy in a folder of ours
		return err
	}
	if err := n.start(ctx); err != nil {
		return err
	}
	var waiting []openQuestion
	if err := until(ctx, n.up, 30*time.Second, func(ctx context.Context) error {
		if waiting, err = n.waiting(ctx); err == nil && len(waiting) == 0 {
			err = fmt.Errorf("nobody is asked about the update")
		}
		return err
	}); err != nil {
		return err
	}
	told := len(waiting) == 1
	for _, tool := range renewed() {
		told = told && strings.Contains(waiting[0].Preview, tool+": changed")
	}
	n.s.hold("the update: one question, with each change", told && strings.Count(waiting[0].Preview, "+ Since 2.0: ") == len(renewed()), waiting, nil)
	shown, err := n.trust(ctx, "files", again)
	if err != nil {
		return err
	}
	// The gateway looks now and then whether somebody has answered elsewhere.
	left := waiting
	err = until(ctx, n.up, 30*time.Second, func(ctx context.Context) error {
		if left, err = n.waiting(ctx); err == nil && len(left) > 0 {
			err = fmt.Errorf("the question about the update still waits")
		}
		return err
	})
	n.s.hold("who has answered for the tools as they are now is not asked about the change", err == nil, left, nil)
	allowed := shown.stands("allowed")
	lost := !slices.ContainsFunc(renewed(), func(tool string) bool { return slices.Contains(allowed, tool) })
	n.s.hold("what has changed is allowed no more, and the rest is", lost && len(allowed) == len(again.tools)-len(renewed()), allowed, nil)
	return nil
}
