package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed weather.mjs
var weather string

// pages are those that pictures are taken of.
func pages() map[string]string {
	return map[string]string{"now": "/", "history": "/history", "changes": "/history/changes", "record": "/history/record", "tools": "/tools", "rules": "/rules", "servers": "/servers"}
}

// picture takes a picture of every page in every look, and looks whether all of it is
// there and whether everybody can use it.
func (w *world) picture(ctx context.Context) error {
	if err := os.MkdirAll(w.shots, 0o755); err != nil { //nolint:gosec // everybody may see them
		return err
	}
	empty, err := w.named("harbour")
	if err != nil {
		return err
	}
	g, err := w.up(ctx, empty, "127.0.0.1:0")
	if err != nil {
		return err
	}
	err = w.album(ctx, g, "empty", pages())
	g.stop()
	w.rest()
	if err != nil {
		return err
	}
	full, g, err := w.busy(ctx)
	if err != nil {
		return err
	}
	defer g.stop()
	return w.album(ctx, g, "full", full)
}

// named is an empty folder with a name that looks the same in every picture, where there
// is none yet.
func (w *world) named(name string) (string, error) {
	dir := filepath.Join(os.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return w.folder(name)
	}
	w.ends = append(w.ends, func() { _ = os.RemoveAll(dir) })
	return dir, nil
}

// album takes the pictures of one gateway.
func (w *world) album(ctx context.Context, g *gateway, kind string, all map[string]string) error {
	t, err := w.enter(ctx, g)
	if err != nil {
		return err
	}
	defer t.b.end()
	for name, path := range all {
		for _, l := range looks() {
			at := fmt.Sprintf("%s-%s-%s", name, kind, l.name)
			if err := steps(
				func() error { return t.wear(l) },
				func() error { return t.open(g.root + path) },
				func() error { return t.sees("document.querySelector('main h1')") },
				func() error { return t.sees("document.querySelector('#live').dataset.state === 'on' && !refreshing") },
				func() error { return t.shoot(filepath.Join(w.shots, at+".png")) },
			); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			wide, err := t.overflow()
			if err != nil {
				return err
			}
			w.hold(at+": nothing is cut or wider than the page", len(wide) == 0, brief(wide))
			found, err := t.axe(w.axe)
			if err != nil {
				return err
			}
			w.hold(at+": axe has nothing serious against it", len(found) == 0, brief(found))
		}
	}
	w.hold(kind+": no error in the console of the browser, no request to another host", len(t.b.wrong()) == 0, t.b.wrong())
	return nil
}

// busy is a gateway with much going on, and the pages of it.
func (w *world) busy(ctx context.Context) (all map[string]string, g *gateway, err error) {
	dir, err := w.named("harbour")
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{
		"README.md": "# Harbour\n\nA small service that plans berths.\n\n## Run\n\n    go run ./cmd/harbour\n", "berths.go": "package harbour\n\n// Berths is how many ships fit.\nconst Berths = 12\n",
		"weather.mjs": weather, "weather.txt": "as accepted\n",
		"ferrule.yaml": "policy:\n  allow: [\"fs_read\", \"fs_list\", \"weather__forecast\"]\n  ask: [\"shell\"]\n  deny: [\"fs_write(path: .git/**)\"]\nservers:\n  weather: {command: node, args: [weather.mjs, weather.txt]}\n  tides: {command: no-such-program}\n",
	}
	for name, content := range files {
		if err := write(dir, name, content); err != nil {
			return nil, nil, err
		}
	}
	if g, err = w.up(ctx, dir, "127.0.0.1:0"); err != nil {
		return nil, nil, err
	}
	if err := eventually(ctx, patience, func() error {
		if !strings.Contains(g.said.String(), "server weather: ready") {
			return fmt.Errorf("got %s, want the server to be ready", g.said)
		}
		return nil
	}); err != nil {
		return nil, g, err
	}
	g.stop()
	if err := write(dir, "weather.txt", "changed\n"); err != nil { // after it was accepted
		return nil, nil, err
	}
	if g, err = w.up(ctx, dir, "127.0.0.1:0"); err != nil {
		return nil, nil, err
	}
	c, err := g.client(ctx)
	if err != nil {
		return nil, g, err
	}
	if err := w.work(ctx, g, c); err != nil {
		return nil, g, err
	}
	all = pages()
	all["tool"] = "/tools/fs_write"
	body, _, err := g.get(ctx, "/history")
	if err != nil {
		return nil, g, err
	}
	if m := regexp.MustCompile(`href="(/history/[^"?]+\.0)"`).FindSubmatch(body); m != nil {
		all["call"] = string(m[1])
	}
	all["explain"] = "/rules?tool=fs_write&args=%7B%22path%22%3A%22README.md%22%2C%22content%22%3A%22x%22%7D"
	return all, g, nil
}

// work is what an agent does for a while.
func (w *world) work(ctx context.Context, g *gateway, c *client) error {
	t, err := w.enter(ctx, g)
	if err != nil {
		return err
	}
	defer t.b.end()
	v := &visit{world: w, g: g, c: c, first: t}
	for _, name := range []string{"README.md", "berths.go", "nothing.go"} {
		c.begin(ctx, "fs_read", map[string]any{"path": name})
	}
	c.begin(ctx, "weather__forecast", map[string]any{"city": "Rostock"})
	time.Sleep(2500 * time.Millisecond) // what comes after a while stands apart, and that is to be seen
	answered := func(key, tool string, args map[string]any) error {
		over, err := v.asks(ctx, tool, args)
		if err != nil {
			return err
		}
		if err := t.press(key); err != nil {
			return err
		}
		<-over
		return nil
	}
	over, err := v.asks(ctx, "fs_write", map[string]any{"path": "docs/plan.md", "parents": true, "content": "# Plan\n\n1. Count the berths.\n2. Ask the weather.\n"})
	if err != nil {
		return err
	}
	if err := t.press("s"); err != nil {
		return err
	}
	if err := t.eval(`document.querySelectorAll('.chosen input[name="rule"]')[1].checked = true; document.querySelector('.chosen button[value="always"]').click()`, nil); err != nil {
		return err
	}
	<-over
	if err := answered("a", "fs_write", map[string]any{"path": "berths.go", "content": "package harbour\n\n// Berths is how many ships fit.\nconst Berths = 14\n"}); err != nil {
		return err
	}
	if err := answered("d", "shell", map[string]any{"command": "git push --force origin main"}); err != nil {
		return err
	}
	if err := answered("a", "shell", map[string]any{"command": "go vet ./... ; exit 1"}); err != nil {
		return err
	}
	_, err = v.asks(ctx, "shell", map[string]any{"command": "for i in $(seq 1 600); do echo \"berth $i of 14 checked\"; sleep 1; done"})
	if err != nil {
		return err
	}
	if err := t.press("a"); err != nil {
		return err
	}
	if err := t.sees("document.querySelector('.saying pre')"); err != nil {
		return err
	}
	c.begin(ctx, "fs_write", map[string]any{"path": "README.md", "content": "# Harbour\n\nA service that plans berths, by the weather.\n\n## Run\n\n    go run ./cmd/harbour -berths 14\n"})
	c.begin(ctx, "shell", map[string]any{"command": "rm -rf build dist && git clean -fdx"})
	return t.sees("document.querySelectorAll('" + card + "').length === 3") // and that of the tool that has changed
}
