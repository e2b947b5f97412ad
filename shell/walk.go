package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker judges a line from the outside in. It knows the parts of the language
// that only read; each other part makes the line not ReadOnly.
type walker struct {
	file  *syntax.File
	why   string // why not; "": nothing found so far
	local bool
	ints  map[string]bool // variables that are only ever numbers; see numbers
}

// no notes the first reason.
func (w *walker) no(format string, args ...any) {
	if w.why == "" {
		w.why = strings.ReplaceAll(fmt.Sprintf(format, args...), computed, "…")
	}
}

// unclear notes a reason, and that anything may be reached.
func (w *walker) unclear(format string, args ...any) {
	w.no(format, args...)
	w.local = false
}

func (w *walker) stmts(list []*syntax.Stmt, depth int) {
	for _, s := range list {
		w.stmt(s, depth)
	}
}

func (w *walker) stmt(s *syntax.Stmt, depth int) {
	if s == nil {
		return
	}
	if depth > maxDepth {
		w.unclear("the line is nested more than %d deep", maxDepth)
		return
	}
	if s.Background || s.Coprocess || s.Disown {
		w.no("&: leaves a process behind")
	}
	for _, r := range s.Redirs {
		w.redirect(r, depth)
	}
	if s.Cmd != nil {
		w.command(s.Cmd, depth)
	}
}

func (w *walker) command(cmd syntax.Command, depth int) {
	depth++
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		w.call(c, depth)
	case *syntax.BinaryCmd: // && || | |&: a long chain is not deep
		for {
			w.stmt(c.Y, depth)
			x := c.X
			next, ok := x.Cmd.(*syntax.BinaryCmd)
			if !ok || x.Background || len(x.Redirs) > 0 {
				w.stmt(x, depth)
				return
			}
			c = next
		}
	case *syntax.Subshell:
		w.stmts(c.Stmts, depth)
	case *syntax.Block:
		w.stmts(c.Stmts, depth)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, depth)
			w.stmts(c.Then, depth)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond, depth)
		w.stmts(c.Do, depth)
	case *syntax.ForClause:
		w.loop(c, depth)
	case *syntax.CaseClause:
		w.word(c.Word, depth)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.word(p, depth)
			}
			w.stmts(item.Stmts, depth)
		}
	case *syntax.TestClause:
		w.test(c.X, depth)
	case *syntax.TimeClause:
		w.stmt(c.Stmt, depth)
	case *syntax.ArithmCmd:
		w.arithm(c.X, depth)
	case *syntax.DeclClause:
		w.declare(c, depth)
	case *syntax.FuncDecl:
		w.unclear("a function: what its name runs is not what it was")
	case *syntax.CoprocClause:
		w.unclear("coproc: leaves a process behind")
	default:
		w.unclear("the line has a part that is not judged: %T", cmd)
	}
}

func (w *walker) loop(c *syntax.ForClause, depth int) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		if c.Select {
			w.no("select: asks")
		}
		if !ownVariable(l.Name.Value) {
			w.unclear("for %s: a variable that may change what commands do", l.Name.Value)
		}
		for _, item := range l.Items {
			w.word(item, depth)
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			w.arithm(x, depth)
		}
	default:
		w.unclear("the line has a loop that is not judged")
	}
	w.stmts(c.Do, depth)
}

// call judges a simple command.
func (w *walker) call(c *syntax.CallExpr, depth int) {
	for _, a := range c.Assigns {
		w.assign(a, len(c.Args) > 0, depth)
	}
	for _, a := range c.Args {
		w.word(a, depth)
	}
	if len(c.Args) > 0 {
		w.run(readWords(c.Args), depth)
	}
}

// run judges the words of a command, be it one of the line or one that another
// command runs.
func (w *walker) run(words []word, depth int) {
	if depth > maxDepth {
		w.unclear("the line is nested more than %d deep", maxDepth)
		return
	}
	name := words[0]
	if !name.fixed() || name.text == "" {
		w.unclear("%s: what is run is only known when it runs", shown(name))
		return
	}
	program, ok := known(name.text)
	if strings.ContainsAny(name.text, " \t\n") {
		w.unclear("%s: one word, and so the name of a program that nobody knows", name.text)
		return
	}
	if !ok {
		w.unclear("%s: a program by its path may be any", name.text)
		return
	}
	v := judgeCommand(program, words[1:])
	if v.inner != nil {
		w.run(v.inner, depth+1)
	}
	if v.why != "" {
		w.no("%s: %s", name.text, v.why)
	}
	if !v.local {
		w.local = false
	}
}

// known is the name of a program as the table has it: paths only of directories
// that the system owns.
func known(name string) (string, bool) {
	if strings.ContainsAny(name, " \t\n") { // the table has commands of programs under two words
		return name, false
	}
	if !strings.Contains(name, "/") {
		return name, true
	}
	for _, dir := range [...]string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") && rest != "" {
			return rest, true
		}
	}
	return name, false
}

// base is the last part of a program's name.
func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// shown is a word for a person.
func shown(w word) string {
	return strings.ReplaceAll(w.text, computed, "…")
}
