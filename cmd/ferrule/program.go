package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrule-dev/ferrule/guard/leaks"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

// How the program ends.
const (
	statusDone        = 0
	statusFailed      = 1
	statusUsage       = 2 // or wrong configuration
	statusDenied      = 3 // or rejected
	statusToolFailed  = 4
	statusInterrupted = 130
)

// program is one run: all that it reads and writes is in here.
type program struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string
	dir     string // the current directory
	now     func() time.Time

	patience time.Duration       // how long servers are waited for; 0: settling
	self     string              // the file of this program; "": ferrule
	helper   sandbox.Helper      // what commands are isolated with
	own      func() []*tool.Tool // further tools; nil: none
	ring     ring                // what keeps the key of logins; nil: a file does
	keys     keyFinder           // what finds keys in content; nil: nothing does
	// interrupt stops the program as a signal would, so that the next one ends it at
	// once. Nil: nothing is done.
	interrupt func()
	heed      attention // what is done with Ctrl-C before that
	hush      silence   // keys are not shown

	out, errs *shown // stdout and stderr, for a person

	home, config string // flags
	json         bool
	ran          bool // a command was found, and its flags and arguments were right
}

func newProgram(helper sandbox.Helper) *program {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	self, err := os.Executable()
	if err != nil {
		self = ""
	}
	return &program{self: self, ring: systemRing{}, keys: new(leaks.Scanner), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), dir: dir, now: time.Now, helper: helper}
}

// status is an error that ends the program in a certain way.
type status struct {
	code int
	err  error // nil: everything is said already
}

func (s *status) Error() string {
	if s.err == nil {
		return fmt.Sprintf("exit status %d", s.code)
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

// usage is an error of whoever called.
func usage(format string, args ...any) error {
	return &status{statusUsage, fmt.Errorf(format, args...)}
}

// run does what the arguments say and gives the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	p.out, p.errs = &shown{to: p.stdout}, &shown{to: p.stderr}
	code := p.execute(ctx, args)
	if err := p.out.end(); err != nil && code == statusDone {
		p.complain("ferrule: it is done, but could not be printed: " + err.Error())
		return statusFailed
	}
	return code
}

func (p *program) execute(ctx context.Context, args []string) int {
	root := p.root() //nolint:contextcheck // each command has the context that it is run with
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	switch s := (*status)(nil); {
	case err == nil:
		return statusDone // also where an interrupt came too late
	case ctx.Err() != nil || errors.Is(err, terminal.ErrInterrupted):
		p.complain("ferrule: interrupted")
		return statusInterrupted
	case !p.ran && p.out.err == nil:
		p.complain(fmt.Sprintf("ferrule: %s\n%s --help says how it is used.", strings.TrimSpace(err.Error()), cmd.CommandPath()))
		return statusUsage
	case errors.As(err, &s):
		if s.err != nil {
			p.complain("ferrule: " + s.err.Error())
		}
		return s.code
	}
	p.complain("ferrule: " + err.Error())
	return statusFailed
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ferrule",
		Short: "Rules and people in front of the tool calls of agents",
		Long: `Ferrule decides which tool calls of agents may run, by rules and by asking a
person, and runs them. This program serves MCP clients, with their servers behind it
(up, mcp, connect), shows and changes rules and answers, runs calls that are given to
it, and undoes what they did to files.`,
		SilenceErrors: true, SilenceUsage: true,
	}
	p.group(root)
	root.SetIn(p.stdin)
	root.SetOut(p.out)
	root.SetErr(p.errs)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&p.home, "home", "", "where state is kept (default $FERRULE_HOME, else .ferrule in the workspace)")
	root.PersistentFlags().StringVar(&p.config, "config", "", "configuration file (default ferrule.yaml, if there is one)")
	root.AddCommand(p.initCommand(), p.doctorCommand(), p.toolsCommand(), p.searchCommand(), p.runCommand(), p.callCommand(), p.batchCommand(), p.undoCommand(), p.policyCommand(), p.approvalsCommand(), p.rulesCommand(), p.journalCommand(), p.auditCommand(), p.upCommand(), p.mcpCommand(), p.serversCommand(), p.pinsCommand(), p.trustCommand(), p.scanCommand(), p.flowCommand(), p.connectCommand(), p.disconnectCommand(), p.hookCommand(), p.versionCommand())
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			p.group(cmd)
		}
	}
	return root
}

// flagError says of a value that is none what was wanted. The text of others is about Go.
func flagError(_ *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		want := map[string]string{"int": "a number", "bool": "true or false", "duration": "a time such as 30s or 24h"}[e.GetFlag().Value.Type()]
		if want != "" {
			return fmt.Errorf("--%s: got %q, want %s", e.GetFlag().Name, e.GetValue(), want)
		}
	}
	return err
}

// group makes a command that has others below it say so when it stands alone.
func (p *program) group(cmd *cobra.Command) {
	cmd.Args = known
	cmd.RunE = p.do(func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
}

// known refuses a command that is not there, and names those that are near.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// do marks that a command runs: errors before that are of usage.
func (p *program) do(f func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.ran = true
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if err := named(cmd); err != nil {
			return err
		}
		return f(cmd, args)
	}
}

// named refuses a flag that is there and names nothing: it was a variable that is
// not set, and without it something else would be done.
func named(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "home", "config", "head", "file", "out", "key", "call", "session", "since", "until", "tool", "kind", "decision", "mode", "address", "auth", "tools", "url", "model", "base-url", "system", "resume":
			if f.Value.String() == "" && err == nil {
				err = usage("--%s: got an empty text: say something, or leave it out", f.Name)
			}
		}
	})
	return err
}

// exactly wants the arguments that a command names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("got %d arguments, want %s", len(args), strings.Join(names, " "))
		case len(args) > len(names):
			return fmt.Errorf("got %q, want %s", args[len(names)], strings.Join(append([]string{"nothing"}, names...)[min(len(names), 1):], " "))
		}
		return nil
	}
}

// one refuses flags that cannot be meant at once.
func one(cmd *cobra.Command, names ...string) error {
	var given []string
	for _, n := range names {
		if cmd.Flags().Changed(n) {
			given = append(given, "--"+n)
		}
	}
	if len(given) > 1 {
		return usage("got %s, want one of them", strings.Join(given, " and "))
	}
	return nil
}

// env is the value of an environment variable.
func (p *program) env(name string) string {
	v, _ := p.lookup(name)
	return v
}

// lookup is env that says whether it is set.
func (p *program) lookup(name string) (string, bool) {
	for _, e := range p.environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// path makes a path absolute.
func (p *program) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(p.dir, name)
}

// user is who answers.
func (p *program) user() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := p.env(name); v != "" {
			return v
		}
	}
	return "local"
}
