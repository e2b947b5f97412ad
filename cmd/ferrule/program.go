package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

	at atomic.Pointer[board] // what shows how far things are; nil: nothing does

	out, errs *shown // stdout and stderr, for a person

	link string // of the console that runs; "": none does

	home, config string // flags
	json         bool
	quiet        bool     // only results and errors are printed
	order        []string // in which commands are listed
	ran          bool     // a command was found, and its flags and arguments were right
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
	err := p.out.end()
	if errors.Is(err, syscall.EPIPE) { // who reads has read enough
		return code
	}
	if err != nil && code == statusDone {
		p.complain("ferrule: it is done, but could not be printed: " + err.Error())
		return statusFailed
	}
	return code
}

func (p *program) execute(ctx context.Context, args []string) int {
	root := p.root()                          //nolint:contextcheck // each command has the context that it is run with
	root.SetArgs(append([]string{}, args...)) // nil would be those of the process
	cmd, err := root.ExecuteContextC(ctx)
	switch s := (*status)(nil); {
	case err == nil:
		return statusDone // also where an interrupt came too late
	case ctx.Err() != nil || errors.Is(err, terminal.ErrInterrupted):
		p.complain("ferrule: interrupted")
		return statusInterrupted
	case errors.Is(err, syscall.EPIPE) && errors.Is(p.out.err, syscall.EPIPE):
		return statusFailed // who reads has read enough, and nothing need be said
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
		Example: `  ferrule up        serve the tools of this folder; a link shows what happens
  ferrule tools     which tools there are, and what the rules say of them
  ferrule doctor    what works on this machine, and what does not`,
		SilenceErrors: true, SilenceUsage: true,
	}
	p.group(root)
	root.SetIn(p.stdin)
	root.SetOut(p.out)
	root.SetErr(p.errs)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&p.home, "home", "", "the `DIR` that state is kept in (default $FERRULE_HOME, else .ferrule in the workspace)")
	root.PersistentFlags().StringVar(&p.config, "config", "", "the configuration `FILE` (default ferrule.yaml, if there is one)")
	root.PersistentFlags().BoolVarP(&p.quiet, "quiet", "q", false, "print only results and errors: no progress, no hints, no confirmations")
	root.PersistentFlags().BoolP("help", "h", false, "show how the command is used")
	root.Version = thisVersion().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print which version this is")
	p.addGroups(root, []commandGroup{
		{"Serve agents", []*cobra.Command{p.upCommand(), p.mcpCommand(), p.connectCommand(), p.disconnectCommand(), p.hookCommand()}},
		{"The MCP servers behind it", []*cobra.Command{p.serversCommand(), p.trustCommand(), p.pinsCommand(), p.scanCommand()}},
		{"Answer and rule", []*cobra.Command{p.approvalsCommand(), p.rulesCommand(), p.policyCommand()}},
		{"Run calls", []*cobra.Command{p.toolsCommand(), p.searchCommand(), p.callCommand(), p.batchCommand(), p.runCommand(), p.undoCommand()}},
		{"Look back", []*cobra.Command{p.auditCommand(), p.journalCommand(), p.flowCommand()}},
		{"The program", []*cobra.Command{p.initCommand(), p.doctorCommand(), p.manCommand(), p.versionCommand()}},
	})
	root.SetHelpFunc(p.help)
	root.SetHelpCommand(p.helpCommand())
	root.SetHelpCommandGroupID("The program")
	root.SetCompletionCommandGroupID("The program")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			p.describeCompletion(cmd)
		}
	}
	p.complete(root)
	return root
}

// group makes a command that has others below it say so when it stands alone.
func (p *program) group(cmd *cobra.Command) {
	cmd.Args = known
	cmd.RunE = p.do(func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
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
		p.out.mute = p.quiet && !p.json && cmd.Annotations[confirming] != ""
		return f(cmd, args)
	}
}

// confirming marks commands that print nothing but what was done.
const confirming = "confirms"

// confirms marks a command as one that prints nothing but what was done.
func confirms(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{confirming: "yes"}
	if cmd.Long == "" {
		cmd.Long = cmd.Short + "."
	}
	cmd.Long += "\n\nWith --quiet nothing is printed where it is done."
	return cmd
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
