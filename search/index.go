package search

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Index is documents of several sources that can be searched. The zero value has
// none, and finds by words alone. It is safe for concurrent use; its fields are
// set before its first use.
type Index struct {
	// Ranking is what counts how much; zero: [DefaultRanking].
	Ranking Ranking
	// Embedder tells what texts mean; nil: words alone are looked for.
	Embedder *Embedder

	once    sync.Once
	rank    Ranking
	setting sync.Mutex    // one change at a time: what a source had is read before it is changed
	filling chan struct{} // one embeds documents at a time: the next finds them done
	embeds  embedding
	pool    sync.Pool // of *scratch

	mu      sync.RWMutex // of what follows
	entries []*entry     // by slot; nil: free
	names   []uint8      // by slot: how many terms its name has
	vectors directions   // by slot
	free    []uint32     // slots
	sources map[string]map[string]*entry
	ids     map[string][]*entry
	terms   map[string]uint32 // places in lists
	lists   []list
	unused  []uint32 // places in lists
	total   uint64   // of all lengths, in units
	count   int
}

// entry is a document in the index.
type entry struct {
	Document
	slot     uint32
	length   uint64
	marks    uint64
	nameKey  string // its name's terms
	embedded bool   // it has the vector that it gets
}

// list is the documents that have a term, by slot.
type list struct {
	term     string
	postings []posting
}

type posting struct {
	slot   uint32
	weight float32 // how often the document has the term, by the weights of the fields
	length float32 // of the document: read here, it is at hand
	fields uint8
}

// Len is how many documents there are.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.count
}

func (x *Index) start() {
	x.once.Do(func() {
		x.rank = x.Ranking
		if x.rank == (Ranking{}) {
			x.rank = DefaultRanking()
		}
		x.filling = make(chan struct{}, 1)
	})
}

// Set makes the documents those of the source, instead of what it had; none: the
// source is gone. Documents that are the same stay as they are; of two with one ID
// the later counts. They can be found by words at once, and by meaning when Set
// returns; its error is the embedder's, and leaves them to be found by words.
func (x *Index) Set(ctx context.Context, source string, docs ...Document) error {
	x.Put(source, docs...)
	return x.Embed(ctx)
}

// Put is Set as far as words go: they are found by meaning after [Index.Embed].
func (x *Index) Put(source string, docs ...Document) {
	x.start()
	x.change(source, docs)
}

// change makes the documents those of the source, as far as words go.
func (x *Index) change(source string, docs []Document) {
	x.setting.Lock()
	defer x.setting.Unlock()
	docs = slices.Clone(docs) // the caller's are not changed
	wanted := make(map[string]*Document, len(docs))
	for i := range docs {
		docs[i].Source = source
		wanted[docs[i].id()] = &docs[i]
	}
	x.mu.RLock()
	var gone, came []*moved
	had := make(map[string]bool)
	for id, e := range x.sources[source] {
		if d := wanted[id]; d == nil || !reflect.DeepEqual(*d, e.Document) {
			gone = append(gone, &moved{entry: e})
		} else {
			had[id] = true
		}
	}
	for i := range docs {
		d := &docs[i]
		if wanted[d.id()] != d || had[d.id()] {
			continue
		}
		came = append(came, &moved{entry: &entry{Document: *d}})
	}
	x.mu.RUnlock()

	// Words are counted before searches have to wait.
	for _, c := range slices.Concat(gone, came) {
		c.counted = count(&c.entry.Document, &x.rank)
	}
	x.apply(gone, came)
}

// moved is a document that comes or goes.
type moved struct {
	entry *entry
	counted
}

func (x *Index) apply(gone, came []*moved) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(gone)
	x.add(came)
}

func (x *Index) remove(gone []*moved) {
	leaving := make(map[uint32]bool, len(gone))
	touched := make(map[uint32]bool)
	for _, c := range gone {
		e := c.entry
		leaving[e.slot] = true
		for _, t := range c.terms {
			touched[x.terms[t.text]] = true
		}
		x.entries[e.slot] = nil
		x.vectors.put(e.slot, nil)
		x.free = append(x.free, e.slot)
		x.total -= e.length
		x.count--
		if x.ids[e.id()] = slices.DeleteFunc(x.ids[e.id()], func(f *entry) bool { return f == e }); len(x.ids[e.id()]) == 0 {
			delete(x.ids, e.id())
		}
		if of := x.sources[e.Source]; of != nil {
			if delete(of, e.id()); len(of) == 0 {
				delete(x.sources, e.Source)
			}
		}
	}
	for at := range touched {
		l := &x.lists[at]
		l.postings = slices.DeleteFunc(l.postings, func(p posting) bool { return leaving[p.slot] })
		if len(l.postings) == 0 {
			delete(x.terms, l.term)
			*l = list{}
			x.unused = append(x.unused, at)
		}
	}
}

func (x *Index) add(came []*moved) {
	if x.ids == nil {
		x.ids, x.terms, x.sources = make(map[string][]*entry), make(map[string]uint32), make(map[string]map[string]*entry)
	}
	touched := make(map[uint32]bool)
	for _, c := range came {
		e := c.entry
		e.slot = x.slot()
		e.length, e.marks = c.length, c.marks
		x.entries[e.slot] = e
		x.total += c.length
		x.count++
		x.ids[e.id()] = append(x.ids[e.id()], e)
		if x.sources[e.Source] == nil {
			x.sources[e.Source] = make(map[string]*entry)
		}
		x.sources[e.Source][e.id()] = e
		for _, t := range c.terms {
			at := x.place(t.text)
			l := &x.lists[at]
			if n := len(l.postings); n > 0 && l.postings[n-1].slot > e.slot {
				touched[at] = true
			}
			l.postings = append(l.postings, posting{e.slot, float32(t.weight) / unit, float32(c.length) / unit, t.fields})
		}
		x.names[e.slot] = uint8(min(len(c.name), math.MaxUint8))
		e.nameKey = strings.Join(c.name, " ")
	}
	for at := range touched { // freed slots were taken out of order
		slices.SortFunc(x.lists[at].postings, func(a, b posting) int { return cmp.Compare(a.slot, b.slot) })
	}
}

// slot is one that is free.
func (x *Index) slot() uint32 {
	if n := len(x.free); n > 0 {
		s := x.free[n-1]
		x.free = x.free[:n-1]
		return s
	}
	x.entries, x.names = append(x.entries, nil), append(x.names, 0)
	return uint32(len(x.entries) - 1) //nolint:gosec // there is no memory for 2^32 documents
}

// place is where the list of a term is.
func (x *Index) place(term string) uint32 {
	if at, ok := x.terms[term]; ok {
		return at
	}
	var at uint32
	if n := len(x.unused); n > 0 {
		at = x.unused[n-1]
		x.unused = x.unused[:n-1]
	} else {
		at = uint32(len(x.lists)) //nolint:gosec // as many as there are words
		x.lists = append(x.lists, list{})
	}
	x.lists[at].term = term
	x.terms[term] = at
	return at
}
