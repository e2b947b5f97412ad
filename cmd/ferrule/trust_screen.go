package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// trustScreen is all that a person is shown about a server.
type trustScreen struct {
	Server   string        `json:"server"`
	Identity string        `json:"identity"`           // how it is reached
	Deciding []string      `json:"deciding,omitempty"` // variables that decide what runs
	Digest   string        `json:"digest"`             // names what is shown
	Answer   *trustAnswer  `json:"answer"`             // the last; null: nobody has answered
	Trust    tool.Trust    `json:"trust"`
	Believe  []string      `json:"believe"` // tools whose hints are believed; "*": all
	Tools    []trustedTool `json:"tools"`
	Unusable []absent      `json:"unusable"` // what cannot be offered whatever is answered
	Totals   trustTotals   `json:"totals"`
	Content  []remark      `json:"content,omitempty"` // in what it says of itself, as of tools

	pinned mcptool.Pinned
	rules  []policy.Grant // that an answer has made
}

// trustAnswer is an answer that was given.
type trustAnswer struct {
	Said string    `json:"said"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	// Earlier: for the server as it was before; see mcptool.PinAnswer.
	Earlier bool `json:"earlier,omitempty"`
}

// trustedTool is one tool on the screen.
type trustedTool struct {
	Number int    `json:"number"`
	Tool   string `json:"tool"` // as the server calls it
	Name   string `json:"name"` // as models do
	// Says are its hints, in words; none: it says nothing. Reads: it says that it only
	// reads, and there is nothing against that.
	Says     []string         `json:"says"`
	Reads    bool             `json:"reads"`
	Destroys bool             `json:"destroys"` // it says so
	State    mcptool.PinState `json:"state"`
	Findings []string         `json:"findings"`
	Content  []remark         `json:"content,omitempty"` // what reads like an attempt to steer a model; it decides nothing
	Tokens   int              `json:"tokens"`            // of its definition, about
	// Stands is what becomes of its calls: allowed, asked for, denied, by arguments; or
	// that it is left out, or not offered. Rule says by which rule.
	Stands      string `json:"stands"`
	Rule        string `json:"rule,omitempty"`
	Description string `json:"description"`

	pin     mcptool.Pin
	trusted bool // an answer for the server is what allows it
	mild    bool // it says that it only reads, or that it destroys nothing
	seen    bool // it was printed, with all that was found about it
}

// waits reports whether the tool would have to be accepted.
func (t *trustedTool) waits() bool { return t.pin.Now != nil }

// trustTotals counts tools.
type trustTotals struct {
	Tools    int `json:"tools"`
	Reads    int `json:"reads"`
	Destroys int `json:"destroys"`
	Silent   int `json:"silent"` // they say nothing
	Findings int `json:"findings"`
	Content  int `json:"content"` // something in them reads like an attempt to steer a model
	Allowed  int `json:"allowed"`
	Tokens   int `json:"tokens"`
}

// How tools stand beside what becomes of their calls.
const (
	standsOut        = "left out"
	standsNotOffered = "not offered"
)

// screen is the server as it is now.
func (t *trustee) screen(ctx context.Context) (*trustScreen, error) {
	pinned, err := t.h.hub.Pinned(t.server.Name) // as it is reached here, and in no other way
	if err != nil {
		return nil, err
	}
	grants, err := t.h.kept.Grants(ctx, policy.Asker{Principal: localUser})
	if err != nil {
		return nil, err
	}
	s := &trustScreen{
		Server: t.server.Name, Identity: mcptool.Visible(pinned.Identity), Trust: trustOf(t.server), Believe: append([]string{}, t.server.Believe...),
		Deciding: decidingLines(t.server), Tools: []trustedTool{}, Unusable: []absent{}, pinned: pinned,
	}
	if t.server.BelieveAll {
		s.Believe = []string{"*"}
	}
	if a := pinned.Answer; a != nil {
		s.Answer = &trustAnswer{a.Said, a.By, a.At, a.Earlier}
	}
	for _, g := range grants {
		if g.Source == t.server.Name && g.Pin != "" {
			s.rules = append(s.rules, g)
		}
	}
	t.fill(s, standingGrants(s.Server, grants))
	s.Digest = s.digest()
	return s, nil
}

// standingGrants are the rules for all calls of single tools of a server, in every
// session, by the pin that they are for; those that are for none are under "".
func standingGrants(server string, grants []policy.Grant) map[string][]policy.Grant {
	found := make(map[string][]policy.Grant)
	for _, g := range grants {
		if g.Source != server || g.Caller.Session != "" {
			continue
		}
		if rule, err := policy.ParseRule(g.Rule, ""); err == nil && rule.Inside() == "" {
			found[g.Pin] = append(found[g.Pin], g)
		}
	}
	return found
}

// fill adds the tools.
func (t *trustee) fill(s *trustScreen, grants map[string][]policy.Grant) {
	offered := make(map[string]ferrule.Resolved)
	for r := range t.h.rt.All() {
		if r.Source.Name == s.Server {
			offered[r.Info.Name] = r
		}
	}
	known := make(map[string]bool)
	for _, pin := range s.pinned.Tools {
		if known[pin.Tool] = true; pin.State == mcptool.PinGone {
			continue
		}
		one := trustedTool{Number: len(s.Tools) + 1, Tool: pin.Tool, Name: t.called(pin.Tool), State: pin.State, Findings: append([]string{}, pin.Findings...), pin: pin}
		if pin.Why != "" && pin.Now != nil {
			one.Findings = []string{pin.Why}
		}
		if pin.State == mcptool.PinNew && len(one.Findings) == 0 {
			one.Findings = []string{"it is new to the server, and was not accepted yet"}
		}
		one.read(pin.Definition())
		one.Content = lookAt(t.h.rt.Guard.Finder(), pin.Definition())
		if r, ok := offered[pin.Tool]; ok && r.Info.Pin == pin.Key {
			one.Name = r.Name
			one.Reads = one.Reads && pin.State == mcptool.PinAccepted && len(one.Findings) == 0 && r.Info.Claims.ReadOnly
			t.stand(&one, r, grants)
		} else {
			one.Reads, one.Stands = false, standsNotOffered
			if pin.Rejected != "" {
				one.Stands, one.Rule = standsOut, mcptool.Visible(pin.Rejected)
			}
		}
		s.Tools = append(s.Tools, one)
		s.Totals.add(&one)
	}
	for _, status := range t.h.hub.Status() {
		if status.Name == s.Server {
			s.Content = remarksOn(t.h.rt.Guard.Finder(), status)
		}
		for _, q := range status.Quarantined {
			if status.Name == s.Server && !known[q.Tool] {
				s.Unusable = append(s.Unusable, absent{q.Tool, q.Why})
			}
		}
	}
}

func (n *trustTotals) add(t *trustedTool) {
	for _, c := range []struct {
		of *int
		is bool
	}{
		{&n.Tools, true},
		{&n.Reads, t.Reads},
		{&n.Destroys, t.Destroys},
		{&n.Silent, len(t.Says) == 0},
		{&n.Findings, len(t.Findings) > 0},
		{&n.Content, len(t.Content) > 0},
		{&n.Allowed, t.Stands == becomes("allow")},
	} {
		if c.is {
			*c.of++
		}
	}
	n.Tokens += t.Tokens
}

// called is what models call a tool of the server.
func (t *trustee) called(name string) string {
	if t.server.Unprefixed && !strings.Contains(name, "__") {
		return tool.WireName("", name)
	}
	return tool.WireName(t.server.Name, name)
}

// bytesPerToken is an estimate, for texts as they are in definitions.
const bytesPerToken = 4

// read takes from a definition what is shown.
func (t *trustedTool) read(definition json.RawMessage) {
	var d struct {
		Description string                     `json:"description"`
		Title       string                     `json:"title"`
		Input       json.RawMessage            `json:"inputSchema"`
		Hints       map[string]json.RawMessage `json:"annotations"`
	}
	_ = json.Unmarshal(definition, &d) // what has another type is not there
	t.Description = cmp.Or(strings.TrimSpace(d.Description), strings.TrimSpace(d.Title))
	t.Tokens = (len(t.Name) + len(d.Description) + len(d.Input) + bytesPerToken - 1) / bytesPerToken
	said := func(hint string) string { return string(d.Hints[hint]) }
	t.Destroys = said("destructiveHint") == "true"
	t.Reads = said("readOnlyHint") == "true" && !t.Destroys
	t.mild = t.Reads || said("destructiveHint") == "false"
	t.Says = []string{}
	for _, w := range []struct{ hint, value, word string }{
		{"readOnlyHint", "true", "reads only"},
		{"readOnlyHint", "false", "writes"},
		{"destructiveHint", "true", "DESTROYS"},
		{"destructiveHint", "false", "destroys nothing"},
		{"idempotentHint", "true", "idempotent"},
		{"openWorldHint", "true", "open world"},
		{"openWorldHint", "false", "closed world"},
	} {
		if said(w.hint) == w.value {
			t.Says = append(t.Says, w.word)
		}
	}
	if said("readOnlyHint") == "true" && t.Destroys {
		t.Findings = append(t.Findings, "it says that it only reads and that it destroys: one of them is not so")
	}
}

// stand says what becomes of the calls of a tool that is offered.
func (t *trustee) stand(one *trustedTool, r ferrule.Resolved, grants map[string][]policy.Grant) {
	verdict, rule := t.h.beforehand(r)
	one.Stands, one.Rule = becomes(verdict), rule
	if verdict != "ask" {
		return
	}
	call := &tool.Request{
		Caller: tool.Caller{Principal: localUser, Client: client}, Source: r.Source, Tool: &r.Info, Name: r.Name, CalledAs: r.Name, Claims: r.Claims,
	}
	for _, g := range append(slices.Clone(grants[""]), grants[one.pin.Key]...) { // what stays comes first
		if g.Answers(call, r.Definition) {
			one.Stands, one.Rule, one.trusted = becomes("allow"), "rule "+g.ID, g.Pin != ""
			return
		}
	}
}

// digest names what is shown: how the server is reached, its tools, what was
// answered, and the rules of that.
func (s *trustScreen) digest() string {
	h := sha256.New()
	line := func(words ...string) { fmt.Fprintf(h, "%q\n", words) }
	line(s.Server, s.pinned.Identity)
	if s.Answer != nil {
		line(s.Answer.Said, s.Answer.By)
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		line(t.Tool, t.pin.Digest, string(t.State), t.pin.Rejected)
	}
	ids := make([]string, 0, len(s.rules))
	for _, g := range s.rules {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	line(ids...)
	return "t" + shownDigest(h.Sum(nil))
}
