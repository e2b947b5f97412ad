package scan

import "strings"

// automaton finds many words at once, in one pass, letters of either case and
// white space of any kind alike (Aho and Corasick, with all steps worked out
// beforehand). A word may want that no letter stands before it; in the middle of
// other words it then costs nothing.
type automaton struct {
	class [256]uint8 // of a byte of normalised text
	fast  [256]uint8 // the same of a byte of text as it is; odd for what must be looked at
	next  []uint16   // by state<<shift | class
	first uint16     // states from here on end a word
	stop  uint16     // no state: what was read must be looked at
	ends  [][]int32  // by state-first: the words that end there
}

// Classes of bytes that every automaton has.
const (
	odd         = iota // only in fast
	edge               // no byte: stands where a word begins
	white              // white space
	otherSign          // in no word, and no letter
	otherLetter        // in no word
	classes
)

// shift makes room for 64 classes; signs beyond that share the last of them.
const (
	shift       = 6
	mostClasses = 1 << shift
)

// mostStates is what an automaton may have; words have no more bytes together.
const mostStates = 1<<16 - 8

// The states at which nothing is begun: in a word, and behind a sign.
const (
	inWord = iota
	behindSign
	firstState
)

// build makes the automaton of words, which may begin with a border; what it
// reports are their indexes. Where it is to read text that is not normalised, it
// stops at what normalising would change, and at white space behind white space.
func build(words []string, raw bool) *automaton {
	a, t := &automaton{}, &trie{}
	a.classify(words)
	a.fast = a.class
	for b := range a.fast {
		if special(byte(b)) {
			a.fast[b] = odd
		}
	}
	t.grow(words, &a.class)
	a.compose(t, raw)
	return a
}

// classify gives bytes that words are made of classes of their own.
func (a *automaton) classify(words []string) {
	for b := range a.class {
		switch c := byte(b); {
		case blank(c):
			a.class[b] = white
		case letterOrDigit(c):
			a.class[b] = otherLetter
		default:
			a.class[b] = otherSign
		}
	}
	used := [256]bool{}
	for _, w := range words {
		for i := range len(w) {
			used[w[i]] = w[i] != border[0] && !blank(w[i])
		}
	}
	// Frequent letters first: their steps from a state then lie side by side.
	width := classes
	shared := make(map[byte]uint8)
	give := func(b byte) {
		key := alike(b)
		if used[b] && shared[key] == 0 {
			shared[key] = uint8(min(width, mostClasses-1)) //nolint:gosec // 63
			width++
		}
		if used[b] {
			a.class[b] = shared[key]
		}
	}
	for _, b := range []byte("etaoinsrhldcumfpgwybvkxjqz_0123456789") {
		give(b)
	}
	for b := range a.class {
		if !letterOrDigit(byte(b)) {
			give(byte(b))
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		a.class[b] = a.class[b+'a'-'A']
	}
}

// trie is an automaton that reads an edge before each word.
type trie struct {
	next  []int32 // node<<shift + class; 0: none, as no step leads to the root
	fail  []int32
	last  []uint8 // class that was read last
	sign  []bool  // that was no letter
	ends  [][]int32
	order []int32 // breadth first, without the root
}

func (t *trie) node(class uint8, sign bool) int32 {
	t.next = t.next[:len(t.next)+mostClasses] // there is room
	t.fail, t.ends = append(t.fail, 0), append(t.ends, nil)
	t.last, t.sign = append(t.last, class), append(t.sign, sign)
	return int32(len(t.fail) - 1) //nolint:gosec // few
}

func (t *trie) step(at int32, class uint8, sign bool) int32 {
	to := int(at)<<shift + int(class)
	if t.next[to] == 0 {
		n := t.node(class, sign)
		t.next[to] = n
	}
	return t.next[to]
}

// grow makes the trie of words, with all steps.
func (t *trie) grow(words []string, class *[256]uint8) {
	t.next = make([]int32, 0, mostNodes(words)<<shift)
	t.node(odd, true)
	t.step(0, white, true) // so that a state tells whether white space was read last
	t.step(0, edge, true)
	for i, word := range words {
		at, letter := int32(0), true
		if strings.HasPrefix(word, border) {
			word, letter = word[1:], false
		}
		for j := range len(word) {
			now := letterOrDigit(word[j])
			if now && !letter {
				at = t.step(at, edge, true)
			}
			at, letter = t.step(at, class[word[j]], !now), now
		}
		t.ends[at] = append(t.ends[at], int32(i))
	}
	// Where a step fails, the longest tail that is a beginning goes on.
	for c := range mostClasses {
		if to := t.next[c]; to != 0 {
			t.order = append(t.order, to)
		}
	}
	for i := 0; i < len(t.order); i++ {
		n := t.order[i]
		fail := t.fail[n]
		t.ends[n] = append(t.ends[n], t.ends[fail]...)
		row, back := t.next[int(n)<<shift:][:mostClasses], t.next[int(fail)<<shift:][:mostClasses]
		for c, to := range row {
			if to == 0 {
				row[c] = back[c]
				continue
			}
			t.fail[to] = back[c]
			t.order = append(t.order, to)
		}
	}
}

// mostNodes is how many nodes a trie of words has at most: one for each byte that
// the word before does not begin with, and an edge where letters begin.
func mostNodes(words []string) int {
	most, before := 3, ""
	for _, w := range words {
		n := 0
		for n < len(w) && n < len(before) && w[n] == before[n] {
			n++
		}
		most += 2 * (len(w) - n)
		for i := n + 1; i < len(w); i++ {
			if letterOrDigit(w[i-1]) {
				most-- // no edge
			}
		}
		before = w
	}
	return most
}

// compose takes the edges out: a letter behind a sign is read with the edge
// before it. States that end a word come last, so that one comparison tells.
func (a *automaton) compose(t *trie, raw bool) {
	number := make([]uint16, len(t.fail))
	at := uint16(firstState)
	for _, ending := range []bool{false, true} {
		if ending {
			a.first = at
		}
		for _, n := range t.order {
			if t.last[n] != edge && len(t.ends[n]) > 0 == ending {
				number[n] = at
				at++
				if ending {
					a.ends = append(a.ends, t.ends[n])
				}
			}
		}
	}
	a.stop = at
	a.next = make([]uint16, int(at)<<shift)
	letter := [mostClasses]bool{}
	for b, c := range a.class {
		letter[c] = letter[c] || letterOrDigit(byte(b))
	}
	lay := func(state uint16, n int32, sign bool) {
		row := a.next[int(state)<<shift:][:mostClasses]
		for c := range row {
			from := n
			if sign && letter[c] {
				from = t.next[int(n)<<shift+edge]
			}
			to := number[t.next[int(from)<<shift+c]]
			if to == inWord && !letter[c] {
				to = behindSign
			}
			row[c] = to
		}
		row[odd] = a.stop
		if t.last[n] == white {
			row[white] = state
			if raw {
				row[white] = a.stop
			}
		}
	}
	lay(inWord, 0, false)
	lay(behindSign, 0, true)
	for n, state := range number {
		if state >= firstState {
			lay(state, int32(n), t.sign[n])
		}
	}
}

// step is the state after a byte of normalised text.
func (a *automaton) step(state uint16, b byte) uint16 {
	return a.next[int(state)<<shift+int(a.class[b])]
}

// has reports whether a word ends in normalised text.
func (a *automaton) has(text []byte) bool {
	state := uint16(behindSign)
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
func special(b byte) bool {
	return b >= 0x80 || b == '\\' || b == '&' || b == '%' || b == '<' || control(b)
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
