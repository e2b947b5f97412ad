package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
)

func (p *program) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "List the MCP servers, and add and remove them",
		Long: `List the MCP servers of ferrule.yaml: each is connected to, and how it stands is
printed. These are connections of this command: those of a ` + "`ferrule up`" + ` that runs have
states of their own, which it prints; but what servers did wrong in the last day, while
calls ran, is told of all of them. add, remove and import change the file, and
leave the rest of it as it is; an ` + "`up`" + ` that runs sees that when it is started again.`,
		Example: `  ferrule servers
  ferrule servers add files -- npx -y @modelcontextprotocol/server-filesystem .`,
		Args: known,
		RunE: p.do(func(cmd *cobra.Command, _ []string) error { return p.listServers(cmd.Context()) }),
	}
	p.jsonFlag(cmd)
	list := &cobra.Command{
		Use:     "list",
		Short:   "List the MCP servers and how they stand",
		Example: `  ferrule servers list --json`,
		Args:    exactly(),
		RunE:    p.do(func(cmd *cobra.Command, _ []string) error { return p.listServers(cmd.Context()) }),
	}
	p.jsonFlag(list)
	cmd.AddCommand(list, p.serversAddCommand(), p.serversRemoveCommand(), p.importCommand(), p.serversLoginCommand(), p.serversLogoutCommand())
	return cmd
}

// standing is how a server stands, for programs.
type standing struct {
	Name        string   `json:"name"`
	State       string   `json:"state"`
	Era         string   `json:"era,omitempty"`
	Server      string   `json:"server,omitempty"` // what it calls itself
	Tools       int      `json:"tools"`
	Restarts    int      `json:"restarts"`
	Why         string   `json:"why,omitempty"`
	Login       string   `json:"login,omitempty"` // what a person runs to log in
	Quarantined []absent `json:"quarantined"`
	Faults      []string `json:"faults,omitempty"` // what it did wrong, the last first
	Paused      string   `json:"paused,omitempty"` // why it is not asked now
	Isolation   string   `json:"isolation,omitempty"`
	Rules       []string `json:"rules,omitempty"`   // what the configuration says of its calls, KEY: VALUE
	Notes       []string `json:"notes,omitempty"`   // what of that does nothing
	Content     []remark `json:"content,omitempty"` // what was found in what its tools say
}

func standingOf(s mcptool.Status) standing {
	one := standing{
		s.Name, s.State, s.Era, s.Server, s.Tools, s.Restarts, s.Why, s.Login,
		[]absent{},
		s.Faults,
		s.Paused, s.Isolation, nil, s.Notes, nil,
	}
	for _, q := range s.Quarantined {
		one.Quarantined = append(one.Quarantined, absent{q.Tool, q.Why})
	}
	return one
}

func (p *program) listServers(ctx context.Context) error {
	return p.with(ctx, hosting{looks: true, servers: true, bare: true}, func(h *host) error {
		if err := h.settled(ctx); err != nil {
			return err
		}
		list := []standing{}
		for i, s := range h.servers() {
			one := standingOf(s)
			one.Rules = h.config.Servers[i].Rules()
			if known, err := h.hub.Pinned(s.Name); err == nil {
				one.Content = remarksOf(h.rt.Guard.Finder(), &known)
			}
			list = append(list, one)
		}
		switch {
		case p.json:
			return p.printJSON(list)
		case len(list) == 0:
			p.printf("there are none: `ferrule servers add` and `ferrule servers import` add some\n")
			return nil
		}
		rows := [][]string{{"NAME", "STATE", "ERA", "TOOLS", "RESTARTS", "WHY"}}
		for _, s := range list {
			why := s.Why
			if n := len(s.Quarantined); n > 0 && why == "" {
				why = plural(int64(n), "tool is", "tools are") + " not offered: `ferrule tools` says why"
			}
			if s.Login != "" && why == "" {
				why = "needs login: " + s.Login
			}
			if s.Paused != "" && why == "" {
				why = "not asked now: " + s.Paused
			}
			if n := len(s.Faults); n > 0 && why == "" {
				why = s.Faults[0]
			}
			rows = append(rows, []string{s.Name, s.State, s.Era, strconv.Itoa(s.Tools), strconv.Itoa(s.Restarts), why})
		}
		p.printTable(rows)
		for _, s := range list {
			p.printRules(s)
			if n := len(s.Content); n > 0 {
				p.printf("%s: what its tools say has %s (the worst: %s): ferrule pins show %s\n", s.Name, plural(int64(n), "finding", "findings"), worst(s.Content), s.Name)
			}
		}
		return nil
	})
}

// printRules prints what the configuration says of the calls of a server, if it says
// something.
func (p *program) printRules(s standing) {
	if len(s.Rules) > 0 {
		p.printf("%s: %s\n", s.Name, strings.Join(s.Rules, ", "))
	}
	if s.Isolation != "" && slices.ContainsFunc(s.Rules, func(r string) bool { return strings.HasPrefix(r, "isolate: ") }) {
		p.printf("%s: isolated: %s\n", s.Name, terminal.Visible(s.Isolation))
	}
	for _, note := range s.Notes {
		p.printf("%s: note: %s\n", s.Name, terminal.Visible(note))
	}
}

// examineServers says of each server whether it can be reached.
func (p *program) examineServers(ctx context.Context) (all []finding) {
	err := p.with(ctx, hosting{looks: true, servers: true, bare: true}, func(h *host) error {
		if err := h.settled(ctx); err != nil {
			return err
		}
		for _, s := range h.servers() {
			f := finding{"server " + s.Name, "ok", serverLine(s)}
			switch s.State {
			case "ready":
			case stateOff:
				f.State, f.Text = "missing", "switched off in the configuration"
			default:
				f.State = "failed"
			}
			for _, note := range s.Notes {
				f.Text += "\nnote: " + terminal.Visible(note)
			}
			all = append(all, f)
		}
		return nil
	})
	if err != nil {
		all = append(all, finding{"servers", "failed", err.Error()})
	}
	return all
}

// file is the configuration file that a command changes.
func (p *program) file() (string, error) {
	c, err := p.load()
	if err != nil {
		return "", err
	}
	return p.fileOf(c), nil
}

func (p *program) serversAddCommand() *cobra.Command {
	var s config.Server
	var headers, env []string
	cmd := &cobra.Command{
		Use:   "add NAME (-- COMMAND [ARGS…] | --url URL)",
		Short: "Add an MCP server to ferrule.yaml",
		Long: `Add an MCP server to ferrule.yaml: a command that is started, or a URL. Values of
--env and --header may hold ${NAME}, a variable of the environment of ferrule, and
${secret:NAME}, one of the secrets of ferrule.yaml.`,
		Example: `  ferrule servers add files -- npx -y @modelcontextprotocol/server-filesystem .
  ferrule servers add issues --url https://mcp.example/mcp \
    --header 'Authorization=Bearer ${secret:issues}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash == 1 || len(args) == 1 && dash < 0 {
				return nil
			}
			return fmt.Errorf("got %q, want NAME -- COMMAND [ARGS…], or NAME --url URL", strings.Join(args, " "))
		},
		RunE: p.do(func(_ *cobra.Command, args []string) error {
			s.Name, s.Command = args[0], args[1:]
			var err error
			if s.Env, err = pairs("env", env); err != nil {
				return err
			}
			list, err := pairs("header", headers)
			if err != nil {
				return err
			}
			for _, pair := range list {
				if s.Header == nil {
					s.Header = make(map[string]string)
				}
				name, value, _ := strings.Cut(pair, "=")
				s.Header[name] = value
			}
			return p.addServer(s)
		}),
	}
	cmd.Flags().StringVar(&s.URL, "url", "", "the `URL` that it is reached at over HTTP")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "a `NAME=VALUE` that goes with each request")
	cmd.Flags().StringArrayVar(&env, "env", nil, "a `NAME=VALUE` that its command is given")
	cmd.Flags().BoolVar(&s.Unprefixed, "unprefixed", false, "its tools have their own names, without the server's in front")
	return confirms(cmd)
}

// pairs checks flags that are NAME=VALUE.
func pairs(flag string, list []string) ([]string, error) {
	for _, pair := range list {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" { // the rest may be a secret
			return nil, usage("--%s: want NAME=VALUE", flag)
		}
	}
	return list, nil
}

func (p *program) addServer(s config.Server) error {
	path, err := p.file()
	if err != nil {
		return err
	}
	if err := config.AddServer(path, s, nil); err != nil {
		return changing(err)
	}
	p.printf("added %s to %s\n", s.Name, path)
	for _, warning := range inTheOpen(s) {
		p.complain("ferrule: " + warning)
	}
	return nil
}

// changing is an error of a change of the configuration: most are of who called.
func changing(err error) error {
	text := fmt.Errorf("servers: %s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "config: "), "servers: "))
	if errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return &status{statusUsage, text}
	}
	return text
}

func (p *program) serversRemoveCommand() *cobra.Command {
	return confirms(&cobra.Command{
		Use:        "remove NAME",
		SuggestFor: []string{"rm", "delete"},
		Short:      "Take an MCP server out of ferrule.yaml",
		Long: `Take an MCP server out of ferrule.yaml. What was answered for it ends: the rules that
` + "`ferrule trust`" + ` has made for its tools are taken back, and questions that wait are
withdrawn. What was left out, rejected or accepted of it stays known, should it come back:
` + "`ferrule pins forget`" + ` ends that, too.`,
		Example: `  ferrule servers remove files`,
		Args:    exactly("NAME"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(c.Servers, func(s config.Server) bool { return s.Name == args[0] }) {
				return noServer(c, args[0])
			}
			path := p.fileOf(c)
			if err := config.RemoveServer(path, args[0]); err != nil {
				return changing(err)
			}
			p.printf("removed %s from %s\n", args[0], path)
			if err := p.retire(cmd.Context(), c, args[0]); err != nil {
				return fmt.Errorf("servers remove: what was answered for it could not be taken back: %w", err)
			}
			switch there, told, err := p.forgetLogin(cmd.Context(), c, args[0]); {
			case err != nil:
				return fmt.Errorf("servers remove: its login could not be removed: %w", err)
			case there:
				p.printf("removed the login to %s. %s\n", args[0], told)
			}
			return nil
		}),
		ValidArgsFunction: p.serverNames,
	})
}
