package flow

import (
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// judgement is the look at one call.
type judgement struct {
	*Ledger
	r   *tool.Request
	far reach
	all []leaf
	to  []destination
	// leads are links in what is sent that untrusted results brought: whoever gets
	// it, a person or a program that shows pictures, is led there.
	leads []destination
	over  bool // there is more in the arguments than is looked at
}

// copied is a part of an argument that came from an earlier result.
type copied struct {
	hit
	value string // of the argument
}

// copied finds what came from earlier results, and says so in the verdict.
func (j *judgement) copied(v *Verdict) []copied {
	m := matcher{index: &j.found, own: j.prompts.wrote, values: maxValues, told: j.far == told}
	var all []copied
	for i, a := range slices.Concat(j.all, joined(j.all)) {
		m.joined = i >= len(j.all)
		for _, h := range m.match(a.value) {
			all = append(all, copied{h, a.value})
			c := Copied{
				Argument: a.path, Start: h.start, End: h.end, How: h.how,
				Source: h.from.source, Tool: h.from.tool, Call: h.from.call, Untrusted: h.from.untrusted, Sensitive: h.from.sensitive,
			}
			known := slices.ContainsFunc(v.Copied, func(o Copied) bool { return o == c || m.joined && o.Call == c.Call })
			if !known && len(v.Copied) < maxCopied { // of what is joined each argument may be told already
				v.Copied = append(v.Copied, c)
			}
		}
	}
	j.over = m.over
	return all
}

const (
	maxCopied = 64 // copies that are shown
	minPlace  = 3  // bytes of a destination that tell it from others
)

// leaks are where the content came from that would leave with the call.
func (j *judgement) leaks(v *Verdict, copies []copied) []place {
	var all, pieces []*item
	size, closely := 0, j.far == told || j.somewhere()
	for i, c := range copies {
		switch {
		case c.from.sensitive, !j.ownSource(c.from) && (closely || c.carries()):
			all = append(all, c.from)
		case !j.ownSource(c.from) && !path(c.value):
			pieces = append(pieces, c.from)
			if i == 0 || copies[i-1].value != c.value || copies[i-1].start != c.start { // else it is the same, from elsewhere
				size += c.end - c.start
			}
		}
	}
	if size >= maxPieces {
		all = append(all, pieces...)
	}
	leads, more := links(j.all)
	all = append(all, j.steered(v, leads)...)
	if more {
		j.over = true
		j.leads = append(j.leads, destination{value: j.r.Name}) // wherever the others lead
	}
	return placesOf(all)
}

// unseen are where content may have come from that the arguments cannot be
// compared with: it was read elsewhere, or is forgotten, or there is more in the
// arguments than is looked at.
func (j *judgement) unseen() []place {
	untrusted, private := j.found.lost.untrusted, j.found.lost.private
	if j.elsewhere || j.over {
		untrusted, private = j.untrusted, j.private
	}
	if len(untrusted)+len(private) == 0 || j.onlyBack(untrusted, private) || !j.mayCarry(len(private) > 0) {
		return nil
	}
	return slices.Concat(untrusted, private)
}

// maxPieces is how many bytes of words, together, are content.
const maxPieces = 4 * minRun

// steered are the untrusted results that a destination was taken from, however
// short it is: then strangers chose where the call goes, and that is not content
// on its way back to its source, be it the same server. What stands at the host it
// came from is, and so is a path or an id that the server itself gave.
func (j *judgement) steered(v *Verdict, leads []destination) []*item {
	var all []*item
	for i, d := range slices.Concat(j.to, leads) {
		if len(d.value) < minPlace || d.key == "" && !d.outside || j.prompts.named(j.r, d, j.all) {
			continue
		}
		folded := fold(d.value, nil).text
		for _, n := range slices.Backward(j.found.items) {
			if !n.untrusted || n.original == "" || slices.Contains(n.at, d.value) || !j.chosen(d, n, i >= len(j.to)) {
				continue
			}
			if n.plain && len(folded) >= minExact && !n.may(folded) || !wordIn(n.original, d.value) {
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

// onlyBack is ownSource for results whose texts are not here.
func (j *judgement) onlyBack(untrusted, private []place) bool {
	return len(private) == 0 && j.r.Source.Name != "" &&
		!slices.ContainsFunc(untrusted, func(p place) bool { return p.source != j.r.Source.Name }) &&
		!slices.ContainsFunc(j.to, func(d destination) bool { return d.outside })
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
		key := keyOf(flow, d.id(j.r))
		trusted := j.agreed[key] || v.Shadow && j.told[key] || j.prompts.named(j.r, d, j.all) ||
			!slices.ContainsFunc(from, func(p place) bool { return !j.Rules.trusts(p, j.r, d) })
		if trusted {
			continue
		}
		asked = true
		v.self = d.key == "" && !d.outside && (len(v.keys) == 0 || v.self)
		v.keys = append(v.keys, key)
		if !slices.Contains(v.To, d.value) {
			v.To = append(v.To, d.value)
		}
	}
	if asked {
		v.Flows = append(v.Flows, flow)
	}
}

// notSeen is why an argument may be a copy that was not found; "": there is none.
func (j *judgement) notSeen() string {
	switch {
	case j.elsewhere:
		return "another process, or this one before it was restarted, has read results in this session that are not known here"
	case len(j.found.lost.untrusted)+len(j.found.lost.private) > 0:
		return "some of what this session has read is too much to be compared with"
	case j.over:
		return "there is more in the arguments than is looked at"
	}
	return ""
}

// ends is how the operator can have the flows of a verdict not asked for: those that
// a rule with the exact name is past, by that, and all by trust.
func (j *judgement) ends(v *Verdict) string {
	var ways []string
	byName := !slices.Contains(v.Flows, "a") && (!slices.Contains(v.Flows, "b") || !j.secret)
	if byName {
		ways = append(ways, "allow "+shown(j.r.Name)+" by its exact name")
	}
	if slices.Equal(v.Flows, []string{"c"}) {
		var not []Capability
		for _, c := range []Capability{Destructive, Credential} {
			if j.Rules.Has(j.r, c) {
				not = append(not, c)
			}
		}
		ways = append(ways, "label it not: ["+words(not)+"] in content.tools")
	}
	return strings.Join(append(ways, "trust the flow in content.flow"), ", or ")
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
