package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/mcptool"
)

// lines are those that somebody types. Its goroutine may be left behind where nobody
// does: reading cannot be stopped, and the program ends soon.
func (p *program) lines(ctx context.Context) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(p.stdin)
		scan.Buffer(nil, maxPasted)
		for scan.Scan() {
			select {
			case lines <- strings.TrimSpace(scan.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// printChoices says what can be typed.
func (p *program) printChoices(s *trustScreen) {
	p.printf(`
  a        ask for each call
  r        allow what says that it only reads
  1 3-5 x  allow these, by number or name
  o        leave it out; o 2 x: only these
`)
	if slices.ContainsFunc(s.Tools, func(t trustedTool) bool { return !t.seen }) {
		p.printf("  all      show all of it\n")
	}
	p.printf("  enter    nothing now\n")
}

// ask takes an answer from a person, and does it. Where what was shown is another by
// then, it is shown again, all of it if it was.
// more is false where nobody is there to be asked anything else.
func (t *trustee) ask(ctx context.Context, lines <-chan string, s *trustScreen, all bool) (more bool, err error) {
	p := t.p
	p.printScreen(s, all)
	p.printChoices(s)
	for {
		p.printf("answer for %s: ", s.Server)
		var line string
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case line, more = <-lines:
		}
		if !more {
			p.printf("\n")
		}
		if line == "" || line == "q" {
			p.printf("nothing was answered: `ferrule trust %s` shows it again\n", s.Server)
			return more && line == "", nil
		}
		if line == trustAll {
			all = true
			p.printf("\n")
			p.printScreen(s, all)
			p.printChoices(s)
			continue
		}
		var done trusted
		c, notes, err := s.understood(line)
		if err == nil {
			for _, n := range notes {
				p.printf("%s\n", n)
			}
			if done, err = t.settle(ctx, s, c); err == nil {
				p.printTrusted(done)
				return true, nil
			}
		}
		switch wrong := (*status)(nil); {
		case errors.Is(err, errNotAsShown):
			p.printf("%s: %s: here it is again%s\n\n", s.Server, errNotAsShown, prefixed("; taken back meanwhile: ", pluralRules(done.Revoked)))
			if s, err = t.screen(ctx); err != nil {
				return false, err
			}
			p.printScreen(s, all)
			p.printChoices(s)
		case errors.As(err, &wrong): // what was typed
			p.printf("%s\n", strings.TrimPrefix(err.Error(), "trust: "))
		default:
			return false, err
		}
	}
}

// understood reads what was typed. notes are what it leaves out.
func (s *trustScreen) understood(line string) (c choice, notes []string, err error) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(words) == 0 {
		return c, nil, usage("got nothing that names a tool")
	}
	said := trustThese
	switch words[0] {
	case "a", trustAsk:
		said, words = trustAsk, words[1:]
	case "r", trustReads:
		said, words = trustReads, words[1:]
	case "o", trustOut:
		said, words = trustOut, words[1:]
	case "t", trustThese:
		if words = words[1:]; len(words) == 0 {
			return c, nil, usage("which? say numbers or names, as in: t 1 3-5")
		}
	}
	if (said == trustAsk || said == trustReads) && len(words) > 0 {
		return c, nil, usage("got %q behind it, want nothing; tools that are called so are named behind a t", mcptool.Visible(words[0]))
	}
	var names []string
	for _, w := range words {
		more, left, err := s.numbered(w, said)
		if err != nil {
			return c, nil, err
		}
		names = append(names, more...)
		if len(left) > 0 {
			notes = append(notes, fmt.Sprintf("not by a range, only one by one: %s", someNames(left)))
		}
	}
	if len(names) == 0 && len(notes) > 0 {
		return c, nil, usage("%s", strings.Join(notes, "\n"))
	}
	c, err = s.choose(said, names)
	return c, notes, err
}

// numbered are the tools of a word: a name, a number, or a range. A number allows what
// was seen; a range only what says that it does no harm, and has no findings: left are
// the others.
func (s *trustScreen) numbered(word, said string) (names, left []string, err error) {
	from, to, ranged := strings.Cut(word, "-")
	first, err := strconv.Atoi(from)
	last := first
	if err == nil && ranged {
		last, err = strconv.Atoi(to)
	}
	if err != nil {
		if _, err := s.tool(word); err != nil {
			return nil, nil, err
		}
		return []string{word}, nil, nil
	}
	if first < 1 || last > len(s.Tools) || first > last {
		return nil, nil, usage("got %s, want numbers from 1 to %d", word, len(s.Tools))
	}
	unseen := 0
	for i := first - 1; i < last; i++ {
		t := &s.Tools[i]
		if said == trustThese && !t.seen {
			unseen++
		}
		if ranged && said == trustThese && (!t.mild || t.Destroys || len(t.Findings) > 0) {
			left = append(left, t.Tool)
		} else {
			names = append(names, t.Tool)
		}
	}
	if unseen > 0 {
		return nil, nil, usage("got %s, want numbers of tools that were shown, and %s not: say %s to see them, or a name", word, plural(int64(unseen), "was", "were"), trustAll)
	}
	return names, left, nil
}
