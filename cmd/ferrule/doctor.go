package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/store"
)

// finding is what was found out about one thing. State is ok, failed (it is
// needed) or missing (it is not).
type finding struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Text  string `json:"text"`
}

func (p *program) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what works on this machine and what does not",
		Example: `  ferrule doctor`,
		Args:    exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			done := p.busy("looking at this machine")
			found := p.examine(cmd.Context())
			done()
			failed := 0
			for _, f := range found {
				if f.State == "failed" {
					failed++
				}
			}
			if p.json {
				if err := p.printJSON(found); err != nil {
					return err
				}
			} else {
				for _, f := range found {
					p.printFinding(f)
				}
			}
			if failed > 0 {
				return fmt.Errorf("doctor: %d of %d do not work", failed, len(found))
			}
			return nil
		}),
	}
	p.jsonFlag(cmd)
	return cmd
}

// printFinding prints a line, which on a terminal goes on below where it is too
// long.
func (p *program) printFinding(f finding) {
	const gutter = 24
	first := fmt.Sprintf("%-8s %-14s ", f.State, f.Name)
	for text := range strings.SplitSeq(f.Text, "\n") {
		parts := []string{text}
		if room := p.width() - gutter; terminal.Is(p.stdout) && room >= 30 {
			parts = slices.Collect(wrap(text, room))
		}
		for _, part := range parts {
			p.printf("%s%s\n", first, strings.TrimRight(part, " "))
			first = strings.Repeat(" ", gutter)
		}
	}
}

func (p *program) examine(ctx context.Context) []finding {
	v := thisVersion()
	all := []finding{{"program", "ok", fmt.Sprintf("ferrule %s, %s, %s", v.Version, v.Go, v.System)}, p.clock()}
	c, found := p.examineConfig()
	all = append(all, found)
	if c != nil {
		all = append(all, p.examineRules(c))
		if len(c.Hooks) > 0 {
			all = append(all, examineHooks(c))
		}
		all = append(all, p.examineContent(ctx, c))
		all = append(all, p.examineClientHook()...)
		all = append(all, examineSecrets(ctx, c)...)
		all = append(all, examineSearch(ctx, c)...)
		all = append(all, examineHome(p.homeOf(c)), examineStore(ctx, p.storeOf(c)))
		all = append(all, p.loginsOf(c).examine()...)
	}
	all = append(append(all, p.examineTerminal()), p.examineIsolation(ctx, c)...)
	if c != nil && len(c.Servers) > 0 {
		all = append(all, p.examineServers(ctx)...)
	}
	return all
}

// clock looks whether the time can be right: expiry depends on it.
func (p *program) clock() finding {
	now := p.now()
	if now.Year() < 2025 {
		return finding{"clock", "failed", fmt.Sprintf("it says %s, which is past: answers would last too long; set it", now.Format(time.DateOnly))}
	}
	return finding{"clock", "ok", now.Format(time.RFC3339)}
}

func (p *program) examineConfig() (*config.Config, finding) {
	path, found, err := p.configFile()
	if err != nil {
		return nil, finding{"configuration", "failed", err.Error()}
	}
	c, err := p.load()
	switch {
	case err != nil:
		return nil, finding{"configuration", "failed", err.Error()}
	case !found:
		return c, finding{"configuration", "ok", "no " + path + ": every key has its default; `ferrule init` writes one"}
	}
	return c, finding{"configuration", "ok", path}
}

func (p *program) examineRules(c *config.Config) finding {
	if _, err := p.rulesOf(c); err != nil {
		return finding{"rules", "failed", err.Error()}
	}
	n := len(c.Policy.Allow) + len(c.Policy.Ask) + len(c.Policy.Deny)
	return finding{"rules", "ok", fmt.Sprintf("%d short rules, %d Cedar files, mode %s", n, len(c.Policy.Files), c.Policy.Mode)}
}

func examineHooks(c *config.Config) finding {
	if err := hooksOf(c); err != nil {
		return finding{"hooks", "failed", err.Error()}
	}
	names := make([]string, len(c.Hooks))
	for i, h := range c.Hooks {
		names[i] = h.Name
	}
	return finding{"hooks", "ok", strings.Join(names, ", ")}
}

// examineSearch asks the model that tells searches what is meant for one vector, if
// there is such a model.
func examineSearch(ctx context.Context, c *config.Config) []finding {
	if c.Search.Endpoint == nil {
		return nil
	}
	const name, patience = "search", 5 * time.Second
	v, err := vaultOf(c)
	if err != nil {
		return nil // examineSecrets has said it
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, began := embedderOf(c, v), time.Now()
	list, err := e.Queries(ctx, []string{"read a file"})
	took := time.Since(began)
	wrong := func(why string) []finding {
		return []finding{{name, "failed", "search.endpoint: " + why + "; until it answers, tools are found by words alone"}}
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return wrong(fmt.Sprintf("got no answer in %s", patience))
	case err != nil:
		return wrong(strings.TrimPrefix(faultText(v, err), "endpoint: "))
	}
	text := fmt.Sprintf("search.endpoint: %s answers, with vectors of %s", c.Search.Endpoint.Model, plural(int64(len(list[0])), "number", "numbers"))
	if waits := e.Patience(); took > waits {
		text += fmt.Sprintf("\nnote: it took %s, and a search waits for %s: search.endpoint.wait says how long", took.Round(time.Millisecond), waits)
	}
	return []finding{{name, "ok", terminal.Visible(text)}}
}

// examineHome tries to write, in the directory or where it would be made.
func examineHome(home string) finding {
	dir, text := home, home
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return finding{"home", "failed", dir + " is a file, want a directory; --home names another"}
		}
		if err == nil {
			if err := store.Closed(home); dir == home && err != nil {
				return finding{"home", "failed", err.Error()}
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return finding{"home", "failed", err.Error()}
		}
		dir, text = filepath.Dir(dir), home+" is not there yet, and is made when it is needed"
	}
	f, err := os.CreateTemp(dir, ".ferrule-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return finding{"home", "failed", fmt.Sprintf("cannot be written: %s; --home names another", err)}
	}
	return finding{"home", "ok", text}
}

func examineStore(ctx context.Context, path string) finding {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return finding{"store", "ok", path + " is not there yet, and is made when it is needed"}
	}
	s, err := store.Open(ctx, path)
	if err != nil {
		return finding{"store", "failed", err.Error()}
	}
	list, err := s.Pending(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return finding{"store", "failed", err.Error()}
	}
	return finding{"store", "ok", fmt.Sprintf("%s: %d waiting", path, len(list))}
}

func (p *program) examineTerminal() finding {
	switch {
	case !terminal.Is(p.stdin) || !terminal.Is(p.stdout):
		return finding{"terminal", "missing", "not a terminal: `ferrule approvals --watch` needs one"}
	case p.dumb():
		return finding{"terminal", "missing", "TERM is dumb: `ferrule approvals --watch` needs one that a screen can be drawn on"}
	case p.env("NO_COLOR") != "":
		return finding{"terminal", "ok", p.env("TERM") + ", without colours (NO_COLOR)"}
	}
	return finding{"terminal", "ok", p.env("TERM")}
}
