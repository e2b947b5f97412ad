package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word judges what a word runs while it is expanded.
func (w *walker) word(x *syntax.Word, depth int) {
	if x == nil {
		return
	}
	for _, p := range x.Parts {
		w.part(p, depth)
	}
}

func (w *walker) part(part syntax.WordPart, depth int) {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			w.part(q, depth)
		}
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			w.unclear("${ …;}: not judged")
		}
		w.stmts(p.Stmts, depth+1)
	case *syntax.ProcSubst:
		w.stmts(p.Stmts, depth+1)
	case *syntax.ParamExp:
		w.param(p, depth)
	case *syntax.ArithmExp:
		w.arithm(p.X, depth)
	case *syntax.ExtGlob:
		w.unclear("%s: bash reads it in more than one way", p.Op.String()+p.Pattern.Value+")")
	default:
		w.unclear("a word has a part that is not judged: %T", part)
	}
}

// param judges ${…}. Some forms assign, and some run what the value says.
func (w *walker) param(p *syntax.ParamExp, depth int) {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	switch {
	case p.Flags != nil || p.NestedParam != nil || p.Width || p.IsSet || len(p.Modifiers) > 0 || p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0:
		w.unclear("${%s}: not a form of bash", name)
	case p.Excl && p.Names == 0 && !listIndex(p.Index):
		w.unclear("${!%s}: the value names a variable, and can run a command in its index", name)
	}
	if singleQuoted(p) {
		w.unclear("${%s…'…'}: within double quotes single ones do not quote", name)
	}
	w.index(p.Index, depth)
	if s := p.Slice; s != nil {
		w.arithm(s.Offset, depth)
		w.arithm(s.Length, depth)
	}
	if r := p.Repl; r != nil {
		w.word(r.Orig, depth)
		w.word(r.With, depth)
	}
	if e := p.Exp; e != nil {
		switch e.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull,
			syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
			syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		default: // := assigns, @P runs what the value says
			w.unclear("${%s%s…}: may assign, or run what the value says", name, e.Op)
		}
		w.word(e.Word, depth)
	}
}

// singleQuoted reports whether a word of an expansion has single quotes. Within
// double quotes and here-documents they are characters like others to bash, and
// what stands between them is expanded.
func singleQuoted(p *syntax.ParamExp) bool {
	quoted := func(x *syntax.Word) bool {
		return x != nil && slices.ContainsFunc(x.Parts, func(part syntax.WordPart) bool {
			_, ok := part.(*syntax.SglQuoted)
			return ok
		})
	}
	return p.Repl != nil && (quoted(p.Repl.Orig) || quoted(p.Repl.With)) || p.Exp != nil && quoted(p.Exp.Word)
}

// listIndex reports whether an index is [@] or [*].
func listIndex(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// index judges what stands in the brackets of an array.
func (w *walker) index(x syntax.ArithmExpr, depth int) {
	if x != nil && !listIndex(x) {
		w.arithm(x, depth)
	}
}

// arithm judges an expression. Bash evaluates the values of variables in it, and
// runs the commands that stand in them: only numbers are sure.
func (w *walker) arithm(x syntax.ArithmExpr, depth int) {
	if depth > maxDepth {
		w.unclear("the line is nested more than %d deep", maxDepth)
		return
	}
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		w.arithm(x.X, depth+1)
		w.arithm(x.Y, depth+1)
	case *syntax.UnaryArithm:
		w.arithm(x.X, depth+1)
	case *syntax.ParenArithm:
		w.arithm(x.X, depth+1)
	case *syntax.Word:
		w.operand(x)
	default:
		w.unclear("an expression has a part that is not judged: %T", x)
	}
}

// operand judges a number or a variable of an expression.
func (w *walker) operand(x *syntax.Word) {
	text := x.Lit()
	if len(x.Parts) == 1 {
		if p, ok := x.Parts[0].(*syntax.ParamExp); ok && p.Param != nil {
			switch {
			case p.Length && p.Param != nil && p.Index == nil && p.Exp == nil && !p.Excl:
				return // ${#x}
			case bare(p):
				text = p.Param.Value
			}
		}
	}
	switch {
	case text == "":
		w.unclear("an expression with a computed part: bash runs the commands that stand in the value")
	case isNumber(text), strings.Trim(text, "0123456789") == "":
	case text == "#" || text == "?" || text == "$" || text == "RANDOM" || text == "SECONDS" || text == "LINENO":
	case w.numeric(text):
	default:
		w.unclear("an expression with %s: bash runs the commands that stand in its value", text)
	}
}

// isNumber reports whether a text is a number of an expression, in any base.
func isNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && '0' <= digits[0] && digits[0] <= '9' && strings.Trim(digits, "0123456789abcdefABCDEFxX#") == ""
}

// numeric reports whether a variable is given numbers in this line, and nothing
// else.
func (w *walker) numeric(name string) bool {
	if w.ints == nil {
		w.ints = numbers(w.file)
	}
	return w.ints[name]
}

// numbers are the variables of a line that are only given numbers.
func numbers(file *syntax.File) map[string]bool {
	ints := make(map[string]bool)
	give := func(name string, number bool) {
		was, seen := ints[name]
		ints[name] = number && (was || !seen) && ownVariable(name)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				give(n.Name.Value, n.Value != nil && n.Index == nil && n.Array == nil && isNumber(n.Value.Lit()))
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				give(n.Name.Value, isNumber(item.Lit()) || isSequence(item.Lit()))
			}
			if len(n.Items) == 0 {
				give(n.Name.Value, false)
			}
		case *syntax.BinaryArithm:
			switch n.Op {
			case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
				syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
				if x, ok := n.X.(*syntax.Word); ok && x.Lit() != "" {
					// A number if what is assigned is: that is judged by itself.
					give(x.Lit(), true)
				}
			default:
			}
		case *syntax.CallExpr: // read, printf -v, mapfile: any word may name a variable
			for i, a := range n.Args {
				if name := readWord(a).text; i > 0 && ownVariable(name) && n.Args[0].Lit() != "echo" {
					give(name, false)
				}
			}
		}
		return true
	})
	return ints
}

// isSequence reports whether a word is {1..10} or {1,2}.
func isSequence(text string) bool {
	inner, ok := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	return ok && closed && inner != "" && strings.Trim(inner, "0123456789.,-") == ""
}

// test judges [[ … ]]. Where it compares numbers it evaluates expressions.
func (w *walker) test(x syntax.TestExpr, depth int) {
	if depth > maxDepth {
		w.unclear("the line is nested more than %d deep", maxDepth)
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		w.word(x, depth)
	case *syntax.ParenTest:
		w.test(x.X, depth+1)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			w.unclear("[[ -v ]]: runs the commands that stand in an index")
		}
		w.test(x.X, depth+1)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range [...]syntax.TestExpr{x.X, x.Y} {
				if word, ok := side.(*syntax.Word); ok {
					w.operand(unquoted(word))
				} else {
					w.unclear("[[ %s ]]: not judged", x.Op)
				}
			}
		default:
			w.test(x.X, depth+1)
			w.test(x.Y, depth+1)
		}
	default:
		w.unclear("a test has a part that is not judged: %T", x)
	}
}

// unquoted is a word without the double quotes around all of it.
func unquoted(x *syntax.Word) *syntax.Word {
	if len(x.Parts) == 1 {
		if q, ok := x.Parts[0].(*syntax.DblQuoted); ok && !q.Dollar {
			return &syntax.Word{Parts: q.Parts}
		}
	}
	return x
}
