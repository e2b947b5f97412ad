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

// withHook is the text of settings with the hook in it. One that is there, and does
// what it should, stays as it is; another one of this program goes.
func withHook(text []byte, line string, wait time.Duration) ([]byte, error) {
	for _, t := range hookTimes() {
		want := wantedEntry(t.event, line, t.seconds, wait)
		hooks, groups, err := hookGroups(text, t.event)
		if err != nil {
			return nil, err
		}
		there, good := false, true
		for _, g := range groups {
			has, faults := lacks(g, want)
			there, good = there || has, good && len(faults) == 0
		}
		if there && good {
			continue
		}
		others, err := othersOf(groups)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(hookGroup{Matcher: "*", Hooks: []hookEntry{want}})
		if err != nil {
			return nil, err
		}
		if text, err = putGroups(text, hooks, t.event, append(others, raw)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// othersOf are groups without the hook of this program.
func othersOf(groups []json.RawMessage) (rest []json.RawMessage, err error) {
	rest = make([]json.RawMessage, 0, len(groups))
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
	return rest, nil
}

// withoutHook takes the hook out, and leaves every other; one of this program that was
// there before comes back.
func withoutHook(text, was []byte) ([]byte, error) {
	for _, t := range hookTimes() {
		hooks, groups, err := hookGroups(text, t.event)
		if err != nil {
			return nil, err
		}
		rest, err := othersOf(groups)
		if err != nil {
			return nil, err
		}
		_, old, err := hookGroups(plainOf(was), t.event)
		if err != nil {
			return nil, err
		}
		for _, g := range old {
			if has, _ := lacks(g, hookEntry{}); has {
				rest = append(rest, g)
			}
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
	events := make(map[string]json.RawMessage)
	if hooks != nil {
		if err := json.Unmarshal(hooks, &events); err != nil {
			return nil, fmt.Errorf("hooks: %w", err)
		}
	}
	events[event] = list
	if len(groups) == 0 {
		delete(events, event)
	}
	if hooks, err = indented(events); err != nil {
		return nil, err
	}
	return put(text, "hooks", hooks)
}

// hooksOff warns where a client's settings keep all hooks from being run.
func (p *program) hooksOff(path string, text []byte) {
	if off, err := value(text, "disableAllHooks"); err == nil && string(off) == "true" {
		p.complain(fmt.Sprintf("ferrule: %s has disableAllHooks: no hook is run while that stands there", path))
	}
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
	p.hooksOff(path, r.now)
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
