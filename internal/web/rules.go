package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Rules are what is allowed, asked and denied, and why.
type Rules struct {
	Mode    string    `json:"mode"`            // ask, edit, read, auto, observe, dry-run
	File    string    `json:"file,omitempty"`  // of the configuration
	Written []Rule    `json:"written"`         // in files
	Lasting []Lasting `json:"lasting"`         // made of answers
	Notes   []string  `json:"notes,omitempty"` // what to look at
	Also    []string  `json:"also,omitempty"`  // what else decides about calls
	Tools   []string  `json:"tools"`           // the names that there are
}

// Rule is one that stands in a file.
type Rule struct {
	ID     string `json:"id"`
	Effect string `json:"effect"` // allow, ask, deny
	Text   string `json:"text"`
	Where  string `json:"where"`           // the file, and the line of it
	Fault  string `json:"fault,omitempty"` // why it failed, which denies
}

// Lasting is a rule that somebody made of a yes.
type Lasting struct {
	ID      string    `json:"id"`
	Rule    string    `json:"rule"`
	For     string    `json:"for"`
	Session string    `json:"session,omitempty"` // "": it lasts always
	Source  string    `json:"source,omitempty"`
	Second  bool      `json:"second,omitempty"` // the second key was turned
	Pin     bool      `json:"pin,omitempty"`    // it is for one tool as it was then
	By      string    `json:"by,omitempty"`
	Made    time.Time `json:"made,omitzero"`
	Where   []string  `json:"where"`
	Lost    string    `json:"lost,omitempty"` // why it does not count now
}

// Imagined is a call that is not made.
type Imagined struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args,omitempty"`
	Session string          `json:"session,omitempty"`
	Mode    string          `json:"mode,omitempty"` // "": that of the configuration
}

// Explained is what would become of a call.
type Explained struct {
	Tool    string   `json:"tool"`
	Unknown bool     `json:"unknown,omitempty"` // there is no such tool, so a call is refused: the rest is of one that would have its name
	Verdict string   `json:"verdict"`
	By      string   `json:"by"`
	Reason  string   `json:"reason,omitempty"`
	Rule    string   `json:"rule,omitempty"`
	Fits    []Rule   `json:"fits"`    // the rules that speak of it
	Changes []string `json:"changes"` // what would change it
	Known   []string `json:"known"`   // what the rules know of it
	Notes   []string `json:"notes,omitempty"`
	Answer  *Lasting `json:"answer,omitempty"` // the rule that answers in a person's place
}

// ruled are the rules as a page shows them, with the call that was asked about.
type ruled struct {
	Rules
	Otherwise string     `json:"otherwise"` // what becomes of calls that no rule speaks of
	Find      string     `json:"find,omitempty"`
	Asked     *Imagined  `json:"asked,omitempty"`
	Explained *Explained `json:"explained,omitempty"`
	Wrong     string     `json:"wrong,omitempty"` // why it cannot be explained
}

// rewrite is another rule in the place of one.
type rewrite struct {
	Rule   string `json:"rule"`
	Second bool   `json:"second,omitempty"` // it is also for calls that may destroy something
}

type revocation struct {
	Reason string `json:"reason,omitempty"` // for the record
}

func (c *Console) ruleRoutes(m *http.ServeMux) {
	if c.Rules == nil {
		return
	}
	pair(c, m, "/rules", "rules", "Rules", c.ruled)
	if c.Revoke != nil {
		read := func(v url.Values) (revocation, error) { return revocation{strings.TrimSpace(v.Get("reason"))}, nil }
		act(c, m, "/rules/{id}/revoke", read, func(r *http.Request, in revocation) (string, error) {
			return "revoked: it counts no more", c.Revoke(r.Context(), r.PathValue("id"), in.Reason)
		})
	}
	if c.Replace != nil {
		read := func(v url.Values) (rewrite, error) {
			return rewrite{strings.TrimSpace(v.Get("rule")), v.Has("second")}, nil
		}
		act(c, m, "/rules/{id}", read, func(r *http.Request, in rewrite) (string, error) {
			if in.Rule == "" {
				return "", errors.New("got no rule, want one such as fs_write(path: src/**)")
			}
			said := "changed: it says " + in.Rule + " now"
			if !in.Second {
				said += ", and not for what may destroy something"
			}
			return said, c.Replace(r.Context(), r.PathValue("id"), in.Rule, in.Second)
		})
	}
	if c.Explain != nil {
		tell(c, m, "/explain", func(r *http.Request, in Imagined) (Explained, error) { return c.explained(r, in) })
	}
}

func (c *Console) ruled(r *http.Request) (all ruled, err error) {
	q := r.URL.Query()
	if all.Rules, err = c.Rules(r.Context()); err != nil {
		return all, err
	}
	all.Otherwise, all.Find = otherwise(all.Mode), strings.TrimSpace(q.Get("find"))
	if all.Find != "" {
		all.Lasting = slices.DeleteFunc(all.Lasting, func(l Lasting) bool { return !l.has(all.Find) })
	}
	all.Written, all.Lasting, all.Tools = full(all.Written), full(all.Lasting), full(all.Tools)
	if name := strings.TrimSpace(q.Get("tool")); name != "" && c.Explain != nil {
		all.Asked = &Imagined{Tool: name, Args: json.RawMessage(cmp.Or(strings.TrimSpace(q.Get("args")), "{}")), Session: q.Get("session"), Mode: q.Get("mode")}
		if !json.Valid(all.Asked.Args) {
			all.Asked.Args, _ = json.Marshal(string(all.Asked.Args)) // a text: it cannot fail
			all.Wrong = "the arguments are not JSON: want an object such as {\"path\": \"a.txt\"}"
			return all, nil
		}
		e, err := c.explained(r, *all.Asked)
		if err != nil {
			all.Wrong = err.Error()
			return all, nil
		}
		all.Explained = &e
	}
	return all, nil
}

func (c *Console) explained(r *http.Request, in Imagined) (Explained, error) {
	e, err := c.Explain(r.Context(), in)
	e.Fits, e.Changes, e.Known = full(e.Fits), full(e.Changes), full(e.Known)
	return e, err
}

// has reports whether a text stands in what is shown of a rule.
func (l *Lasting) has(text string) bool {
	shown := strings.Join([]string{l.ID, l.Rule, l.For, l.Session, l.Source, l.By, l.Lost, strings.Join(l.Where, " ")}, "\n")
	return strings.Contains(strings.ToLower(shown), strings.ToLower(text))
}

// otherwise is what becomes of calls that no rule speaks of.
func otherwise(mode string) string {
	const asks = "what only reads on this machine, of the program itself, runs; everything else is asked for"
	switch mode {
	case "ask":
		return asks
	case "edit":
		return "what only reads on this machine runs, and so does what can be undone and stays in the workspace; everything else is asked for"
	case "auto":
		return "it runs, unless it may destroy something, or the tool or the flow of data wants a person: that is asked for"
	case "observe":
		return asks + ". In this mode a question is a yes, which is recorded"
	case "dry-run":
		return asks + ". In this mode nothing runs: what would run is shown"
	}
	return "only calls that claim to read may run in this mode, whatever rules allow: the rest is denied"
}

// Those are the rules that say the same of calls, under a word for it.
type those struct {
	Effect, Word, None string
	Rules              []Rule
}

// Groups are the rules of files by what they say.
func (r ruled) Groups() []those {
	groups := []those{
		{Effect: "deny", Word: "Denied", None: "No rule denies anything."},
		{Effect: "ask", Word: "Asked", None: "No rule asks for anything by itself."},
		{Effect: "allow", Word: "Allowed", None: "No rule allows anything by itself."},
	}
	for i := range groups {
		for _, rule := range r.Written {
			if rule.Effect == groups[i].Effect {
				groups[i].Rules = append(groups[i].Rules, rule)
			}
		}
	}
	return groups
}

// maxLasting is how many rules a page shows: trust makes thousands at once.
const maxLasting = 200

// Shown are the first of the rules that were made of answers; More are how many more
// there are.
func (r ruled) Shown() []Lasting { return r.Lasting[:min(len(r.Lasting), maxLasting)] }

// More is how many rules of answers are not shown.
func (r ruled) More() int { return len(r.Lasting) - len(r.Shown()) }

// Modes are the ways in which a session can stand.
func (r ruled) Modes() []string { return []string{"ask", "edit", "read", "auto", "observe", "dry-run"} }
