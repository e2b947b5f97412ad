package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/tool"
)

// serving are the flags of a command that serves clients.
type serving struct {
	tools   string
	builtin bool
	verbose bool
	level   string
	format  string
}

func (f *serving) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tools, "tools", "", "how tools are listed, a `MODE`: full, deferred, or auto, which defers them where they take more than a tenth of a context of 200,000 tokens (default that of the configuration)")
	cmd.Flags().BoolVar(&f.builtin, "builtin", false, "offer the program's own tools beside those of servers")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print also what servers write to standard error: --log-level debug")
	cmd.Flags().StringVar(&f.level, "log-level", "", "what is logged, a `LEVEL`: debug, info, warn or error, and what is worse (default that of the configuration, else info)")
	cmd.Flags().StringVar(&f.format, "log-format", "", "how, a `FORMAT`: text or json (default that of the configuration, else text)")
}

// check refuses flags that say nothing.
func (f *serving) check() error {
	for _, flag := range []struct {
		name, got string
		want      []string
	}{
		{"--tools", f.tools, []string{"auto", "full", "deferred"}},
		{"--log-level", f.level, []string{"debug", "info", "warn", "error"}},
		{"--log-format", f.format, []string{"text", "json"}},
	} {
		if flag.got == "" {
			continue
		}
		if err := oneOf(flag.name, flag.got, flag.want...); err != nil {
			return err
		}
	}
	return nil
}

// gateway serves a host.
func (f *serving) gateway(h *host, log *slog.Logger) *mcptool.Gateway {
	l := h.config.Listen
	mode := func(word string) mcptool.Mode {
		if word == "auto" {
			return mcptool.Auto
		}
		return mcptool.Mode(word)
	}
	g := &mcptool.Gateway{
		Runtime: h.rt, Hub: h.hub, Name: client, Version: thisVersion().Version, Names: l.Names, ApproveElsewhere: l.Elsewhere, Log: log,
		Mode: func(name string) mcptool.Mode {
			if f.tools != "" {
				return mode(f.tools)
			}
			if word, ok := l.Clients[name]; ok {
				return mode(word)
			}
			return mode(l.Tools)
		},
	}
	if h.tells != nil {
		g.TakeTrace = h.tells.Take
	}
	return g
}

// in has the program work in a folder: its workspace, unless the configuration that
// is there names another.
func (p *program) in(args []string) error {
	for _, path := range []*string{&p.home, &p.config} { // they were said here
		if *path != "" {
			*path = p.path(*path)
		}
	}
	if len(args) == 0 {
		return nil
	}
	dir := p.path(args[0])
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return usage("%w: name a folder to work in", plainly(err))
	case !info.IsDir():
		return usage("%s is no folder: name the one to work in", dir)
	}
	p.dir = dir
	return nil
}

func (p *program) mcpCommand() *cobra.Command {
	var f serving
	cmd := &cobra.Command{
		Use:   "mcp [DIR]",
		Short: "Serve tools to one MCP client over standard input and output",
		Long: `Serve the tools of the servers in ferrule.yaml to the MCP client that has started
this: it talks over standard input and output, until its input ends. Every call
passes the rules. Questions wait for ` + "`ferrule approvals`" + `, which is run in the same
folder. The workspace is DIR, else the current folder. Where there is no server, the
program's own tools are served; --builtin, or the key tools in ferrule.yaml, serves
them beside servers.

All that is not protocol is on standard error. With --quiet that is only what is wrong and
what is asked.`,
		Example: `  claude mcp add ferrule -- ferrule mcp /path/to/project`,
		Args:    atMostOne("DIR"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if err := p.in(args); err != nil {
				return err
			}
			return p.serveStdio(cmd, &f)
		}),
	}
	f.flags(cmd)
	return cmd
}

func (p *program) serveStdio(cmd *cobra.Command, f *serving) error {
	ctx, was := cmd.Context(), p.reads()
	if err := f.check(); err != nil {
		return err
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	outlivePipe()
	b := p.board(false, true)
	defer b.close()
	log := f.log(b, c)
	o := hosting{
		servers: true, serves: true, builtin: f.builtin, log: log,
		observe: func(e audit.Event) { p.tellAsked(b, e) },
	}
	return p.with(ctx, o, func(h *host) error {
		gateway := f.gateway(h, log)
		h.atEnd(beside(gateway.Close, h.hub.Close)) // no call runs then: no server waits for another to end
		ctx, cancel := context.WithCancel(ctx)
		var telling sync.WaitGroup
		defer telling.Wait()
		defer cancel()
		tell := func(line string) { b.print(func() { p.complain("ferrule: " + line) }) }
		telling.Go(func() {
			h.tellServers(ctx, func(line string, well bool) {
				if !well || !p.quiet {
					tell(line)
				}
			})
		})
		telling.Go(func() { tellChanged(ctx, func() reading { return was }, tell) })
		return gateway.ServeStdio(ctx, p.stdin, p.stdout, tool.Caller{Attended: true})
	})
}

// beside closes things at the same time.
func beside(ends ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		errs := make([]error, len(ends))
		var closing sync.WaitGroup
		for i, end := range ends {
			closing.Go(func() { errs[i] = end(ctx) })
		}
		closing.Wait()
		return errors.Join(errs...)
	}
}

// log prints what happens to servers.
func (f *serving) log(b *board, c *config.Config) *slog.Logger {
	word := cmp.Or(f.level, c.Telemetry.Level, "info")
	switch {
	case f.level != "":
	case f.verbose:
		word = "debug"
	case b.p.quiet:
		word = "warn"
	}
	var least slog.Level
	_ = least.UnmarshalText([]byte(word)) // it was checked
	if f.format == "json" || f.format == "" && c.Telemetry.JSON {
		return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: least}))
	}
	return slog.New(&lineLog{board: b, least: least})
}

// tellAsked says where a question that was put is answered.
func (p *program) tellAsked(b *board, e audit.Event) {
	if e.Kind != audit.Asked || e.Request == nil {
		return
	}
	b.print(func() {
		p.sayWhere(questionOf(e))
	})
}
