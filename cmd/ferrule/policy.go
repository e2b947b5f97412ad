package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy/cedar"
)

func (p *program) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, show and explain the rules",
		Example: `  ferrule policy check
  ferrule policy explain --tool shell --command "git push"`,
	}
	p.group(cmd)
	cmd.AddCommand(p.checkCommand(), p.showRulesCommand(), p.explainCommand())
	return cmd
}

// rulesOf makes one policy of the short rules and the Cedar files of a
// configuration.
func (p *program) rulesOf(c *config.Config) (*cedar.Set, error) {
	files := make([]cedar.File, 0, len(c.Policy.Files))
	for _, name := range c.Policy.Files {
		text, err := config.Read(name)
		if err != nil {
			return nil, fmt.Errorf("policy.files: %w", err)
		}
		files = append(files, cedar.File{Name: p.short(name), Text: string(text)})
	}
	return cedar.New(cedar.Rules{Allow: c.Policy.Allow, Ask: c.Policy.Ask, Deny: c.Policy.Deny, Workspace: c.Workspace}, files...)
}

// fault is something wrong in a file, for programs.
type fault struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
	// Note: it is not wrong, but does nothing.
	Note bool `json:"note,omitempty"`
}

// String is it in a line.
func (f fault) String() string {
	note := ""
	if f.Note {
		note = "note: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", f.File, f.Line, f.Column, note, f.Text)
}

// faultsOf takes an error apart; what has no place is at the beginning of the
// file.
func faultsOf(file string, err error) (all []fault) {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			all = append(all, faultsOf(file, one)...)
		}
		return all
	}
	switch e := err.(type) { //nolint:errorlint // those that are lists were taken apart
	case *config.Error:
		return []fault{{File: e.File, Line: e.Line, Column: e.Column, Text: e.Text}}
	case *cedar.Error:
		return []fault{{File: e.File, Line: e.Line, Column: e.Column, Text: e.Text}}
	}
	return []fault{{File: file, Line: 1, Column: 1, Text: err.Error()}}
}

func (p *program) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what is wrong in a ferrule.yaml or a Cedar file",
		Long: `Say all that is wrong in a configuration (.yaml, with the Cedar files that it
names) or in a Cedar file (.cedar): where, and what was expected. Without FILE it
is the configuration. What of content fits nothing that is known, such as a label for
a tool that no server has, is noted; a rule for a tool that there is not is not, so
see what it does with ` + "`ferrule policy explain`" + `. The exit status is 0 where
nothing is wrong, else 2.`,
		Example: `  ferrule policy check
  ferrule policy check rules.cedar --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactly("FILE")(cmd, args)
			}
			return nil
		},
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			name, err := p.toCheck(args)
			if err != nil {
				return err
			}
			if name == "" {
				p.printf("no %s: every key has its default\n", config.Name)
				return nil
			}
			all, err := p.check(cmd.Context(), name)
			switch {
			case err != nil:
				return err
			case p.json:
				if err := p.printJSON(append([]fault{}, all...)); err != nil {
					return err
				}
			default:
				for _, f := range all {
					p.complain(f.String())
				}
			}
			wrong := slices.ContainsFunc(all, func(f fault) bool { return !f.Note })
			switch {
			case wrong:
				return &status{code: statusUsage}
			case p.json:
			case len(all) > 0:
				p.printf("%s: nothing is wrong, but see %s\n", name, plural(int64(len(all)), "note", "notes"))
			default:
				p.printf("%s: nothing is wrong\n", name)
			}
			return nil
		}),
	}
	p.jsonFlag(cmd)
	return cmd
}

// toCheck is the file to check; "": there is none, and none was named.
func (p *program) toCheck(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	path, found, err := p.configFile()
	if err != nil || !found {
		return "", err
	}
	return p.short(path), nil
}

// short is a path as a person would write it.
func (p *program) short(path string) string {
	if rel, err := filepath.Rel(p.dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

func (p *program) check(ctx context.Context, name string) ([]fault, error) {
	text, err := config.Read(p.path(name))
	if err != nil {
		return nil, usage("policy check: %w", plainly(err))
	}
	switch filepath.Ext(name) {
	case ".cedar":
		workspace := ""
		if c, err := p.load(); err == nil { // paths in it may be below the workspace
			workspace = c.Workspace
		}
		_, err := cedar.New(cedar.Rules{Workspace: workspace}, cedar.File{Name: name, Text: string(text)})
		return faultsOf(name, err), nil
	case ".yaml", ".yml":
		c, err := config.Parse(name, filepath.Dir(p.path(name)), string(text))
		if err != nil {
			return faultsOf(name, err), nil
		}
		_, rules := p.rulesOf(c)
		_, fetch := fetchTool(c)
		_, content := guardOf(c)
		return append(faultsOf(name, errors.Join(rules, hooksOf(c), fetch, content)), p.contentNotes(ctx, c)...), nil
	}
	return nil, usage("policy check: %s: want a name that ends in .cedar or .yaml", name)
}

func (p *program) showRulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Print the Cedar that the rules of the configuration became",
		Example: `  ferrule policy show`,
		Args:    exactly(),
		RunE: p.do(func(*cobra.Command, []string) error {
			set, err := p.rules()
			if err != nil {
				return err
			}
			text := strings.TrimSpace(set.String())
			if text == "" {
				text = "// no rules: what no rule speaks about is asked for, unless it only reads on this machine"
			}
			p.printf("%s\n", strings.Join(terminal.VisibleLines(text), "\n"))
			return nil
		}),
	}
}

// rules are those of the configuration.
func (p *program) rules() (*cedar.Set, error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	set, err := p.rulesOf(c)
	if err != nil {
		return nil, &status{statusUsage, fmt.Errorf("the rules are wrong:\n%w", err)}
	}
	return set, nil
}
