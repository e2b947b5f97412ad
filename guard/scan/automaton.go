package scan

// automaton finds many words at once, in one pass, letters of either case and
// white space of any kind alike (Aho and Corasick, with all steps worked out
// beforehand).
type automaton struct {
	class [256]uint8 // of a byte of normalised text
	fast  [256]uint8 // the same of a byte of text as it is; odd for what must be looked at
	next  []uint32   // state + class; states are kept multiplied by width
	width uint32
	first uint32    // states from here on end a word
	stop  uint32    // no state: what was read must be looked at
	ends  [][]int32 // by (state-first)/width: the words that end there
}

// Classes of bytes that every automaton has.
const (
	odd   = iota // only in fast
	other        // in no word
	white
	classes
)

// build makes the automaton of words; what it reports are their indexes. Where
// it is to read text that is not normalised, it stops at what normalising would
// change, and at white space behind white space.
func build(words []string, raw bool) *automaton {
	a := &automaton{width: classes}
	for b := range a.class {
		a.class[b] = other
	}
	for _, b := range []byte(" \t\n\v\f\r") {
		a.class[b] = white
	}
	shared := make(map[byte]uint8)
	for _, w := range words {
		for i := range len(w) {
			if a.class[w[i]] != other {
				continue
			}
			key := alike(w[i])
			if shared[key] == 0 {
				shared[key] = uint8(a.width) //nolint:gosec // at most as many as there are bytes
				a.width++
			}
			a.class[w[i]] = shared[key]
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		a.class[b] = a.class[b+'a'-'A']
	}
	a.fast = a.class
	for b := range a.fast {
		if special(byte(b)) {
			a.fast[b] = odd
		}
	}
	a.number(a.grow(words), raw)
	return a
}

// trie is an automaton whose states are numbered as they came.
type trie struct {
	next  []int32 // node*width + class; -1: none
	fail  []int32
	white []bool // the last byte read was white space
	ends  [][]int32
	order []int32 // breadth first, without the root
}

// grow makes the trie of words, with all steps.
func (a *automaton) grow(words []string) *trie {
	w := int(a.width)
	t := &trie{}
	node := func(space bool) int32 {
		for range w {
			t.next = append(t.next, -1)
		}
		t.fail, t.white, t.ends = append(t.fail, 0), append(t.white, space), append(t.ends, nil)
		return int32(len(t.fail) - 1) //nolint:gosec // few
	}
	node(false)
	t.next[white] = node(true) // so that a state tells whether white space was read last
	for i, word := range words {
		at := int32(0)
		for j := range len(word) {
			c := a.class[word[j]]
			if to := int(at)*w + int(c); t.next[to] < 0 {
				n := node(c == white)
				t.next[to] = n
			}
			at = t.next[int(at)*w+int(c)]
		}
		t.ends[at] = append(t.ends[at], int32(i)) //nolint:gosec // few
	}
	// Where a step fails, the longest tail that is a beginning goes on.
	for c := range w {
		if to := t.next[c]; to < 0 {
			t.next[c] = 0
		} else {
			t.order = append(t.order, to)
		}
	}
	for i := 0; i < len(t.order); i++ {
		n := t.order[i]
		fail := t.fail[n]
		t.ends[n] = append(t.ends[n], t.ends[fail]...)
		row, back := t.next[int(n)*w:][:w], t.next[int(fail)*w:][:w]
		for c, to := range row {
			if to < 0 {
				row[c] = back[c]
				continue
			}
			t.fail[to] = back[c]
			t.order = append(t.order, to)
		}
	}
	return t
}

// number lays the states out: those that end a word come last, so that one
// comparison tells.
func (a *automaton) number(t *trie, raw bool) {
	number := make([]uint32, len(t.fail))
	at := a.width // the root is 0
	for _, ending := range []bool{false, true} {
		if ending {
			a.first = at
		}
		for _, n := range t.order {
			if len(t.ends[n]) > 0 == ending {
				number[n] = at
				at += a.width
				if ending {
					a.ends = append(a.ends, t.ends[n])
				}
			}
		}
	}
	a.stop = at
	a.next = make([]uint32, at)
	for n, state := range number {
		row, old := a.next[state:][:a.width], t.next[n*int(a.width):]
		for c := range row {
			row[c] = number[old[c]]
		}
		row[odd] = a.stop
		if t.white[n] {
			row[white] = state
			if raw {
				row[white] = a.stop
			}
		}
	}
}

// has reports whether a word ends in normalised text.
func (a *automaton) has(text []byte) bool {
	state := uint32(0)
	for _, c := range text {
		if state = a.next[state+uint32(a.class[c])]; state >= a.first {
			return true
		}
	}
	return false
}

// at gives the words that end in a state.
func (a *automaton) at(state uint32) []int32 { return a.ends[(state-a.first)/a.width] }

// alike gives bytes that are one class the same value: then there are fewer
// classes, and a few words are found that are none.
func alike(b byte) byte {
	switch {
	case b >= 0x80:
		return 0x80 | b&7
	case '0' <= b && b <= '9':
		return '0'
	default:
		return b
	}
}

// special: normalising has to look at it.
func special(b byte) bool { return b >= 0x80 || b == '\\' || b == '&' || b == '%' || b == '<' }

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
