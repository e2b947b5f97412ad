package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/search"
)

// library is what all tools of a runtime are found by. It is filled when somebody
// first looks for one, so that nobody else waits for it, and from then on only what
// a source has changed is read anew.
type library struct {
	index search.Index
	about func(source string) string
	of    atomic.Pointer[catalogue] // that it was filled from

	mu    sync.Mutex
	holds map[string][]*entry // by source

	told    sync.Once  // that the embedder has failed
	meaning sync.Mutex // of what follows; held for moments
	bare    bool       // there are tools without their meaning
	closed  bool       // the embedder is not asked any more
	asking  chan struct{}
	late    bool               // a search has waited for it in vain
	stop    context.CancelFunc // of who asks
	rests   time.Time          // until then the embedder is not asked
	fault   error              // of the last time that it was
}

// restAfterFault is how long an embedder that has failed is left alone.
const restAfterFault = 10 * time.Second

// maxAbout is how many bytes count of what a source says of itself: it is said of
// each of its tools.
const maxAbout = 400

// open takes the embedder, and who knows of sources. The functions are the host's:
// what befalls them must not befall a search.
func (l *library) open(e *search.Embedder, about func(string) string) {
	l.about = func(source string) string {
		if about == nil {
			return ""
		}
		text, err := bounded(context.Background(), otherTime, func(context.Context) (string, error) { return about(source), nil })
		if err != nil {
			return ""
		}
		return text[:min(len(text), maxAbout)]
	}
	if e == nil {
		return
	}
	safe := *e
	safe.Documents = func(ctx context.Context, docs []search.Document) ([][]float32, error) {
		return bounded(ctx, otherTime, func(ctx context.Context) ([][]float32, error) { return e.Documents(ctx, docs) })
	}
	safe.Queries = func(ctx context.Context, texts []string) ([][]float32, error) {
		return safely(func() ([][]float32, error) { return e.Queries(ctx, texts) })
	}
	l.index.Embedder = &safe
}

// search finds tools among those that are registered now.
func (l *library) search(ctx context.Context, r *registry, q search.Query) search.Answer {
	l.fill(r)
	l.mean(ctx)
	a := l.index.Search(ctx, q)
	if a.Fault == nil {
		a.Fault = l.behind()
	}
	if a.Fault == nil || errors.Is(a.Fault, errEmbedding) {
		return a
	}
	a.Fault = errors.New(r.rt.set.scrubText(a.Fault.Error()))
	if ctx.Err() != nil { // who stops searching says nothing about the embedder
		return a
	}
	l.told.Do(func() {
		r.rt.set.find(Finding{"Runtime.Embedder", "tools are found by words alone, at least for a while: " + a.Fault.Error()})
	})
	return a
}

// behind is why tools have no meaning, or not all; nil: they have.
func (l *library) behind() error {
	l.meaning.Lock()
	defer l.meaning.Unlock()
	if l.fault == nil && l.asking != nil {
		return errEmbedding
	}
	return l.fault
}

var errEmbedding = errors.New("the embedder has not told yet what tools mean")

// fill brings the index to what is registered.
func (l *library) fill(r *registry) {
	c := r.catalogue()
	if l.of.Load() == c {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of.Load() == c { // another search was first
		return
	}
	r.mu.Lock()
	now := maps.Clone(r.sources)
	r.mu.Unlock()
	changed := false
	for source := range l.holds {
		if now[source] == nil {
			l.index.Put(source)
		}
	}
	for source, list := range now {
		if !slices.Equal(l.holds[source], list) {
			l.index.Put(source, documents(list, l.about(source))...)
			changed = true
		}
	}
	l.holds = now
	if changed {
		l.meaning.Lock()
		l.bare = true
		l.meaning.Unlock()
	}
	l.of.Store(c)
}

// documents is what entries of one source are found by.
func documents(list []*entry, about string) []search.Document {
	docs := make([]search.Document, len(list))
	for i, e := range list {
		d := search.Document{ID: e.wire, Name: e.tool.Name, Tags: e.tool.Tags, About: about, Standing: int(e.source.Trust)}
		d.Description = e.guard.ShownText(e.source, e.tool.Name, e.tool.Description)
		d.Arguments = search.Arguments(e.guard.Shown(e.source, e.tool.Name, e.tool.Input))
		for _, x := range e.tool.Examples {
			d.Examples = append(d.Examples, string(x.Input))
		}
		docs[i] = d
	}
	return docs
}

// properties are the schemas of its arguments, as strangers may have them shown.
func (e *entry) properties() map[string]json.RawMessage {
	root := decoded[map[string]json.RawMessage](e.guard.Shown(e.source, e.tool.Name, e.tool.Input))
	return decoded[map[string]json.RawMessage](root["properties"])
}

// mean waits until all tools have a meaning: as long as the embedder's Wait, once,
// or until it has failed. Those that have none are found by their words.
func (l *library) mean(ctx context.Context) {
	e := l.index.Embedder
	if e == nil {
		return
	}
	wait := time.NewTimer(e.Patience())
	defer wait.Stop()
	for {
		asking := l.ask(ctx)
		if asking == nil {
			return
		}
		select {
		case <-asking:
		case <-ctx.Done():
			return
		case <-wait.C:
			l.meaning.Lock()
			defer l.meaning.Unlock()
			l.late = l.asking == asking
			return
		}
	}
}

// ask has the embedder asked for what has no meaning yet, once at a time and beyond
// the search that wants it; nil: there is nothing to wait for.
func (l *library) ask(ctx context.Context) chan struct{} {
	l.meaning.Lock()
	defer l.meaning.Unlock()
	switch {
	case l.asking != nil && l.late:
		return nil
	case l.asking != nil:
		return l.asking
	case !l.bare || l.closed || time.Now().Before(l.rests):
		return nil
	}
	asking := make(chan struct{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.bare, l.late, l.asking, l.stop = false, false, asking, cancel
	go func() {
		err := errGoexit
		defer func() {
			cancel()
			l.meaning.Lock()
			defer l.meaning.Unlock()
			if l.asking, l.fault = nil, err; err != nil {
				l.bare, l.rests = true, time.Now().Add(restAfterFault)
			}
			close(asking)
		}()
		err = l.index.Embed(ctx)
	}()
	return asking
}

// close ends what asks the embedder.
func (l *library) close(ctx context.Context) error {
	l.meaning.Lock()
	l.closed = true
	asking, stop := l.asking, l.stop
	l.meaning.Unlock()
	if asking == nil {
		return nil
	}
	stop()
	select {
	case <-asking:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the embedder has not returned: %w", context.Cause(ctx))
	}
}
