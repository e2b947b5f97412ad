package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// collector finds all commands of a line, for rules. It walks everything that
// the parser found, so that no part of the language can hide a command.
type collector struct {
	commands [][]string
	unknown  bool // some command cannot be known
	depth    int
	ints     map[string]bool
	file     *syntax.File
}

// maxCommands is how many commands of a line are listed; with more, they are not
// known.
const maxCommands = 200

func (c *collector) collect(file *syntax.File) { syntax.Walk(file, c.visit) }

// add lists a command. One whose first word is computed cannot be known.
func (c *collector) add(words ...string) {
	if len(words) == 0 || words[0] == "" || strings.Contains(words[0], computed) && !strings.Contains(words[0], "=") || len(c.commands) >= maxCommands {
		c.unknown = true
		return
	}
	c.commands = append(c.commands, words)
}

func (c *collector) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		if n.Background || n.Coprocess || n.Disown {
			c.add("&")
		}
		for _, r := range n.Redirs {
			c.unknown = c.unknown || unclearDocument(r)
			if redirection(r) != redirectsNothing || r.N != nil && strings.HasPrefix(r.N.Value, "{") {
				c.add(r.Op.String(), texts(readWord(r.Word))[0])
			}
		}
	case *syntax.CallExpr:
		c.call(n)
	case *syntax.WordIter:
		if !ownVariable(n.Name.Value) {
			c.add(n.Name.Value + "=" + computed)
		}
	case *syntax.FuncDecl:
		name := ""
		if n.Name != nil {
			name = n.Name.Value
		}
		c.add("function", name)
	case *syntax.DeclClause:
		words := []string{n.Variant.Value}
		for _, a := range n.Args {
			words = append(words, assigned(a))
			c.unknown = c.unknown || strings.ContainsAny(assigned(a), "["+computed)
		}
		c.add(words...)
	case *syntax.CoprocClause:
		c.add("coproc", computed)
	case *syntax.LetClause, *syntax.ExtGlob, *syntax.TestDecl:
		c.unknown = true
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.TestClause, *syntax.ParamExp, *syntax.Assign, *syntax.ArrayElem:
		c.evaluated(n)
	}
	return true
}

// evaluated gives up at what bash evaluates when it runs: the commands in it are
// in nobody's sight. What the walker finds no fault with is fine.
func (c *collector) evaluated(n syntax.Node) {
	w := walker{file: c.file, ints: c.ints, local: true}
	switch n := n.(type) {
	case *syntax.ArithmExp:
		w.arithm(n.X, 0)
	case *syntax.ArithmCmd:
		w.arithm(n.X, 0)
	case *syntax.CStyleLoop:
		w.arithm(n.Init, 0)
		w.arithm(n.Cond, 0)
		w.arithm(n.Post, 0)
	case *syntax.ParamExp:
		p := *n
		if singleQuoted(n) {
			w.no("quotes")
		}
		p.Repl = nil
		if p.Exp != nil {
			p.Exp = &syntax.Expansion{Op: n.Exp.Op} // the word is walked by itself
		}
		w.param(&p, 0)
	case *syntax.Assign:
		w.index(n.Index, 0)
	case *syntax.ArrayElem:
		w.index(n.Index, 0)
	case *syntax.TestClause:
		w.testOperators(n.X, 0)
	}
	c.ints = w.ints
	c.unknown = c.unknown || w.why != ""
}

// testOperators judges only what [[ … ]] evaluates.
func (w *walker) testOperators(x syntax.TestExpr, depth int) {
	if depth > maxDepth {
		w.no("the line is nested more than %d deep", maxDepth)
		return
	}
	switch x := x.(type) {
	case *syntax.ParenTest:
		w.testOperators(x.X, depth+1)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			w.no("[[ -v ]]")
		}
		w.testOperators(x.X, depth+1)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			w.test(x, depth+1)
		default:
			w.testOperators(x.X, depth+1)
			w.testOperators(x.Y, depth+1)
		}
	}
}

// call lists a simple command: with the variables before it, unless they change
// nothing, and what it runs.
func (c *collector) call(n *syntax.CallExpr) {
	var words []string
	for _, a := range n.Assigns {
		switch {
		case a.Name != nil && len(n.Args) == 0 && ownVariable(a.Name.Value):
		case a.Name != nil && a.Index == nil && a.Array == nil && harmless(a.Name.Value, readWord(a.Value)):
		default:
			words = append(words, assigned(a))
		}
	}
	args := readWords(n.Args)
	words = append(words, texts(args...)...)
	if len(words) > 0 {
		c.add(words...)
	}
	if len(args) > 0 {
		if len(words) > len(args) { // also by itself, for rules that ask or deny
			c.add(texts(args...)...)
		}
		c.inner(args)
		c.unknown = c.unknown || evaluates(args)
	}
}

// evaluates reports whether a command of the shell may take a word for a variable
// with an index, and run the commands in it.
func evaluates(args []word) bool {
	switch args[0].text {
	case "[", "test", "read", "unset", "printf", "mapfile", "readarray", "wait", "getopts", "let", "declare", "typeset", "export", "local", "readonly":
	default:
		return false
	}
	for _, a := range args[1:] {
		if !a.fixed() || strings.Contains(a.text, "[") {
			return judgeCommand(args[0].text, args[1:]).why != ""
		}
	}
	return false
}

// assigned is an assignment as a word.
func assigned(a *syntax.Assign) string {
	name, value := "", ""
	if a.Name != nil {
		name = a.Name.Value
	}
	if a.Value != nil {
		value = readWord(a.Value).text
	}
	if a.Array != nil || a.Index != nil {
		value = computed
	}
	if a.Naked {
		return name + value
	}
	return name + "=" + value
}

// texts are words for rules: what may become more than one word is computed.
func texts(words ...word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
		if (w.splits || w.many) && w.fixed() {
			list[i] += computed
		}
	}
	return list
}

// inner lists what a command runs.
func (c *collector) inner(args []word) {
	if c.depth++; c.depth > maxDepth {
		c.unknown = true
		return
	}
	defer func() { c.depth-- }()
	ran, script, ok := ranBy(args)
	if !ok {
		c.unknown = true
	}
	for _, words := range ran {
		if len(words) > 0 {
			c.add(texts(words...)...)
			c.inner(words)
		}
	}
	if script == nil {
		return
	}
	if !script.fixed() {
		c.unknown = true
		return
	}
	file, err := parse(script.text)
	if err != nil {
		c.unknown = true
		return
	}
	below := collector{file: file, depth: c.depth}
	below.collect(file)
	c.unknown = c.unknown || below.unknown || len(c.commands)+len(below.commands) > maxCommands
	c.commands = append(c.commands, below.commands...)
}
