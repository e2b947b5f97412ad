package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/mcptool"
)

// atTerminal runs the program at a terminal.
type atTerminal struct {
	t     *testing.T
	shown *page
	outer io.Writer
	stop  context.CancelFunc
	over  chan int
}

func runAtTerminal(t *testing.T, dir string, args ...string) *atTerminal {
	t.Helper()
	return runAtTerminalAt(t, time.Now, dir, args...)
}

func runAtTerminalAt(t *testing.T, now func() time.Time, dir string, args ...string) *atTerminal {
	t.Helper()
	outer, inner := openTerminal(t)
	ctx, stop := context.WithCancel(t.Context())
	a := &atTerminal{t, newPage(), outer, stop, make(chan int, 1)}
	read, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(a.shown, outer) // until the other end is closed, which is an error
	}()
	p := &program{stdin: inner, stdout: inner, stderr: inner, environ: []string{"USER=ada"}, dir: dir, now: now, helper: helper}
	go func() {
		defer close(done)
		a.over <- p.run(ctx, args)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		_, _ = io.WriteString(outer, "\n") // whoever still reads a line has one
		_ = inner.Close()
		_ = outer.Close()
		<-read
	})
	return a
}

// types waits for a pattern, then types a line.
func (a *atTerminal) types(after, line string) {
	a.t.Helper()
	a.shown.find(a.t, after)
	if _, err := io.WriteString(a.outer, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

func (a *atTerminal) ends(want int) {
	a.t.Helper()
	if got := <-a.over; got != want {
		a.t.Errorf("got the status %d, %s, want %d", got, a.shown, want)
	}
}

// looksAtTerminal looks at the server of a folder that was never started.
func looksAtTerminal(t *testing.T, dir string) *atTerminal {
	t.Helper()
	a := runAtTerminal(t, dir, "trust", "bank")
	a.types(`Nothing was started yet[\s\S]*runs [\s\S]*start bank and look\? \[y/N\] $`, "y")
	return a
}

func TestTrustAtTerminal(t *testing.T) {
	t.Parallel()
	tools := []string{toolNamed("close", "Close.", `"destructiveHint":true`), toolNamed("pay", "Pay\u202e.", ""), toolNamed("rates", "Say a rate.", readsOnly)}
	t.Run("T5 somebody answers, and what cannot be understood is asked again", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, tools...)
		a := looksAtTerminal(t, dir)
		a.types(`answer for bank: $`, "yes please")
		a.types(`bank has no tool "yes"[\s\S]*bank: $`, "1-3")
		a.shown.find(t, `not by a range, only one by one: close, pay`)
		a.shown.find(t, `bank: allowed: bank__rates; the rest is asked for`)
		a.ends(0)
		if got := a.shown.String(); strings.ContainsRune(got, '\u202e') || !strings.Contains(got, "Pay‹U+202E›.") {
			t.Errorf("got %q, want that what hides is seen", got)
		}
	})
	t.Run("T5 what waits is accepted where it was named on the screen that showed it", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, tools...)
		a := looksAtTerminal(t, dir)
		a.types(`answer for bank: $`, "pay")
		a.shown.find(t, `accepted as it was shown: pay`)
		a.ends(0)
	})
	t.Run("T5 nothing is an answer too, and writes nothing", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, tools...)
		a := looksAtTerminal(t, dir)
		a.types(`answer for bank: $`, "")
		a.shown.find(t, `nothing was answered`)
		a.ends(0)
		if s := looked(t, dir); s.Answer != nil || s.Totals.Allowed != 0 {
			t.Errorf("got %+v, want no answer", s.Answer)
		}
	})
	t.Run("T5 an interrupt writes nothing", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, tools...)
		a := looksAtTerminal(t, dir)
		a.shown.find(t, `answer for bank: $`)
		a.stop()
		a.ends(statusInterrupted)
		if s := looked(t, dir); s.Answer != nil {
			t.Errorf("got %+v, want no answer", s.Answer)
		}
	})
	t.Run("T5 what somebody else has answered meanwhile is shown again", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, tools...)
		a := looksAtTerminal(t, dir)
		a.shown.find(t, `answer for bank: $`)
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads"); code != 0 {
			t.Fatalf("got %d, %s", code, errs)
		}
		a.types(`answer for bank: $`, "o")
		a.types(`it is not what was shown any more: here it is again[\s\S]*answered +reads[\s\S]*answer for bank: $`, "a")
		a.shown.find(t, `bank: every call is asked for`)
		a.ends(0)
	})
	t.Run("T5 what is answered in the very moment is shown again, and only what was done is on the record", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, tools...)
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads"); code != 0 {
			t.Fatalf("got %d, %s", code, errs)
		}
		var armed atomic.Bool
		a := runAtTerminalAt(t, func() time.Time { // it is asked between the last look and the answer
			if armed.CompareAndSwap(true, false) {
				pins := &mcptool.Pins{Dir: filepath.Join(dir, ".ferrule", "pins")}
				known, err := pins.Of("bank")
				if err == nil {
					err = pins.Settle(known, mcptool.PinAnswer{Said: "out", By: "eve", At: time.Now(), Out: []string{"pay"}})
				}
				if err != nil {
					t.Error(err)
				}
			}
			return time.Now()
		}, dir, "trust", "bank")
		a.shown.find(t, `answer for bank: $`)
		armed.Store(true)
		a.types(`answer for bank: $`, "o")
		a.types(`any more: here it is again; taken back meanwhile: 1 rule[\s\S]*answered +out, by eve[\s\S]*answer for bank: $`, "a")
		a.shown.find(t, `bank: every call is asked for`)
		a.ends(0)
		out, _, _ := try(t.Context(), dir, "audit", "list", "--kind", "governed", "--json")
		if strings.Contains(out, "bank: it is left out") || !strings.Contains(out, "bank: every call is asked for") {
			t.Errorf("got %s, want the answer that was done, and not the one that was refused", out)
		}
	})
	t.Run("T5 import shows how each server is started, asks, and ends with one screen and one answer for each", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		list, mark := filepath.Join(dir, "tools.json"), filepath.Join(dir, "ran")
		write(t, list, "["+strings.Join(tools, ",")+"]")
		server := map[string]any{"command": serverProgram(t), "env": map[string]string{beServer: "1", "FERRULE_TEST_TOOLS": list}}
		text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
			"a": server, "d": server, "e": server,
			"b": map[string]any{"command": "touch", "args": []string{mark, "x y\u202e"}, "env": map[string]string{"COLOUR": "turquoise"}},
			"c": map[string]any{"command": filepath.Join(dir, "nothing")},
			"f": map[string]any{"command": "touch", "args": []string{mark, strings.Repeat("x", maxStart) + "hidden"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "mcp.json"), string(text))
		a := runAtTerminal(t, dir, "servers", "import", "mcp.json")
		a.types(`start a and look\? \[y/N; a: .*\] $`, "y")
		a.types(`start b and look\? .*\] $`, "maybe")
		a.types(`got "maybe", want y, n, a or q\r\nstart b and look\? .*\] $`, "")
		a.types(`start c and look\? .*\] $`, "a")
		a.types(`answer for a: $`, "r")
		a.types(`a: allowed what says that it only reads: a__rates[\s\S]*c cannot be looked at[\s\S]*ferrule trust c[\s\S]*answer for d: $`, "q")
		a.shown.find(t, `not started: e, f, b\r\n[\s\S]*answer once:\r\n  ferrule trust e\r\n  ferrule trust f\r\n  ferrule trust b\r\n`)
		a.ends(0)
		before, _, _ := strings.Cut(a.shown.String(), "start a and look")
		if before = strings.ReplaceAll(before, "\r\n          │ ", ""); !strings.Contains(before, "│ touch "+mark+" 'x y‹U+202E›'\r\nvariables │ COLOUR\r\n") || !strings.Contains(before, "This is not all of it") {
			t.Errorf("got %s, want how all are started, before the first question", before)
		}
		if strings.Contains(a.shown.String(), "turquoise") {
			t.Errorf("got %s, want no value", a.shown)
		}
		again := runAtTerminal(t, dir, "servers", "import", "mcp.json") // a is answered for
		again.types(`start b and look\? .*\] $`, "n")
		again.types(`start c and look\? .*\] $`, "no")
		again.types(`start d and look\? .*\] $`, "yes")
		again.types(`start e and look\? \[y/N\] $`, "y")
		again.types(`answer for d: $`, "o")
		again.types(`d: it is left out[\s\S]*answer for e: $`, "")
		again.shown.find(t, `not started: f, b, c\r\n`)
		again.ends(0)
		if got := again.shown.String(); strings.Contains(got, "answer for a:") || !strings.Contains(got, "a: it is there already") {
			t.Errorf("got %s, want that a is not asked about again", got)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("got that b or f has run, want that neither was started")
		}
	})
	t.Run("T5 where nobody is at the terminal any more nothing is started", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		mark := filepath.Join(dir, "ran")
		write(t, filepath.Join(dir, "mcp.json"), fmt.Sprintf(`{"mcpServers": {"a": {"command": "touch", "args": [%q]}, "b": {"command": "touch", "args": [%q]}}}`, mark, mark))
		a := runAtTerminal(t, dir, "servers", "import", "mcp.json")
		a.types(`start a and look\? .*\] $`, "y")
		a.types(`start b and look\? .*\] $`, "\x04\x04")
		a.shown.find(t, `not started: a, b\r\n`)
		a.ends(0)
		if _, err := os.Stat(mark); err == nil {
			t.Error("got that a has run, want that it was not started")
		}
	})
	t.Run("T5 who interrupts import is told what is in the file; trust shows it, with what decides what runs, before it starts it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		mark := filepath.Join(dir, "ran")
		write(t, filepath.Join(dir, "mcp.json"), fmt.Sprintf(`{"mcpServers": {
			"a": {"command": "touch", "args": [%q], "env": {"LD_PRELOAD": "/x\u202e.so", "NODE_OPTIONS": "-r ${X:-/y.js}", "PATH": "npm_0123456789:/evil", "COLOUR": "turquoise"}},
			"b": {"command": "touch", "args": [%q, %q]}}}`, mark, mark, strings.Repeat("x", maxStart)))
		a := runAtTerminal(t, dir, "servers", "import", "mcp.json")
		a.shown.find(t, `start a and look\? .*\] $`)
		a.stop()
		a.shown.find(t, `not started: a, b\r\n.*ferrule up.* would start them`)
		a.ends(statusInterrupted)
		again := runAtTerminal(t, dir, "trust", "a")
		again.types(`variables │ COLOUR, LD_PRELOAD, NODE_OPTIONS, PATH[\s\S]*! +│ LD_PRELOAD decides what runs: /x‹U\+202E›.so\b[\s\S]*! +│ NODE_OPTIONS decides what runs: -r \$\{X:-/y.js\}[\s\S]*! +│ PATH decides what runs: npm_0123456789:/evil[\s\S]*start a and look\? \[y/N\] $`, "")
		again.shown.find(t, `not started: a\r\n`)
		again.ends(0)
		if strings.Contains(again.shown.String(), "turquoise") {
			t.Errorf("got %s, want no value of what decides nothing", again.shown)
		}
		long := runAtTerminal(t, dir, "trust", "b")
		long.shown.find(t, `This is not all of it[\s\S]*b was not started: once you have read it`)
		long.ends(1)
		if _, err := os.Stat(mark); err == nil {
			t.Error("got that one has run, want that none was started")
		}
	})
}
