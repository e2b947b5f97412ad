package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of what one fs_grep shows.
const (
	fsGrepLines   = 200  // matching lines unless set
	fsGrepMost    = 2000 // matching lines, files or counts at most
	fsGrepText    = 50_000
	fsGrepLine    = 400 // characters of one line
	fsGrepContext = 10
)

type fsGrepIn struct {
	Pattern    string `json:"pattern" jsonschema:"description=regular expression (RE2) for one line,minLength=1"`
	Path       string `json:"path,omitempty" jsonschema:"description=file or folder to search; the workspace unless set"`
	Glob       string `json:"glob,omitempty" jsonschema:"description=only files that fit: a name such as *.go at any depth or a path below path such as src/**"`
	Output     string `json:"output,omitempty" jsonschema:"description=lines (unless set) or only the names of files or the count of each file,enum=lines,enum=files,enum=count"`
	Context    int    `json:"context,omitempty" jsonschema:"description=lines to show before and after each match,minimum=0,maximum=10"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"description=take upper and lower case for one"`
	All        bool   `json:"all,omitempty" jsonschema:"description=also what .gitignore leaves out and what belongs to git"`
	Limit      int    `json:"limit,omitempty" jsonschema:"description=matching lines or files to show; 200 unless set,minimum=1,maximum=2000"`
}

func (s *fsSet) grepTool() (*tool.Tool, error) {
	return fsReader(s, "fs_grep",
		func(in fsGrepIn) (string, bool) { return in.Path, !in.All },
		func(in fsGrepIn) error { _, err := fsNewGrep(in); return err },
		s.grep)
}

// fsGrep is one call of fs_grep.
type fsGrep struct {
	in     fsGrepIn
	p      fsPlace
	search *fsSearch
	glob   *fsPattern
	byName bool // the glob is about names, not paths
	walk   fsWalk
}

func fsNewGrep(in fsGrepIn) (g *fsGrep, err error) {
	g = &fsGrep{in: in}
	if g.search, err = fsNewSearch(in.Pattern, in.IgnoreCase); err != nil {
		return nil, err
	}
	if in.Glob != "" {
		p, err := fsParsePattern(in.Glob)
		if err != nil {
			return nil, fmt.Errorf("glob: %w", err)
		}
		g.glob, g.byName = &p, !strings.Contains(in.Glob, "/")
	}
	if g.in.Limit == 0 {
		g.in.Limit = fsGrepLines
	}
	g.in.Limit, g.in.Context = min(g.in.Limit, fsGrepMost), min(g.in.Context, fsGrepContext)
	return g, nil
}

func (s *fsSet) grep(ctx context.Context, in fsGrepIn) (tool.Result, error) {
	p, err := s.place(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	g, err := fsNewGrep(in)
	if err != nil {
		return tool.Result{}, err
	}
	g.p = p
	total, err := g.run(ctx, s)
	if err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	return g.result(total)
}

// fsFound is what came of one batch of files.
type fsFound struct {
	text    strings.Builder
	matches int  // lines, or files where only these are asked for
	files   int  // with a match
	full    bool // there was more than may be shown
	large   []string
	marks   []fsMark
}

// fsMark is where the text can be cut: behind so many matches.
type fsMark struct{ size, matches int }

func (f *fsFound) mark() { f.marks = append(f.marks, fsMark{f.text.Len(), f.matches}) }

// fsJob is a batch on its way through the workers.
type fsJob struct {
	batch fsBatch
	found fsFound
	done  chan struct{}
}

// run walks in one goroutine, searches in several, and puts together what they
// find in the order of the walk. All have ended when it returns.
func (g *fsGrep) run(ctx context.Context, s *fsSet) (total fsFound, err error) {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	work := make(chan *fsJob)
	order := make(chan *fsJob, 16*workers)
	var wait sync.WaitGroup
	defer func() { cancel(); wait.Wait() }()
	for range workers {
		wait.Go(func() {
			var w fsGrepWorker
			for j := range work {
				w.search(ctx, g, j)
				j.batch.at.release()
				close(j.done)
			}
		})
	}
	g.walk.all = g.in.All
	if g.glob != nil && !g.byName {
		g.walk.enters = func(rel string) bool { return g.glob.reaches(fsFrom(g.p.rel, rel)) }
	}
	g.walk.files = func(b fsBatch) bool {
		b.names = g.wanted(b)
		if len(b.names) == 0 {
			b.at.release()
			return true
		}
		j := &fsJob{batch: b, done: make(chan struct{})}
		select {
		case order <- j:
		case <-ctx.Done():
			b.at.release()
			return false
		}
		work <- j // the workers run until work is closed
		return true
	}
	var walked error
	wait.Go(func() {
		walked = s.walk(ctx, g.p, &g.walk)
		close(work)
		close(order)
	})
	for j := range order {
		<-j.done
		if !total.full {
			g.join(&total, &j.found)
		}
		if total.full {
			cancel() // and drain
		}
	}
	wait.Wait()
	if total.full {
		return total, nil
	}
	if err := context.Cause(ctx); err != nil {
		return total, err
	}
	return total, walked
}

// wanted are the files of a batch that the glob fits.
func (g *fsGrep) wanted(b fsBatch) []string {
	if g.glob == nil {
		return b.names
	}
	kept := b.names[:0]
	for _, name := range b.names {
		about := name
		if !g.byName {
			about = fsFrom(g.p.rel, path.Join(b.rel, name))
		}
		if g.glob.matches(about) {
			kept = append(kept, name)
		}
	}
	return kept
}

// join adds what one batch found, as far as there is room: whole lines only.
func (g *fsGrep) join(total, more *fsFound) {
	total.large = append(total.large, more.large...)
	text := more.text.String()
	if total.matches+more.matches <= g.in.Limit && total.text.Len()+len(text) <= fsGrepText {
		total.text.WriteString(text)
		total.matches += more.matches
		total.files += more.files
		total.full = more.full
		return
	}
	total.full = true
	fits := fsMark{}
	for _, m := range more.marks {
		if total.matches+m.matches > g.in.Limit || total.text.Len()+m.size > fsGrepText {
			break
		}
		fits = m
	}
	total.text.WriteString(text[:fits.size])
	total.matches += fits.matches
}

func (g *fsGrep) result(total fsFound) (tool.Result, error) {
	text := total.text.String()
	var notes strings.Builder
	if total.full {
		fmt.Fprintf(&notes, "[only the first %d; there are more: use a narrower pattern, glob or path, or output files]\n", total.matches)
	}
	if n := len(total.large); n > 0 {
		fmt.Fprintf(&notes, "[not searched, as they have more than %d bytes: %s]\n", fsMostText, strings.Join(total.large[:min(n, 5)], ", "))
	}
	notes.WriteString(g.walk.note())
	if text == "" && notes.Len() == 0 {
		return fsSaid("(no match for %s in %s)", g.in.Pattern, g.p)
	}
	return fsSaid("%s", strings.TrimSuffix(text+notes.String(), "\n"))
}

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
			found.files++
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

// line writes a match with what stands around it, and says up to where it wrote.
func (g *fsGrep) line(found *fsFound, text []byte, name string, number, start, end, shown int, h *fsHunt) int {
	from, before := start, 0
	for before < g.in.Context && from > shown {
		from = bytes.LastIndexByte(text[:from-1], '\n') + 1
		before++
	}
	if g.in.Context > 0 && found.text.Len() > 0 && from > shown || g.in.Context > 0 && found.text.Len() > 0 && shown == 0 {
		found.text.WriteString("--\n")
	}
	for at := from; at < start; before-- {
		to := at + bytes.IndexByte(text[at:], '\n')
		fmt.Fprintf(&found.text, "%s-%d-%s\n", name, number-before, fsGrepShow(text[at:to], nil))
		at = to + 1
	}
	fmt.Fprintf(&found.text, "%s:%d:%s\n", name, number, fsGrepShow(text[start:end], h.find(text[start:end])))
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
