package flow

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// Ledger is what a session knows of the data in it. The zero value is an empty one
// that enforces; it is safe for concurrent use, and its size is bounded whatever
// the session does.
type Ledger struct {
	Rules *Rules // nil: the zero Rules

	mu      sync.Mutex
	found   index
	prompts prompts
	kept
	// elsewhere: another process has read results of this session. Their texts are
	// not here, so that every argument may have come from them.
	elsewhere bool
	// told is what shadow has put on the record. Nobody agreed to it: it is neither
	// kept nor heeded where the flow of data is enforced.
	told    map[string]bool
	id      string // of this ledger, in what is kept
	changes uint64 // of kept
}

const (
	maxPlaces = 64   // more are one that has no name
	maxAgreed = 1024 // more are asked for again
	maxValues = 4096 // of one call that are looked for in all texts
)

// Noted is what a ledger took in of a result. The zero value: nothing.
type Noted struct {
	Source    string `json:"source,omitempty"` // of the content; "": the program's own
	Tool      string `json:"tool"`
	Untrusted bool   `json:"untrusted,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Notes is what a ledger with these rules would take in of a result.
func (f *Rules) Notes(r *tool.Request, res *tool.Result) Noted {
	if f.mode() == Off || r == nil {
		return Noted{}
	}
	n, _ := f.noted(r, res)
	if !n.Untrusted && !n.Sensitive {
		return Noted{}
	}
	return n
}

func (f *Rules) noted(r *tool.Request, res *tool.Result) (n Noted, secret bool) {
	n.Source, n.Tool = r.Source.Name, r.Name
	label := f.label(r)
	trust, sensitivity := r.Source.Trust, tool.Internal
	if r.Tool != nil {
		n.Tool, sensitivity = r.Tool.Name, r.Tool.OutputSensitivity
	}
	if o := res.Origin; o != nil { // a page of what another tool returned
		n.Source, n.Tool, sensitivity = o.Source, o.Tool, o.Sensitivity
		if f != nil && len(f.Labels) > 0 {
			label = f.label(&tool.Request{Name: place{o.Source, o.Tool}.name(), Source: tool.Source{Name: o.Source}})
		}
	}
	if t := res.Trust; t != nil && (*t < trust || t.Untrusted()) {
		trust = *t
	}
	secret = sensitivity >= tool.Secret
	n.Untrusted, n.Sensitive = label.says(Untrusted, trust.Untrusted()), label.says(Sensitive, secret)
	return n, secret
}

// Note takes in what a call returned, as the model will read it. Results of calls
// that did not run are not noted: they hold nothing that a tool wrote.
func (l *Ledger) Note(r *tool.Request, res tool.Result) Noted {
	f := l.Rules
	if f.mode() == Off || r == nil {
		return Noted{}
	}
	n, secret := f.noted(r, &res)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompts.hear(r.Caller.Prompt)
	if f != nil && len(f.OnlyOne) > 0 {
		for _, c := range f.OnlyOne {
			if c != Untrusted && c != Sensitive && f.Has(r, c) || c == Untrusted && n.Untrusted || c == Sensitive && n.Sensitive {
				l.use(c)
			}
		}
	}
	if !n.Untrusted && !n.Sensitive {
		return Noted{}
	}
	from := place{n.Source, n.Tool}
	if n.Untrusted {
		l.stand(&l.untrusted, from)
	}
	if n.Sensitive {
		l.stand(&l.private, from)
		if secret && !l.secret {
			l.secret = true
			l.changes++
		}
	}
	l.read()
	l.found.add(item{place: from, call: r.ID, untrusted: n.Untrusted, sensitive: n.Sensitive}, r, res.String(), f)
	return n
}

// Judge looks at a call before it runs. Exact: a rule allows it by the exact name
// of its tool, whose definition is pinned and accepted; such a call is past (b) and
// (c). It takes nothing in but the prompt: a yes is told to [Ledger.Agree]. Of a call
// that neither reaches outside nor destroys nor touches credentials there is nothing
// to say.
func (l *Ledger) Judge(r *tool.Request, exact bool) Verdict {
	f := l.Rules
	if f.mode() == Off || r == nil {
		return Verdict{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompts.hear(r.Caller.Prompt)
	if f != nil && len(f.OnlyOne) > 0 {
		if v := l.another(r); v.Refused != "" {
			return v
		}
	}
	if len(l.untrusted) == 0 && len(l.private) == 0 {
		return Verdict{} // whatever it does, nobody could have asked for it but the person
	}
	far := f.reach(r)
	grave := f.Has(r, Destructive) || f.Has(r, Credential)
	if far == stays && !grave {
		return Verdict{}
	}
	l.found.settle(f)
	j := judgement{Ledger: l, r: r, far: far, all: leaves(r.Args.Text())}
	j.to = destinations(r, f.label(r), j.all)
	v := Verdict{Shadow: f.mode() == Shadow}
	standing := slices.Concat(l.untrusted, l.private)
	copies := j.copied(&v)
	if far != stays {
		from := j.leaks(&v, copies)
		if from = append(from, j.unseen()...); len(from) > 0 {
			j.ask(&v, "a", slices.Concat(j.places(), j.leads), from)
		}
		if j.wayOut() && len(l.untrusted) > 0 && len(l.private) > 0 && (!exact || l.secret) {
			j.ask(&v, "b", j.places(), standing)
		}
	}
	if len(l.untrusted) > 0 && !exact && grave {
		j.ask(&v, "c", j.to, l.untrusted)
	}
	if len(v.Flows) > 0 {
		v.Unseen, v.ends = j.notSeen(), j.ends(&v)
	}
	return v
}

// Trace finds the arguments of a call, whatever it does, that came from untrusted
// or sensitive results: to point them out to who is asked about it.
func (l *Ledger) Trace(r *tool.Request) []Copied {
	if l.Rules.mode() == Off || r == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found.empty() {
		return nil
	}
	l.found.settle(l.Rules)
	j := judgement{Ledger: l, r: r, all: leaves(r.Args.Text())}
	var v Verdict
	j.copied(&v)
	return v.Copied
}

// Agree remembers that a person said yes: the same flows to the same destinations
// are not asked for again in this session. A no is not remembered. Of a verdict of
// shadow, which nobody was asked about, it remembers only that it was told.
func (l *Ledger) Agree(v Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range v.keys {
		if !v.Shadow {
			l.agree(k)
			continue
		}
		if l.told == nil {
			l.told = make(map[string]bool)
		}
		if len(l.told) < maxAgreed {
			l.told[k] = true
		}
	}
}

// Only is for a call that is about to run: it refuses one that a session which has
// one of [Rules].OnlyOne does not let through. The capability of one that is let
// through counts as used from then on, so that two calls at once cannot both be the
// first.
func (l *Ledger) Only(r *tool.Request) Verdict {
	if l.Rules.mode() == Off || l.Rules == nil || len(l.Rules.OnlyOne) == 0 {
		return Verdict{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.another(r); v.Refused != "" {
		return v
	}
	for _, c := range l.Rules.OnlyOne {
		if l.Rules.Has(r, c) {
			l.use(c)
		}
	}
	return Verdict{}
}

// another refuses a call that has a capability beside the one that the session has,
// or two by itself: that is so of every tool of a server that nobody labelled, as
// strangers write what it returns and nobody says that it stays here.
func (l *Ledger) another(r *tool.Request) Verdict {
	one := l.Rules.OnlyOne
	var has []Capability
	for _, c := range one {
		if l.Rules.Has(r, c) {
			has = append(has, c)
		}
	}
	i := slices.IndexFunc(l.used, func(c Capability) bool { return slices.Contains(one, c) && !slices.Contains(has, c) })
	switch {
	case len(has) > 1:
		return Verdict{never: true, Refused: fmt.Sprintf(
			"%s may be %s at once, as far as anybody said, and a session may have only one of these: if it is not, say so in content.tools, such as %q: {not: [%s]}",
			r.Name, strings.ReplaceAll(words(has), ", ", " and "), r.Name, has[len(has)-1])}
	case len(has) == 1 && i >= 0:
		return Verdict{Refused: fmt.Sprintf("%s is %s, and this session has had %s: it may have only one of %s", r.Name, has[0], l.used[i], words(one))}
	}
	return Verdict{}
}

func words(all []Capability) string {
	text := make([]string, len(all))
	for i, c := range all {
		text[i] = string(c)
	}
	return strings.Join(text, ", ")
}
