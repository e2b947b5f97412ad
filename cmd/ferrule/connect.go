package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// connecting are the flags of connect and disconnect.
type connecting struct {
	user, http, dry, hook bool
	wait                  time.Duration // of the hook, for answers; 0: the client asks
}

func (p *program) connectCommand() *cobra.Command {
	var f connecting
	cmd := p.clientCommand(&f, "change", p.connectClient, &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Move the servers of claude-code, cursor or vscode behind Ferrule",
		Long: `Move the MCP servers of a client behind Ferrule: they are added to ferrule.yaml, and
in the client's file stands Ferrule in their place, which the client starts itself
(ferrule mcp). Values that look like secrets are moved to files in the state
directory, and ferrule.yaml names them as secrets. What the client's file was before is
kept beside it (.before-ferrule), and ` + "`ferrule disconnect`" + ` puts it back. Claude Code is also told that it need not ask for
calls of Ferrule, which asks itself. At a terminal it ends with the question which of the
servers may be started, to look at their tools (` + "`ferrule trust`" + `).

It is the project's file that is changed (.mcp.json, .cursor/mcp.json,
.vscode/mcp.json); --user changes that of the user, with this folder as the workspace.
With --http the client calls a running ` + "`ferrule up`" + `, with the token in the variable
FERRULE_TOKEN (VS Code asks for it): no token stands in the file.

With --hook Claude Code also asks Ferrule before it runs its own tools (Bash, Edit,
WebFetch, …): ` + "`ferrule hook`" + ` is written into .claude/settings.json. It can be added to
a client that is connected already.

With --quiet nothing is asked, and nothing is started.`,
		Example: `  ferrule connect claude-code
  ferrule connect claude-code --hook
  ferrule connect cursor --dry-run
  ferrule connect vscode --http`,
	})
	cmd.Flags().BoolVar(&f.http, "http", false, "have the client call a running up")
	cmd.Flags().BoolVar(&f.hook, "hook", false, "have Claude Code ask before it runs its own tools, too")
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "with --hook: how long a question waits for approvals, a `TIME` (default the client asks)")
	return cmd
}

func (p *program) disconnectCommand() *cobra.Command {
	return p.clientCommand(new(connecting), "put back", p.disconnectClient, &cobra.Command{
		Use:   "disconnect CLIENT",
		Short: "Put the servers of a client back as they were before connect",
		Long: `Put the file of a client back as it was before ` + "`ferrule connect`" + `. Where it was
changed since, that stays: Ferrule is taken out, and the servers are put back beside
what is there now. The servers are taken out of ferrule.yaml, unless another client of
this folder has them there.`,
		Example: `  ferrule disconnect claude-code --dry-run
  ferrule disconnect claude-code`,
	})
}

// clientCommand is a command that does something with the files of a client.
func (p *program) clientCommand(f *connecting, verb string, do func(context.Context, mcpClient, connecting) error, cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgs = exactly("CLIENT"), clientNames()
	cmd.RunE = p.do(func(cmd *cobra.Command, args []string) error {
		m, err := clientOf(args[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), m, *f)
	})
	cmd.Flags().BoolVar(&f.user, "user", false, verb+" the user's own file, not the project's")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "change nothing, and say what would be changed")
	return cmd
}

func clientNames() (names []string) {
	for _, m := range mcpClients() {
		names = append(names, m.name)
	}
	return names
}

// files are those of a client: of its servers, and of its own rules; "": it has none.
func (p *program) files(m mcpClient, user bool) (servers, rules string) {
	if servers = filepath.Join(p.dir, filepath.FromSlash(m.file)); user {
		servers = m.user(p)
	}
	if m.allow != "" {
		dir := p.dir
		if user {
			dir = p.homeDir()
		}
		rules = filepath.Join(dir, filepath.FromSlash(m.allow))
	}
	return servers, rules
}

func (p *program) connectClient(ctx context.Context, m mcpClient, f connecting) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	path, rules := p.files(m, f.user)
	if f.wait < 0 || f.wait > maxWait || f.wait > 0 && !f.hook {
		return usage("connect: --wait: got %s, want 0 to %s, with --hook", f.wait, maxWait)
	}
	if f.hook && m.name != hookClient {
		return usage("connect: --hook: %s has no hook that this knows, want %s", m.title, hookClient)
	}
	if _, err := os.Lstat(before(path)); err == nil && f.hook {
		return p.addHook(rules, f)
	} else if err == nil {
		return usage("connect: %s is connected already: %s is there; `ferrule disconnect %s` puts it back", m.title, before(path), m.name)
	}
	c, err := clientFile(path)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	entry := p.entry(m, cfg, f.user, f.http)
	plain, comments := withoutComments(c.old)
	if comments {
		text, err := indented(map[string]any{client: entry})
		if err != nil {
			return err
		}
		return usage("connect: %s has comments, which would be lost. By hand: `ferrule servers import %s`, then write in that file, in the place of the servers that were taken:\n  %q: %s", path, path, m.key, text)
	}
	var list []offered
	if value, err := rawValue(plain, m.key); err != nil {
		return usage("connect: %s: %w", path, err)
	} else if value {
		if list, err = p.clientServers(plain); err != nil {
			return usage("connect: %s: %w", path, err)
		}
	}
	own, err := clientFile(p.fileOf(cfg))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	taken, err := p.take(list, f.dry)
	if now, read := clientFile(own.path); read == nil {
		own.now = now.old
	}
	if err == nil {
		if c.now, err = p.behind(m, plain, taken.names, entry, f.http && m.input && !cfg.Listen.Open); err != nil {
			err = usage("connect: %s: %w", path, err)
		}
	}
	if err == nil {
		err = p.rewriteClient(m, c, rules, f)
	}
	if err != nil {
		return errors.Join(err, p.untake(own, taken))
	}
	p.sayLocal(m)
	p.afterConnect(m, f, cfg)
	if f.dry {
		return nil
	}
	return p.trustTaken(ctx, taken.servers)
}

// untake takes out of the configuration again what take has put there.
func (p *program) untake(own rewrite, t taking) error {
	if bytes.Equal(own.now, own.old) {
		return nil
	}
	if err := own.back(); err != nil {
		return fmt.Errorf("the servers stay in %s: %w", own.path, err)
	}
	p.printf("put back %s\n", own.path)
	return forget(t.made)
}

// rewriteClient puts Ferrule in the file of a client, and in its rules.
func (p *program) rewriteClient(m mcpClient, c rewrite, rules string, f connecting) error {
	changes := []rewrite{c}
	if rules != "" {
		r, err := clientFile(rules)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		text, comments := withoutComments(r.old)
		if r.now, err = withAllow(text); err == nil && f.hook {
			r.now, err = withHook(r.now, p.hookLine(f), f.wait)
		}
		switch {
		case (err != nil || comments) && f.hook:
			return noHook(rules, err)
		case f.hook && !bytes.Equal(r.now, r.old):
			p.hooksOff(rules, r.now)
			changes = append(changes, r)
		case err != nil || comments:
			p.complain(fmt.Sprintf("ferrule: %s stays as it is (it has comments, or cannot be read): add %q to permissions.allow by hand, or %s asks too", rules, allowLine, m.title))
		case !bytes.Equal(r.now, r.old):
			changes = append(changes, r)
		}
	}
	if err := p.apply(changes, f.dry); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// rawValue reports whether a text has a key.
func rawValue(text []byte, key string) (bool, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return false, nil
	}
	raw, err := value(text, key)
	return raw != nil, err
}

// afterConnect says what is left to do.
func (p *program) afterConnect(m mcpClient, f connecting, c *config.Config) {
	switch {
	case p.quiet:
		return
	case f.dry:
		p.printf("nothing was changed\n")
		return
	case f.http && !c.Listen.Open && m.input:
		p.printf("start `ferrule up`; %s asks for the token that it prints\n", m.title)
	case f.http && !c.Listen.Open:
		p.printf("start `ferrule up`, and %s with FERRULE_TOKEN set to the token that it prints\n", m.title)
	case f.http:
		p.printf("start `ferrule up`\n")
	}
	back := m.name
	if f.user {
		back += " --user"
	}
	p.printf("restart %s; `ferrule approvals` answers what waits, `ferrule disconnect %s` puts it all back\n", m.title, back)
}
