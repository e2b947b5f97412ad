package search

import "math/bits"

// unit is what a word of weight 1 counts. Counts and lengths are whole numbers, so
// that an index that was changed a thousand times is the same as a new one.
const unit = 64

// counted is what a document is to the index.
type counted struct {
	terms  []countedTerm
	name   []string // the terms of its name, once each
	length uint64   // in units
	marks  uint64   // documents that say nearly the same differ in few bits of it
}

type countedTerm struct {
	text   string
	weight uint32 // in units
	fields uint8  // a bit for each field
}

// count takes a document apart.
func count(d *Document, r *Ranking) counted {
	var c counted
	at := make(map[string]int)
	words := 0
	d.texts(func(f Field, text string) {
		weight := uint32(r.fieldWeight(f)*unit + 0.5)
		s := scanner{text: text, join: f != InName}
		for words < maxWords && s.next() {
			if stopped(s.word) {
				continue
			}
			words++
			w := stem(s.word)
			if weight == 0 {
				continue
			}
			i, ok := at[string(w)]
			if !ok {
				i = len(c.terms)
				text := string(w)
				at[text] = i
				c.terms = append(c.terms, countedTerm{text: text})
			}
			t := &c.terms[i]
			if f == InName && t.fields&1 == 0 {
				c.name = append(c.name, t.text)
			}
			t.weight += weight
			t.fields |= 1 << f
			c.length += uint64(weight)
		}
	})
	c.marks = fingerprint(c.terms)
	return c
}

// fingerprint sums the bits of what each term hashes to, as simhash does.
func fingerprint(terms []countedTerm) uint64 {
	var sums [64]int32
	const own = 1<<InName | 1<<InDescription | 1<<InArguments
	for _, t := range terms {
		if t.fields&own == 0 {
			continue
		}
		h := uint64(14695981039346656037) // FNV-1a
		for i := range len(t.text) {
			h = (h ^ uint64(t.text[i])) * 1099511628211
		}
		h ^= h >> 32
		for b := range sums {
			sums[b] += int32(h>>b&1)*2 - 1
		}
	}
	var marks uint64
	for b, n := range sums {
		if n > 0 {
			marks |= 1 << b
		}
	}
	return marks
}

// alike says that two documents are near copies of each other: they have the same
// name and are told of in much the same words. One source has its reasons for two
// tools, so there they must be told of in the same ones.
func alike(a, b *entry) bool {
	most := 12
	if a.Source == b.Source {
		most = 3
	}
	return a.nameKey == b.nameKey && bits.OnesCount64(a.marks^b.marks) <= most
}
