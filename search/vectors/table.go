package vectors

import (
	"cmp"
	"math"
	"sort"
)

// table is the words in their order, what they count, and their vectors.
// Only where the words are is kept in memory: the rest lies in the program.
type table struct {
	words   string
	starts  []uint32  // of each word, and the end of the last
	weights []float32 // what each word's numbers are multiplied with
	numbers string    // dims bytes for each word
	dims    int
}

const magic = "FWV1"

func number(s string) int {
	return int(s[0]) | int(s[1])<<8 | int(s[2])<<16 | int(s[3])<<24
}

// open reads the table that generate wrote.
func open(file string) *table {
	head := len(magic)
	count, dims := number(file[head:]), number(file[head+4:])
	t := &table{dims: dims, starts: make([]uint32, count+1), weights: make([]float32, count)}
	size := number(file[head+8:])
	file = file[head+12:]
	t.words, file = file[:size], file[size:]
	lengths, factors := file[:count], file[count:]
	t.numbers = factors[4*count:]
	for i := range count {
		t.starts[i+1] = t.starts[i] + uint32(lengths[i])
		t.weights[i] = math.Float32frombits(uint32(number(factors[4*i:]))) //nolint:gosec // four bytes
	}
	return t
}

func (t *table) weight(at int) float32 { return t.weights[at] }

func (t *table) word(at int) string { return t.words[t.starts[at]:t.starts[at+1]] }

// find is where a word is in the table: as it is written, or without an s at its
// end.
func (t *table) find(word string) (at int, ok bool) {
	at, ok = sort.Find(len(t.weights), func(i int) int { return cmp.Compare(word, t.word(i)) })
	if n := len(word) - 1; !ok && n > 3 && word[n] == 's' {
		at, ok = sort.Find(len(t.weights), func(i int) int { return cmp.Compare(word[:n], t.word(i)) })
	}
	return at, ok
}
