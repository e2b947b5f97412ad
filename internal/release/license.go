package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// part is a module, or something else of others, that is in a program.
type part struct {
	path, version string
	sum           string   // of go.sum; "": it has none
	licenses      []string // names of SPDX, sorted
	notes         string   // why they were not found by their texts; "": they were
	files         []file   // their texts, and notices
}

// expression is all that must be kept to.
func (p part) expression() string { return strings.Join(p.licenses, " AND ") }

// judged is a licence that a person has read, as the table below does not know the text.
type judged struct{ licenses, reason string }

// readByHand are files that no phrase tells, by module and file.
func readByHand() map[string]judged {
	return map[string]judged{
		"modernc.org/memory LICENSE-LOGO":                       {"", "it is of a picture in its repository, which is in no program"},
		"modernc.org/sqlite LICENSE-3RD-PARTY.md":               {"BSD-3-Clause MIT", "its section 1 lists what is linked; others, the MPL among them, are of what is not compiled"},
		"modernc.org/sqlite LICENSE-SQLITE":                     {"blessing", "SQLite is in the public domain"},
		"github.com/ferrule-dev/ferrule/search/vectors LICENSE": {"MIT PDDL-1.0", "the vectors are those of GloVe, in the public domain, as another package has them"},
	}
}

// phrases tell a licence: all of them are in its text, and none of the others.
type phrases struct {
	name    string
	has     []string
	without []string
}

// known are the licences that a release may hold. What is not here is not published
// until somebody has looked: GPL, for one, is left out on purpose.
func known() []phrases {
	const (
		bsd     = "redistribution and use in source and binary forms, with or without modification"
		endorse = "endorse or promote products"
		ads     = "all advertising materials"
	)
	return []phrases{
		{name: "0BSD", has: []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted. the software is provided"}},
		{name: "Apache-2.0", has: []string{"apache license", "version 2.0"}},
		{name: "BSD-2-Clause", has: []string{bsd}, without: []string{endorse, ads}},
		{name: "BSD-3-Clause", has: []string{bsd, endorse}, without: []string{ads}},
		{name: "ISC", has: []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that"}},
		{name: "ISC", has: []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that"}},
		{name: "MIT", has: []string{"permission is hereby granted, free of charge, to any person obtaining a copy", "above copyright notice and this permission notice"}},
		{name: "MPL-2.0", has: []string{"mozilla public license", "version 2.0", "covered software"}},
		{name: "Unlicense", has: []string{"this is free and unencumbered software released into the public domain"}},
	}
}

// classify tells the licences of a text; none: it is not known.
func classify(text string) (names []string) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	contains := func(phrase string) bool { return strings.Contains(text, phrase) }
	for _, k := range known() {
		if !slices.ContainsFunc(k.has, func(p string) bool { return !contains(p) }) && !slices.ContainsFunc(k.without, contains) {
			names = append(names, k.name)
		}
	}
	if slices.Contains(names, "MPL-2.0") { // which speaks of others
		return []string{"MPL-2.0"}
	}
	if contains("gnu general public license") || contains("gnu lesser general public license") || contains("gnu affero") {
		return nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// notice says of a file by its name whether it is about licences: told is one whose
// text is to be known, a notice or a grant of patents is only shipped.
func notice(name string) (ships, told bool) {
	upper := strings.ToUpper(name)
	if strings.HasSuffix(upper, ".GO") || strings.HasPrefix(upper, "GO.") {
		return false, false
	}
	for _, word := range []string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"} {
		if strings.Contains(upper, word) {
			return true, true
		}
	}
	return strings.HasPrefix(upper, "NOTICE") || upper == "PATENTS", false
}

// licensed reads the licences of a module in its folder.
func licensed(path, version, sum, dir string) (part, error) {
	p := part{path: path, version: version, sum: sum}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	var faults []error
	for _, e := range entries {
		ships, told := notice(e.Name())
		if !ships || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return p, err
		}
		p.files = append(p.files, file{name: e.Name(), text: text})
		if !told {
			continue
		}
		names := classify(string(text))
		if by, ok := readByHand()[path+" "+e.Name()]; ok {
			names = strings.Fields(by.licenses)
			p.notes = strings.TrimPrefix(p.notes+"; "+e.Name()+": "+by.reason, "; ")
		} else if names == nil {
			faults = append(faults, fmt.Errorf("%s@%s: %s: the licence is not known: read it, and list it in readByHand of internal/release/license.go with what it is and why it may be shipped, or do without the module", path, version, e.Name()))
		}
		p.licenses = append(p.licenses, names...)
	}
	if len(p.files) == 0 {
		faults = append(faults, fmt.Errorf("%s@%s: got no file with a licence, want one: nobody has allowed us to ship it", path, version))
	}
	slices.Sort(p.licenses)
	p.licenses = slices.Compact(p.licenses)
	return p, errors.Join(faults...)
}

// parts are all that is in a program but our own code: modules, Go itself, and data that
// was made by others.
func (b *builder) parts(ctx context.Context, info *debug.BuildInfo) ([]part, error) {
	args := []string{"list", "-m", "-mod=readonly", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s: it is replaced by %s: a release has no such modules", m.Path, m.Replace.Path)
		}
		args = append(args, m.Path)
	}
	list := b.goCommand(ctx, target{}, args...)
	var errs bytes.Buffer
	list.Stderr = &errs
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &errs)
	}
	dirs := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[path] = dir
	}
	var all []part
	var faults []error
	add := func(p part, err error) { all, faults = append(all, p), append(faults, err) }
	for _, m := range info.Deps {
		add(licensed(m.Path, m.Version, m.Sum, dirs[m.Path]))
	}
	root, err := b.goCommand(ctx, target{}, "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	add(licensed("stdlib", info.GoVersion, "", strings.TrimSpace(string(root))))
	add(licensed(info.Main.Path+"/search/vectors", b.stamp.version, "", filepath.Join(b.dir, "search", "vectors")))
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(a.path, b.path) })
	return all, errors.Join(faults...)
}

// texts is THIRD_PARTY_LICENSES: what licences want to be shipped with a program. A text
// that several have is there once.
func texts(parts []part) []byte {
	var b bytes.Buffer
	b.WriteString("Ferrule is under the Apache License 2.0: see LICENSE. This program also holds what\nfollows, each under the terms that are given.\n\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "%s %s: %s\n", p.path, p.version, p.expression())
	}
	first := make(map[string]string)
	for _, p := range parts {
		for _, f := range p.files {
			fmt.Fprintf(&b, "\n%s\n%s %s, %s\n\n", strings.Repeat("=", 78), p.path, p.version, f.name)
			if same, ok := first[string(f.text)]; ok {
				fmt.Fprintf(&b, "The same text as that of %s.\n", same)
				continue
			}
			first[string(f.text)] = p.path + " " + p.version + ", " + f.name
			b.Write(bytes.TrimSpace(bytes.ReplaceAll(f.text, []byte("\r\n"), []byte("\n"))))
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}
