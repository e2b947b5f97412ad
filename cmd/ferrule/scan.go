package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/tool"
)

// scanning are the flags of scan.
type scanning struct{ definition, strip bool }

func (p *program) scanCommand() *cobra.Command {
	var f scanning
	cmd := &cobra.Command{
		Use:   "scan FILE|URL|SERVER|-",
		Short: "Show text that tries to steer a model: in a file, a page, the tools of a server",
		Long: `Look through a file, a page, standard input (-) or what an MCP server says of itself and
its tools, as results of tools are looked through, and show what was found: where, by
which rule, and the place between [[ and ]]. Characters that nobody sees are written out.

A name without a slash is a server where ferrule.yaml has one of that name: ./NAME is
the file. A page is opened as the tool fetch opens it, so that addresses that are not
public are refused. A server that was never started as it is reached now is not started
for this: ` + "`ferrule trust`" + ` shows what would run, and asks.

The exit status is 0 where nothing was found, 3 where something was, 1 where it could
not be looked through, and 2 where there is no such file or server. --strip takes out
the words that were found and no more: of a page what is left is for reading, and may be
no HTML any more. What is found is a sign, and nothing found is no promise:
what is written as a plain sentence has nothing to be found by. docs/content-safety.md
says what is caught and what is not.`,
		Example: `  ferrule scan README.md
  curl -s https://example.com | ferrule scan -
  ferrule scan github
  ferrule scan notes.md --strip > clean.md`,
		Args: exactly("FILE, URL, SERVER or -"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error { return p.scan(cmd.Context(), args[0], f) }),
	}
	cmd.Flags().BoolVar(&f.definition, "definition", false, "look as at the definition of a tool: for more")
	cmd.Flags().BoolVar(&f.strip, "strip", false, "print the text without what was found; that is told on standard error")
	p.jsonFlag(cmd)
	return cmd
}

// errFound ends the program as where something was denied: everything is said.
var errFound = &status{code: statusDenied}

func (p *program) scan(ctx context.Context, what string, f scanning) error {
	if f.strip && p.json {
		return usage("got --strip and --json, want one of them")
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	look, err := p.finder()
	if err != nil {
		return err
	}
	bare := !strings.ContainsAny(what, `/\`)
	i := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == what })
	if bare && i >= 0 {
		if f.strip {
			return usage("--strip: got it for a server, want a file, a page or -")
		}
		return p.scanServer(ctx, c, c.Servers[i], look)
	}
	in, name, err := p.opened(ctx, c, what)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	return p.scanText(ctx, look, in, name, f)
}

// opened is what is to be looked through, and what it is called.
func (p *program) opened(ctx context.Context, c *config.Config, what string) (io.ReadCloser, string, error) {
	scheme, _, address := strings.Cut(what, "://")
	switch {
	case what == "":
		return nil, "", usage("scan: got an empty name, want a file, an address, a server or -")
	case what == "-":
		return until(ctx, func(w io.Writer) error { return all(w, p.stdin) }), "stdin", nil
	case address && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
		defer p.busy("opening " + terminal.Brief(what, 60))()
		text, err := p.page(ctx, c, strings.ToLower(scheme)+what[len(scheme):])
		return io.NopCloser(strings.NewReader(text)), what, err
	}
	path := p.path(what)
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // to open it may take for ever
		return until(ctx, func(w io.Writer) error {
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			return errors.Join(all(w, file), file.Close())
		}), what, nil
	}
	var file *os.File
	if err == nil && !info.IsDir() {
		file, err = os.Open(path)
	}
	switch {
	case errors.Is(err, os.ErrNotExist) && address:
		return nil, "", usage("scan: got %q, want an address that begins with http:// or https://", what)
	case errors.Is(err, os.ErrNotExist):
		var names []string
		for _, s := range c.Servers {
			names = append(names, s.Name)
		}
		return nil, "", usage("scan: got %q, which is no file and no server of %s%s", what, config.Name, orList(nearest(what, names), "`ferrule servers` lists them"))
	case err != nil:
		return nil, "", fmt.Errorf("scan: %w", err)
	case info.IsDir():
		return nil, "", usage("scan: %s is a folder, want a file", what)
	}
	return file, what, nil
}

// until is what read gives, until ctx ends: who only waits for it can be interrupted.
func until(ctx context.Context, read func(io.Writer) error) io.ReadCloser {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { _ = in.CloseWithError(ctx.Err()) }) // it never fails
	go func() { _ = in.CloseWithError(read(in)) }()                     // it may outlast this, as a read that blocks does
	return out
}

func all(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}

// maxPage is how much of a page is looked through.
const maxPage = 32 << 20

// page is the source of a page, opened as the tool fetch does.
func (p *program) page(ctx context.Context, c *config.Config, address string) (string, error) {
	t, err := builtin.Fetch{Hosts: c.Tools.Hosts, Follow: true, Bytes: maxPage}.Tool()
	if err != nil {
		return "", usage("tools.fetch.hosts: %w", err)
	}
	input, err := json.Marshal(map[string]any{"url": address, "raw": true})
	if err != nil {
		return "", err
	}
	args, err := t.Admit(input)
	if err == nil {
		_, err = t.Validate(ctx, args)
	}
	var res tool.Result
	if err == nil {
		res, err = t.Run(ctx, args)
	}
	if err != nil {
		return "", fmt.Errorf("scan: %s: %w", address, err)
	}
	if len(res.Content) != 1 || res.Content[0].Type != tool.TextContent {
		return "", fmt.Errorf("scan: %s is a picture, want a text", address)
	}
	head, text, _ := strings.Cut(res.Content[0].Text, "\n\n")
	if strings.Contains(head, ", cut: ") {
		p.complain(fmt.Sprintf("ferrule: only the first %d bytes of it are looked through", len(text)))
	}
	return text, nil
}

// scanServer looks through what a server says of itself and its tools now.
func (p *program) scanServer(ctx context.Context, c *config.Config, s config.Server, look *scan.Scanner) error {
	if s.Off {
		return usage("scan: %s is switched off in %s (off: true): nobody can look at its tools", s.Name, config.Name)
	}
	if known, err := p.pinsOf(c).As(reached(c, s)); err != nil || known.First.IsZero() {
		return fmt.Errorf("scan: %s was never started as it is reached now, and is not for this: `ferrule trust %s` shows what would run, starts it, and shows what was found", s.Name, s.Name)
	}
	return p.with(ctx, hosting{looks: true, servers: true, only: s.Name, bare: true}, func(h *host) error {
		if err := h.settled(ctx); err != nil {
			return err
		}
		var all []remark
		for _, st := range h.hub.Status() {
			if st.State != "ready" {
				return fmt.Errorf("scan: %s cannot be looked at: %s", s.Name, notReady(st))
			}
			all = append(all, remarksOn(look, st)...)
		}
		known, err := h.hub.Pinned(s.Name)
		if err != nil {
			return err
		}
		all = append(all, remarksOf(look, &known)...)
		return p.printScanned(s.Name, len(known.Tools), all)
	})
}

// printScanned prints what was found about a server, all of it.
func (p *program) printScanned(server string, tools int, all []remark) error {
	if p.json {
		if all == nil {
			all = []remark{}
		}
		if err := p.printJSON(struct {
			Server   string   `json:"server"`
			Tools    int      `json:"tools"`
			Findings []remark `json:"findings"`
		}{server, tools, all}); err != nil {
			return err
		}
	} else {
		for _, r := range all {
			p.printRemarks(server, []remark{r})
		}
		p.printf("%s: %s in what it says of itself and of %s\n", server, plural(int64(len(all)), "finding", "findings"), plural(int64(tools), "tool", "tools"))
	}
	if len(all) > 0 {
		return errFound
	}
	return nil
}
