package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// showRules gives the pages the rules: those that this process enforces, whatever the
// file says by now.
func (d *door) showRules(c *web.Console) {
	set, ok := d.h.rt.Policy.(*cedar.Set)
	if !ok { // which it always is
		return
	}
	c.Rules = func(ctx context.Context) (web.Rules, error) { return d.ruled(ctx, set) }
	c.Revoke = func(ctx context.Context, id, reason string) error {
		return d.govern(ctx, id, func(c *config.Config, l lasting) ([]policy.Grant, error) {
			return nil, d.p.revoke(ctx, c, d.h.kept.Store, l, reason)
		})
	}
	c.Replace = func(ctx context.Context, id, rule string, second bool) error {
		return d.govern(ctx, id, func(c *config.Config, l lasting) ([]policy.Grant, error) {
			if l.file == nil && l.stored == nil {
				return nil, usage("rules edit: %s is not in the file any more: revoke it", l.ID)
			}
			g, err := d.p.edit(ctx, c, d.h.kept.Store, l, rule, second)
			if err != nil || l.stored != nil {
				return nil, err
			}
			return []policy.Grant{answers(g)}, nil
		})
	}
	c.Explain = func(ctx context.Context, in web.Imagined) (web.Explained, error) { return d.explain(ctx, set, in) }
}

// had is the configuration that this process goes on with.
func (d *door) had() reading {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.was
}

// govern does something to a rule, in the store, in the file and in this process at
// once. Instead are what answers in its place here, where the store does not.
func (d *door) govern(ctx context.Context, id string, do func(*config.Config, lasting) (instead []policy.Grant, err error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, list, _, err := d.lasting(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(l lasting) bool { return l.ID == id })
	if i < 0 {
		return fmt.Errorf("rules: nothing has the id %q: it was taken back already", id)
	}
	same := !d.was.differs(readingOf(d.was.path))
	instead, err := do(c, list[i])
	if err != nil {
		return err
	}
	d.h.kept.exchange(answers(list[i].grant).ID, instead...)
	if same { // else what others wrote there is still to be told of
		d.was = readingOf(d.was.path)
	}
	return nil
}

// Where rules of the configuration stand that this process and the file do not agree on.
const (
	lostLater = "it stands in the file since this was started, and counts from the next start on"
	whereHere = "this process, until it ends"
)

// lasting are the rules that were made of answers, as the store and the file have them
// now, and as this process does. Wrong is why the file cannot be used; "": it can.
func (d *door) lasting(ctx context.Context) (c *config.Config, list []lasting, wrong string, err error) {
	if c, err = d.p.load(); err != nil {
		c, wrong = d.h.config, err.Error()
	}
	if list, err = lastingRules(ctx, c, d.h.kept.Store); err != nil {
		return nil, nil, "", err
	}
	d.p.markLost(d.h.config, list)
	here := make(map[string]policy.Grant)
	for _, g := range d.h.kept.standing() {
		here[g.ID] = g
	}
	for i := range list {
		l := &list[i]
		name := answers(l.grant).ID
		if _, ok := here[name]; !ok && l.stored == nil {
			l.Lost = cmp.Or(l.Lost, lostLater)
		}
		delete(here, name)
	}
	for _, g := range here {
		list = append(list, lasting{
			ID: g.ID, Rule: g.Rule, Where: []string{whereHere}, Principal: g.Caller.Principal, Tenant: g.Caller.Tenant,
			Source: g.Source, Second: g.Second, grant: g,
		})
	}
	return c, list, wrong, nil
}

// ruled are the rules.
func (d *door) ruled(ctx context.Context, set *cedar.Set) (web.Rules, error) {
	c := d.h.config
	r := web.Rules{Mode: d.h.rt.Mode.String(), File: d.p.short(d.p.fileOf(c)), Written: []web.Rule{}, Lasting: []web.Lasting{}, Tools: []string{}}
	d.mu.Lock()
	_, list, wrong, err := d.lasting(ctx)
	changed := d.was.differs(readingOf(d.was.path))
	d.mu.Unlock()
	if err != nil {
		return r, err
	}
	for _, l := range list {
		r.Lasting = append(r.Lasting, shownLasting(l))
	}
	slices.SortStableFunc(r.Lasting, func(a, b web.Lasting) int { // what counts first, then the newest
		return cmp.Or(strings.Compare(a.Lost, b.Lost), b.Made.Compare(a.Made), strings.Compare(a.Rule, b.Rule))
	})
	anything := &tool.Request{Tool: &tool.Info{Name: "anything"}, Name: "anything"}
	for _, one := range set.Explain(anything).Rules {
		one.Err = nil // of the call that there is not
		r.Written = append(r.Written, d.written(one))
	}
	for t := range d.h.rt.All() {
		r.Tools = append(r.Tools, t.Name)
	}
	slices.Sort(r.Tools)
	r.Tools = slices.Compact(r.Tools)
	switch {
	case wrong != "":
		r.Notes = append(r.Notes, "what this process read at its start counts: "+wrong)
	case changed:
		r.Notes = append(r.Notes, filepath.Base(r.File)+" has changed: what is shown here was read at the start, and counts until this is started again")
	}
	if n := len(c.Limits.Rates); n > 0 {
		r.Also = append(r.Also, plural(int64(n), "limit bounds", "limits bound")+" how often tools may be called, whatever the rules say")
	}
	if n := len(c.Hooks); n > 0 {
		r.Also = append(r.Also, plural(int64(n), "hook looks", "hooks look")+" at calls too, and may deny or change them")
	}
	return r, nil
}

// written is a rule of a file.
func (d *door) written(r cedar.RuleReport) web.Rule {
	shown := web.Rule{ID: r.ID, Effect: r.Effect.String(), Text: strings.TrimSpace(r.Text), Where: fmt.Sprintf("%s, line %d", r.File, r.Line)}
	if r.File == shown.Effect { // a short one
		shown.Text = strings.TrimPrefix(shown.Text, shown.Effect+": ")
		shown.Where = fmt.Sprintf("%s, %s %d", filepath.Base(d.p.fileOf(d.h.config)), r.File, r.Line)
	}
	if r.Err != nil {
		shown.Fault = r.Err.Error()
	}
	return shown
}

func shownLasting(l lasting) web.Lasting {
	shown := web.Lasting{
		ID: l.ID, Rule: l.Rule, For: whom(l.grant.Caller), Session: l.Session, Source: l.Source, Second: l.Second, Pin: l.Pin != "",
		By: l.By, Where: append([]string{}, l.Where...), Lost: l.Lost,
	}
	if l.Made != nil {
		shown.Made = l.Made.UTC().Truncate(time.Millisecond)
	}
	return shown
}

// explain says what would become of a call by the rules of this process.
func (d *door) explain(ctx context.Context, set *cedar.Set, in web.Imagined) (web.Explained, error) {
	mode := d.h.rt.Mode
	if in.Mode != "" {
		if err := mode.UnmarshalText([]byte(in.Mode)); err != nil {
			return web.Explained{}, err
		}
	}
	if len(in.Args) == 0 {
		in.Args = json.RawMessage("{}")
	}
	q, known, notes, err := d.imagine(ctx, in)
	if err != nil {
		return web.Explained{}, err
	}
	q.Mode, q.Caller.Session = string(mode), in.Session
	d.mu.Lock()
	_, list, _, err := d.lasting(ctx)
	d.mu.Unlock()
	if err != nil {
		return web.Explained{}, err
	}
	list = slices.DeleteFunc(list, func(l lasting) bool { return l.Lost != "" })
	e := d.p.explainCall(d.h.config, set, q, list)
	out := web.Explained{
		Tool: e.Tool, Verdict: e.Verdict.String(), By: e.By, Reason: e.Reason, Rule: e.Rule, Fits: []web.Rule{}, Changes: e.Changes,
		Notes: append(notes, e.Notes...), Known: knownOf(q), Unknown: !known,
	}
	if e.Answer != nil {
		answer := shownLasting(*e.Answer)
		out.Answer = &answer
	}
	for _, one := range set.Explain(q).Rules {
		if one.Fits || one.Err != nil {
			out.Fits = append(out.Fits, d.written(one))
		}
	}
	return out, nil
}

// imagine is the call as the rules would see it: of the tool that there is, with what
// it says of these arguments; else of one of which nothing is known.
func (d *door) imagine(ctx context.Context, in web.Imagined) (q *tool.Request, known bool, notes []string, err error) {
	if in.Tool == "" {
		return nil, false, nil, errors.New("got no tool, want the name of one, as models call it")
	}
	session := d.h.rt.Session(tool.Caller{Principal: localUser, Session: "console-explain", Client: client, Attended: true})
	planned := session.View(ctx).Plan(ctx, tool.Call{Name: in.Tool, Input: in.Args})[0]
	if planned.Request != nil {
		return planned.Request, true, nil, nil
	}
	if t, ok := d.h.rt.Find(in.Tool); ok {
		q, notes, err = notShown(t, in.Args, planned.Err)
		return q, true, notes, err
	}
	of := imagined{tool: in.Tool, args: string(in.Args), principal: localUser}
	for _, s := range d.h.config.Servers {
		if strings.HasPrefix(in.Tool, s.Name+"__") {
			of.source = s.Name
		}
	}
	if q, _, err = of.request(d.h.config); err != nil {
		return nil, false, nil, errors.New(strings.ReplaceAll(err.Error(), "--", ""))
	}
	return q, false, []string{"there is no tool of this name here now: what it would claim, and what its calls are about, is not known, and counts as the worst"}, nil
}

// notShown is a call of a tool that no view shows, because the rules deny all of its
// calls; or that does not take the arguments.
func notShown(t ferrule.Resolved, args json.RawMessage, why *tool.Error) (*tool.Request, []string, error) {
	if why != nil && why.Kind == tool.InvalidInput {
		return nil, nil, errors.New(why.Text)
	}
	info := t.Info.Clone()
	of, err := tool.Tool{Info: info, Run: func(context.Context, tool.Args) (tool.Result, error) {
		return tool.Result{}, errors.New("nothing runs here")
	}}.Check()
	if err != nil {
		return nil, nil, err
	}
	admitted, err := of.Admit(args)
	if wrong, ok := errors.AsType[*tool.Error](err); ok {
		return nil, nil, errors.New(wrong.Text)
	} else if err != nil {
		return nil, nil, err
	}
	return &tool.Request{
		Caller: tool.Caller{Principal: localUser, Client: client, Attended: true}, Source: t.Source, Tool: &info, Name: t.Name, CalledAs: t.Name,
		Turn: 1, Args: admitted, Claims: t.Claims, Varies: t.Varies,
	}, []string{"no model is shown this tool: what its calls are about is not known"}, nil
}

// knownOf is what the rules know of a call.
func knownOf(q *tool.Request) []string {
	var claims []string
	say := func(word string, is bool) {
		if is {
			claims = append(claims, word)
		}
	}
	say("only reads", q.Claims.ReadOnly)
	say("can be undone", q.Claims.Reversible)
	say("stays on this machine", q.Claims.Local)
	say("is safe to repeat", q.Claims.Idempotent)
	all := []string{
		fmt.Sprintf("source: %s, trust %s", cmp.Or(q.Source.Name, "the program itself"), q.Source.Trust),
		"claims: " + cmp.Or(strings.Join(claims, ", "), "none, so it may write, destroy and reach outside"),
	}
	facts, err := q.Args.Facts()
	if err != nil {
		return append(all, "what it is about is not known: "+err.Error())
	}
	add := func(word string, list []string) {
		if len(list) > 0 {
			all = append(all, word+": "+strings.Join(list, ", "))
		}
	}
	add("paths", facts.Paths)
	add("hosts", facts.Hosts)
	commands := make([]string, len(facts.Commands))
	for i, words := range facts.Commands {
		commands[i] = strings.Join(words, " ")
	}
	add("commands", commands)
	return all
}
