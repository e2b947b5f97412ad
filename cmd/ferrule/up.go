package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// upping are the flags of up.
type upping struct {
	serving
	address, auth string
}

// mcpPath is where clients are served.
const mcpPath = "/mcp"

// Bounds of the HTTP server. There is none on how long an answer takes: calls wait
// for people, and streams stay open.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	finishing  = 10 * time.Second // calls that run when it is stopped
	lastWords  = 2 * time.Second  // and their answers, once they were stopped
)

func (p *program) upCommand() *cobra.Command {
	var f upping
	cmd := &cobra.Command{
		Use:        "up [DIR]",
		SuggestFor: []string{"serve", "start", "server", "gateway"},
		Short:      "Serve tools to MCP clients over HTTP, and ask here",
		Long: `Serve the tools of the servers in ferrule.yaml to MCP clients over HTTP: one
address, and every call passes the rules. It needs no configuration. The workspace is
DIR, else the current folder. Where there is no server, the program's own tools are
served; --builtin, or the key tools in ferrule.yaml, serves them beside servers.

The console, whose link is printed, shows what happens and takes answers in a browser. On
a terminal questions are put here too; elsewhere they wait for ` + "`ferrule approvals`" + `.
Ctrl-C lets calls that run end, for 10 s at most; a second one ends it at once.

With --quiet it prints where it serves what (address, token, link, tools), then only
what is wrong and what is asked.`,
		Example: `  ferrule up
  ferrule up ~/project --builtin
  ferrule up --address 127.0.0.1:0`,
		Args: atMostOne("DIR"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if err := p.in(args); err != nil {
				return err
			}
			return p.up(cmd.Context(), &f)
		}),
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&f.address, "address", "", "the `ADDRESS` to listen at (default that of the configuration, else 127.0.0.1:7711)")
	cmd.Flags().StringVar(&f.auth, "auth", "", "what clients must have, a `WORD`: token, or none, for a loopback address only (default that of the configuration, else token)")
	return cmd
}

// listening is what the configuration and the flags say of the address.
func (f *upping) listening(l config.Listen) (config.Listen, error) {
	if f.address != "" {
		l.Address = f.address
	}
	switch f.auth {
	case "":
	case "token":
		l.Open = false
	case "none":
		l.Open = true
	default:
		return l, oneOf("--auth", f.auth, "token", "none")
	}
	if err := l.Check(); err != nil {
		return l, usage("up: %w", err)
	}
	return l, nil
}

func (p *program) up(ctx context.Context, f *upping) error {
	was := p.reads()
	c, err := p.load()
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	l, err := f.listening(c.Listen)
	if err != nil {
		return err
	}
	keys, err := keysOf(l)
	if err != nil {
		return err
	}
	ln, err := listen(ctx, l.Where())
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }() // which the server has done, but for an error before
	outlivePipe()
	b := p.board(false, true)
	defer b.close()
	log := f.log(b, c)
	pages := new(web.Console)
	o := hosting{servers: true, serves: true, builtin: f.builtin, fetched: true, log: log, observe: func(e audit.Event) {
		pages.Observe(e)
		if !p.talks() {
			p.tellAsked(b, e)
		}
	}}
	return p.with(ctx, o, func(h *host) error {
		d := &door{p: p, h: h, board: b, listen: l, ln: ln, keys: keys, gateway: f.gateway(h, log), pages: pages, log: log, was: was}
		return d.serve(ctx)
	})
}

// keysOf reads the files for TLS; nil: there are none.
func keysOf(l config.Listen) (*tls.Config, error) {
	if l.Cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
	if err != nil {
		return nil, usage("listen.tls: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// listen opens an address. The error says what to do.
func listen(ctx context.Context, address string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("up: %s is in use, perhaps by another `ferrule up`: end that one, or take another address: --address 127.0.0.1:0 takes any that is free", address)
	case err != nil:
		return nil, fmt.Errorf("up: %w: --address names another", err)
	}
	return ln, nil
}

// door is the HTTP server of a gateway.
type door struct {
	p       *program
	h       *host
	board   *board
	listen  config.Listen
	ln      net.Listener
	keys    *tls.Config // nil: it is not encrypted
	gateway *mcptool.Gateway
	pages   *web.Console
	trials  trials
	looked  looks
	log     *slog.Logger
	token   string // of the local user; "": none is wanted

	mu  sync.Mutex // held while the console changes rules
	was reading    // the configuration at the start
}

func (d *door) serve(ctx context.Context) error {
	how := mcptool.HTTP{Open: d.listen.Open, Hosts: d.hosts(), Attended: true} // by the console
	if !d.listen.Open {
		token, err := localToken(d.p.homeOf(d.h.config))
		if err != nil {
			return err
		}
		d.token = token
		if how.Tokens, err = tokensOf(ctx, d.listen, d.h.rt.Secrets, token); err != nil {
			return err
		}
	}
	if err := d.console(d.pages); err != nil {
		return err
	}
	d.p.link = d.root()
	mux := http.NewServeMux()
	mux.Handle(mcpPath, d.gateway.Handler(how))
	mux.Handle("/", d.pages)
	if from := d.h.tells.Metrics(); from != nil {
		h, err := metrics(d.p.homeOf(d.h.config), from)
		if err != nil {
			return err
		}
		mux.Handle(metricsPath, h)
	}
	server := &http.Server{
		Handler: mux, TLSConfig: d.keys, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog:    slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }, // calls are finished, not stopped
	}
	served := make(chan error, 1)
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() {
		if d.keys != nil {
			served <- server.ServeTLS(d.ln, "", "")
		} else {
			served <- server.Serve(d.ln)
		}
	})
	d.say()
	d.p.notify(ctx, "READY=1")
	err := d.attend(ctx, served)
	return errors.Join(err, d.stop(ctx, server))
}

// attend waits until it is to stop: the servers are told of, and questions are put
// here, meanwhile.
func (d *door) attend(ctx context.Context, served <-chan error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var telling sync.WaitGroup
	telling.Go(func() {
		d.h.tellServers(ctx, func(line string, well bool) {
			d.pages.Changed()
			if !well || !d.p.quiet {
				d.board.print(func() { d.p.printf("%s\n", line) })
			}
		})
	})
	telling.Go(func() {
		tellChanged(ctx, d.had, func(line string) { d.board.print(func() { d.p.complain("ferrule: " + line) }) })
	})
	asked := make(chan error, 1)
	go func() { asked <- d.ask(ctx) }()
	var err error
	select {
	case <-ctx.Done():
		cancel()
		err = <-asked
	case err = <-served:
		cancel()
		<-asked
	case err = <-asked: // Ctrl-C on the screen, where it is a key and no signal
		cancel()
		if d.p.interrupt != nil {
			d.p.interrupt()
		}
	}
	telling.Wait()
	if errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, context.Canceled) {
		return nil // which is how it is stopped
	}
	return err
}

// stop takes no more requests, lets those that run end, and closes.
func (d *door) stop(ctx context.Context, server *http.Server) error {
	d.p.notify(ctx, "STOPPING=1")
	if !d.p.quiet {
		d.board.print(func() {
			d.p.complain("ferrule: stopping: calls that run are finished; Ctrl-C once more ends at once")
		})
	}
	ctx = context.WithoutCancel(ctx)
	d.pages.Close()
	answering, cut := context.WithTimeout(ctx, finishing+lastWords)
	defer cut()
	over := make(chan error, 1)
	go func() { over <- server.Shutdown(answering) }()
	ctx, cancel := context.WithTimeout(ctx, finishing)
	defer cancel()
	tried := make(chan error, 1)
	go func() { tried <- d.trials.close(ctx) }()
	err := errors.Join(d.gateway.Close(ctx), <-tried)
	if late := <-over; late != nil {
		err = errors.Join(err, server.Close())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		d.board.print(func() { d.p.complain("ferrule: some calls took too long, and were stopped") })
		return nil
	}
	return err
}

// hosts are the names that the address has beside those of the configuration.
func (d *door) hosts() []string {
	list := slices.Clone(d.listen.Hosts)
	host, _, err := net.SplitHostPort(d.listen.Where())
	if ip, bad := netip.ParseAddr(host); err == nil && host != "" && (bad != nil || !ip.IsUnspecified()) {
		_, port, _ := net.SplitHostPort(d.ln.Addr().String())
		list = append(list, host, net.JoinHostPort(host, port))
	}
	return list
}

// url is where clients find it.
func (d *door) url() string { return d.root() + mcpPath }

// root is the address, without a path.
func (d *door) root() string {
	host, _, _ := net.SplitHostPort(d.listen.Where())
	_, port, err := net.SplitHostPort(d.ln.Addr().String())
	if err != nil {
		return d.ln.Addr().String() // which never happens
	}
	ip, bad := netip.ParseAddr(host)
	switch {
	case host == "", bad == nil && ip.IsUnspecified():
		host = "127.0.0.1"
		if name, err := os.Hostname(); err == nil && slices.Contains(d.listen.Hosts, name) {
			host = name
		}
	}
	scheme := "http"
	if d.listen.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
