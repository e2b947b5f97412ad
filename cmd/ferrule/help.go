package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// helpWidth is how wide help is at most: longer lines are hard to read.
const helpWidth = 100

// commandGroup is a part of the list of commands, in the order in which they are shown.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// addGroups adds the commands, and has help show them in groups.
func (p *program) addGroups(root *cobra.Command, groups []commandGroup) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
			p.order = append(p.order, cmd.Name())
		}
	}
}

// help prints how a command is used. It is the same however it is asked for.
func (p *program) help(cmd *cobra.Command, _ []string) {
	width := min(p.width(), helpWidth)
	p.printf("%s\n\nUsage:\n", reflow(cmp.Or(cmd.Long, cmd.Short+"."), width))
	subs := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() && c.Name() != "help" })
	if cmd.HasParent() {
		p.printf("  %s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]")+" [flags]")
	}
	if len(subs) > 0 {
		p.printf("  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		title := "Examples"
		if !cmd.HasParent() {
			title = "Begin with"
		}
		p.printf("\n%s:\n%s\n", title, cmd.Example)
	}
	p.helpCommands(cmd, subs, width)
	if local := cmd.LocalFlags(); cmd.HasParent() && local.HasAvailableFlags() {
		p.printf("\nFlags:\n%s", flagUsages(local, width))
	}
	every := cmd.InheritedFlags()
	if !cmd.HasParent() {
		every = cmd.LocalFlags()
	}
	p.printf("\nFlags of every command:\n%s", flagUsages(every, width))
	if len(subs) > 0 {
		p.printf("\n`%s COMMAND --help` says more about one.\n", cmd.CommandPath())
	}
}

// helpCommands lists the commands below one, in their groups.
func (p *program) helpCommands(cmd *cobra.Command, subs []*cobra.Command, width int) {
	list := func(title string, of []*cobra.Command) {
		if len(of) == 0 {
			return
		}
		p.printf("\n%s\n", title)
		for _, c := range of {
			const gutter = 14 // for names
			at := c.Name()
			for _, part := range broken(c.Short, width-gutter) {
				p.printf("  %-*s%s\n", gutter-2, at, part)
				at = ""
			}
		}
	}
	place := func(c *cobra.Command) int { // those of cobra come last
		return cmp.Or(slices.Index(p.order, c.Name())+1, len(p.order)+1)
	}
	for _, g := range cmd.Groups() {
		of := slices.DeleteFunc(slices.Clone(subs), func(c *cobra.Command) bool { return c.GroupID != g.ID })
		slices.SortStableFunc(of, func(a, b *cobra.Command) int { return place(a) - place(b) })
		list(g.Title, of)
	}
	list("Commands:", slices.DeleteFunc(slices.Clone(subs), func(c *cobra.Command) bool { return c.GroupID != "" }))
}

// flagUsages lists flags.
func flagUsages(flags *pflag.FlagSet, width int) string {
	var b strings.Builder
	for line := range strings.Lines(flags.FlagUsagesWrapped(width)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// reflow lays text out in lines of a width. Lines that begin with a space stay as they
// are.
func reflow(text string, width int) string {
	var lines, open []string
	flush := func() {
		if len(open) > 0 {
			lines = append(lines, broken(strings.Join(open, " "), width)...)
		}
		open = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			open = append(open, line)
			continue
		}
		flush()
		lines = append(lines, line)
	}
	flush()
	return strings.Join(lines, "\n")
}

// helpCommand is help as a command.
func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND…]",
		Short: "Say how a command is used",
		Example: `  ferrule help
  ferrule help servers add`,
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			at := cmd.Root()
			for i, name := range args {
				below := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
				if below < 0 {
					return &status{statusUsage, known(at, args[i:])}
				}
				at = at.Commands()[below]
			}
			return at.Help()
		}),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// describeCompletion gives cobra's own command texts like those of the others.
func (p *program) describeCompletion(cmd *cobra.Command) {
	cmd.Short = "Print a script that completes commands, flags and names in a shell"
	cmd.Long = ""
	cmd.Example = `  source <(ferrule completion bash)
  ferrule completion fish > ~/.config/fish/completions/ferrule.fish`
	p.group(cmd)
	for _, c := range cmd.Commands() {
		shell := c.Name()
		c.Short = "Print the script for " + shell
		c.Long = "Print a script that completes commands, flags and names in " + shell + ". The first example\nloads it in this shell; the second one keeps it for all that are started later."
		c.Example = map[string]string{
			"bash":       "  source <(ferrule completion bash)\n  ferrule completion bash > /etc/bash_completion.d/ferrule",
			"zsh":        "  source <(ferrule completion zsh)\n  ferrule completion zsh > \"${fpath[1]}/_ferrule\"",
			"fish":       "  ferrule completion fish | source\n  ferrule completion fish > ~/.config/fish/completions/ferrule.fish",
			"powershell": "  ferrule completion powershell | Out-String | Invoke-Expression\n  ferrule completion powershell >> $PROFILE",
		}[shell]
		if f := c.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "leave the descriptions out"
		}
	}
}

// flagError says of a flag that is none which is near, and of a value that is none what
// was wanted. The text of others is about Go.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, e)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		name, _ := pflag.UnquoteUsage(e.GetFlag())
		return fmt.Errorf("--%s: got nothing, want %s", e.GetFlag().Name, name)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		want := map[string]string{"int": "a number", "bool": "true or false", "duration": "a time such as 30s or 24h"}[e.GetFlag().Value.Type()]
		if want != "" {
			return fmt.Errorf("--%s: got %q, want %s", e.GetFlag().Name, e.GetValue(), want)
		}
	}
	return err
}

// unknownFlag names the flags that are near: also those of one letter, where somebody
// has left out a dash.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	got := "--" + e.GetSpecifiedName()
	if short := e.GetSpecifiedShortnames(); short != "" {
		got = "-" + short
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name, _, _ := strings.Cut(strings.TrimLeft(got, "-"), "=")
	near := nearest(name, names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return fmt.Errorf("unknown flag %s%s", terminal.Brief(got, 80), didYouMean(near))
}

// known refuses a command that is not there, and names those that are near.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names, near []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		names = append(names, c.Name())
		if slices.Contains(c.SuggestFor, strings.ToLower(args[0])) {
			near = append(near, c.Name())
		}
	}
	hint := fmt.Sprintf("`%s --help` lists the commands", cmd.CommandPath())
	if len(names) == 0 {
		return fmt.Errorf("got %q, want nothing behind %s", terminal.Brief(args[0], 80), cmd.CommandPath())
	}
	if cmd.HasParent() {
		hint = "want " + orWords(names)
	}
	if len(near) == 0 {
		near = nearest(args[0], names)
	}
	return fmt.Errorf("unknown command %q for %q%s", terminal.Brief(args[0], 80), cmd.CommandPath(), orList(near, hint))
}
