package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// maxStart is how much may be shown of how a server is started, in bytes. What is
// longer cannot be read whole, and is not started for a yes.
const maxStart = 4 << 10

const startsNow = "To look at the tools of a server it is started, and may then do whatever you may. Nothing was started yet."

// mayLook asks which of the servers may be started to look at their tools: a file of
// servers may be anybody's, and to run what stands in it is to trust who wrote it. All
// are shown before the first question, as an answer may be for all of them.
func (p *program) mayLook(ctx context.Context, lines <-chan string, names []string) (look, left []string, err error) {
	c, err := p.load()
	if err != nil {
		return nil, nil, err
	}
	p.printf("\n%s\n", startsNow)
	var ask []config.Server
	for _, name := range names {
		i := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == name })
		if i < 0 {
			continue // it was just removed
		}
		if p.printStart(c.Servers[i]) {
			ask = append(ask, c.Servers[i])
		} else {
			left = append(left, name)
		}
	}
	p.printf("\n")
	var answer string
	for i, s := range ask {
		if answer != "a" && answer != "q" {
			if answer, err = p.mayStart(ctx, lines, s, i < len(ask)-1); err != nil {
				return nil, nil, err
			}
		}
		switch answer {
		case "": // nobody would see what is started
			return nil, names, nil
		case "y", "a":
			look = append(look, s.Name)
		default:
			left = append(left, s.Name)
		}
	}
	return look, left, nil
}

// mayLookFirst asks whether a server may be started to look at its tools, if it never
// was as it is reached now: what import has not started is not started unseen later.
func (p *program) mayLookFirst(ctx context.Context, lines <-chan string, name string) (bool, error) {
	c, s, err := p.trustable(name)
	if err != nil {
		return false, err
	}
	if known, err := p.pinsOf(c).As(reached(c, s)); err == nil && !known.First.IsZero() {
		return true, nil
	}
	p.printf("%s\n", startsNow)
	if !p.printStart(s) {
		return false, fmt.Errorf("trust: %s was not started: once you have read it, `ferrule trust %s --answer ask` starts it, and has each call asked for", name, name)
	}
	p.printf("\n")
	answer, err := p.mayStart(ctx, lines, s, false)
	if err != nil {
		return false, err
	}
	if answer != "y" {
		p.printf("not started: %s\n`ferrule up`, and whatever else uses its tools, would start it; `ferrule servers remove %s` takes it out.\n", name, name)
		return false, nil
	}
	p.printf("\n")
	return true, nil
}

// printStart shows how a server is started; whole: there is no more than was shown.
func (p *program) printStart(s config.Server) (whole bool) {
	lines := startLines(s)
	size := 0
	for _, l := range lines {
		size += len(l.Text)
	}
	p.printf("\n%s\n", s.Name)
	if size > maxStart {
		for i := range lines {
			lines[i].Text = terminal.Brief(lines[i].Text, 200)
		}
		p.printLines(lines)
		p.printf("This is not all of it (%d bytes), so that it is not started from here: read it in %s.\n", size, config.Name)
		return false
	}
	p.printLines(lines)
	return true
}

// decidingOf are those of variables (NAME=value) that decide what runs.
func decidingOf(env ...string) []string { return (&mcptool.Server{WrittenEnv: env}).Deciding() }

// decidingLines point out the variables that decide what runs, as somebody has written
// them in the file: NODE_OPTIONS may name other code than the command does.
func decidingLines(s config.Server) (lines []string) {
	for _, e := range decidingOf(s.Env...) {
		name, value, _ := strings.Cut(e, "=")
		lines = append(lines, name+" decides what runs: "+value)
	}
	return lines
}

// startLines are how a server is started, with the names of what it is given, and the
// values only of variables that decide what runs: as they are written, not filled in.
func startLines(s config.Server) (lines []terminal.Line) {
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, terminal.Line{Label: label, Text: terminal.Visible(text)})
		}
	}
	var words, names []string
	for _, word := range s.Command {
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\") {
			word = quoted(word)
		}
		words = append(words, word)
	}
	for _, e := range s.Env {
		name, _, _ := strings.Cut(e, "=")
		names = append(names, name)
	}
	add("runs", strings.Join(words, " "))
	add("calls", s.URL)
	add("in", s.Dir)
	add("variables", strings.Join(names, ", "))
	for _, text := range decidingLines(s) {
		lines = append(lines, terminal.Line{Label: "!", Text: terminal.Visible(text), Alarm: true})
	}
	add("passed on", strings.Join(s.EnvPass, ", "))
	add("headers", strings.Join(slices.Sorted(maps.Keys(s.Header)), ", "))
	add("isolated", s.Isolate.Level)
	return lines
}

// mayStart is the answer about one server: y, n, a for it and all that follow, q for
// none of them, "" where nobody is there.
func (p *program) mayStart(ctx context.Context, lines <-chan string, s config.Server, more bool) (string, error) {
	verb := "start"
	if s.URL != "" {
		verb = "connect to"
	}
	choices, want := "[y/N]", "y or n"
	if more {
		choices, want = "[y/N; a: it and all that follow, q: none of them]", "y, n, a or q"
	}
	for {
		p.printf("%s %s and look? %s ", verb, s.Name, choices)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case line, ok := <-lines:
			if !ok {
				p.printf("\n")
				return "", nil
			}
			switch line = strings.ToLower(line); {
			case line == "y" || line == "yes":
				return "y", nil
			case line == "" || line == "n" || line == "no":
				return "n", nil
			case line == "q" || line == "a" && more:
				return line, nil
			}
			p.printf("got %q, want %s\n", mcptool.Visible(line), want)
		}
	}
}
