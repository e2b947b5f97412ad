package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a Chromium with an empty profile.
type browser struct {
	ctx context.Context //nolint:containedctx // as chromedp has it
	end func()

	mu     sync.Mutex
	faults []string // errors of scripts, and requests to other hosts
	hosts  map[string]bool
	down   bool // the server is down: requests fail, and say so
}

func (w *world) browser(ctx context.Context, host string) (*browser, error) {
	profile, err := w.folder("profile")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(w.chromium), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	alloc, endAlloc := chromedp.NewExecAllocator(ctx, options...)
	all, endAll := chromedp.NewContext(alloc)
	b := &browser{ctx: all, hosts: map[string]bool{host: true}, end: func() { endAll(); endAlloc() }}
	return b, chromedp.Run(all)
}

func (b *browser) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// expectDown says that the server is down: what cannot be fetched then is no fault.
func (b *browser) expectDown(down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

// wrong is what went wrong in any tab.
func (b *browser) wrong() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.faults...)
}

// tab is a page of the browser.
type tab struct {
	b   *browser
	ctx context.Context //nolint:containedctx // as chromedp has it
	end context.CancelFunc
}

func (b *browser) tab() (*tab, error) {
	ctx, end := chromedp.NewContext(b.ctx)
	t := &tab{b, ctx, end}
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			b.fault("a script failed: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				text, _ := json.Marshal(e.Args)
				b.fault("the console says: %s", text)
			}
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && u.Scheme != "blob" && !b.hosts[u.Host] {
				b.fault("a request to another host: %s", e.Request.URL)
			}
		case *log.EventEntryAdded:
			b.mu.Lock()
			down := b.down
			b.mu.Unlock()
			refused := e.Entry.Source == log.SourceNetwork && strings.Contains(e.Entry.Text, "status of 422") // which the page has told
			if e.Entry.Level == log.LevelError && !down && !refused {
				b.fault("the browser says: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *network.EventLoadingFailed:
			b.mu.Lock()
			down := b.down
			b.mu.Unlock()
			if !down && !e.Canceled && e.ErrorText != "net::ERR_ABORTED" {
				b.fault("a request failed: %s %s", e.ErrorText, e.BlockedReason)
			}
		}
	})
	return t, chromedp.Run(ctx, network.Enable(), runtime.Enable(), page.Enable(), log.Enable())
}

// enter opens the console of a gateway in a browser of its own. Who called it ends that.
func (w *world) enter(ctx context.Context, g *gateway) (*tab, error) {
	b, err := w.browser(ctx, g.address())
	if err != nil {
		return nil, err
	}
	t, err := b.tab()
	if err == nil {
		err = t.open(g.link)
	}
	if err != nil {
		b.end()
		return nil, err
	}
	return t, nil
}

// looked waits until the page takes a key or a click for one that was meant: it takes
// none for a question that has just come, or has just moved under the pointer.
func (t *tab) looked() error {
	return t.sees("byHand && Date.now() - since > 400 && Date.now() - moved > 400 && !refreshing")
}

// patience is how long something may take to show.
const patience = 15 * time.Second

func (t *tab) do(actions ...chromedp.Action) error {
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	return chromedp.Run(ctx, actions...)
}

func (t *tab) open(url string) error { return t.do(chromedp.Navigate(url)) }

// eval gives what an expression is.
func (t *tab) eval(expression string, out any) error {
	return t.do(chromedp.Evaluate(expression, out))
}

// sees waits until an expression is true.
func (t *tab) sees(expression string) error {
	err := eventually(t.ctx, patience, func() error {
		var ok bool
		if err := t.eval("Boolean("+expression+")", &ok); err != nil {
			return err
		}
		if !ok {
			return errors.New("it is not so")
		}
		return nil
	})
	if err != nil {
		var text string
		_ = t.eval(`location.href + "\n" + document.querySelector("main")?.innerText`, &text)
		return fmt.Errorf("%s: %w; the page is %.1500s", expression, err, text)
	}
	return nil
}

// reads waits until the page says something.
func (t *tab) reads(text string) error {
	return t.sees(fmt.Sprintf("document.querySelector('main')?.innerText.includes(%s)", quoted(text)))
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string: it cannot fail
	return string(b)
}

// press presses a key.
func (t *tab) press(key string) error { return t.do(chromedp.KeyEvent(key)) }

// click clicks on what a selector finds first.
func (t *tab) click(selector string) error {
	return t.eval(fmt.Sprintf("(document.querySelector(%[1]s) ?? (() => { throw new Error('nothing is ' + %[1]s) })()).click()", quoted(selector)), nil)
}

// look is how a page is shown.
type look struct {
	name  string
	width int64
	dark  bool
}

func looks() []look {
	return []look{{"wide", 1280, false}, {"wide-dark", 1280, true}, {"narrow", 390, false}, {"narrow-dark", 390, true}}
}

// wear shows pages in one way from now on.
func (t *tab) wear(l look) error {
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	return t.do(
		emulation.SetDeviceMetricsOverride(l.width, 900, 1, l.width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// shoot takes a picture of the whole page.
func (t *tab) shoot(path string) error {
	var png []byte
	if err := t.do(chromedp.FullScreenshot(&png, 100)); err != nil {
		return err
	}
	png, err := small(png)
	if err != nil {
		return err
	}
	return os.WriteFile(path, png, 0o644) //nolint:gosec // everybody may see it
}

// overflow names what is wider than the page, or cut.
func (t *tab) overflow() ([]string, error) {
	var found []string
	err := t.eval(`(() => {
		const found = [], wide = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth > wide) found.push("the page is " + document.documentElement.scrollWidth + " wide");
		for (const e of document.querySelectorAll("body *")) {
			if (e.closest(".hide, .skip, pre, nav, #toast, svg, .fall .name, dialog:not([open])")) continue;
			const box = e.getBoundingClientRect();
			if (box.width > 0 && box.right > wide + 1 && !e.closest(".table")) found.push(e.tagName + "." + e.className + ": " + e.textContent.trim().slice(0, 40));
			if (/^(BUTTON|H1|H2|H3|TH|LABEL|SUMMARY)$/.test(e.tagName) && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow !== "visible") found.push("cut: " + e.textContent.trim().slice(0, 40));
		}
		return found.slice(0, 10);
	})()`, &found)
	return found, err
}

// axe is what a test of accessibility has against a page, at least serious.
func (t *tab) axe(file string) ([]string, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := t.eval(string(source)+"; true", nil); err != nil {
		return nil, err
	}
	var found []string
	err = t.do(chromedp.Evaluate(`axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.target.join(" ") + " (" + (n.any[0]?.message ?? "") + ")").slice(0, 3).join("; ")))`,
		&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return found, err
}

// brief is a list of texts as one.
func brief(list []string) string { return strings.Join(list, " | ") }
