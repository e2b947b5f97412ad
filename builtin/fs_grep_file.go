package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"
)

// fsGrepWorker keeps its memory from file to file.
type fsGrepWorker struct {
	buf  []byte
	hunt fsHunt
}

func (w *fsGrepWorker) search(ctx context.Context, g *fsGrep, j *fsJob) {
	for _, name := range j.batch.names {
		if ctx.Err() != nil || j.found.full {
			return
		}
		text, err := w.read(g, j.batch, name)
		rel := path.Join(j.batch.rel, name)
		if errors.Is(err, errTooLong()) {
			j.found.large = append(j.found.large, g.p.below(rel).String())
		}
		if err == nil {
			g.lines(ctx, &w.hunt, text, rel, &j.found)
		}
	}
}

// read gets a file as text; what cannot be read has none.
func (w *fsGrepWorker) read(g *fsGrep, b fsBatch, name string) ([]byte, error) {
	buf, err := fsLoad(&g.walk, b.at, name, &w.buf)
	if err != nil {
		return nil, err
	}
	n := len(buf)
	switch enc := fsEncodingOf(buf[:min(n, fsHead)]); enc {
	case fsBinary:
		return nil, nil
	case fsUTF8:
		return buf[3:], nil
	case fsUTF16LE, fsUTF16BE:
		text, err := fsDecode(buf, enc)
		return []byte(text), err
	case fsPlain:
	}
	return buf, nil
}

// fsFill reads a file of a known size into memory that is used again. What is
// added meanwhile is not waited for.
func fsFill(size int64, into *[]byte, read func([]byte) (int, error)) ([]byte, error) {
	if size > fsMostText {
		return nil, errTooLong()
	}
	if need := int(size) + 512; cap(*into) < need {
		*into = make([]byte, max(need, 16<<10))
	}
	buf := (*into)[:cap(*into)]
	n := 0
	for n < len(buf) {
		m, err := read(buf[n:])
		n += max(m, 0)
		if errors.Is(err, io.EOF) || err == nil && (m == 0 || int64(n) >= size) {
			break
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return nil, err
		}
	}
	return buf[:n], nil
}

// lines writes down what fits in one text.
func (g *fsGrep) lines(ctx context.Context, h *fsHunt, text []byte, rel string, found *fsFound) {
	g.search.hunt(ctx, text, h)
	name := ""
	number, counted := 1, 0 // of the line that begins at counted
	matches, shown := 0, 0  // shown: up to where lines were written
	for at := 0; ; {
		start, end, ok := h.from(at)
		if !ok {
			break
		}
		if at = end + 1; matches == 0 {
			name = fsName(g.p.below(rel).String())
		}
		matches++
		if g.in.Output == "files" {
			break
		}
		if g.in.Output == "count" {
			continue
		}
		if found.matches == g.in.Limit || found.text.Len() > fsGrepText {
			found.full = true
			break
		}
		found.matches++
		number += bytes.Count(text[counted:start], []byte{'\n'})
		counted = start
		shown = g.line(found, text, name, number, start, end, shown, h)
		found.mark()
	}
	switch {
	case matches == 0:
	case g.in.Output == "files":
		found.matches++
		fmt.Fprintln(&found.text, name)
		found.mark()
	case g.in.Output == "count":
		found.matches++
		fmt.Fprintf(&found.text, "%s:%d\n", name, matches)
		found.mark()
	}
}

// gap stands between lines that do not follow each other; "": nothing does, as
// they are shown without what stands around them.
func (g *fsGrep) gap() string {
	if g.in.Context == 0 || g.in.Output == "files" || g.in.Output == "count" {
		return ""
	}
	return "--\n"
}

// line writes a match with what stands around it, and says up to where it wrote.
func (g *fsGrep) line(found *fsFound, text []byte, name string, number, start, end, shown int, h *fsHunt) int {
	from, before := start, 0
	for before < g.in.Context && from > shown {
		from = bytes.LastIndexByte(text[:from-1], '\n') + 1
		before++
	}
	if found.text.Len() > 0 && (from > shown || shown == 0) {
		found.text.WriteString(g.gap())
	}
	for at := from; at < start; before-- {
		to := at + bytes.IndexByte(text[at:], '\n')
		fmt.Fprintf(&found.text, "%s-%d-%s\n", name, number-before, fsGrepShow(text[at:to], nil))
		at = to + 1
	}
	line := bytes.TrimSuffix(text[start:end], []byte{'\r'}) // as it was tried: $ is before the \r
	fmt.Fprintf(&found.text, "%s:%d:%s\n", name, number, fsGrepShow(line, h.find(line)))
	at := min(end+1, len(text))
	next, _, more := 0, 0, false
	if g.in.Context > 0 {
		next, _, more = h.from(at)
	}
	for i := 1; i <= g.in.Context && at < len(text) && (!more || at < next); i++ {
		to := len(text)
		if k := bytes.IndexByte(text[at:], '\n'); k >= 0 {
			to = at + k
		}
		fmt.Fprintf(&found.text, "%s-%d-%s\n", name, number+i, fsGrepShow(text[at:to], nil))
		at = min(to+1, len(text))
	}
	return at
}

// fsGrepShow is a line, or what of a long one stands around the match.
func fsGrepShow(line []byte, match []int) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	const most = 4 * fsGrepLine
	front, back := "", ""
	if match != nil && match[1] > fsGrepLine {
		from := max(0, match[0]-fsGrepLine/4)
		for from < match[0] && !utf8.RuneStart(line[from]) { // no half of a character
			from++
		}
		if from > 0 {
			front = "…"
		}
		line = line[from:]
	}
	if len(line) > most {
		line, back = line[:most], "…"
	}
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if short := fsFirst(text, fsGrepLine); len(short) < len(text) {
		text, back = short, "…"
	}
	return front + text + back
}
