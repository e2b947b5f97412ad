package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// paths finds the files that a line names.
type paths struct {
	known, readOnly bool
}

func (p paths) of(file *syntax.File) (reads, writes []string) {
	if p.readOnly {
		writes = []string{}
	}
	return nil, writes
}
