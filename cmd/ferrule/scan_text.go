package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// place is a finding in a text, for programs.
type place struct {
	Line     int    `json:"line"`   // from 1
	Column   int    `json:"column"` // from 1, in characters
	Start    int64  `json:"start"`  // in bytes
	End      int64  `json:"end"`
	Rule     string `json:"rule"`
	Family   string `json:"family"`
	Encoding string `json:"encoding,omitempty"`
	Text     string `json:"text"`           // with [[ and ]] around it
	Says     string `json:"says,omitempty"` // what stands there in disguise, where that is known

	marked marked
}

// Bounds of a scan. A text is read in pieces, and the one before is kept: a finding
// is told at most a window of the scanner's later than it stands there.
const (
	scanPiece     = 64 << 10
	maxPlaces     = 1000
	maxDefinition = 16 << 20
)

// texts looks through a text as it comes.
type texts struct {
	stream *scan.Stream
	told   int   // of the findings of the stream
	base   int64 // of kept in the whole
	line   int   // that kept begins in, from 0
	column int   // and how many characters of that line stand before it
	kept   []byte
	places []place
	more   bool
	bytes  bool // it began as no text does
}

// write takes the next piece and gives what passes.
func (t *texts) write(b []byte) []byte {
	if drop := len(t.kept) - scanPiece; drop > 0 {
		t.pass(t.kept[:drop])
		t.base += int64(drop)
		t.kept = slices.Clone(t.kept[drop:])
	}
	t.kept = append(t.kept, b...)
	out := t.stream.Write(b)
	t.take(t.stream.Findings())
	return out
}

// noText reports whether what a text begins with is none: an eighth of it, or more, is no
// character. UTF-16 is told by its first two bytes.
func noText(b []byte) bool {
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return false
	}
	broken := 0
	for rest := b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if rest = rest[n:]; r == utf8.RuneError && n == 1 {
			broken++
		}
	}
	return broken > utf8.UTFMax && broken > len(b)/8
}

// pass counts the lines of what is not kept any more.
func (t *texts) pass(b []byte) {
	if n := bytes.Count(b, []byte("\n")); n > 0 {
		t.line, t.column = t.line+n, 0
		b = b[bytes.LastIndexByte(b, '\n')+1:]
	}
	t.column += utf8.RuneCount(b)
}

// take notes the findings that are new.
func (t *texts) take(all []scan.Finding) {
	fresh := slices.Clone(all[min(t.told, len(all)):])
	t.told = len(all)
	slices.SortStableFunc(fresh, func(a, b scan.Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	for _, f := range fresh {
		if len(t.places) >= maxPlaces {
			t.more = true
			return
		}
		t.places = append(t.places, t.placeOf(f))
	}
}

func (t *texts) placeOf(f scan.Finding) place {
	one := place{Start: int64(f.Start), End: int64(f.End), Rule: f.Rule, Family: string(f.Family), Encoding: f.Encoding}
	inKept := func(at int) int { return int(max(0, min(int64(at)-t.base, int64(len(t.kept))))) }
	here := f
	here.Start, here.End = inKept(f.Start), inKept(f.End)
	at := texts{line: t.line, column: t.column}
	at.pass(t.kept[:here.Start])
	one.Line, one.Column = at.line+1, at.column+1
	one.marked = excerpt(string(t.kept[max(0, here.Start-200):min(len(t.kept), here.End+200)]), scan.Finding{Start: min(here.Start, 200), End: min(here.Start, 200) + here.End - here.Start})
	one.Text = one.marked.String()
	one.Says = undisguised(t.kept[here.Start:here.End], f.Encoding)
	return one
}

// scanText looks through a text and shows what was found.
func (p *program) scanText(ctx context.Context, look *scan.Scanner, in io.Reader, name string, f scanning) error {
	how := scan.StripNothing
	if f.strip {
		how = scan.StripFindings
	}
	t := &texts{stream: look.Stream(how)}
	done := p.busy("looking through " + terminal.Brief(name, 60))
	size, err := p.feed(ctx, t, look, in, f)
	done()
	if err != nil {
		return fmt.Errorf("scan: %s: %w", name, err)
	}
	if t.bytes {
		p.complain("ferrule: " + name + " does not look like a text: what is not one is not looked through")
	}
	switch {
	case p.json:
		if t.places == nil {
			t.places = []place{}
		}
		err = p.printJSON(struct {
			Name     string  `json:"name"`
			Bytes    int64   `json:"bytes"`
			Findings []place `json:"findings"`
			More     bool    `json:"more,omitempty"`
		}{name, size, t.places, t.more})
	case f.strip:
		for _, one := range t.places {
			p.complain(one.in(name))
		}
		if t.more {
			p.complain("there is more: it is taken out, and not told")
		}
	default:
		p.printPlaces(name, t)
	}
	if err == nil && len(t.places) > 0 {
		return errFound
	}
	return err
}

// feed reads to the end, or until there is too much to tell.
func (p *program) feed(ctx context.Context, t *texts, look *scan.Scanner, in io.Reader, f scanning) (size int64, err error) {
	if f.definition {
		text, err := io.ReadAll(io.LimitReader(in, maxDefinition+1))
		if err == nil && len(text) > maxDefinition {
			err = fmt.Errorf("got more than %d bytes, want a definition", maxDefinition)
		}
		if err != nil {
			return 0, err
		}
		t.kept = text
		t.take(look.ScanDefinition(text))
		if f.strip {
			return int64(len(text)), p.pipe(look.Strip(text))
		}
		return int64(len(text)), nil
	}
	buf := make([]byte, scanPiece)
	for {
		n, end := in.Read(buf)
		if size == 0 {
			t.bytes = noText(buf[:n])
		}
		size += int64(n)
		if n > 0 {
			if out := t.write(buf[:n]); f.strip {
				if err := p.pipe(out); err != nil {
					return size, err
				}
			}
		}
		if ctx.Err() != nil {
			return size, ctx.Err()
		}
		if end != nil || t.more && !f.strip {
			if end != nil && !errors.Is(end, io.EOF) {
				return size, end
			}
			break
		}
	}
	out := t.stream.Close()
	t.take(t.stream.Findings())
	if f.strip {
		return size, p.pipe(out)
	}
	return size, nil
}

// pipe writes bytes as they are, unless a person reads them.
func (p *program) pipe(b []byte) error {
	if terminal.Is(p.stdout) {
		_, err := p.out.Write(b)
		return err
	}
	_, err := p.stdout.Write(b)
	return err
}

// in is one line of it: where, and by which rule.
func (o *place) in(name string) string {
	text := fmt.Sprintf("%s:%d:%d: %s (%s)", name, o.Line, o.Column, o.Rule, o.Family)
	if o.Encoding != "" {
		text += ", written in " + o.Encoding
	}
	if o.Family == string(scan.Unfinished) {
		text += ": this could not be looked through to the end"
	}
	return text
}

// printPlaces prints each place with what stands there, those in one another
// together.
func (p *program) printPlaces(name string, t *texts) {
	colour := p.coloured(p.stdout)
	for i := range t.places {
		one := &t.places[i]
		p.printf("%s\n", one.in(name))
		if i+1 < len(t.places) && t.places[i+1].Start == one.Start && t.places[i+1].End == one.End {
			continue // the same words, by another rule
		}
		if p.printMarked(one.marked, colour); one.Says != "" {
			p.printf("    │ which says: %s\n", one.Says)
		}
	}
	if t.more {
		p.printf("there is more: the rest was not looked through\n")
	}
	if len(t.places) == 0 {
		p.printf("%s: nothing found\n", name)
	}
}

// printMarked prints a line with a mark in it. What is in colour has the signs too:
// nothing is said by colour alone.
func (p *program) printMarked(m marked, colour bool) {
	if !colour {
		p.printf("    │ %s\n", m)
		return
	}
	p.printf("    │ %s", m.before)
	p.out.control("\x1b[1;31m")
	p.printf("[[%s]]", m.inside)
	p.out.control("\x1b[m")
	p.printf("%s\n", m.behind)
}
