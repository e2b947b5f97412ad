package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Speaker is who speaks about a call.
type Speaker string

// The speakers.
const (
	ByPolicy   Speaker = "policy"
	ByHost     Speaker = "host"
	ByPermit   Speaker = "permit"   // the tool's own Permit; its allow counts as nothing
	ByApproval Speaker = "approval" // the tool's approval rule
	ByFlow     Speaker = "flow"
	ByMode     Speaker = "mode"    // of the session
	ByDefault  Speaker = "default" // nobody spoke
)

// Voice is what one of them said.
type Voice struct {
	By Speaker
	tool.Decision
}

// Case is what Combine must know of a call beside the voices.
type Case struct {
	Name   string // as the model called it
	Claims tool.Claims
	Trust  tool.Trust
	// New: nobody has accepted the tool yet ([tool.Info].New). Only what names it
	// exactly allows it; else it is asked for, in ModeAuto too.
	New bool
	// AskReads asks also for what only reads on this machine, where nobody
	// spoke.
	AskReads bool
	// Person: there is somebody to ask.
	Person bool
	// Mode is how the session stands. What is none counts as ModeRead.
	Mode Mode
	// Workspace is the folder that ModeEdit allows changes in, absolute and with
	// slashes; "": none.
	Workspace string
	// Protected are files and folders that no mode says yes to changes of, beside
	// .ferrule and ferrule.yaml in the workspace: who changes them changes the
	// rules. Absolute, with slashes.
	Protected []string
	// Confined: the call runs isolated, without network, and writes only in the
	// workspace.
	Confined bool
}

// Ruling is what came of the voices: allow, ask or deny, never silence.
type Ruling struct {
	tool.Decision
	By Speaker // the voice that decided
	// Firm: the tool itself or the flow of data asks, the tool is new, or a person
	// would overrule a denial; ModeAuto does not say yes to it. Flow: the flow of data asks; a
	// Grant does not say yes to it.
	Firm, Flow bool
	// Overrules: a yes would overrule a denial. Nobody: it is a denial because
	// nobody can be asked.
	Overrules, Nobody bool
}

// Asks reports whether a person must say yes first.
func (r Ruling) Asks() bool { return r.Verdict == tool.Ask }

// Combine makes one ruling of all voices. It is pure. The strictest voice wins;
// its reason is that of every voice which says the same. What is no verdict
// denies.
func Combine(c Case, voices ...Voice) Ruling {
	r := Ruling{Decision: tool.Decision{Verdict: tool.Silent}, By: ByDefault}
	var firm, flow, overrules bool
	for _, v := range voices {
		said := c.hear(v)
		if said == tool.Ask {
			flow = flow || v.By == ByFlow
			overrules = overrules || v.Verdict == tool.Deny
			firm = firm || v.By == ByFlow || v.By == ByPermit || v.By == ByApproval || v.Verdict == tool.Deny
		}
		switch {
		case said < r.Verdict:
			r = Ruling{Decision: v.Decision, By: v.By}
			r.Verdict = said
		case said == r.Verdict && said < tool.Allow:
			r.join(v.Decision)
		}
	}
	if r.Verdict == tool.Silent {
		r.Decision = c.unspoken()
	}
	if r.Asks() {
		r.Firm, r.Flow, r.Overrules = firm || c.New, flow, overrules
	}
	r = c.inMode(r)
	switch {
	case r.Asks() && !c.Person:
		return c.nobody(r)
	case r.Decision == (tool.Decision{}):
		r.Decision = unreasoned()
	case r.Verdict == tool.Deny && r.Override:
		r.Message = first(r.Message, r.Reason)
		r.Reason = strings.TrimPrefix(r.Reason+"; a person could overrule it: set Runtime.Inbox or Runtime.Answer", "; ")
	}
	return r
}

// hear is what a voice's verdict counts for.
func (c Case) hear(v Voice) tool.Verdict {
	switch {
	case v.Verdict > tool.Silent:
		return tool.Deny
	case v.Verdict == tool.Allow && (v.By == ByPermit || c.New && !v.Exact):
		return tool.Silent
	case v.Verdict == tool.Deny && v.Override && c.Person && c.Mode != ModeObserve && c.Mode != ModeDryRun:
		return tool.Ask // where nobody is asked, nobody overrules
	}
	return v.Verdict
}

// join adds what another voice of the same verdict says.
func (r *Ruling) join(d tool.Decision) {
	if d.Reason != "" && !slices.Contains(strings.Split(r.Reason, "; "), d.Reason) {
		r.Reason = strings.TrimPrefix(r.Reason+"; "+d.Reason, "; ")
	}
	if r.Message == "" {
		r.Message = d.Message
	}
	if r.Rule == "" {
		r.Rule = d.Rule
	}
	r.Override = r.Override && d.Override
}

// unreasoned is a denial that says nothing, which is more often forgotten than
// meant.
func unreasoned() tool.Decision {
	return tool.Decision{
		Verdict: tool.Deny, Rule: "without a reason",
		Reason:  "a zero Decision denies; where no rule speaks return tool.Silent",
		Message: denied,
	}
}

// unspoken is what holds where every voice is silent.
func (c Case) unspoken() tool.Decision {
	trusted := c.Trust == tool.Own || c.Trust == tool.BuiltIn
	switch {
	case c.New:
		return tool.Decision{Verdict: tool.Ask, Reason: "the tool is new to its source: until it is accepted only a rule that names it exactly allows it", Rule: "new tool"}
	case trusted && c.Claims.ReadOnly && c.Claims.Local && !c.AskReads:
		return tool.Decision{Verdict: tool.Allow, Reason: "it only reads, on this machine"}
	case !trusted:
		return tool.Decision{Verdict: tool.Ask, Reason: fmt.Sprintf("no rule speaks about it, and its source is %s", c.Trust)}
	case !c.Claims.ReadOnly:
		return tool.Decision{Verdict: tool.Ask, Reason: "no rule speaks about it, and it does not claim to only read"}
	case !c.Claims.Local:
		return tool.Decision{Verdict: tool.Ask, Reason: "no rule speaks about it, and it does not claim to stay on this machine"}
	}
	return tool.Decision{Verdict: tool.Ask, Reason: "no rule speaks about it"}
}

// nobody is a question that nobody can be asked. The operator reads what would
// change it.
func (c Case) nobody(r Ruling) Ruling {
	ways := []string{"set Runtime.Inbox or Runtime.Answer"}
	switch r.By { //nolint:exhaustive // nobody can do anything about the others
	case ByPolicy:
		ways = append(ways, "change the rule that asks")
	case ByDefault:
		ways = append(ways, "add a rule that allows "+c.Name)
		if c.New {
			ways = append(ways, "accept the tool")
			break
		}
		switch c.Trust {
		case tool.Own:
			ways = append(ways, "say Approval: tool.AskNever on the tool", "use policy.AllowOwn")
		case tool.BuiltIn:
			ways = append(ways, "say Approval: tool.AskNever on the tool")
		case tool.Inbound, tool.Web, tool.MCP, tool.SkillUntrusted, tool.SkillTrusted:
		}
	}
	return Ruling{By: r.By, Nobody: true, Flow: r.Flow, Overrules: r.Overrules, Decision: tool.Decision{
		Verdict: tool.Deny,
		Rule:    r.Rule,
		Reason:  fmt.Sprintf("%s; nobody can be asked: %s", first(r.Reason, "approval is required"), strings.Join(ways, ", or ")),
		Message: fmt.Sprintf("Tool approval required for %s, but no approval handler is configured.", c.Name),
	}}
}

// Approval is what a tool's constant approval says: always asks; never allows
// for tools that the program trusts as its own, and is silent for others.
func Approval(i *tool.Info, trust tool.Trust) tool.Decision {
	switch {
	case i.Approval == tool.AskAlways:
		return tool.Decision{Verdict: tool.Ask, Reason: i.AskReason, Rule: "the tool's approval: always"}
	case i.Approval == tool.AskNever && (trust == tool.Own || trust == tool.BuiltIn):
		return tool.Decision{Verdict: tool.Allow, Rule: "the tool's approval: never"}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// denied is what the model reads where nobody gave it a reason.
const denied = "Tool call was denied."

// Denial is what the model reads when a call is denied.
func (r Ruling) Denial() string { return first(r.Message, r.Reason, denied) }

// Rejection is what the model reads when a person said no: what the person
// said, else what the tool says about it.
func (a Answer) Rejection(tools string) string {
	return first(a.Message, a.Reason, tools, "Tool approval was rejected.")
}

func first(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
