package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of what is told of a call.
const (
	maxID      = 128      // bytes of an id that a stranger gave
	maxRule    = 200      // of a rule
	maxContent = 16 << 10 // of arguments, and of a result
	maxTools   = 10_000   // that are remembered
	maxEvents  = 64       // of one span
)

// soon is how fast a call must start so that nobody need be told when it did.
const soon = time.Millisecond

// Call begins to tell of a call: it is made for Runtime.Trace of package ferrule.
func (t *Telemetry) Call(ctx context.Context, r *tool.Request) (context.Context, func(audit.Event)) {
	if t == nil {
		return ctx, nil
	}
	c := &call{t: t, ctx: ctx, facts: t.factsOf(r)}
	c.ctx, c.span = t.pipe.begin(ctx, trace.SpanKindInternal)
	if t.meters != nil {
		t.meters.running.Add(1)
	}
	return c.ctx, c.told
}

// call is one that is told of.
type call struct {
	t     *Telemetry
	ctx   context.Context //nolint:containedctx // of the span, which lasts as long
	span  *span           // nil: nobody keeps it
	facts *toolFacts

	mu       sync.Mutex
	came     time.Time
	asked    time.Time // since when a person is waited for; zero: none is
	waited   time.Duration
	retries  int
	events   int
	decision string
	by, rule string
	args     string // where content is told
	over     bool
}

// told takes what happens to the call.
func (c *call) told(e audit.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t.meters != nil {
		c.t.meters.happens(c.ctx, e.Kind)
	}
	if c.over {
		return
	}
	switch e.Kind {
	case audit.Requested:
		c.came = e.Time
		c.keep(&e)
	case audit.Changed:
		c.keep(&e)
		c.happens(&e)
	case audit.Decided:
		if e.Decision != nil {
			c.decision, c.by, c.rule = e.Decision.Verdict.String(), e.By, ruleOf(&e)
		}
	case audit.Started:
		if e.Time.Sub(c.came) > soon {
			c.happens(&e)
		}
	case audit.Asked:
		c.wait(e.Time)
		c.happens(&e)
	case audit.Answered:
		if c.asked.IsZero() && strings.HasPrefix(e.By, "rule ") { // nobody was asked: a rule that a person made stands
			c.decision, c.by, c.rule = tool.Allow.String(), "rule", ""
			return
		}
		c.answered(e.Time)
		c.happens(&e)
	case audit.Retried:
		c.retries++
		c.happens(&e)
	case audit.Blocked, audit.Scrubbed, audit.Joined, audit.Cut, audit.GivenUp, audit.WentOn, audit.Moved:
		c.happens(&e)
	case audit.Ended:
		c.over = true
		c.end(&e)
	case audit.Registered, audit.Removed, audit.Found, audit.Refreshed, audit.Governed, audit.Begun, audit.Isolated,
		audit.Updated, audit.Used, audit.Late, audit.Resolved: // of no call, or of no use there
	}
}

// ruleOf names the rule that decided, where it is the operator's own: what a person
// made of an answer has arguments in it.
func ruleOf(e *audit.Event) string {
	if e.By != "policy" && e.By != "mode" || len(e.Decision.Rule) > maxRule {
		return ""
	}
	return e.Decision.Rule
}

// keep keeps the arguments, where content is told.
func (c *call) keep(e *audit.Event) {
	if c.t.accepts == nil || c.span == nil || e.Args == "" {
		return
	}
	in, _ := sensitivity(e)
	c.args = c.t.content(e.Args, in)
}

// sensitivity is that of the arguments and of the result of a call; of a page, that of
// what it is a page of. What no tool is there for may be meant for one.
func sensitivity(e *audit.Event) (in, out tool.Sensitivity) {
	r := e.Request
	if r == nil || r.Tool == nil {
		return tool.Secret, tool.Secret
	}
	if e.Result != nil && e.Result.Origin != nil {
		return r.Tool.InputSensitivity, e.Result.Origin.Sensitivity
	}
	return r.Tool.InputSensitivity, r.Tool.OutputSensitivity
}

// content is a text as it may be told, if it may hold what is so sensitive.
func (t *Telemetry) content(text string, holds ...tool.Sensitivity) string {
	for _, how := range holds {
		if !t.accepts(how) {
			return fmt.Sprintf("[withheld: %s]", how)
		}
	}
	if len(text) > maxContent {
		text = strings.ToValidUTF8(text[:maxContent], "") + "…"
	}
	return text
}

// happens notes an event on the span.
func (c *call) happens(e *audit.Event) {
	if c.span == nil || c.events == maxEvents {
		return
	}
	c.events++
	c.span.event(string(e.Kind), e.Time)
}

// wait begins to wait for a person; answered ends it.
func (c *call) wait(now time.Time) {
	if !c.asked.IsZero() {
		return
	}
	if c.asked = now; c.t.meters != nil {
		c.t.meters.waiting.Add(1)
	}
}

func (c *call) answered(now time.Time) {
	if c.asked.IsZero() {
		return
	}
	took := now.Sub(c.asked)
	c.waited += took
	c.asked = time.Time{}
	if m := c.t.meters; m != nil {
		m.waiting.Add(-1)
		m.wait.Record(c.ctx, took.Seconds())
	}
}

// end tells what became of the call.
func (c *call) end(e *audit.Event) {
	c.answered(e.Time)
	if r := e.Request; r != nil && r.Tool != nil && !c.facts.known {
		c.facts = c.t.factsOf(r) // its tool was found later
	}
	kind, outcome := tool.Kind(""), "ok"
	if e.Result != nil && e.Result.Err != nil {
		if kind = e.Result.Err.Kind; !kind.Known() {
			kind = tool.Failed
		}
		outcome = string(kind)
	}
	if m := c.t.meters; m != nil {
		m.running.Add(-1)
		took := max(0, e.Time.Sub(c.came)-c.waited)
		m.calls.Record(c.ctx, took.Seconds(), c.facts.outcome(kind)...)
	}
	if c.span == nil {
		return
	}
	room, _ := c.t.room.Get().(*attributes)
	if room == nil {
		room = new(attributes)
	}
	list := c.attributes((*room)[:0], e, outcome)
	if kind != "" && kind != tool.Suspended && kind != tool.Pending {
		list = list.text(keyError, outcome)
		c.span.fail(c.failure(e))
	}
	c.span.end(c.facts.span, list)
	if *room = list; cap(list) <= maxRoom {
		c.t.room.Put(room)
	}
}

// attributes are those of the span.
func (c *call) attributes(list attributes, e *audit.Event, outcome string) attributes {
	r := e.Request
	list = append(list, c.facts.written...)
	list = list.text(keyCall, r.ID).text(keyConversation, e.Session).number(keyTurn, e.Turn).text(keyOutcome, outcome)
	list = list.seconds(keyRan, e.Took).seconds(keyWaited, c.waited)
	if r.CallID != "" && len(r.CallID) <= maxID {
		list = list.text(keyToolCall, r.CallID)
	}
	if c.decision != "" {
		list = list.text(keyDecision, c.decision).text(keyBy, c.by)
	}
	if c.rule != "" {
		list = list.text(keyRule, c.rule)
	}
	if c.retries > 0 {
		list = list.number(keyRetries, c.retries)
	}
	if c.t.accepts == nil {
		return list
	}
	if c.args != "" {
		list = list.text(keyArguments, c.args)
	}
	if e.Result != nil && len(e.Result.Content) > 0 {
		_, out := sensitivity(e)
		list = list.text(keyResult, c.t.content(e.Result.String(), out))
	}
	return list
}

// failure is what is said of an error: it may quote arguments and results.
func (c *call) failure(e *audit.Event) string {
	if c.t.accepts == nil {
		return ""
	}
	in, out := sensitivity(e)
	return valid(c.t.content(e.Result.Err.Text, in, out))
}

// toolFacts are what all calls of a tool have in common.
type toolFacts struct {
	known bool                 // it is a tool that somebody registered
	span  string               // its name
	set   []attribute.KeyValue // of metrics
	// written are the attributes of its spans, as they are written.
	written attributes

	mu       sync.RWMutex
	outcomes map[tool.Kind][]metric.RecordOption
}

type toolKey struct {
	name, source string
	trust        tool.Trust
}

// factsOf are the facts of the tool of a call.
func (t *Telemetry) factsOf(r *tool.Request) *toolFacts {
	key := toolKey{name: other}
	if r.Tool != nil {
		key = toolKey{r.Name, r.Source.Name, r.Source.Trust}
	}
	t.mu.RLock()
	f := t.tools[key]
	t.mu.RUnlock()
	if f != nil {
		return f
	}
	f = newFacts(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if there := t.tools[key]; there != nil {
		return there
	}
	if len(t.tools) < maxTools {
		t.tools[key] = f
	}
	return f
}

func newFacts(key toolKey) *toolFacts {
	key.name, key.source = valid(key.name), valid(key.source)
	f := &toolFacts{span: executeTool, outcomes: make(map[tool.Kind][]metric.RecordOption)}
	kind := "function"
	if f.known = key.name != other; f.known {
		f.span += " " + key.name
		if key.trust <= tool.MCP {
			kind = "extension" // it acts elsewhere
		}
	}
	f.set = []attribute.KeyValue{keyTool.String(key.name), keySource.String(key.source)}
	f.written = f.written.text(keyOperation, executeTool).text(keyToolType, kind).text(keyTool, key.name).text(keySource, key.source)
	if f.known {
		f.written = f.written.text(keyTrust, key.trust.String())
	}
	return f
}

// outcome is how a metric names what became of a call; "": it went well.
func (f *toolFacts) outcome(kind tool.Kind) []metric.RecordOption {
	f.mu.RLock()
	o := f.outcomes[kind]
	f.mu.RUnlock()
	if o != nil {
		return o
	}
	list := append(slices.Clip(f.set), keyOutcome.String(cmp.Or(string(kind), "ok")))
	o = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(list...))}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outcomes[kind] = o
	return o
}
