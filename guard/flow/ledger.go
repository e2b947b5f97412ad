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
	// untrusted and private are the tools whose results stand in the session;
	// secret: of a private one, the sensitivity is secret.
	untrusted, private []place
	secret             bool
	agreed             map[string]bool
	used               []Capability
}

const (
	maxPlaces = 64   // more are one that has no name
	maxAgreed = 4096 // more are asked for again
	maxValues = 512  // of one call that are looked for in all texts
)

// Note takes in what a call returned, as the model will read it. Results of calls
// that did not run are not noted: they hold nothing that a tool wrote.
func (l *Ledger) Note(r *tool.Request, res tool.Result) {
	f := l.Rules
	if f.mode() == Off || r == nil {
		return
	}
	from, label := place{source: r.Source.Name, tool: r.Name}, f.label(r)
	trust, sensitivity := r.Source.Trust, tool.Internal
	if r.Tool != nil {
		from.tool, sensitivity = r.Tool.Name, r.Tool.OutputSensitivity
	}
	if o := res.Origin; o != nil { // a page of what another tool returned
		from, sensitivity = place{o.Source, o.Tool}, o.Sensitivity
		label = f.label(&tool.Request{Name: from.name(), Source: tool.Source{Name: o.Source}})
	}
	if t := res.Trust; t != nil && (*t < trust || t.Untrusted()) {
		trust = *t
	}
	secret := sensitivity >= tool.Secret
	n := &item{
		place: from, call: r.ID, secret: secret,
		untrusted: label.says(Untrusted, trust.Untrusted()),
		sensitive: label.says(Sensitive, secret),
	}
	// What a tool does not call public is private, but what stands on the web.
	private := label.says(Sensitive, secret || sensitivity != tool.Public && trust != tool.Web)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompts.hear(r.Caller.Prompt)
	for _, c := range capabilities()[:3] {
		if f.Has(r, c) {
			l.use(c)
		}
	}
	if n.untrusted {
		l.untrusted = stand(l.untrusted, from)
		l.use(Untrusted)
	}
	if private {
		l.private = stand(l.private, from)
		l.secret = l.secret || secret
	}
	if n.sensitive {
		l.use(Sensitive)
	}
	if !n.untrusted && !n.sensitive {
		return
	}
	for _, d := range destinations(r, f.label(r), leaves(r.Args.Text())) {
		if d.outside {
			n.at = append(n.at, d.value)
		}
	}
	l.found.add(n, res.String())
}

func stand(all []place, p place) []place {
	switch {
	case slices.Contains(all, p):
		return all
	case len(all) >= maxPlaces:
		return stand(all[:maxPlaces-1], place{}) // fits only a trust in all
	}
	return append(all, p)
}

func (l *Ledger) use(c Capability) {
	if !slices.Contains(l.used, c) {
		l.used = append(l.used, c)
	}
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
	if len(l.untrusted) == 0 && l.found.empty() {
		return Verdict{} // whatever it does, nobody could have asked for it but the person
	}
	external := f.Has(r, External)
	grave := f.Has(r, Destructive) || f.Has(r, Credential)
	if !external && !grave {
		return Verdict{}
	}
	l.found.settle()
	j := judgement{Ledger: l, r: r, all: leaves(r.Args.Text())}
	j.to = destinations(r, f.label(r), j.all)
	v := Verdict{shadow: f.mode() == Shadow}
	var leaks []*item
	for _, h := range j.copied(&v) {
		if external && (h.from.sensitive || !j.ownSource(h.from)) {
			leaks = append(leaks, h.from)
		}
	}
	if external {
		j.leads = links(j.all)
		leaks = append(leaks, j.steered(&v)...)
	}
	if len(leaks) > 0 {
		j.ask(&v, "a", slices.Concat(j.to, j.leads), placesOf(leaks))
	}
	standing := slices.Concat(l.untrusted, l.private)
	if external && j.wayOut() && len(l.untrusted) > 0 && len(l.private) > 0 && (!exact || l.secret) {
		j.ask(&v, "b", j.to, standing)
	}
	if len(l.untrusted) > 0 && !exact && grave {
		j.ask(&v, "c", j.to, l.untrusted)
	}
	return v
}

// Agree remembers that a person said yes: the same flows to the same destinations
// are not asked for again in this session. A no is not remembered.
func (l *Ledger) Agree(v Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.agreed == nil {
		l.agreed = make(map[string]bool)
	}
	for _, k := range v.keys {
		if len(l.agreed) < maxAgreed {
			l.agreed[k] = true
		}
	}
}

// Only lets a session have one of some capabilities, whichever comes first: an
// agent that may read untrusted content or act outside, not both. It returns why a
// call is not let through; the capability of one that is counts as used from then
// on, so that two calls at once cannot both be the first.
func (l *Ledger) Only(r *tool.Request, one ...Capability) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var has []Capability
	for _, c := range one {
		if l.Rules.Has(r, c) {
			has = append(has, c)
		}
	}
	if len(has) == 0 {
		return nil
	}
	for _, c := range one {
		if (slices.Contains(l.used, c) || slices.Contains(has, c)) && (len(has) > 1 || c != has[0]) {
			return fmt.Errorf("%s is %s, and this session may be only one of %s", r.Name, words(has), words(one))
		}
	}
	l.use(has[0])
	return nil
}

func words(all []Capability) string {
	text := make([]string, len(all))
	for i, c := range all {
		text[i] = string(c)
	}
	return strings.Join(text, ", ")
}

// judgement is the look at one call.
type judgement struct {
	*Ledger
	r   *tool.Request
	all []leaf
	to  []destination
	// leads are links in what is sent that untrusted results brought: whoever gets
	// it, a person or a program that shows pictures, is led there.
	leads []destination
}

// copied finds what came from earlier results, and says so in the verdict.
func (j *judgement) copied(v *Verdict) []hit {
	m := matcher{&j.found, j.prompts.wrote, maxValues}
	var all []hit
	for _, a := range j.all {
		for _, h := range m.match(a.value) {
			all = append(all, h)
			if c := (Copied{
				Argument: a.path, Start: h.start, End: h.end, How: h.how,
				Source: h.from.source, Tool: h.from.tool, Call: h.from.call, Untrusted: h.from.untrusted, Sensitive: h.from.sensitive,
			}); len(v.Copied) < maxCopied && !slices.Contains(v.Copied, c) {
				v.Copied = append(v.Copied, c)
			}
		}
	}
	return all
}

const (
	maxCopied = 64 // copies that are shown
	minPlace  = 3  // bytes of a destination that tell it from others
)

// steered are the untrusted results that a destination was taken from, however
// short it is: then strangers chose where the call goes, and that is not content
// on its way back to its source, be it the same server. What stands at the host it
// came from is.
func (j *judgement) steered(v *Verdict) []*item {
	var all []*item
	leads := j.leads
	j.leads = nil
	for i, d := range slices.Concat(j.to, leads) {
		if len(d.value) < minPlace || d.key == "" && !d.outside || j.prompts.named(j.r, d, j.all) {
			continue
		}
		for _, n := range slices.Backward(j.found.items) {
			if !n.untrusted || slices.Contains(n.at, d.value) || !wordIn(n.original, d.value) {
				continue
			}
			all = append(all, n)
			if i >= len(j.to) {
				j.leads = append(j.leads, d)
			}
			c := Copied{
				Argument: d.key, End: len(d.value), How: Exact,
				Source: n.source, Tool: n.tool, Call: n.call, Untrusted: true, Sensitive: n.sensitive,
			}
			if len(v.Copied) < maxCopied && !slices.ContainsFunc(v.Copied, func(o Copied) bool { return o.Call == c.Call && strings.HasPrefix(o.Argument, c.Argument) }) {
				v.Copied = append(v.Copied, c)
			}
			break
		}
	}
	return all
}

// ownSource reports whether content would only go back to where it came from: to
// the same server or host. An address of others that the server would pass it on
// to is another place.
func (j *judgement) ownSource(from *item) bool {
	outside := slices.ContainsFunc(j.to, func(d destination) bool { return d.outside && !slices.Contains(from.at, d.value) })
	if outside {
		return false
	}
	return from.source != "" && from.source == j.r.Source.Name ||
		len(from.at) > 0 && !slices.ContainsFunc(j.to, func(d destination) bool { return !d.outside })
}

// wayOut reports whether something could leave with the call. One that only reads,
// where its server stands and not where an argument says, is none.
func (j *judgement) wayOut() bool {
	return !j.r.Claims.ReadOnly || slices.Contains(j.Rules.label(j.r).Is, External) ||
		slices.ContainsFunc(j.to, func(d destination) bool { return d.outside })
}

// ask adds a flow to the verdict, unless every destination is one that the person
// named, has agreed to, or that the operator trusts with all that is in question.
func (j *judgement) ask(v *Verdict, flow string, to []destination, from []place) {
	asked := false
	for _, d := range to {
		key := flow + "\x00" + d.id(j.r)
		trusted := j.agreed[key] || j.prompts.named(j.r, d, j.all) ||
			!slices.ContainsFunc(from, func(p place) bool { return !j.Rules.trusts(p, j.r, d) })
		if trusted {
			continue
		}
		asked = true
		v.keys = append(v.keys, key)
		if !slices.Contains(v.To, d.value) {
			v.To = append(v.To, d.value)
		}
	}
	if asked {
		v.Flows = append(v.Flows, flow)
	}
}

func placesOf(items []*item) []place {
	var all []place
	for _, n := range items {
		if !slices.Contains(all, n.place) {
			all = append(all, n.place)
		}
	}
	return all
}
