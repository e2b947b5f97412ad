package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

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

// wantedEntry is the hook as it should stand in settings for an event.
func wantedEntry(event, line string, seconds int, wait time.Duration) hookEntry {
	e := hookEntry{Type: "command", Command: line, Timeout: seconds}
	if event == beforeUse { // it must never be ended while it waits: that would block nothing
		e.OnFailure, e.Timeout = "block", seconds+int(wait/time.Second)
	}
	return e
}

// lacks says what keeps a group of settings from doing what the hook should; "": it does
// all of it, or has no hook of this program.
func lacks(group json.RawMessage, want hookEntry) (has bool, faults []string) {
	var g struct {
		Matcher string            `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(group, &g) != nil {
		return false, nil
	}
	for _, raw := range g.Hooks {
		var e hookEntry
		if !ours(raw) || json.Unmarshal(raw, &e) != nil {
			continue
		}
		has = true
		if g.Matcher != "" && g.Matcher != "*" {
			faults = append(faults, fmt.Sprintf("it is for %q alone, want \"*\"", g.Matcher))
		}
		if e.Timeout != 0 && e.Timeout < want.Timeout || e.Timeout == 0 && want.Timeout > hookTimes()[0].seconds {
			faults = append(faults, fmt.Sprintf("timeout: got %d, want at least %d", e.Timeout, want.Timeout))
		}
		if e.OnFailure != want.OnFailure {
			faults = append(faults, fmt.Sprintf("onFailure: got %q, want %q", e.OnFailure, want.OnFailure))
		}
		if e.Type != want.Type || e.Command != want.Command {
			faults = append(faults, fmt.Sprintf("command: got %q, want %q", e.Command, want.Command))
		}
	}
	return has, faults
}

// examineClientHook looks at the hook in the settings of a client: one that covers less
// than it seems to is worse than none. Where there is none it has nothing to say.
func (p *program) examineClientHook() (list []finding) {
	for _, path := range []string{filepath.Join(p.dir, ".claude", "settings.json"), filepath.Join(p.dir, ".claude", "settings.local.json"), filepath.Join(p.homeDir(), ".claude", "settings.json")} {
		text, err := readClient(path)
		if err != nil {
			continue
		}
		text = plainOf(text)
		own, there := ourEntry(text)
		if !there {
			continue
		}
		faults := entryFaults(text, own)
		if off, err := value(text, "disableAllHooks"); err == nil && string(off) == "true" {
			faults = append(faults, "disableAllHooks is there: no hook is run")
		}
		if err := p.runnable(own.Command); err != nil {
			faults = append(faults, err.Error())
		}
		if len(faults) > 0 {
			list = append(list, finding{"client hook", "failed", path + ": " + strings.Join(faults, "; ") + ": `ferrule connect " + hookClient + " --hook` writes it anew"})
			continue
		}
		list = append(list, finding{"client hook", "ok", path})
	}
	return list
}

// entryFaults are what the hook of settings lacks, by its own flags.
func entryFaults(text []byte, own hookEntry) (faults []string) {
	wait := time.Duration(0)
	words := strings.Fields(own.Command)
	for i, w := range words {
		value, joined := strings.CutPrefix(w, "--wait=")
		if w == "--wait" && i+1 < len(words) {
			value, joined = words[i+1], true
		}
		if d, err := time.ParseDuration(value); joined && err == nil {
			wait = d
		}
	}
	_, groups, err := hookGroups(text, beforeUse)
	if err != nil {
		return []string{err.Error()}
	}
	want := wantedEntry(beforeUse, own.Command, hookTimes()[0].seconds, wait)
	for _, g := range groups {
		_, found := lacks(g, want)
		faults = append(faults, found...)
	}
	return faults
}

// runnable reports why the program of a hook's line is not found. The client lets calls
// through whose hook is not there.
func (p *program) runnable(line string) error {
	name, _, _ := strings.Cut(line, hookWords)
	name = strings.ReplaceAll(strings.Trim(name, "'"), `'\''`, "'")
	if strings.ContainsAny(name, "$`\"") {
		return nil // the shell of the client says what it is
	}
	if _, err := exec.LookPath(name); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("its program is not there: %w", err)
	}
	return nil
}
