package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// reading is the configuration file as it was at some time.
type reading struct {
	path, text string
	wrong      string // why there is no text; "": there is
}

// noFile is that there is none, which is a configuration, too.
const noFile = "there is none"

// reads looks at the configuration file. It is read again with what is made of it: one
// that changes in between is told of, and is not missed.
func (p *program) reads() reading {
	path, _, _ := p.configFile() // what is wrong is said where it is used
	return readingOf(path)
}

func readingOf(path string) reading {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe could take forever
		return reading{path: path, wrong: "it is no file"}
	}
	text, err := config.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reading{path: path, wrong: noFile}
	case err != nil:
		return reading{path: path, wrong: "it cannot be read"}
	}
	return reading{path: path, text: string(text)}
}

// tellChanged says once that the configuration is another than it was: what runs goes
// on with that. A file is looked at twice, as who writes it may not be done. Had is what
// runs: the console writes the file, too, and goes on with what it wrote.
func tellChanged(ctx context.Context, had func() reading, tell func(line string)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	was := had()
	for last, seen := was, was; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := readingOf(was.path)
		if now == last && now != seen {
			if had().differs(now) {
				tell(fmt.Sprintf("%s has changed: what was read at the start counts until this is started again", filepath.Base(was.path)))
				return
			}
			seen = now
		}
		last = now
	}
}

// differs reports whether another configuration says something else to who goes on
// with this one. A rule that somebody made of a yes is in the store as well, which is
// looked at for each call; one that was taken back is not, as this one has it still.
func (r reading) differs(now reading) bool {
	a, b := r.parsed(), now.parsed()
	if a == nil || b == nil {
		return true
	}
	for _, had := range a.Policy.Always {
		if !slices.ContainsFunc(b.Policy.Always, func(has config.Always) bool { return reflect.DeepEqual(had, has) }) {
			return true
		}
	}
	a.Policy.Always, b.Policy.Always = nil, nil
	return !reflect.DeepEqual(a, b)
}

// parsed is the configuration; nil: it is wrong.
func (r reading) parsed() *config.Config {
	if r.wrong != "" && r.wrong != noFile {
		return nil
	}
	c, err := config.Parse(filepath.Base(r.path), filepath.Dir(r.path), r.text)
	if err != nil {
		return nil
	}
	// A line more above something changes nothing.
	for i := range c.Hooks {
		c.Hooks[i].Line, c.Hooks[i].Column = 0, 0
	}
	for i := range c.Servers {
		c.Servers[i].Line, c.Servers[i].Column = 0, 0
	}
	c.Tools.Line, c.Tools.Column = 0, 0
	return c
}
