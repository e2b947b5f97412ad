package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// fsSearch finds the lines of a text that a pattern fits.
//
// Looking for a fixed piece that every match must hold is many times as fast as
// an automaton, and nearly every pattern has one. Only the lines that hold it
// are given to the automaton; where there is no such piece it runs over the
// whole text at once.
type fsSearch struct {
	line  *regexp.Regexp // does not go across line ends
	any   []fsPiece      // each match holds one of them; empty: not known
	plain bool           // a line that holds a piece is a match: not one with \r, which may be of the line end
	run   *fsRun         // where there is no piece: each match holds such a run
	bite  int            // bytes that the automaton is given before it is asked whether to go on
}

// An automaton takes as many steps for a byte as it has states, so both are
// bounded: how many it may have, and how many steps it goes without a look at
// whether anybody still waits.
const (
	fsMostStates = 10_000
	fsMostSteps  = 16 << 20
)

// fsPiece is a fixed text.
type fsPiece struct {
	text []byte
	fold bool // upper and lower case are one
	// Of a text that is folded one letter is looked for, in both its cases; at is
	// its first place there. Third: a letter has a form beyond ASCII.
	lower, upper byte
	at           int
	third        bool
}

// fsNewSearch reads a pattern in RE2 syntax. ^ and $ are the ends of a line.
func fsNewSearch(pattern string, fold bool) (*fsSearch, error) {
	if len(pattern) > fsMostPattern {
		return nil, fmt.Errorf("pattern: got %d bytes, want at most %d", len(pattern), fsMostPattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("pattern: got %q: %s: want RE2 syntax, with \\ before a character that is meant as it is", bad.Expr, bad.Code)
		}
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if fsOneLine(tree) {
		return nil, errors.New("pattern: got a line end, want a pattern for one line")
	}
	s := &fsSearch{}
	simple := tree.Simplify()
	prog, err := syntax.Compile(simple)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if len(prog.Inst) > fsMostStates {
		return nil, fmt.Errorf("pattern: got one of %d states, want at most %d: repeat less, such as x* for x{0,1000}", len(prog.Inst), fsMostStates)
	}
	s.bite = fsMostSteps / len(prog.Inst)
	if s.line, err = regexp.Compile(tree.String()); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	s.any = fsPieces(simple)
	s.plain = simple.Op == syntax.OpLiteral && len(s.any) == 1 && !s.any[0].fold && bytes.IndexByte(s.any[0].text, '\r') < 0
	if len(s.any) == 0 {
		s.run = fsRunOf(tree)
	}
	return s, nil
}

// fsOneLine takes line ends out of what a pattern can match, and makes the ends of
// the text those of a line. It reports whether the pattern asks for a line end.
func fsOneLine(re *syntax.Regexp) (asks bool) {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op, re.Flags = syntax.OpEndLine, re.Flags&^syntax.WasDollar
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		var kept []rune
		for i := 0; i+1 < len(re.Rune); i += 2 {
			lo, hi := re.Rune[i], re.Rune[i+1]
			if lo > '\n' || hi < '\n' {
				kept = append(kept, lo, hi)
				continue
			}
			if lo < '\n' {
				kept = append(kept, lo, '\n'-1)
			}
			if hi > '\n' {
				kept = append(kept, '\n'+1, hi)
			}
		}
		if re.Rune = kept; len(kept) == 0 {
			return true
		}
	default:
	}
	for _, sub := range re.Sub {
		asks = fsOneLine(sub) || asks
	}
	return asks
}

// fsPieces are fixed texts of which each match holds one; nil: not known.
func fsPieces(re *syntax.Regexp) []fsPiece {
	switch re.Op {
	case syntax.OpLiteral:
		if p, ok := fsPieceOf(string(re.Rune), re.Flags&syntax.FoldCase != 0); ok {
			return []fsPiece{p}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return fsPieces(re.Sub[0])
	case syntax.OpConcat:
		var best []fsPiece
		for _, sub := range re.Sub {
			if p := fsPieces(sub); fsBetter(p, best) {
				best = p
			}
		}
		return best
	case syntax.OpAlternate:
		const most = 6
		var all []fsPiece
		for _, sub := range re.Sub {
			p := fsPieces(sub)
			if all = append(all, p...); len(p) == 0 || len(all) > most {
				return nil
			}
		}
		return all
	default:
	}
	return nil
}

// fsBetter prefers few and long pieces.
func fsBetter(a, b []fsPiece) bool {
	shortest := func(list []fsPiece) int {
		n := 1 << 20
		for _, p := range list {
			n = min(n, len(p.text))
		}
		return n
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a) > 0
	case len(a) != len(b):
		return len(a) < len(b) && shortest(a) > 1 || shortest(b) == 1
	}
	return shortest(a) > shortest(b)
}

// fsPieceOf is a piece that can be looked for. Of one that is folded that takes
// a letter which has no third form; of these the rarest is taken.
func fsPieceOf(text string, fold bool) (p fsPiece, ok bool) {
	if p = (fsPiece{text: []byte(text)}); !fold || text == "" {
		return p, text != ""
	}
	const rarest = "zqxjvwyupbgmhdfcltionrae" // in source text, rarest first; k and s have a third form
	p.fold = true
	best := len(rarest)
	for at, c := range []byte(text) {
		if i := strings.IndexByte(rarest, c|0x20); i >= 0 && i < best && c < utf8.RuneSelf && c >= 'A' {
			best, p.lower, p.upper, p.at = i, c|0x20, c&^0x20, at
		}
		p.third = p.third || c|0x20 == 'k' || c|0x20 == 's' || c >= utf8.RuneSelf
	}
	return p, p.lower != 0
}
