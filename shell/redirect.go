package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges a redirection: from files, of one stream into another, and to
// nowhere.
func (w *walker) redirect(r *syntax.Redirect, depth int) {
	w.word(r.Word, depth)
	w.word(r.Hdoc, depth)
	if unclearDocument(r) {
		w.unclear("a here-document with an expansion that is not plain: its quotes are read in more than one way")
	}
	target := readWord(r.Word)
	switch kind := redirection(r); {
	case r.N != nil && strings.HasPrefix(r.N.Value, "{"):
		w.no("%s: gives a variable a value", r.N.Value)
	case kind == redirectsNothing:
	case kind == redirectsNetwork:
		w.unclear("%s %s: may be a connection", r.Op, shown(target))
	case kind == redirectsOut:
		w.no("%s %s: writes a file", r.Op, shown(target))
	}
}

// unclearDocument reports whether a here-document has an expansion with a word
// of its own, such as ${x:-"}: where its quotes end is not clear.
func unclearDocument(r *syntax.Redirect) bool {
	return r.Hdoc != nil && slices.ContainsFunc(r.Hdoc.Parts, func(part syntax.WordPart) bool {
		p, ok := part.(*syntax.ParamExp)
		return ok && (p.Exp != nil || p.Repl != nil || p.Index != nil || p.Slice != nil)
	})
}

// A redirected is what a redirection does.
type redirected int

const (
	redirectsNothing redirected = iota // nothing that lasts
	redirectsOut                       // writes a file
	redirectsNetwork                   // may connect: bash reads /dev/tcp/… so
)

func redirection(r *syntax.Redirect) redirected {
	target := readWord(r.Word)
	number := target.fixed() && strings.Trim(strings.TrimSuffix(target.text, "-"), "0123456789") == "" && target.text != ""
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return redirectsNothing
	case syntax.RdrIn:
		if !target.one() || mayConnect(target) {
			return redirectsNetwork
		}
		return redirectsNothing
	case syntax.DplIn:
		if number {
			return redirectsNothing
		}
		return redirectsNetwork
	case syntax.DplOut:
		if number {
			return redirectsNothing
		}
	default: // writes
	}
	if mayConnect(target) {
		return redirectsNetwork
	}
	// Not /dev/stdout and its like: Linux opens anew, to write, what the stream is
	// of, and that may be a file which the line only opened to read.
	if target.text == "/dev/null" && r.Op != syntax.RdrInOut {
		return redirectsNothing
	}
	return redirectsOut
}

// mayConnect reports whether bash may take a target for a connection.
func mayConnect(target word) bool {
	start := target.start()
	for _, dir := range [...]string{"/dev/tcp/", "/dev/udp/"} {
		if strings.HasPrefix(start, dir) || !target.fixed() && strings.HasPrefix(dir, start) {
			return true
		}
	}
	return target.splits
}
