package scan

import (
	"math"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// probe tries an expression at one place, forwards or backwards from it. What
// stands beside an anchor is mostly wrong at once; an expression that reads all of
// the neighbourhood finds that out late.
type probe struct {
	code  []instruction
	sets  []set
	start uint16
	back  bool
	first [256]bool // bytes that can stand beside the place
	any   bool      // nearly all of them
}

// instruction is one of syntax.Prog, in little room: it is mostly not in the
// cache of the processor.
type instruction struct {
	op  operation
	b   byte // to be read; or what must hold of a border
	out uint16
	arg uint16 // where else to go on; or which of the sets
}

type operation uint8

const (
	readByte operation = iota
	readSet
	readAny
	either
	atBorder
	matched
	failed
)

// set are characters that may be read.
type set struct {
	ascii [2]uint64
	other *syntax.Inst // says it of those that are not ASCII
}

func (s *set) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.ascii[r/64]>>(r%64)&1 != 0
	}
	return s.other.MatchRune(r)
}

// Steps that an attempt may take. One that takes more says nothing.
const (
	quickly   = 32
	patiently = 1024
)

// newProbe is one for parts that follow each other; nil: there is nothing to try.
func newProbe(subs []*syntax.Regexp, back bool) *probe {
	if len(subs) == 0 {
		return nil
	}
	re := &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}
	if back {
		re = reversed(re)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil || len(prog.Inst) > math.MaxUint16 {
		return nil
	}
	p := &probe{start: uint16(prog.Start), back: back} //nolint:gosec // few
	known := make(map[string]uint16)
	for i := range prog.Inst {
		p.code = append(p.code, p.instruction(&prog.Inst[i], known))
	}
	p.begin(p.start, make([]bool, len(p.code)))
	p.any = p.first[' '] && p.first['e'] && p.first['"']
	return p
}

// begin finds out what can be read first from an instruction on.
func (p *probe) begin(pc uint16, seen []bool) {
	if seen[pc] {
		return
	}
	seen[pc] = true
	in := p.code[pc]
	switch in.op {
	case readByte:
		p.first[in.b] = true
	case either:
		p.begin(in.out, seen)
		p.begin(in.arg, seen)
	case atBorder:
		p.begin(in.out, seen)
	case readSet, readAny, matched:
		for b := range p.first {
			p.first[b] = p.first[b] || in.op != readSet || b >= utf8.RuneSelf || p.sets[in.arg].has(rune(b))
		}
	case failed:
	}
}

// fits reports whether the expression can match at an offset, as far as one byte
// tells.
func (p *probe) fits(text []byte, at int) bool {
	switch {
	case p == nil || p.any:
		return true
	case p.back:
		return at == 0 || p.first[text[at-1]]
	default:
		return at == len(text) || p.first[text[at]]
	}
}

func (p *probe) instruction(in *syntax.Inst, known map[string]uint16) instruction {
	to := instruction{out: uint16(in.Out), arg: uint16(in.Arg)} //nolint:gosec // few
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		to.op = either
	case syntax.InstCapture, syntax.InstNop:
		to.op, to.arg = either, to.out
	case syntax.InstEmptyWidth:
		to.op, to.b = atBorder, byte(in.Arg) //nolint:gosec // a few bits
	case syntax.InstMatch:
		to.op = matched
	case syntax.InstFail:
		to.op = failed
	case syntax.InstRuneAny:
		to.op = readAny
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAnyNotNL:
		if in.Op == syntax.InstRune1 && in.Rune[0] < utf8.RuneSelf {
			to.op, to.b = readByte, byte(in.Rune[0]) //nolint:gosec // ASCII
			break
		}
		key := string(in.Rune) + string(rune(in.Arg)) //nolint:gosec // flags
		at, ok := known[key]
		if !ok {
			at = uint16(len(p.sets)) //nolint:gosec // few
			known[key] = at
			s := set{other: in}
			for r := range rune(utf8.RuneSelf) {
				if in.MatchRune(r) {
					s.ascii[r/64] |= 1 << (r % 64)
				}
			}
			p.sets = append(p.sets, s)
		}
		to.op, to.arg = readSet, at
	}
	return to
}

// reversed is an expression that matches the same from behind. Borders are looked
// at where they are, whichever way.
func reversed(re *syntax.Regexp) *syntax.Regexp {
	r := *re
	r.Rune = slices.Clone(re.Rune)
	if re.Op == syntax.OpLiteral {
		slices.Reverse(r.Rune)
	}
	r.Sub = make([]*syntax.Regexp, 0, len(re.Sub))
	for _, sub := range re.Sub {
		r.Sub = append(r.Sub, reversed(sub))
	}
	if re.Op == syntax.OpConcat {
		slices.Reverse(r.Sub)
	}
	return &r
}

// may reports whether the expression can match at an offset. It says so, too,
// where steps do not suffice to tell.
func (p *probe) may(text []byte, at, steps int) bool {
	if p == nil || p.any && steps <= quickly {
		return true
	}
	a := attempt{p, text, steps}
	return a.try(p.start, at)
}

// attempt is what is left of one.
type attempt struct {
	*probe
	text  []byte
	steps int
}

func (a *attempt) try(pc uint16, at int) bool {
	for {
		if a.steps--; a.steps < 0 {
			return true
		}
		in := &a.code[pc]
		switch in.op {
		case either:
			if in.arg != in.out && a.try(in.out, at) {
				return true
			}
			pc = in.arg
			continue
		case readByte:
			if a.back {
				at--
				if at < 0 || a.text[at] != in.b {
					return false
				}
				break
			}
			if at == len(a.text) || a.text[at] != in.b {
				return false
			}
			at++
		case readSet, readAny:
			r, size := a.next(at)
			if size == 0 || in.op == readSet && !a.sets[in.arg].has(r) {
				return false
			}
			at += size
		case atBorder:
			if syntax.EmptyOp(in.b)&^a.context(at) != 0 {
				return false
			}
		case matched:
			return true
		case failed:
			return false
		}
		pc = in.out
	}
}

// context is what holds of a place between two characters.
func (a *attempt) context(at int) syntax.EmptyOp {
	before, after := rune(-1), rune(-1)
	if at > 0 {
		before, _ = utf8.DecodeLastRune(a.text[:at])
	}
	if at < len(a.text) {
		after, _ = utf8.DecodeRune(a.text[at:])
	}
	return syntax.EmptyOpContext(before, after)
}

// next is the character beside an offset, and how far it is to what follows.
func (a *attempt) next(at int) (r rune, size int) {
	if a.back {
		if at > 0 && a.text[at-1] < utf8.RuneSelf {
			return rune(a.text[at-1]), -1
		}
		r, size = utf8.DecodeLastRune(a.text[:at])
		return r, -size
	}
	if at < len(a.text) && a.text[at] < utf8.RuneSelf {
		return rune(a.text[at]), 1
	}
	return utf8.DecodeRune(a.text[at:])
}
