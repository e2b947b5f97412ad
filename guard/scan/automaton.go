package scan

import "slices"

// automaton finds many words at once, in one pass, letters of either case
// alike (Aho and Corasick, with all steps worked out beforehand).
type automaton struct {
	class [256]uint8 // of a byte; bytes in no word are class 0
	width int
	next  []uint32   // state*width + class; states are kept multiplied by width
	first uint32     // states from here on end a word
	ends  [][]uint32 // by (state-first)/width: the words that end there
}

// build makes the automaton of words; what it reports are their indexes.
func build(words []string) *automaton {
	a := &automaton{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if b := lower(w[i]); a.class[b] == 0 {
				a.class[b] = uint8(a.width) //nolint:gosec // at most as many as there are bytes
				a.width++
			}
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		a.class[b] = a.class[b+'a'-'A']
	}
	type node struct {
		next []int
		fail int
		ends []uint32
	}
	fresh := func() node {
		n := node{next: make([]int, a.width)}
		for i := range n.next {
			n.next[i] = -1
		}
		return n
	}
	nodes := []node{fresh()}
	for i, w := range words {
		at := 0
		for j := range len(w) {
			c := a.class[w[j]]
			if nodes[at].next[c] < 0 {
				nodes = append(nodes, fresh())
				nodes[at].next[c] = len(nodes) - 1
			}
			at = nodes[at].next[c]
		}
		nodes[at].ends = append(nodes[at].ends, uint32(i))
	}
	// Breadth first: where a step fails, the longest tail that is a beginning
	// goes on.
	var order []int
	for c, to := range nodes[0].next {
		if to < 0 {
			nodes[0].next[c] = 0
		} else {
			order = append(order, to)
		}
	}
	for i := 0; i < len(order); i++ {
		n := &nodes[order[i]]
		n.ends = append(n.ends, nodes[n.fail].ends...)
		for c, to := range n.next {
			if to < 0 {
				n.next[c] = nodes[n.fail].next[c]
				continue
			}
			nodes[to].fail = nodes[n.fail].next[c]
			order = append(order, to)
		}
	}
	// States that end a word come last, so that one comparison tells.
	number := make([]uint32, len(nodes))
	sorted := append([]int{0}, order...)
	slices.SortStableFunc(sorted, func(x, y int) int {
		return min(len(nodes[x].ends), 1) - min(len(nodes[y].ends), 1)
	})
	w := uint32(a.width) //nolint:gosec // at most 256
	for i, old := range sorted {
		number[old] = uint32(i) * w
	}
	a.next = make([]uint32, len(nodes)*a.width)
	a.first = uint32(len(a.next)) //nolint:gosec // few states
	for _, old := range sorted {
		for c, to := range nodes[old].next {
			a.next[int(number[old])+c] = number[to]
		}
		if len(nodes[old].ends) > 0 {
			a.first = min(a.first, number[old])
			a.ends = append(a.ends, nodes[old].ends)
		}
	}
	return a
}

// find goes on from state until a word ends: it returns the state and the
// offset after that word, or len(text).
func (a *automaton) find(text []byte, at int, state uint32) (int, uint32) {
	next, first := a.next, a.first
	for i := at; i < len(text); i++ {
		state = next[state+uint32(a.class[text[i]])]
		if state >= first {
			return i + 1, state
		}
	}
	return len(text), 0
}

// at gives the words that end in a state.
func (a *automaton) at(state uint32) []uint32 {
	if state < a.first {
		return nil
	}
	return a.ends[(state-a.first)/uint32(a.width)] //nolint:gosec // at most 256
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
