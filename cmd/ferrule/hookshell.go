package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// placeName is the argument that says where a line is run, unless that is the workspace.
// The client's tool has none of that name: it is there so that a yes to a line is one
// to it in this folder, for once and for longer.
const placeName = "where the shell stands"

// input is what is judged, recorded and answered for.
func (k *clientCall) input() json.RawMessage {
	var fields map[string]json.RawMessage
	if k.kind != clientShell || k.dir == k.root || schema.Decode(string(k.given), &fields) != nil || fields == nil {
		return k.given
	}
	at, err := json.Marshal(k.dir)
	if err != nil {
		return k.given
	}
	fields[placeName] = at
	text, err := json.Marshal(fields)
	if err != nil {
		return k.given
	}
	return text
}

// withoutPlace is an input as the client knows it.
func withoutPlace(input string) string {
	var fields map[string]json.RawMessage
	if !strings.Contains(input, placeName) || schema.Decode(input, &fields) != nil || fields == nil {
		return input
	}
	delete(fields, placeName)
	text, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return string(text)
}

// shellClaims are what a line is judged to do. The client runs it, and nothing here
// keeps it from anything: only a line that reads named files of the workspace, and
// nothing else, is believed to read. What git reads may run what a repository names,
// and the environment is the client's, with its keys.
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
	c.ReadOnly = j.ReadOnly && !j.Git && !j.Environment
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

// everyFile is what a line is about whose file has no name: no rule with a path covers
// it but one for all of them.
const everyFile = "/"

// shellPaths are the files that rules must cover for a line. They are stated wherever
// they lie, and whatever they are. nil: not all can be named, or a folder is looked
// through; what is named lies in the workspace, and a rule about the commands covers it.
func (k *clientCall) shellPaths(line string) (paths []string, at []clientPlace) {
	j := shell.Judge(line)
	named := j.Reads != nil && j.Writes != nil && j.Commands != nil
	dirs := k.shellDirs(j)
	if len(dirs)*len(j.Names) > maxShellNames {
		return []string{everyFile}, nil
	}
	out := false
	for _, dir := range dirs {
		for _, name := range j.Names {
			place, ok := k.placeIn(dir, name)
			if !ok {
				return []string{everyFile}, nil
			}
			out = out || !place.inside
			at = append(at, place)
		}
	}
	_, sure := k.shellPlaces(line)
	here, ok := k.place(k.dir)
	switch {
	case !ok:
		return []string{everyFile}, nil
	case !named && !out && !here.inside: // it works where it stands
		return here.names(), []clientPlace{here}
	case !named && !out, j.ReadOnly && !out && !sure:
		return nil, nil
	case !named:
		paths = []string{everyFile}
	default:
		paths = []string{}
	}
	for _, place := range at {
		paths = append(paths, place.names()...)
	}
	return paths, at
}

// shellScopes are rules that would cover a line and others like it: with the same
// commands, in the workspace or in the folders of the files that it names elsewhere.
func (k *clientCall) shellScopes(line string) (list []string) {
	paths, places := k.shellPaths(line)
	if slices.Contains(paths, everyFile) {
		return nil
	}
	folders := ""
	for _, at := range places {
		folder := k.root
		switch {
		case at.inside:
		case at.there && !at.regular:
			folder = at.real
		default:
			folder = filepath.Dir(at.real)
		}
		scope := "path: " + strconv.Quote(strings.TrimSuffix(filepath.ToSlash(folder), "/")+"/**")
		if folder == filepath.Dir(folder) { // not all that there is
			scope = "path: " + strconv.Quote(at.slash())
		}
		if !strings.Contains(folders, scope) {
			folders += ", " + scope
		}
	}
	list = shell.Scopes(line)
	for i := range list {
		list[i] += folders
	}
	return list
}

// maxShellNames is how many files of a line are looked for, each in every folder that
// the line goes to.
const maxShellNames = 1000

// shellDirs are the folders in which the names of a line may begin.
func (k *clientCall) shellDirs(j shell.Judgement) []string {
	list := []string{k.dir}
	for _, words := range j.Commands {
		if words[0] != "cd" && words[0] != "pushd" {
			continue
		}
		for _, to := range words[1:] {
			for _, from := range list {
				if at, ok := k.placeIn(from, to); ok && !slices.Contains(list, at.real) && len(list) <= maxShellNames {
					list = append(list, at.real)
				}
			}
		}
	}
	return list
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
