package builtin

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"

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
	text, gap := more.text.String(), ""
	if total.text.Len() > 0 && text != "" {
		gap = g.gap()
	}
	size := total.text.Len() + len(gap)
	fits := fsMark{len(text), more.matches}
	if total.full = more.full; total.matches+fits.matches > g.in.Limit || size+fits.size > fsGrepText {
		total.full, fits = true, fsMark{}
		for _, m := range more.marks {
			if total.matches+m.matches > g.in.Limit || size+m.size > fsGrepText {
				break
			}
			fits = m
		}
	}
	if fits.size > 0 {
		total.text.WriteString(gap + text[:fits.size])
		total.matches += fits.matches
	}
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
	if text == "" && !total.full {
		text = fmt.Sprintf("(no match for %s in %s)\n", g.in.Pattern, g.p)
	}
	return fsSaid("%s", strings.TrimSuffix(text+notes.String(), "\n"))
}
