package flow

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kept is what a session must not forget, in whichever process it goes on. It holds
// nothing that anybody wrote: which tools' results stand in the session, and what a
// person agreed to, by its hash.
type kept struct {
	// untrusted and private are the tools whose results stand in the session;
	// secret: of a private one, the sensitivity is secret.
	untrusted, private []place
	secret             bool
	agreed             map[string]bool
	used               []Capability
	readers            []string // the ids of ledgers that hold the texts of results
}

// keptForm is kept as JSON.
type keptForm struct {
	Readers   []string     `json:"readers,omitempty"`
	Untrusted [][2]string  `json:"untrusted,omitempty"` // source and tool
	Private   [][2]string  `json:"private,omitempty"`
	Secret    bool         `json:"secret,omitempty"`
	Agreed    []string     `json:"yes,omitempty"` // "agreed" once held what shadow saw, too
	Used      []Capability `json:"used,omitempty"`
}

// keyOf is what a yes is remembered by.
func keyOf(flow, id string) string {
	sum := sha256.Sum256([]byte(flow + "\x00" + id))
	return flow + base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Changes counts how often what must be kept of the session has become another.
func (l *Ledger) Changes() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes
}

// Save gives what must be kept of the session. Had is what is kept of it now, also
// by others: nothing of it is lost. Nil: nothing is. It is a few hundred bytes.
func (l *Ledger) Save(had json.RawMessage) (json.RawMessage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.load(had)
	f := keptForm{Untrusted: pairs(l.untrusted), Private: pairs(l.private), Secret: l.secret, Agreed: slices.Sorted(maps.Keys(l.agreed))}
	f.Readers, f.Used = slices.Sorted(slices.Values(l.readers)), slices.Sorted(slices.Values(l.used))
	if len(f.Untrusted)+len(f.Private)+len(f.Agreed)+len(f.Used) == 0 {
		return nil, err
	}
	text, failure := json.Marshal(f)
	return text, errors.Join(err, failure)
}

// Load takes in what is kept of the session, and reports whether that was news.
// What cannot be read counts as a session where everything stands.
func (l *Ledger) Load(had json.RawMessage) (news bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.changes
	err = l.load(had)
	return l.changes != before, err
}

func (l *Ledger) load(had json.RawMessage) error {
	if len(had) == 0 {
		return nil
	}
	var f keptForm
	err := json.Unmarshal(had, &f)
	if err != nil {
		f = keptForm{Readers: []string{"unknown"}, Untrusted: make([][2]string, 1), Private: make([][2]string, 1), Secret: true, Used: capabilities()}
		err = fmt.Errorf("flow: what is kept of the session: %w", err)
	}
	for _, p := range f.Untrusted {
		l.stand(&l.untrusted, place{p[0], p[1]})
	}
	for _, p := range f.Private {
		l.stand(&l.private, place{p[0], p[1]})
	}
	if f.Secret && !l.secret {
		l.secret = true
		l.changes++
	}
	for _, k := range f.Agreed {
		l.agree(k)
	}
	for _, c := range f.Used {
		if slices.Contains(capabilities(), c) {
			l.use(c)
		}
	}
	for _, id := range f.Readers {
		l.readBy(id)
	}
	return err
}

// stand notes that results of a tool stand in the session.
func (l *Ledger) stand(all *[]place, p place) {
	now := withPlace(*all, p)
	if !slices.Equal(now, *all) {
		l.changes++
	}
	*all = now
}

// withPlace adds a place. Too many are one that fits only a trust in all.
func withPlace(all []place, p place) []place {
	switch {
	case slices.Contains(all, p):
		return all
	case len(all) < maxPlaces:
		return append(all, p)
	case slices.Contains(all, place{}):
		return all
	}
	return append(slices.Clip(all[:maxPlaces-1]), place{})
}

func (l *Ledger) agree(key string) {
	if l.agreed[key] || len(l.agreed) >= maxAgreed || len(key) > 64 {
		return
	}
	if l.agreed == nil {
		l.agreed = make(map[string]bool)
	}
	l.agreed[key] = true
	l.changes++
}

func (l *Ledger) use(c Capability) {
	if !slices.Contains(l.used, c) {
		l.used = append(l.used, c)
		l.changes++
	}
}

// read notes that this ledger holds the text of a result.
func (l *Ledger) read() {
	if l.id == "" {
		l.id = strings.ToLower(rand.Text()[:8])
	}
	l.readBy(l.id)
}

// maxReaders is how many are kept: with two each knows of another.
const maxReaders = 3

func (l *Ledger) readBy(id string) {
	if id != l.id {
		l.elsewhere = true
	}
	if len(id) <= 16 && len(l.readers) < maxReaders && !slices.Contains(l.readers, id) {
		l.readers = append(l.readers, id)
		l.changes++
	}
}

func pairs(all []place) [][2]string {
	var two [][2]string
	for _, p := range all {
		two = append(two, [2]string{p.source, p.tool})
	}
	slices.SortFunc(two, func(a, b [2]string) int { return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1]) })
	return two
}
