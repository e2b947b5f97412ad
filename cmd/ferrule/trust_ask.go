package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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

const trustPrompt = `
  a        ask for each call
  r        allow what says that it only reads
  1 3-5 x  allow these, by number or name
  o        leave it out; o 2 x: only these
  enter    nothing now
answer for `

// ask takes an answer from a person, and does it. Where what was shown is another by
// then, it is shown again.
// more is false where nobody is there to be asked anything else.
func (t *trustee) ask(ctx context.Context, lines <-chan string, s *trustScreen) (more bool, err error) {
	p := t.p
	p.printf("%s", trustPrompt)
	for {
		p.printf("%s: ", s.Server)
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
		c, notes, err := s.understood(line)
		if err == nil {
			for _, n := range notes {
				p.printf("%s\n", n)
			}
			var done trusted
			if done, err = t.settle(ctx, s, c); err == nil {
				p.printTrusted(done)
				return true, nil
			}
		}
		switch wrong := (*status)(nil); {
		case errors.Is(err, errNotAsShown):
			p.printf("%s: %s: here it is again\n\n", s.Server, errNotAsShown)
			if s, err = t.screen(ctx); err != nil {
				return false, err
			}
			p.printScreen(s, false)
			p.printf("%s", trustPrompt)
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

// numbered are the tools of a word: a name, a number, or a range. What destroys, or has
// findings, is not allowed by a range: left are those.
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
	for i := first - 1; i < last; i++ {
		if t := &s.Tools[i]; ranged && said == trustThese && (t.Destroys || len(t.Findings) > 0) {
			left = append(left, t.Tool)
		} else {
			names = append(names, t.Tool)
		}
	}
	return names, left, nil
}
