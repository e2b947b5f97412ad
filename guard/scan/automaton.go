package scan

import "math/bits"

// automaton finds many words at once, in one pass, letters of either case and
// white space of any kind alike (Aho and Corasick, with all steps worked out
// beforehand).
type automaton struct {
	class [256]uint8 // of a byte of normalised text
	fast  [256]uint8 // the same of a byte of text as it is; odd for what must be looked at
	next  []uint16   // by state<<shift + class
	shift uint8
	first uint16    // states from here on end a word
	stop  uint16    // no state: what was read must be looked at
	ends  [][]int32 // by state-first: the words that end there
}

// mostStates is what an automaton may have; words have no more bytes together.
const mostStates = 1<<16 - 8

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
	a, width := &automaton{}, classes
	for b := range a.class {
		a.class[b] = other
	}
	for _, b := range []byte(" \t\n\v\f\r") {
		a.class[b] = white
	}
	used := [256]bool{}
	for _, w := range words {
		for i := range len(w) {
			used[w[i]] = true
		}
	}
	// Frequent letters first: their steps from a state then lie side by side.
	shared := make(map[byte]uint8)
	for _, b := range append([]byte("etaoinsrhldcumfpgwybvk"), everyByte()...) {
		if !used[b] || a.class[b] != other {
			continue
		}
		key := alike(b)
		if shared[key] == 0 {
			shared[key] = uint8(width) //nolint:gosec // at most as many as there are bytes
			width++
		}
		a.class[b] = shared[key]
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
	a.shift = uint8(bits.Len(uint(width - 1))) //nolint:gosec // at most 9
	a.number(a.grow(words), raw)
	return a
}

func everyByte() (all []byte) {
	for b := range 256 {
		all = append(all, byte(b))
	}
	return all
}

// trie is an automaton whose states are numbered as they came.
type trie struct {
	next  []int32 // node<<shift + class; -1: none
	fail  []int32
	white []bool // the last byte read was white space
	ends  [][]int32
	order []int32 // breadth first, without the root
}

// grow makes the trie of words, with all steps.
func (a *automaton) grow(words []string) *trie {
	w := 1 << a.shift
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
	number := make([]uint16, len(t.fail))
	at := uint16(1) // the root is 0
	for _, ending := range []bool{false, true} {
		if ending {
			a.first = at
		}
		for _, n := range t.order {
			if len(t.ends[n]) > 0 == ending {
				number[n] = at
				at++
				if ending {
					a.ends = append(a.ends, t.ends[n])
				}
			}
		}
	}
	a.stop = at
	a.next = make([]uint16, int(at)<<a.shift)
	for n, state := range number {
		row, old := a.next[int(state)<<a.shift:][:1<<a.shift], t.next[n<<a.shift:]
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

// step is the state after a byte of normalised text.
func (a *automaton) step(state uint16, b byte) uint16 {
	return a.next[int(state)<<a.shift+int(a.class[b])]
}

// has reports whether a word ends in normalised text.
func (a *automaton) has(text []byte) bool {
	state := uint16(0)
	for _, c := range text {
		if state = a.step(state, c); state >= a.first {
			return true
		}
	}
	return false
}

// at gives the words that end in a state.
func (a *automaton) at(state uint16) []int32 { return a.ends[state-a.first] }

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
