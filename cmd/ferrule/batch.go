package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

func (p *program) batchCommand() *cobra.Command {
	var f calling
	var planOnly bool
	cmd := &cobra.Command{
		Use:   "batch FILE",
		Short: "Run many calls, as far side by side as is safe",
		Long: `Run the calls of a file as one answer of a model: lines of JSON, each
{"id": …, "name": …, "input": {…}}; id and input may be left out, - is standard
input. What a provider sent is read too: an answer of Anthropic, OpenAI (Responses or
Chat Completions) or Gemini, streamed or not, or a message of the assistant.

First the plan is printed: which calls run side by side, and which wait for
which, and why. Then the results come in the order of the calls, one for each,
whatever happens.

A line that cannot be read is told with its number, and then nothing runs. The exit
status is 0 where all is well, 4 where a tool returned an error, 3 where a call was
denied or rejected and none failed, 2 where there is no such tool or arguments do not
fit, 130 where it was interrupted.

With --quiet the plan is not printed, nor how far calls are.`,
		Example: `  ferrule batch calls.jsonl
  ferrule batch --plan calls.jsonl
  printf '{"name":"fs_read","input":{"path":"a"}}\n' | ferrule batch --json -`,
		Args: exactly("FILE"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if f.limit < 0 || cmd.Flags().Changed("limit") && f.limit == 0 {
				return usage("--limit: got %d, want 1 or more", f.limit)
			}
			calls, err := p.readCalls(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if planOnly {
				if err := one(cmd, "plan", "session"); err != nil { // of a session nothing is looked up
					return err
				}
				o, err := f.hosting(cmd, nil)
				if err != nil {
					return err
				}
				o.looks, o.names = true, namesOf(calls)
				return p.with(cmd.Context(), o, func(h *host) error {
					return p.printPlan(h.session(newSession(), "").View(cmd.Context()).Plan(cmd.Context(), calls...), calls, h.config.Workspace)
				})
			}
			return p.batch(cmd, &f, calls)
		}),
	}
	f.flags(cmd)
	cmd.Flags().IntVar(&f.limit, "limit", 0, "how many calls run at once, a `NUMBER` (default $FERRULE_MAX_CONCURRENCY, else 10)")
	cmd.Flags().BoolVar(&planOnly, "plan", false, "print the plan and run nothing")
	p.jsonFlag(cmd)
	return cmd
}

// namesOf are the tools of calls.
func namesOf(calls []tool.Call) []string {
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.Name
	}
	return names
}

// maxBatch is how long a file of calls may be.
const maxBatch = 64 << 20

// readCalls reads the calls of a file: all of them, or an error that names each
// line which is none.
func (p *program) readCalls(ctx context.Context, name string) ([]tool.Call, error) {
	var text string
	if name == "-" {
		var err error
		if text, err = p.read(ctx); err != nil {
			return nil, err
		}
	} else {
		file, err := os.Open(p.path(name))
		if err != nil {
			return nil, usage("batch: %w", plainly(err))
		}
		b, err := io.ReadAll(io.LimitReader(file, maxBatch+1))
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, usage("batch: %w", plainly(err))
		}
		text = string(b)
	}
	if len(text) > maxBatch {
		return nil, usage("batch: %s: got more than %d bytes, want at most that many", name, maxBatch)
	}
	return parseCalls(name, text)
}

// parseCalls reads what a provider sent, or lines of calls.
func parseCalls(name, text string) (calls []tool.Call, err error) {
	if isAnswer(text) {
		calls, format, err := provider.Read([]byte(text))
		switch {
		case err != nil:
			return nil, usage("batch: nothing was run:\n%s: %w; or lines such as %s", name, err, aCall)
		case len(calls) == 0:
			return nil, usage(withoutCall, name, format)
		}
		return calls, nil
	}
	var faults []string
	var silent provider.Format // of an answer without a call
	number := 0
	for line := range strings.Lines(text) {
		if number++; strings.TrimSpace(line) == "" {
			continue
		}
		list, format, err := parseLine(line)
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s:%d: %s", name, number, err))
			continue
		}
		if len(list) == 0 {
			silent = format
		}
		calls = append(calls, list...)
	}
	switch {
	case len(faults) > 0:
		const most = 20
		if more := len(faults) - most; more > 0 {
			faults = append(faults[:most], fmt.Sprintf("and %d more", more))
		}
		return nil, usage("batch: nothing was run:\n%s\nwant %s", strings.Join(faults, "\n"), whatIsRead())
	case len(calls) == 0 && silent != nil:
		return nil, usage(withoutCall, name, silent)
	case len(calls) == 0:
		return nil, usage("batch: %s: got nothing, want %s", name, whatIsRead())
	}
	return calls, nil
}

// aCall is a line of a batch.
const aCall = `{"name":"fs_read","input":{"path":"a"}}`

const withoutCall = "batch: %s: got an answer in the format %s without a call, want one that calls a tool"

// whatIsRead is what a batch may be, in words.
func whatIsRead() string {
	var formats []string
	for _, f := range provider.Formats() {
		formats = append(formats, f.String())
	}
	return fmt.Sprintf("lines such as %s, or what a provider sent (%s): an answer, a stream, or a message of the assistant", aCall, strings.Join(formats, ", "))
}

// isAnswer reports whether a text is what a provider sent as a whole: a stream of
// events, or JSON that is no object in one line.
func isAnswer(text string) bool {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	for _, field := range []string{"event:", "data:", "id:", "retry:", ":"} {
		if strings.HasPrefix(text, field) {
			return true
		}
	}
	return (strings.HasPrefix(text, "[") || strings.Contains(text, "\n")) && json.Valid([]byte(text))
}

// parseLine reads a line: a call, or what a provider sent, whose members are others.
func parseLine(line string) ([]tool.Call, provider.Format, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &fields) == nil {
		for _, key := range []string{"type", "role", "object", "choices", "tool_calls", "candidates", "parts", "functionCall", "output", "content", "error"} {
			if _, ok := fields[key]; ok {
				return provider.Read([]byte(line))
			}
		}
	}
	c, err := parseCall(line)
	return []tool.Call{c}, nil, err
}

// parseCall reads one line. What stands there twice, or is not known, is refused.
func parseCall(line string) (c tool.Call, err error) {
	var fields map[string]json.RawMessage
	if err := schema.Decode(strings.TrimSpace(line), &fields); err != nil {
		if !json.Valid([]byte(line)) {
			err = fmt.Errorf("got %s, want JSON: %w", terminal.Brief(line, 40), err)
		}
		return c, err
	}
	for key := range fields {
		if !slices.Contains([]string{"id", "name", "input"}, key) {
			return c, fmt.Errorf("got %q, want id, name and input", terminal.Brief(key, 40))
		}
	}
	for key, to := range map[string]*string{"id": &c.ID, "name": &c.Name} {
		if text, ok := fields[key]; ok && json.Unmarshal(text, to) != nil {
			return c, fmt.Errorf("%s: got %s, want a text", key, terminal.Brief(string(text), 40))
		}
	}
	if c.Name == "" {
		return c, errors.New("got no name, want that of a tool")
	}
	c.Input = json.RawMessage(cmp.Or(string(fields["input"]), "{}"))
	return c, nil
}

func (p *program) batch(cmd *cobra.Command, f *calling, calls []tool.Call) error {
	ctx := cmd.Context()
	outlivePipe()
	b := p.board(false, p.json)
	b.tell = !p.talks()
	defer b.close()
	o, err := f.hosting(cmd, b)
	if err != nil {
		return err
	}
	o.names = namesOf(calls)
	took := make([]time.Duration, len(calls)) // written before the result is given out
	o.observe = func(e audit.Event) {
		if e.Kind == audit.Ended && e.Request != nil && e.Request.Index < len(took) {
			b.print(func() { took[e.Request.Index] = e.Took })
		}
		b.observe(e)
	}
	return p.with(ctx, o, func(h *host) error {
		in := cmp.Or(f.session, newSession())
		view := h.session(in, "").View(ctx)
		if !p.json && !p.quiet {
			if err := p.printPlan(view.Plan(ctx, calls...), calls, h.config.Workspace); err != nil {
				return err
			}
			p.printf("\n")
		}
		worst := statusDone
		var printed error
		err := p.perform(ctx, performance{h: h, board: b, session: in, view: view, calls: calls}, func(i int, r tool.Result) {
			worst = worse(worst, statusOf(r))
			b.print(func() { printed = errors.Join(printed, p.printCall(i, calls[i], r, took[i])) })
		})
		switch {
		case printed != nil:
			return printed
		case err != nil:
			return err
		case worst != statusDone:
			return &status{code: worst}
		}
		return nil
	})
}

// worse is the status of two results together: what a tool returned counts most,
// then what was denied.
func worse(a, b int) int {
	order := []int{statusDone, statusUsage, statusDenied, statusToolFailed}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// performed is a result of a batch, for programs.
type performed struct {
	Call int    `json:"call"` // its place, from 1
	Name string `json:"name"`
	Took int64  `json:"took_ms"`
	tool.Result
}

func (p *program) printCall(i int, c tool.Call, r tool.Result, took time.Duration) error {
	if p.json {
		return p.printLine(performed{i + 1, c.Name, took.Milliseconds(), r})
	}
	title, text := "done", r.String()
	if r.Err != nil {
		title, text = string(r.Err.Kind), r.Err.Text
		if detail := detailOf(r.Err); detail != "" {
			text += "\n(" + detail + ")"
		}
		if more := tool.TextOf(r.Content); more != "" && more != r.Err.Text {
			text = strings.TrimPrefix(text+"\n"+more, "\n")
		}
	}
	if took > 0 {
		title += " after " + roughly(took)
	}
	name := c.Name
	if c.ID != "" {
		name += " " + c.ID
	}
	p.printf("%d %s: %s\n", i+1, terminal.Visible(strings.Join(strings.Fields(name), " ")), title)
	for _, line := range terminal.VisibleLines(text) {
		for part := range wrap(line, max(p.width()-3, 20)) {
			p.printf("│ %s\n", part)
		}
	}
	return nil
}

// roughly is a time that is as exact as somebody wants to read.
func roughly(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// planned is a line of a plan, for programs.
type planned struct {
	Call  int         `json:"call"` // its place, from 1
	ID    string      `json:"id,omitempty"`
	Name  string      `json:"name"`
	Step  int         `json:"step"` // those of one step run side by side
	Waits []plannedOn `json:"waits"`
	Asks  bool        `json:"asks"`
	Error *tool.Error `json:"error,omitempty"`
}

type plannedOn struct {
	Call     int    `json:"call"`
	Resource string `json:"resource,omitempty"` // "": one of the two runs alone
}

// steps says in which step each call runs, if all of one step took the same time.
func steps(plan []ferrule.Planned) []int {
	list := make([]int, len(plan))
	for i, c := range plan {
		list[i] = 1
		for _, w := range c.Waits { // they are earlier
			list[i] = max(list[i], list[w.Call]+1)
		}
	}
	return list
}

func (p *program) printPlan(plan []ferrule.Planned, calls []tool.Call, workspace string) error {
	step := steps(plan)
	if p.json {
		for i, c := range plan {
			line := planned{Call: i + 1, ID: calls[i].ID, Name: c.Name, Step: step[i], Waits: []plannedOn{}, Asks: c.Asks, Error: c.Err}
			for _, w := range c.Waits {
				line.Waits = append(line.Waits, plannedOn{w.Call + 1, w.Resource})
			}
			if err := p.printLine(line); err != nil {
				return err
			}
		}
		return nil
	}
	rows := [][]string{{"STEP", "CALL", "TOOL", "WAITS FOR", "NOTE", "ARGUMENTS"}}
	for i, c := range plan {
		var waits []string
		var why []string
		for _, w := range c.Waits {
			waits = append(waits, strconv.Itoa(w.Call+1))
			because := becauseOf(c, plan[w.Call], w)
			if !slices.Contains(why, because) {
				why = append(why, because)
			}
		}
		switch {
		case c.Err != nil:
			why = append(why, "will not run: "+string(c.Err.Kind))
		case c.Asks:
			why = append(why, "asks")
		}
		note := strings.ReplaceAll(strings.Join(why, ", "), "file:"+workspace+"/", "")
		rows = append(rows, []string{strconv.Itoa(step[i]), strconv.Itoa(i + 1), c.Name, ranges(waits), note, terminal.Brief(string(calls[i].Input), 40)})
	}
	p.printTable(rows)
	for _, note := range repeated(calls) {
		p.printf("note: %s\n", note)
	}
	return nil
}

// becauseOf is why a call waits for an earlier one.
func becauseOf(c, earlier ferrule.Planned, w ferrule.Wait) string {
	alone := func(c tool.Claims) bool { return c.Touches == nil && !c.Overlaps() }
	switch {
	case w.Resource != "":
		return "both touch " + w.Resource
	case alone(c.Claims):
		return "runs alone"
	case alone(earlier.Claims):
		return fmt.Sprintf("%d runs alone", w.Call+1)
	}
	if c.Claims.Touches == nil {
		return "does not say what it touches"
	}
	return fmt.Sprintf("%d does not say what it touches", w.Call+1)
}

// ranges is a list of numbers that is not too long.
func ranges(list []string) string {
	const most = 6
	if len(list) > most {
		return strings.Join(list[:most-1], ", ") + ", … " + list[len(list)-1]
	}
	return strings.Join(list, ", ")
}

// repeated points out ids that more than one call has. They all have a result.
func repeated(calls []tool.Call) (notes []string) {
	at := make(map[string][]string)
	var order []string
	for i, c := range calls {
		if c.ID == "" {
			continue
		}
		if at[c.ID] == nil {
			order = append(order, c.ID)
		}
		at[c.ID] = append(at[c.ID], strconv.Itoa(i+1))
	}
	for _, id := range order {
		if len(at[id]) > 1 {
			notes = append(notes, fmt.Sprintf("the calls %s have the same id %q: each has its own result", ranges(at[id]), terminal.Visible(id)))
		}
	}
	return notes
}
