package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// calling are the flags of a command that runs calls.
type calling struct {
	session, mode string
	dry, noWait   bool
	limit         int
}

// modeHelp is what is said of --mode.
const modeHelp = "the `MODE`: ask, edit, read, auto, observe or dry-run (default that of the configuration)"

// readMode reads what --mode says.
func readMode(mode *policy.Mode, word string) error {
	if mode.UnmarshalText([]byte(word)) == nil {
		return nil
	}
	return oneOf("--mode", word, "ask", "edit", "read", "auto", "observe", "dry-run")
}

func (f *calling) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.session, "session", "", "the `SESSION` that it belongs to (default a new one)")
	cmd.Flags().StringVar(&f.mode, "mode", "", modeHelp)
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "run nothing, and show what would be done")
}

// hosting is what the flags say of the runtime, which a board may look at.
func (f *calling) hosting(cmd *cobra.Command, b *board) (hosting, error) {
	if err := one(cmd, "mode", "dry-run"); err != nil {
		return hosting{}, err
	}
	o := hosting{mode: f.mode, limit: f.limit, servers: true, waits: true}
	if b != nil {
		o.observe = b.observe
	}
	if f.dry {
		o.mode = string(policy.ModeDryRun)
	}
	return o, nil
}

func (p *program) callCommand() *cobra.Command {
	var f calling
	cmd := &cobra.Command{
		Use:   "call NAME [INPUT]",
		Short: "Run one call of a tool, through every rule",
		Long: `Run one call of a tool as a model would: its arguments are checked, the rules
decide, a person is asked where they say so, and what happens is on the record.
INPUT is a JSON object, - for standard input, or @FILE; without it {}.

On a terminal the question is put there; elsewhere it waits for ` + "`ferrule approvals`" + `.
The exit status is 0 where it is done, 2 for a tool that there is not or arguments
that do not fit, 3 where it was denied, rejected or left waiting, 4 where the tool
returned an error.`,
		Example: `  ferrule call fs_read '{"path":"README.md"}'
  ferrule call shell '{"command":"go test ./..."}' --mode edit
  ferrule call fs_write @change.json --dry-run`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return exactly("NAME", "[INPUT]")(cmd, args)
		},
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			input, err := p.inputOf(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			return p.call(cmd, &f, args[0], input)
		}),
		ValidArgsFunction: p.completeTools,
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "leave a question behind and end; the same call goes on once it is answered")
	p.jsonFlag(cmd)
	return cmd
}

// talks reports whether somebody at a terminal can be asked.
func (p *program) talks() bool { return p.writes() && !p.dumb() }

// writes reports whether somebody sits there who can write a line.
func (p *program) writes() bool { return terminal.Is(p.stdin) && terminal.Is(p.stdout) && !p.json }

// inputOf are the arguments of a call: a text, standard input or a file.
func (p *program) inputOf(ctx context.Context, args []string) (string, error) {
	switch {
	case len(args) == 0:
		return "{}", nil
	case args[0] == "-":
		return p.read(ctx)
	case strings.HasPrefix(args[0], "@"):
		text, err := os.ReadFile(p.path(args[0][1:]))
		if err != nil {
			return "", usage("input: %w", plainly(err))
		}
		return string(text), nil
	}
	return args[0], nil
}

func (p *program) call(cmd *cobra.Command, f *calling, name, input string) error {
	ctx := cmd.Context()
	outlivePipe()
	b := p.board(terminal.Is(p.stdout) && !p.json, p.json)
	b.alone, b.tell = true, !f.noWait && !p.talks()
	defer b.close()
	o, err := f.hosting(cmd, b)
	if err != nil {
		return err
	}
	o.names = []string{name}
	return p.with(ctx, o, func(h *host) error {
		if !h.rt.Has(name) {
			_, err := h.toolOf(ctx, name)
			return err
		}
		run, options := "", ferrule.TurnOptions{HandBack: f.noWait}
		if f.noWait {
			run = leftRun
		}
		left, err := h.left(ctx, p.now(), client, f.session, name, input)
		if err != nil {
			return err
		}
		if left != nil {
			f.session, run, options.Number = left.Caller.Session, leftRun, left.Turn
		}
		in := cmp.Or(f.session, newSession())
		session := h.session(in, run)
		var result tool.Result
		err = p.perform(ctx, performance{
			h: h, board: b, session: in, view: session.View(ctx), options: options,
			calls: []tool.Call{{Name: name, Input: json.RawMessage(input)}},
		}, func(_ int, r tool.Result) { result = r })
		b.hide()
		if result.Err != nil && result.Err.Kind == tool.Suspended {
			p.describeLeft(ctx, h, in, name, &result)
		}
		if shown := p.showResult(b, name, result); shown != nil {
			return shown
		}
		if err != nil {
			return err
		}
		if code := statusOf(result); code != statusDone {
			return &status{code: code}
		}
		return nil
	})
}

// leftRun marks questions of calls that nobody waits for.
const leftRun = "left"

// left is the question that an equal call of a client left behind, if its answer
// can still come or be used; nil: there is none.
func (h *host) left(ctx context.Context, now time.Time, of, session, name, input string) (*policy.Question, error) {
	is := func(q policy.Question) bool {
		return q.Given == policy.Digest(name, q.CallID, input)[:16] && q.Caller.Run == leftRun && q.Caller.Client == of && (session == "" || q.Caller.Session == session)
	}
	answered, err := h.kept.Answered(ctx, now.Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	for _, a := range slices.Backward(answered) {
		if !a.Used && is(a.Question) && a.Question.Open(now) == nil {
			return &a.Question, nil
		}
	}
	waiting, err := h.kept.Pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range slices.Backward(waiting) {
		if is(q) {
			return &q, nil
		}
	}
	return nil, nil
}

// describeLeft says where the question of a call that nobody waits for is
// answered.
func (p *program) describeLeft(ctx context.Context, h *host, session, name string, r *tool.Result) {
	list, err := h.kept.Pending(context.WithoutCancel(ctx))
	i := slices.IndexFunc(list, func(q policy.Question) bool { return q.Caller.Session == session })
	if err != nil || i < 0 {
		return
	}
	r.Err.Text = fmt.Sprintf("it waits for an answer to the question %s", list[i].ID)
	r.Err.Detail = fmt.Sprintf("`%s` or `deny` answers it; the same call then goes on: ferrule call %s …", howAllowed(list[i].ID, list[i].Wants != ""), terminal.Visible(name))
}

// showResult prints what came of a call: what was passed on while it ran is not
// printed again.
func (p *program) showResult(b *board, name string, r tool.Result) error {
	if p.json {
		return p.printJSON(r)
	}
	text := tool.TextOf(r.Content)
	if r.Err == nil {
		text = r.String()
	}
	passed, open := b.passed()
	if passed != "" {
		if rest, ok := strings.CutPrefix(text, passed); ok {
			text = rest
		} else if strings.TrimSpace(passed) == strings.TrimSpace(text) {
			text = ""
		}
		if open {
			p.printf("\n")
			text = strings.TrimPrefix(text, "\n")
		}
	}
	if text != "" {
		p.printf("%s\n", strings.TrimSuffix(text, "\n"))
	}
	if r.Err != nil {
		p.complain("ferrule: " + explainError(name, r.Err))
	}
	return nil
}
