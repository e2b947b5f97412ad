package cedar

import (
	"slices"
	"sync"

	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// mostKept bounds the memory of rules that are kept narrowed, in bytes, as far as
// they can be counted.
const mostKept = 32 << 20

// kept are rules narrowed for tools and callers. Most tools have the same left:
// they share it. Where there is no more room any other is forgotten.
type kept struct {
	mu     sync.RWMutex
	known  map[key]entry
	shared map[string][]*narrowed // by what is left, in words
	bytes  int
}

// entry is what is left for one tool and caller. The key has only a hash of the
// tags.
type entry struct {
	tags []string
	*narrowed
}

func newKept() *kept {
	return &kept{known: make(map[key]entry), shared: make(map[string][]*narrowed)}
}

// find is what was kept, or nil.
func (t *kept) find(k *key, tags []string) *narrowed {
	t.mu.RLock()
	e, ok := t.known[*k]
	t.mu.RUnlock()
	if !ok || k.tags != 0 && !slices.Equal(e.tags, tags) {
		return nil
	}
	return e.narrowed
}

// keep keeps n, or another that is the same, and returns that.
func (t *kept) keep(k *key, tags []string, n *narrowed) *narrowed {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(*k) // another was as quick, or has the same hash
	n = t.share(n)
	n.users++
	e := entry{narrowed: n}
	if k.tags != 0 {
		e.tags = slices.Clone(tags)
	}
	t.known[*k] = e
	t.bytes += k.bytes()
	for other := range t.known {
		if t.bytes <= mostKept {
			break
		}
		if other != *k {
			t.forget(other)
		}
	}
	return n
}

// share is n, or another that is the same.
func (t *kept) share(n *narrowed) *narrowed {
	if i := slices.IndexFunc(t.shared[n.words], n.same); i >= 0 {
		return t.shared[n.words][i]
	}
	if n.words != "" {
		t.shared[n.words] = append(t.shared[n.words], n)
	}
	t.bytes += n.bytes()
	return n
}

// forget takes out one tool and caller, and what nobody else shares with it.
func (t *kept) forget(k key) {
	e, ok := t.known[k]
	if !ok {
		return
	}
	delete(t.known, k)
	t.bytes -= k.bytes()
	if e.users--; e.users > 0 {
		return
	}
	t.bytes -= e.bytes()
	if left := slices.DeleteFunc(t.shared[e.words], func(n *narrowed) bool { return n == e.narrowed }); len(left) > 0 {
		t.shared[e.words] = left
	} else {
		delete(t.shared, e.words)
	}
}

// bytes is about what a key takes, with its place in the map.
func (k *key) bytes() int {
	const itself = 400
	return itself + len(k.name) + len(k.own) + len(k.source) + len(k.principal) + len(k.tenant) + len(k.session) + len(k.client) + len(k.agent) + len(k.mode)
}

// bytes is about what narrowed rules take.
func (n *narrowed) bytes() int {
	const itself, ofRest = 1000, 4000
	return itself + 2*len(n.words) + 100*(len(n.settled)+len(n.direct)+len(n.patterns)) + ofRest*len(n.rest)
}

// same reports whether the same is left. The words say that already, unless two
// things are written alike.
func (n *narrowed) same(o *narrowed) bool {
	return slices.EqualFunc(n.settled, o.settled, outcome.same) && slices.EqualFunc(n.direct, o.direct, direct.same) &&
		slices.EqualFunc(n.rest, o.rest, residue.same)
}

func (o outcome) same(other outcome) bool {
	return o.rule == other.rule && (o.err == nil) == (other.err == nil) && (o.err == nil || o.err.Error() == other.err.Error())
}

func (d direct) same(o direct) bool { return d.rule == o.rule && d.pattern.key == o.pattern.key }

func (r residue) same(o residue) bool {
	return r.rule == o.rule && slices.EqualFunc(r.left, o.left, func(a, b ast.ConditionType) bool {
		return a.Condition == b.Condition && ast.Equal(ast.NewNode(a.Body), ast.NewNode(b.Body))
	})
}
