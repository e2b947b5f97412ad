package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellClaims are what a line is judged to do. The client runs it, and nothing here
// keeps it from anything: only a line that reads named files of the workspace, and
// nothing else, is believed to read. What git reads may run what a repository names.
func (k *clientCall) shellClaims(a clientArgs) (c tool.Claims) {
	line, ok := a.text("command")
	if !ok || a.says("run_in_background") || a.says("dangerouslyDisableSandbox") {
		return c
	}
	j := shell.Judge(line)
	places, named := k.shellPlaces(line)
	if !named {
		return c
	}
	c.ReadOnly = j.ReadOnly && !j.Git
	c.Local = j.Local && c.ReadOnly
	c.Touches = []tool.Access{}
	for _, at := range places {
		c.Touches = append(c.Touches, tool.Access{Resource: at.resource(), Write: at.written})
	}
	return checked(c)
}

// shellPlaces are the files that a line reads and writes, where each can be named and
// lies in the workspace. A folder is named for what lists it and nothing else: what
// lies in it may lead out of it.
func (k *clientCall) shellPlaces(line string) (list []clientPlace, ok bool) {
	j := shell.Judge(line)
	if j.Reads == nil || j.Writes == nil || j.Commands == nil {
		return nil, false
	}
	lists := !slices.ContainsFunc(j.Commands, func(words []string) bool { return len(words) == 0 || words[0] != "ls" })
	for i, name := range slices.Concat(j.Reads, j.Writes) {
		if strings.HasPrefix(name, "~") {
			return nil, false
		}
		at, ok := k.place(name)
		if !ok || !at.inside {
			return nil, false
		}
		at.written = i >= len(j.Reads)
		made, listed := at.written && !at.there, !at.written && at.there && lists
		if !at.regular && !made && !listed {
			return nil, false
		}
		list = append(list, at)
	}
	return list, true
}

// guardedLine is the word on a command line: what it names, as far as it can be read.
func (k *clientCall) guardedLine(line string) tool.Decision {
	j := shell.Judge(line)
	for i, name := range slices.Concat(j.Reads, j.Writes) {
		at, ok := k.place(name)
		if !ok {
			continue
		}
		if slices.ContainsFunc(k.hidden, func(h string) bool { return liesIn(at.real, h) || liesIn(at.given, h) }) {
			return k.closed(name)
		}
		if i >= len(j.Reads) {
			if d := k.guarded(at); d.Verdict != tool.Silent {
				return d
			}
		}
	}
	for _, words := range j.Commands {
		if len(words) > 0 && strings.TrimSuffix(filepath.Base(words[0]), ".exe") == client {
			return guards("it runs ferrule, which can change the rules and answer questions")
		}
	}
	word := k.mentions(line)
	if word != "" && (!j.ReadOnly || word == ".ferrule") {
		return guards("it names " + word + ", which decides what may run")
	}
	return tool.Decision{Verdict: tool.Silent}
}
