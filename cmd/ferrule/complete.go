package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// complete says what a shell offers behind each command and flag, as far as the command
// has not said so itself. It is asked at every key: it reads files, starts nothing,
// connects to nothing and asks nobody.
func (p *program) complete(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.complete(sub)
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = p.argumentsFor(cmd.Use)
	}
	offer := func(f *pflag.Flag) {
		if f.Value.Type() != "string" {
			return
		}
		if values := p.valuesFor(f.Name); values != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, values) // the error is that there are some already
		}
	}
	cmd.LocalFlags().VisitAll(offer)
}

// argumentsFor completes what a command takes by the word for it in its line of usage;
// nil: files.
func (p *program) argumentsFor(use string) cobra.CompletionFunc {
	_, args, _ := strings.Cut(use, " ")
	switch {
	case strings.HasPrefix(args, "SERVER"):
		return p.serverNames
	case strings.Contains(args, "DIR"):
		return folders
	case strings.Contains(args, "SERVER"): // or a file
		return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			names, _ := p.serverNames(cmd, args, begun)
			return names, cobra.ShellCompDirectiveDefault
		}
	case strings.Contains(args, "FILE"):
		return nil
	}
	return cobra.NoFileCompletions
}

// valuesFor completes the value of a flag, which means the same in every command; nil:
// nothing is known, or it is a file.
func (p *program) valuesFor(flag string) cobra.CompletionFunc {
	switch flag {
	case "mode":
		return choices("ask\tas the rules say", "edit\twhat can be undone is not asked for", "read\tonly calls that read", "auto\ta question is a yes, but for what destroys", "observe\ta question is a yes, on the record", "dry-run\tnothing runs")
	case "tools":
		return choices("full\tall definitions", "deferred\ttool_search finds them", "auto\tdeferred where they are many")
	case "log-level":
		return choices("debug", "info", "warn", "error")
	case "log-format":
		return choices("text", "json")
	case "auth":
		return choices("token", "none\tof a loopback address only")
	case "answer":
		return choices("ask\teach call is asked for", "reads\twhat says that it only reads is allowed", "these\tthose of --tools are allowed", "out\tthose of --tools are left out")
	case "decision":
		return choices("allow", "ask", "deny")
	case "trust":
		return choices("built-in", "own", "skill-trusted", "skill-untrusted", "mcp", "web", "inbound")
	case "kind":
		var kinds []string
		for _, k := range audit.Kinds() {
			kinds = append(kinds, string(k))
		}
		return choices(kinds...)
	case "tool":
		return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return p.completeTools(cmd, nil, begun)
		}
	case "source":
		return p.serverNames
	case "resume":
		return p.completeRuns
	case "model":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"anthropic:", "openai:", "openai-chat:", "scripted:"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	case "home":
		return folders
	case "config":
		return cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	case "file", "head", "out", "system":
		return nil
	}
	return cobra.NoFileCompletions
}

// choices are all that there is to say, each with what it means behind a tab.
func choices(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

func folders(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// typeable are the words that somebody can type: what is in a store or a file of others
// may control a terminal.
func typeable(list []string) []string {
	list = slices.DeleteFunc(list, func(w string) bool {
		word, _, _ := strings.Cut(w, "\t")
		return word == "" || strings.ContainsAny(word, " \n") || terminal.Visible(word) != word
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// completeTools completes the names of tools: those of the program, and those of
// servers that were offered when they were last reached.
func (p *program) completeTools(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := p.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return typeable(p.toolNames(cmd.Context(), c)), cobra.ShellCompDirectiveNoFileComp
}

// toolNames are what models call tools, as far as is known without one being made or a
// server being started.
func (p *program) toolNames(ctx context.Context, c *config.Config) (names []string) {
	for _, group := range p.toolGroups(ctx, c, "") {
		if c.Tools.Has(group.name) {
			names = append(names, group.tools...)
		}
	}
	if p.own != nil {
		for _, t := range p.own() {
			names = append(names, t.Name)
		}
	}
	for _, s := range c.Servers {
		known, err := p.pinsOf(c).As(reached(c, s))
		if err != nil {
			continue
		}
		for _, pin := range known.Tools {
			switch {
			case pin.State == mcptool.PinGone:
			case s.Unprefixed:
				names = append(names, tool.WireName("", pin.Tool))
			default:
				names = append(names, tool.WireName(s.Name, pin.Tool))
			}
		}
	}
	return names
}

// completeRules completes the ids of lasting rules.
func (p *program) completeRules(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	err := p.withRules(cmd.Context(), func(_ *config.Config, _ *store.Store, list []lasting) error {
		for _, l := range list {
			ids = append(ids, l.ID+"\t"+terminal.Brief(l.Rule, 60))
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return typeable(ids), cobra.ShellCompDirectiveNoFileComp
}

// completeRuns completes the names of runs that can go on.
func (p *program) completeRuns(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := p.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	runs := &runs{dir: filepath.Join(p.homeOf(c), "runs")}
	return typeable(runs.names()), cobra.ShellCompDirectiveNoFileComp
}
