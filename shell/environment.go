package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// showsEnvironment reports whether a line may show a variable that it has not set
// itself: it has its value from whoever runs the line, and it may be a secret.
// Of programs only those are sure not to that are known for the files they read.
func showsEnvironment(file *syntax.File, commands [][]string) bool {
	for _, words := range commands {
		name, ok := known(words[0])
		if _, writes := writerFlags(name); !ok || name == "printenv" || !writes && !printsOnly(name) && !readerFlags(name).listed {
			return true
		}
	}
	own := ownSpans(file)
	shows := false
	syntax.Walk(file, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || shows {
			return !shows
		}
		shows = p.Param == nil || p.Excl || !public(p.Param.Value) && !own.has(p.Param.Value, p.Pos().Offset())
		return !shows
	})
	return shows
}

// public reports whether a parameter says nothing that a model may not know: what
// the shell counts, who and where one is, how things are shown.
func public(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "HOME", "USER", "LOGNAME", "UID", "EUID", "SHELL", "SHLVL", "PATH", "TMPDIR", "HOSTNAME", "TERM", "LANG", "TZ", "COLUMNS", "LINES",
		"PPID", "BASHPID", "RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "BASH_VERSION", "OSTYPE", "HOSTTYPE", "MACHTYPE", "PIPESTATUS", "REPLY":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.Trim(name, "?#$!@*-0123456789") == ""
}

// span is a stretch of the line in which a variable has the value that the line gave
// it.
type span struct {
	name     string
	from, to uint
}

type spans []span

func (s spans) has(name string, at uint) bool {
	for _, one := range s {
		if one.name == name && one.from <= at && at < one.to {
			return true
		}
	}
	return false
}

// ownSpans are where the variables are the line's own: behind NAME=VALUE in the same
// list, and within the loop that fills them. What may not have run sets nothing.
func ownSpans(file *syntax.File) (all spans) {
	list := func(stmts []*syntax.Stmt) {
		if len(stmts) == 0 {
			return
		}
		end := stmts[len(stmts)-1].End().Offset()
		for _, s := range stmts {
			if _, alone := s.Cmd.(*syntax.CallExpr); !alone {
				continue // it may not have gone on so far
			}
			for _, name := range sets(s) {
				all = append(all, span{name, s.End().Offset(), end})
			}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.File:
			list(n.Stmts)
		case *syntax.Block:
			list(n.Stmts)
		case *syntax.Subshell:
			list(n.Stmts)
		case *syntax.CmdSubst:
			list(n.Stmts)
		case *syntax.IfClause:
			list(n.Then)
		case *syntax.WhileClause:
			list(n.Do)
		case *syntax.ForClause:
			list(n.Do)
			if l, ok := n.Loop.(*syntax.WordIter); ok && len(n.Do) > 0 {
				all = append(all, span{l.Name.Value, n.Do[0].Pos().Offset(), n.End().Offset()})
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.AndStmt {
				for _, name := range sets(n.X) {
					all = append(all, span{name, n.X.End().Offset(), n.End().Offset()})
				}
			}
		}
		return true
	})
	return all
}

// sets are the variables that a statement sets in the shell that goes on, where it has
// succeeded.
func sets(s *syntax.Stmt) (names []string) {
	if s.Background || s.Coprocess || s.Disown || s.Negated {
		return nil
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			if len(c.Args) == 0 && a.Name != nil && !a.Append {
				names = append(names, a.Name.Value)
			}
		}
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			names = append(sets(c.X), sets(c.Y)...)
		}
	}
	return names
}
