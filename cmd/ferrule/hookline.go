package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// hookWords are what tells the hook of this program from others in a client's
// settings, whatever flags somebody has added to it.
const hookWords = " hook " + hookClient

// hookTimes are the events that the hook is for, and how many seconds the client
// gives it: more than it takes itself, so that it always answers.
func hookTimes() []struct {
	event   string
	seconds int
} {
	return []struct {
		event   string
		seconds int
	}{{beforeUse, 60}, {afterUse, 30}}
}

// hookEntry is a command in a client's settings. OnFailure has one that could not
// answer block the call; versions of the client that do not know it pass it over.
type hookEntry struct {
	Type      string `json:"type"`
	Command   string `json:"command"`
	Timeout   int    `json:"timeout"`
	OnFailure string `json:"onFailure,omitempty"`
}

type hookGroup struct {
	Matcher string      `json:"matcher"`
	Hooks   []hookEntry `json:"hooks"`
}

// hookLine is the command that the client runs, in its shell.
func (p *program) hookLine(f connecting) string {
	line := quoted(p.selfName()) + hookWords
	if f.wait > 0 {
		line += " --wait " + f.wait.String()
	}
	if f.user {
		return line + " " + quoted(p.dir)
	}
	return line + ` "$CLAUDE_PROJECT_DIR"`
}

// quoted is a word for a shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// hookGroups are what settings say about an event.
func hookGroups(text []byte, event string) (hooks json.RawMessage, groups []json.RawMessage, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, nil
	}
	if hooks, err = value(text, "hooks"); err != nil || hooks == nil {
		return hooks, nil, err
	}
	raw, err := value(hooks, event)
	if err != nil || raw == nil {
		return hooks, nil, err
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, nil, fmt.Errorf("hooks.%s: %w", event, err)
	}
	return hooks, groups, nil
}

// ours reports whether a command of settings is the hook of this program.
func ours(entry json.RawMessage) bool {
	var e struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(entry, &e) == nil && strings.Contains(e.Command+" ", hookWords+" ")
}

// entriesOf are the commands of a group.
func entriesOf(group json.RawMessage) (list []json.RawMessage) {
	var g struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(group, &g) != nil {
		return nil
	}
	return g.Hooks
}

// ourEntry is this program's hook in settings.
func ourEntry(text []byte) (e hookEntry, there bool) {
	_, groups, err := hookGroups(text, beforeUse)
	if err != nil {
		return e, false
	}
	for _, g := range groups {
		for _, raw := range entriesOf(g) {
			if ours(raw) && json.Unmarshal(raw, &e) == nil {
				return e, true
			}
		}
	}
	return e, false
}

// withHook is the text of settings with the hook in it. One that is there stays as
// it is.
func withHook(text []byte, line string, wait time.Duration) ([]byte, error) {
	for _, t := range hookTimes() {
		hooks, groups, err := hookGroups(text, t.event)
		if err != nil {
			return nil, err
		}
		there := false
		for _, g := range groups {
			for _, e := range entriesOf(g) {
				there = there || ours(e)
			}
		}
		if there {
			continue
		}
		e := hookEntry{Type: "command", Command: line, Timeout: t.seconds}
		if t.event == beforeUse { // it must never be ended while it waits: that would block nothing
			e.OnFailure, e.Timeout = "block", t.seconds+int(wait/time.Second)
		}
		raw, err := json.Marshal(hookGroup{Matcher: "*", Hooks: []hookEntry{e}})
		if err != nil {
			return nil, err
		}
		if text, err = putGroups(text, hooks, t.event, append(groups, raw)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// withoutHook takes the hook out, and leaves every other.
func withoutHook(text []byte) ([]byte, error) {
	for _, t := range hookTimes() {
		hooks, groups, err := hookGroups(text, t.event)
		if err != nil {
			return nil, err
		}
		rest := make([]json.RawMessage, 0, len(groups))
		for _, g := range groups {
			var others []json.RawMessage
			entries := entriesOf(g)
			for _, e := range entries {
				if !ours(e) {
					others = append(others, e)
				}
			}
			switch {
			case len(others) == len(entries):
			case len(others) == 0:
				continue
			default:
				list, err := indented(others)
				if err != nil {
					return nil, err
				}
				if g, err = put(g, "hooks", list); err != nil {
					return nil, err
				}
			}
			rest = append(rest, g)
		}
		if len(rest) == len(groups) && bytes.Equal(bytes.Join(asBytes(rest), nil), bytes.Join(asBytes(groups), nil)) {
			continue
		}
		if text, err = putGroups(text, hooks, t.event, rest); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func asBytes(list []json.RawMessage) (all [][]byte) {
	for _, raw := range list {
		all = append(all, raw)
	}
	return all
}

func putGroups(text []byte, hooks json.RawMessage, event string, groups []json.RawMessage) ([]byte, error) {
	list, err := indented(groups)
	if err != nil {
		return nil, err
	}
	if hooks == nil {
		hooks = json.RawMessage("{}")
	}
	if hooks, err = put(hooks, event, list); err != nil {
		return nil, err
	}
	if hooks, err = indented(hooks); err != nil {
		return nil, err
	}
	return put(text, "hooks", hooks)
}

// hooked reports whether settings are what connect --hook made of others.
func hooked(without, now []byte) bool {
	own, there := ourEntry(now)
	if !there {
		return false
	}
	made, err := withHook(without, own.Command, time.Duration(max(0, own.Timeout-hookTimes()[0].seconds))*time.Second)
	return err == nil && bytes.Equal(made, now)
}

// addHook puts the hook into the settings of a client that is connected already.
func (p *program) addHook(path string, f connecting) error {
	r, err := clientFile(path)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	text, comments := withoutComments(r.old)
	if r.now, err = withHook(text, p.hookLine(f), f.wait); err != nil || comments {
		return noHook(path, err)
	}
	switch {
	case bytes.Equal(r.now, text):
		p.printf("the hook is in %s already\n", path)
		return nil
	case f.dry:
		return p.apply([]rewrite{r}, true)
	}
	if _, err = os.Lstat(before(path)); errors.Is(err, os.ErrNotExist) {
		err = p.apply([]rewrite{r}, false)
	} else if err == nil { // what it was is kept
		if err = replace(r.path, r.old, r.now); err == nil {
			p.printf("changed %s\n", r.path)
		}
	}
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// noHook is that settings cannot be changed.
func noHook(path string, err error) error {
	if err == nil {
		err = errors.New("it has comments, which would be lost")
	}
	return usage("connect: %s: %w: write the hook there by hand, as docs/clients.md shows", path, err)
}
