package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// check does what people do, and looks whether it is so.
func (w *world) check(ctx context.Context) error {
	dir, err := w.folder("work")
	if err != nil {
		return err
	}
	if err := write(dir, "notes.md", "# Notes\n\nfirst\nsecond\n"); err != nil {
		return err
	}
	start := time.Now()
	g, err := w.up(ctx, dir, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { g.stop() }()
	c, err := g.client(ctx)
	if err != nil {
		return err
	}
	if _, err := c.call(ctx, "fs_read", map[string]any{"path": "notes.md"}); err != nil {
		return err
	}
	w.within("`ferrule up` answers its first call soon after it was started", float64(time.Since(start).Milliseconds()), 700, "ms")

	first, err := w.enter(ctx, g)
	if err != nil {
		return err
	}
	defer first.b.end()
	var address string
	if err := first.eval("location.href", &address); err != nil {
		return err
	}
	w.hold("the first link lets in, and leaves no key in the address", address == g.root+"/", address)
	second, err := first.b.tab()
	if err != nil {
		return err
	}
	if err := second.open(g.root + "/"); err != nil {
		return err
	}
	v := &visit{world: w, dir: dir, g: g, c: c, first: first, second: second}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"a write is asked for, shown with its diff, allowed by key, and seen to run", v.allows},
		{"another one is denied by key", v.denies},
		{"arguments are edited by key, and those run", v.edits},
		{"the keys behind an open dialog, and Enter in a message, answer nothing", v.careful},
		{"for a session: a rule is made, and revoked", v.revokes},
		{"a change of a file is undone", v.undoes},
		{"several are answered at once", v.several},
		{"a running call shows what it says, and is stopped", v.stops},
		{"what waits outlives a restart, and the page recovers by itself", v.restarts},
	} {
		err := step.do(ctx)
		w.hold(step.name, err == nil, fmt.Sprint(err))
	}
	g = v.g
	w.hold("no error in the console of the browser, no request to another host", len(first.b.wrong()) == 0, first.b.wrong())
	return w.figures(ctx)
}

// visit is a person at the console, with an agent at work.
type visit struct {
	*world
	dir           string
	g             *gateway
	c             *client
	first, second *tab
}

const card = ".card[data-question]"

// asks begins a call that is asked for, and waits until the page shows it. Where there
// are others, the person moves to it.
func (v *visit) asks(ctx context.Context, tool string, args map[string]any) (<-chan answer, error) {
	if err := v.first.eval("window.known = [...document.querySelectorAll('"+card+"')].map((c) => c.id); true", nil); err != nil {
		return nil, err
	}
	over := v.c.begin(ctx, tool, args)
	find := fmt.Sprintf("[...document.querySelectorAll('%s')].find((c) => !known.includes(c.id) && c.querySelector('h3').innerText === %s)", card, quoted(tool))
	return over, steps(
		func() error { return v.first.sees(find) },
		func() error { return v.first.eval(find+".focus()", nil) },
		func() error { return v.first.sees(find + ".classList.contains('chosen')") },
		v.first.looked,
	)
}

// gives waits for what came of a call.
func gives(over <-chan answer, want string) error {
	select {
	case a := <-over:
		if a.err == nil && !strings.Contains(a.text, want) {
			return fmt.Errorf("got %s, want %s", a.text, want)
		}
		return a.err
	case <-time.After(patience):
		return fmt.Errorf("got nothing, want %s", want)
	}
}

func (v *visit) holds(name, want string) error {
	got, err := os.ReadFile(filepath.Join(v.dir, name))
	if err == nil && string(got) != want {
		return fmt.Errorf("%s: got %q, want %q", name, got, want)
	}
	return err
}

// steps does one thing after another, until one fails.
func steps(list ...func() error) error {
	for i, s := range list {
		if err := s(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

const changed = "# Notes\n\nfirst\nthird\n"

func (v *visit) allows(ctx context.Context) error {
	over, err := v.asks(ctx, "fs_write", map[string]any{"path": "notes.md", "content": changed})
	if err != nil {
		return err
	}
	return steps(
		func() error {
			return v.first.sees("document.querySelector('.diff .del')?.innerText.includes('-second')")
		},
		func() error {
			return v.first.sees("document.querySelector('.diff .add')?.innerText.includes('+third')")
		},
		func() error { return v.second.sees("document.querySelector('" + card + "')") }, // the other tab, live
		func() error { return v.first.press("a") },
		func() error { return gives(over, `"result"`) },
		func() error { return v.holds("notes.md", changed) },
		func() error { return v.first.sees("!document.querySelector('" + card + "')") },
		func() error {
			return v.first.sees("[...document.querySelectorAll('.fall li')].some((l) => l.innerText.includes('fs_write') && l.querySelector('rect.done') && l.querySelector('rect.asked'))")
		},
		func() error { return v.second.sees("!document.querySelector('" + card + "')") },
		func() error { return v.second.open(v.g.root + "/history") },
		func() error { return v.second.reads("fs_write") },
	)
}

func (v *visit) denies(ctx context.Context) error {
	over, err := v.asks(ctx, "fs_write", map[string]any{"path": "notes.md", "content": "all gone"})
	if err != nil {
		return err
	}
	return steps(
		func() error { return v.first.press("d") },
		func() error { return gives(over, `"isError":true`) },
		func() error { return v.holds("notes.md", changed) },
		func() error {
			return v.first.sees("[...document.querySelectorAll('.fall li')].some((l) => l.querySelector('.state.refused'))")
		},
	)
}

func (v *visit) edits(ctx context.Context) error {
	over, err := v.asks(ctx, "fs_write", map[string]any{"path": "edited.md", "content": "as the model wanted"})
	if err != nil {
		return err
	}
	return steps(
		func() error { return v.first.press("e") },
		func() error { return v.first.sees("document.activeElement.name === 'edited'") },
		func() error {
			return v.first.eval(`document.activeElement.value = '{"path": "edited.md", "contents": 3}'; true`, nil)
		},
		func() error { return v.first.click(`button[value="edit"]`) },
		func() error { return v.first.sees("document.querySelector('#toast').innerText.includes('do not fit')") },
		func() error {
			return v.first.eval(`document.querySelector('textarea[name="edited"]').value = '{"path": "edited.md", "content": "as a person wanted"}'; true`, nil)
		},
		func() error { return v.first.press("\x1b") },
		func() error { return v.first.click(`button[value="allow"]`) }, // which would allow what is not looked at
		func() error {
			return v.first.sees("document.querySelector('#toast').innerText.includes('edited the arguments')")
		},
		func() error { return v.first.click(`button[value="edit"]`) },
		func() error { return gives(over, "A person changed the arguments") },
		func() error { return v.holds("edited.md", "as a person wanted") },
	)
}

func (v *visit) careful(ctx context.Context) error {
	over, err := v.asks(ctx, "fs_write", map[string]any{"path": "careful.md", "content": "c"})
	if err != nil {
		return err
	}
	return steps(
		func() error { return v.first.press("?") },
		func() error { return v.first.sees("document.querySelector('dialog[open]')") },
		func() error { return v.first.press("a") },
		func() error { return v.first.press("\x1b") },
		func() error { return v.first.sees("!document.querySelector('dialog[open]')") },
		func() error {
			return v.first.eval(`(() => { window.sent = 0; document.addEventListener("submit", () => sent++, true); const m = document.querySelector('input[name="message"]'); m.closest("details").open = true; m.focus(); m.value = "not here"; })()`, nil)
		},
		func() error { return v.first.press("\r") },
		func() error {
			var sent int
			if err := v.first.eval("sent", &sent); err != nil || sent > 0 {
				return fmt.Errorf("by Enter %d forms were sent: %w", sent, err)
			}
			return v.first.sees("document.querySelector('" + card + "')")
		},
		func() error { return v.first.click(`button[value="deny"]`) },
		func() error { return gives(over, "not here") },
	)
}

func (v *visit) revokes(ctx context.Context) error {
	over, err := v.asks(ctx, "fs_write", map[string]any{"path": "rules.md", "content": "a"})
	if err != nil {
		return err
	}
	return steps(
		func() error { return v.first.press("s") },
		func() error { return v.first.sees("document.querySelector('details[data-key=s][open]')") },
		func() error { return v.first.click(`button[value="session"]`) },
		func() error { return gives(over, `"result"`) },
		func() error { return v.second.open(v.g.root + "/rules") },
		func() error { return v.second.reads("fs_write(args:") },
		func() error { return v.second.click(`form[action$="/revoke"] button`) },
		func() error {
			return v.second.sees("!document.querySelector('main').innerText.includes('fs_write(args:')")
		},
	)
}

func (v *visit) undoes(context.Context) error {
	return steps(
		func() error { return v.second.open(v.g.root + "/history/changes") },
		func() error { return v.second.reads("notes.md") },
		func() error {
			return v.second.eval(`(() => { window.confirm = () => true;
				const row = [...document.querySelectorAll('form[action$="/undo"]')].find((f) => f.closest("tr, li, article, .panel").innerText.includes("notes.md"));
				row.querySelector("button").click(); })()`, nil)
		},
		func() error {
			return eventually(v.second.ctx, patience, func() error { return v.holds("notes.md", "# Notes\n\nfirst\nsecond\n") })
		},
		func() error { return v.second.reads("undone") },
	)
}

func (v *visit) several(ctx context.Context) error {
	var over []<-chan answer
	for _, name := range []string{"one.md", "two.md", "three.md"} {
		over = append(over, v.c.begin(ctx, "fs_write", map[string]any{"path": name, "content": name}))
	}
	if err := v.first.sees("document.querySelectorAll('" + card + "').length === 3"); err != nil {
		return err
	}
	err := steps(
		func() error { return v.first.press("x") },
		func() error { return v.first.press("j") },
		func() error { return v.first.press("x") },
		v.first.looked,
		func() error { return v.first.click(`#several button[value="allow"]`) },
		func() error { return v.first.sees("document.querySelectorAll('" + card + "').length === 1") },
		v.first.looked,
		func() error { return v.first.press("d") },
	)
	if err != nil {
		return err
	}
	allowed, denied := 0, 0
	for _, o := range over {
		a := <-o
		switch {
		case a.err != nil:
			return a.err
		case strings.Contains(a.text, "rejected"):
			denied++
		case strings.Contains(a.text, "Created"):
			allowed++
		}
	}
	if allowed != 2 || denied != 1 {
		return fmt.Errorf("got %d allowed and %d denied, want 2 and 1", allowed, denied)
	}
	return nil
}

func (v *visit) stops(ctx context.Context) error {
	over, err := v.asks(ctx, "shell", map[string]any{"command": "echo working on it; touch started; sleep 60"})
	if err != nil {
		return err
	}
	return steps(
		func() error { return v.first.press("a") },
		func() error {
			return v.first.sees("document.querySelector('.saying pre')?.innerText.includes('working on it')")
		},
		func() error { return v.first.click(`.fall form[action$="/stop"] button`) },
		func() error { return gives(over, "stopped") },
		func() error { return v.first.sees("document.querySelector('.state.stopped')") },
	)
}

func (v *visit) restarts(ctx context.Context) error {
	args := map[string]any{"path": "later.md", "content": "later"}
	if _, err := v.asks(ctx, "fs_write", args); err != nil {
		return err
	}
	v.first.b.expectDown(true)
	v.g.stop()
	if err := v.first.sees("document.querySelector('#live')?.dataset.state === 'lost'"); err != nil {
		return err
	}
	g, err := v.up(ctx, v.dir, v.g.address())
	if err != nil {
		return err
	}
	v.g = g
	if v.c, err = g.client(ctx); err != nil {
		return err
	}
	err = steps(
		func() error { return v.first.sees("document.querySelector('#live')?.dataset.state === 'on'") },
		func() error {
			v.first.b.expectDown(false)
			return v.first.sees("document.querySelector('" + card + "')")
		},
		v.first.looked,
		func() error { return v.first.press("a") },
		func() error { return v.first.sees("!document.querySelector('" + card + "')") },
	)
	if err != nil {
		return err
	}
	return steps(
		func() error { return gives(v.c.begin(ctx, "fs_write", args), `"result"`) }, // it goes on from the answer
		func() error { return v.holds("later.md", "later") },
	)
}
