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
	begins  []uint32  // of each bucket, in words
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
	t.begins = make([]uint32, letters*letters+1)
	for i := range count {
		t.begins[bucket(t.word(i))+1]++
	}
	for i := range letters * letters {
		t.begins[i+1] += t.begins[i]
	}
	return t
}

func (t *table) weight(at int) float32 { return t.weights[at] }

func (t *table) word(at int) string { return t.words[t.starts[at]:t.starts[at+1]] }

// find is where a word is in the table: as it is written, or without an s at its
// end.
func (t *table) find(word string) (at int, ok bool) {
	if at, ok = t.look(word); !ok && len(word) > 4 && word[len(word)-1] == 's' {
		return t.look(word[:len(word)-1])
	}
	return at, ok
}

func (t *table) look(word string) (at int, ok bool) {
	b := bucket(word)
	from, to := int(t.begins[b]), int(t.begins[b+1])
	at, ok = sort.Find(to-from, func(i int) int { return cmp.Compare(word, t.word(from+i)) })
	return from + at, ok
}

const letters = 28

// bucket is where words begin that have the same first two letters. Buckets are in
// the order of the words; what is no small letter stands before or after them.
func bucket(word string) int {
	at := func(i int) int {
		switch {
		case i >= len(word) || word[i] < 'a':
			return 0
		case word[i] > 'z':
			return letters - 1
		}
		return int(word[i]-'a') + 1
	}
	return at(0)*letters + at(1)
}
