package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// loggingIn are the flags of servers login.
type loggingIn struct {
	scopes    []string
	noBrowser bool
	timeout   time.Duration
}

// How long a person may take to log in, if nothing else is said, and at most.
const (
	loginTime    = 5 * time.Minute
	maxLoginTime = 10 * time.Minute
)

func (p *program) serversLoginCommand() *cobra.Command {
	var f loggingIn
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Log in to an MCP server that wants OAuth, in the browser",
		Long: `Log in to an MCP server that is reached by a url and wants OAuth. The address to log
in at is printed, and opened in the browser where there is one; the browser comes back
to a port of 127.0.0.1. Where it runs on another machine, over ssh say, it cannot: then
copy the address that it was sent to, and paste it here.

What the server grants is kept in the state directory, encrypted, and used by every
command from then on, also by an ` + "`up`" + ` that runs: it is renewed by itself. It is used
for the url that the server has now, and for no other. No other command opens a browser.`,
		Example: `  ferrule servers login issues
  ferrule servers login issues --scope write`,
		Args:              exactly("NAME"),
		RunE:              p.do(func(cmd *cobra.Command, args []string) error { return p.logIn(cmd.Context(), args[0], &f) }),
		ValidArgsFunction: p.serverNames,
	}
	cmd.Flags().StringArrayVar(&f.scopes, "scope", nil, "a `SCOPE` to ask for, beside those that were granted or are wanted")
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	cmd.Flags().DurationVar(&f.timeout, "timeout", loginTime, "how long to wait for the login, a `TIME` of at most 10m")
	return cmd
}

func (p *program) serversLogoutCommand() *cobra.Command {
	return confirms(&cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the login to an MCP server, and have it withdrawn there",
		Long: `Forget what an MCP server has granted to ` + "`ferrule servers login`" + `, and have its
authorization server withdraw it where that can be (RFC 7009). Where it cannot, that is
said: what was granted lasts there until it expires or is withdrawn there. It is removed
here in any case. An ` + "`up`" + ` that runs may use what it has until that is to be renewed.`,
		Example:           `  ferrule servers logout issues`,
		Args:              exactly("NAME"),
		RunE:              p.do(func(cmd *cobra.Command, args []string) error { return p.logOut(cmd.Context(), args[0]) }),
		ValidArgsFunction: p.serverNames,
	})
}

// serverNames completes the names of servers.
func (p *program) serverNames(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	c, err := p.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, s := range c.Servers {
		names = append(names, s.Name+"\t"+cmp.Or(s.URL, strings.Join(s.Command, " ")))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// loginsOf are the logins in the state directory.
func (p *program) loginsOf(c *config.Config) *logins {
	dir := filepath.Join(p.homeOf(c), "logins")
	return &logins{dir: dir, key: &sealingKey{file: filepath.Join(dir, "key"), ring: p.ring}}
}

// loginOf is how a server is let in to by what was granted before. Nobody is asked:
// that is for servers login.
func loginOf(l *logins, s config.Server) mcptool.Login {
	return mcptool.Login{
		ClientID: s.LoginClient, ClientSecret: s.LoginSecret, Issuer: s.LoginIssuer, Scopes: s.LoginScopes,
		Load:   func(ctx context.Context) ([]byte, error) { return l.load(ctx, s.Name, s.URL) },
		Keep:   func(ctx context.Context, granted []byte) error { return l.keep(ctx, s.Name, s.URL, granted) },
		Alone:  func(ctx context.Context, work func(context.Context) error) error { return l.alone(ctx, s.Name, work) },
		Advice: "ferrule servers login " + s.Name,
	}
}

// check refuses flags that mean nothing.
func (f *loggingIn) check() error {
	odd := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
	for _, scope := range f.scopes {
		if scope == "" || strings.ContainsFunc(scope, odd) {
			return usage("--scope: got %q, want the name of one scope", scope)
		}
	}
	if f.timeout <= 0 || f.timeout > maxLoginTime {
		return usage("--timeout: got %s, want more than 0 and at most %s", f.timeout, maxLoginTime)
	}
	return nil
}

func (p *program) logIn(ctx context.Context, name string, f *loggingIn) error {
	if err := f.check(); err != nil {
		return err
	}
	c, s, err := p.serverNamed(name)
	if err != nil {
		return err
	}
	if err := s.CanLogin(); err != nil {
		return usage("servers login: %s: %w", name, err)
	}
	if err := makeHome(p.homeOf(c)); err != nil {
		return err
	}
	vault, err := vaultOf(c)
	if err != nil {
		return &status{statusUsage, err}
	}
	filled, err := s.Filled(p.lookup, func(secret string) (string, error) { return valueFor(ctx, vault, serverUses+s.Name, secret) })
	if err != nil {
		return fmt.Errorf("servers login: %s: %w", name, err)
	}
	l := p.loginsOf(c)
	if err := p.logInTo(ctx, l, filled, f); err != nil {
		return err
	}
	p.printf("logged in to %s: what it granted is kept in %s, encrypted with a key in %s\n", name, l.dir, l.key.place())
	if s.Off {
		return nil
	}
	return p.with(ctx, hosting{looks: true, servers: true, names: []string{name + "__"}, bare: true}, func(h *host) error {
		if err := h.settled(ctx); err != nil {
			return err
		}
		for _, st := range h.servers() {
			if st.Name == name && st.State != "ready" {
				return fmt.Errorf("servers login: %s: the login is kept, but the server is not ready: %s", name, notReady(st))
			} else if st.Name == name {
				p.printf("server %s: %s\n", name, serverLine(st))
			}
		}
		return nil
	})
}

// logInTo has a person log in to a server, and keeps what it grants.
func (p *program) logInTo(ctx context.Context, l *logins, s config.Server, f *loggingIn) error {
	at := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.LoginPort))
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("servers login: %s is in use, where the browser is to come back to: end what uses it, or take another port (servers.%s.login.port)", at, s.Name)
	case err != nil:
		return fmt.Errorf("servers login: %w", err)
	}
	visit := &visit{p: p, ln: ln, server: s.Name, timeout: f.timeout, browse: !f.noBrowser}
	var unkept error
	login := loginOf(l, s)
	keep := login.Keep
	login.Keep = func(ctx context.Context, granted []byte) error {
		unkept = keep(ctx, granted)
		return unkept
	}
	login.Open, login.Redirect = visit.open, visit.redirect()
	login.Named = func(issuer string) {
		p.printf("%s has you log in at %s.\n", s.Name, terminal.Visible(issuer))
	}
	server := mcptool.Server{Name: s.Name, URL: s.URL, Header: s.Header, Login: login}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("nobody logged in within %s", f.timeout))
	defer cancel()
	err = server.LogIn(ctx, nil, f.scopes...)
	if closing := ln.Close(); err == nil && !errors.Is(closing, net.ErrClosed) {
		err = closing
	}
	switch {
	case err != nil:
		return fmt.Errorf("servers login: %w", err)
	case unkept != nil:
		return fmt.Errorf("servers login: %s: the server has let you in, but that could not be kept: %w", s.Name, unkept)
	}
	return nil
}

// serverNamed is a server of the configuration.
func (p *program) serverNamed(name string) (*config.Config, config.Server, error) {
	c, err := p.load()
	if err != nil {
		return nil, config.Server{}, err
	}
	i := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == name })
	if i < 0 {
		return c, config.Server{}, noServer(c, name)
	}
	return c, c.Servers[i], nil
}

func (p *program) logOut(ctx context.Context, name string) error {
	c, _, unknown := p.serverNamed(name)
	if c == nil {
		return unknown
	}
	there, told, err := p.forgetLogin(ctx, c, name)
	switch {
	case err != nil:
		return fmt.Errorf("servers logout: %s: %w", name, err)
	case there:
		p.printf("logged out of %s: the login is removed here. %s\n", name, told)
	case unknown != nil: // a login of a server that was taken out can still be removed
		return unknown
	default:
		p.printf("there is no login to %s\n", name)
	}
	return nil
}

// forgetLogin removes the login to a server, and has it withdrawn there if that can
// be. there: there was one, and told says what became of it at the server.
func (p *program) forgetLogin(ctx context.Context, c *config.Config, name string) (there bool, told string, err error) {
	if filepath.Base(name) != name || strings.ContainsAny(name, `/\:`) { // it names a file
		return false, "", nil
	}
	l := p.loginsOf(c)
	there, err = l.remove(ctx, name, func(ctx context.Context) {
		issuer, err := p.withdrawLogin(ctx, c, l, name)
		if told = "It was withdrawn at " + issuer + "."; err != nil {
			told = "It was not withdrawn at the server: " + terminal.Visible(err.Error()) + ". Do so there if others may have it."
		}
	})
	return there, told, err
}

// withdrawTime is how long an authorization server may take to withdraw a login.
const withdrawTime = 15 * time.Second

// withdrawLogin has a login withdrawn where it was granted, and says where that is.
func (p *program) withdrawLogin(ctx context.Context, c *config.Config, l *logins, name string) (issuer string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, withdrawTime, fmt.Errorf("it did not answer within %s", withdrawTime))
	defer cancel()
	i := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == name })
	if i < 0 {
		return "", fmt.Errorf("it is not in %s any more", config.Name)
	}
	if err := c.Servers[i].CanLogin(); err != nil {
		return "", err
	}
	vault, err := vaultOf(c)
	if err != nil {
		return "", err
	}
	s, err := c.Servers[i].Filled(p.lookup, func(secret string) (string, error) { return valueFor(ctx, vault, serverUses+name, secret) })
	if err != nil {
		return "", err
	}
	return mcptool.Server{Name: s.Name, URL: s.URL, Header: s.Header, Login: loginOf(l, s)}.LogOut(ctx)
}
