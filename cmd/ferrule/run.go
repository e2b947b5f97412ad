package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// agentRun are the flags of run.
type agentRun struct {
	calling
	model, base, system string
	resume              string
	turns               int
}

// theLast is what --resume means without a name.
const theLast = "the last one"

func (p *program) runCommand() *cobra.Command {
	var f agentRun
	cmd := &cobra.Command{
		Use:   "run PROMPT",
		Short: "Run an agent in the terminal, with the tools of ferrule.yaml",
		Long: `Run an agent: a model is asked, its calls run through every rule, and it is given
what came of them, until it asks for no more. PROMPT is what it is to do; - is standard
input. On a terminal questions are put there; elsewhere they wait for ` + "`ferrule approvals`" + `.

--model says who is asked:
  anthropic:MODEL    Anthropic, with the key in ANTHROPIC_API_KEY
  openai:MODEL       OpenAI, with the key in OPENAI_API_KEY
  openai-chat:MODEL  Chat Completions, as of Ollama and vLLM, with --base-url
  scripted:FILE      nobody: a file that is played, and needs no key

Ctrl-C interrupts: what runs is ended, and on a terminal you can say something else.
Once more stops. The conversation is kept before each call starts, and --resume goes on
with it, also where the program was killed: what was done is not done again.

What the model says is printed to standard output, and all else to standard error. The
exit status is 0 where the model has ended by itself, 1 where it failed or reached a
limit, 2 for wrong usage, 4 where a tool ended the run, 130 where it was interrupted.
With --quiet it prints what the model says, and of all else only errors and what is asked.`,
		Example: `  ferrule run --model anthropic:claude-sonnet-4-5 "What does this project do?"
  ferrule run --model openai-chat:qwen3 \
    --base-url http://localhost:11434/v1 "Tidy up README.md"
  ferrule run --model scripted:tour.txtar "Show me"
  ferrule run --resume "And now the tests"
  ferrule run --resume run-ab3dk2mz`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return fmt.Errorf("got %d arguments, want PROMPT: put it between quotes", len(args))
			}
			return nil
		},
		RunE: p.do(func(cmd *cobra.Command, args []string) error { return p.runAgent(cmd, &f, args) }),
	}
	cmd.Flags().StringVar(&f.model, "model", "", "the `MODEL` that is asked (default $FERRULE_MODEL; of a run that goes on, its own)")
	cmd.Flags().StringVar(&f.base, "base-url", "", "the `URL` of the model (default $ANTHROPIC_BASE_URL or $OPENAI_BASE_URL, else the provider)")
	cmd.Flags().StringVar(&f.system, "system", "", "a `FILE` with what the model is told before all else")
	cmd.Flags().StringVar(&f.resume, "resume", "", "go on with a `RUN`, or without a name with the last one of this workspace")
	cmd.Flags().Lookup("resume").NoOptDefVal = theLast
	cmd.Flags().IntVar(&f.turns, "turns", 0, "how many answers the model may give, a `NUMBER` (default 50)")
	f.flags(cmd)
	cmd.Flags().Lookup("session").Usage = "the `NAME` of the run (default a new one)"
	p.jsonFlag(cmd)
	return cmd
}

// runAgent understands what was typed, and runs.
func (p *program) runAgent(cmd *cobra.Command, f *agentRun, args []string) error {
	if f.turns < 0 || cmd.Flags().Changed("turns") && f.turns == 0 {
		return usage("--turns: got %d, want 1 or more", f.turns)
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	runs := &runs{dir: filepath.Join(p.homeOf(c), "runs")}
	name, prompt, err := f.which(runs, args)
	if err != nil {
		return err
	}
	if prompt == "-" {
		if prompt, err = p.read(cmd.Context()); err != nil {
			return err
		}
	}
	prompt = strings.TrimSpace(prompt)
	resumed := f.resume != ""
	switch {
	case !resumed && prompt == "":
		return errNoPrompt()
	case resumed && !runs.has(name):
		_, err := runs.read(name)
		return err
	}
	// From here on nobody else goes on with it: what is read is what there is.
	unlock, err := runs.lock(cmd.Context(), name)
	if err != nil {
		return err
	}
	defer unlock()
	open := runs.begin
	if resumed {
		open = runs.read
	}
	kept, err := open(name)
	if err != nil {
		return err
	}
	if err := kept.takes(prompt); err != nil {
		return err
	}
	if f.model != "" || f.base != "" {
		kept.Model, kept.BaseURL = cmp.Or(f.model, kept.Model), f.base
	} else if err := p.asksElsewhere(kept); err != nil {
		return err
	}
	kept.Model = cmp.Or(kept.Model, p.env("FERRULE_MODEL"))
	model, err := p.modelOf(kept)
	if err != nil {
		return err
	}
	if f.system != "" {
		text, err := os.ReadFile(p.path(f.system))
		if err != nil {
			return usage("--system: %w", plainly(err))
		}
		kept.System = string(text)
	}
	if kept.System == "" {
		kept.System = fmt.Sprintf("You work in a terminal, in the folder %s, with the tools that you are given. A person reads what you say: be brief.", filepath.FromSlash(c.Workspace))
	}
	return p.play(cmd, f, runs, kept, model, prompt)
}

// which is the run that is meant, and what is said. Behind --resume a word that can be
// the name of a run is that.
func (f *agentRun) which(r *runs, args []string) (name, prompt string, err error) {
	if f.resume == "" {
		if len(args) > 1 {
			return "", "", usage("got %d arguments, want PROMPT: put it between quotes", len(args))
		}
		if f.session != "" {
			if err := runName(f.session); err != nil {
				return "", "", usage("--session: %w", err)
			}
		}
		return cmp.Or(f.session, newRun()), strings.Join(args, ""), nil
	}
	switch {
	case f.session != "" && (f.resume != theLast || len(args) == 2):
		return "", "", usage("got --resume with a name and --session, want one of them: --resume NAME goes on with a run")
	case f.resume != theLast:
		name = f.resume
	case f.session != "":
		name = f.session
	case len(args) == 2, len(args) == 1 && runName(args[0]) == nil: // else a name that is none would be said to a model
		name, args = args[0], args[1:]
	}
	if len(args) > 1 {
		return "", "", usage("got %d arguments, want PROMPT: put it between quotes", len(args))
	}
	if name == "" {
		if name, err = r.last(); err != nil {
			return "", "", err
		}
	}
	if err := runName(name); err != nil {
		return "", "", usage("--resume: %w", err)
	}
	return name, strings.Join(args, ""), nil
}

// play runs the agent until it is over, or nobody wants to say more.
func (p *program) play(cmd *cobra.Command, f *agentRun, r *runs, kept *keptRun, model agent.Model, prompt string) error {
	ctx := cmd.Context()
	outlivePipe()
	b := p.board(false, p.json)
	b.run, b.tell = true, !p.talks()
	defer b.close()
	o, err := f.hosting(cmd, b)
	if err != nil {
		return err
	}
	o.observe = func(e audit.Event) {
		if e.Kind == audit.Asked { // all else comes as events of the run
			b.observe(e)
		}
	}
	return p.with(ctx, o, func(h *host) error {
		a := &agent.Agent{
			Runtime: h.rt, Model: model, Use: kept.name(), System: kept.System, Budget: agent.Budget{Turns: f.turns},
			Caller: tool.Caller{Session: kept.Session, Client: client, Attended: true},
		}
		if h.tells != nil {
			a.Trace = h.tells
		}
		s := &stage{p: p, b: b, lays: b.shows && terminal.Is(p.stdout), dry: o.mode == string(policy.ModeDryRun), began: time.Now()}
		a.Keep = func(_ context.Context, t *agent.Transcript) error {
			kept.Transcript = *t
			s.unkept = r.write(kept)
			return s.unkept
		}
		t := kept.Transcript
		for {
			why, err := p.live(ctx, h, s, a.Begin(ctx, &t, prompt), kept.Session)
			b.print(s.endText)
			if why == agent.Stopped && err == nil && ctx.Err() == nil {
				if prompt = p.nextWords(ctx, b); prompt != "" {
					continue
				}
			}
			b.hide()
			return p.runOver(s, kept, why, err)
		}
	})
}

// live runs until it is over, and gives why. Questions are put here meanwhile.
func (p *program) live(ctx context.Context, h *host, s *stage, live *agent.Live, session string) (why agent.Why, err error) {
	interrupt := func() {
		s.b.print(func() {
			s.endText()
			p.complain("ferrule: interrupted; Ctrl-C again stops")
		})
		live.Interrupt("")
	}
	var once sync.Once
	first := func() (taken bool) {
		once.Do(func() {
			interrupt()
			taken = true
		})
		return taken
	}
	p.heed.set(first)
	defer p.heed.set(nil)
	asking, over := context.WithCancel(ctx)
	asked := p.asks(asking, performance{h: h, board: s.b, session: session}, func(err error) {
		switch {
		case !errors.Is(err, terminal.ErrInterrupted):
			s.b.print(func() { p.complain("ferrule: " + err.Error()) })
			live.Interrupt("")
		case !first() && p.interrupt != nil:
			p.interrupt()
		}
	})
	for e, failed := range live.Events() { //nolint:contextcheck // a run has the context that it was begun with
		if failed != nil {
			why, err = e.Why, failed
			if p.json {
				s.unprinted = p.printLine(e)
			}
			break
		}
		if e.Kind == agent.Over && e.Inside == "" {
			why = e.Why
			s.why = e.Text
		}
		if p.json {
			if err := p.printLine(e); err != nil {
				s.unprinted = err // it is no reason to stop half-way
			}
			continue
		}
		s.b.print(func() { s.show(e) })
	}
	over()
	<-asked
	return why, err
}

// nextWords are what somebody at the terminal says after an interrupt; "": nothing, or
// nobody is there.
func (p *program) nextWords(ctx context.Context, b *board) string {
	if !p.writes() {
		return ""
	}
	var said string
	b.yield(func() {
		p.printf("\nWhat instead? (enter ends)\n")
		if !p.dumb() {
			said, _ = terminal.Ask(ctx, p.stdin, p.stdout, p.environ, "> ") // an error is nothing said
			return
		}
		p.printf("> ")
		line := make(chan string, 1)
		go func() { line <- p.oneLine() }()
		select {
		case <-ctx.Done():
			p.printf("\n")
		case text := <-line:
			said = typed(text)
		}
	})
	return said
}

// escapes are what keys without a letter send: an arrow, a function key.
var escapes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|O[ -~]|.)?`)

// typed is a line as somebody meant it, who has no more than backspace to mend it.
func typed(line string) string {
	var text []rune
	for _, c := range escapes.ReplaceAllString(strings.ToValidUTF8(line, ""), "") {
		switch {
		case c == '\b' || c == 0x7f:
			text = text[:max(len(text)-1, 0)]
		case c == '\t':
			text = append(text, ' ')
		case !unicode.IsControl(c):
			text = append(text, c)
		}
	}
	return strings.TrimSpace(string(text))
}

// oneLine reads one line, and not a byte more: the keys behind it may be for a screen.
func (p *program) oneLine() string {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxPasted {
		if n, err := p.stdin.Read(one); n == 0 || err != nil || one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	return string(line)
}

// runOver says how it ended, and how to go on.
func (p *program) runOver(s *stage, k *keptRun, why agent.Why, err error) error {
	again := fmt.Sprintf("ferrule run --resume %s", k.Session)
	if !p.json {
		s.sum(k.Session)
	}
	switch {
	case s.unkept != nil:
		return &status{statusFailed, fmt.Errorf("%w\nWhat came last is not kept: put that right; then `%s` goes on with what was kept before, if anything was", err, again)}
	case why == agent.Stopped:
		p.complain(fmt.Sprintf("ferrule: it is kept: %s \"…\" goes on", again))
		return terminal.ErrInterrupted
	case err != nil:
		code := statusFailed
		if _, ended := errors.AsType[*tool.Error](err); ended {
			code = statusToolFailed
		}
		return &status{code, fmt.Errorf("%w\n%s", err, k.helps(err, again))}
	case s.unprinted != nil:
		return fmt.Errorf("the run is over (%s) and kept, but not all of it could be printed: %s", why, s.unprinted.Error()) // which is told, also where nobody reads on
	case why == agent.Done:
		if !p.json && !p.quiet {
			p.complain(again + ` "…"`)
		}
		return nil
	}
	if why == agent.Exhausted { // ferrule run has no other limit
		return &status{statusFailed, fmt.Errorf("it reached its limit of %s\nIt is kept: `%s --turns %d` goes on where it is, and `%[2]s \"…\"` with what you say", s.why, again, 2*k.Run.Turns)}
	}
	text := map[agent.Why]string{
		agent.CutShort: "the model's answer reached its limit of tokens",
		agent.Declined: "the model refused",
		agent.Waiting:  "a call waits for an answer",
	}[why]
	return &status{statusFailed, fmt.Errorf("%s%s\nIt is kept: `%s \"…\"` goes on", cmp.Or(text, string(why)), prefixed(": ", s.why), again)}
}
