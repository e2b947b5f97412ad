package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// effects is the file that tools write to: a line when a run begins, a line when
// it has had its effect. Each is one write, so that nothing tears it.
type effects struct {
	path string
	life int // which process of the script it is
	slow time.Duration
	sync bool              // ends are synced, too
	meet func(line string) // what happens while a tool runs; nil: nothing
	// How the tools of a later version of the program differ.
	key, about string
}

func (e effects) write(what, line, nonce string) error {
	f, err := os.OpenFile(e.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%d\t%s\t%s\n", what, e.life, line, nonce)
	return errors.Join(err, f.Close())
}

// run is what every tool of the script does. What it returns names the run.
func (e effects) run(_ context.Context, in input) (string, error) {
	line, nonce := in.Line+in.Note, strconv.FormatUint(rand.Uint64(), 36)
	if err := e.write("begin", line, nonce); err != nil {
		return "", err
	}
	if e.slow > 0 {
		time.Sleep(rand.N(e.slow)) // so that it is running for a while
	}
	if e.meet != nil {
		e.meet(line)
	}
	if err := e.write("end", line, nonce); err != nil {
		return "", err
	}
	if in.Fail {
		return "", errors.New(said(line, nonce))
	}
	return said(line, nonce), nil
}

func said(line, nonce string) string { return "did " + line + " in run " + nonce }

// tools are those of the script.
func (e effects) tools() ([]*tool.Tool, error) {
	var all []*tool.Tool
	for name, t := range traits() {
		s := tool.Spec[input, string]{
			Info: tool.Info{Name: name, Description: "Write a line to the file." + e.about, Repeatable: true},
			Run:  e.run,
		}
		switch {
		case t.reads:
			s.Claims = tool.Claims{ReadOnly: true, Local: true}
		case t.idempotent:
			s.ClaimsOf = func(in input) tool.Claims {
				return tool.Claims{Idempotent: true, Local: true, Touches: []tool.Access{{Resource: "table:" + in.On, Write: true}}}
			}
		case t.parallel:
			s.Claims = tool.Claims{Parallel: true}
		}
		switch {
		case t.keyed:
			s.Key = func(_ context.Context, in input) (string, error) { return in.Line + e.key, nil }
		case name == "odd":
			s.Key = func(context.Context, input) (string, error) { return "key", errors.New("no key to be had") }
		}
		if t.asks {
			s.Approval = tool.AskAlways
		}
		made, err := s.Tool()
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// ran is one run of a tool, as the file of effects shows it.
type ran struct {
	life         int
	line, nonce  string
	began, ended int // which line of the file; ended -1: it has not
}

// readEffects reads the runs in the order in which they began, and how many lines
// there are.
func readEffects(path string) (runs []*ran, lines int, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	byNonce := make(map[string]*ran)
	in := bufio.NewScanner(bytes.NewReader(text))
	for ; in.Scan(); lines++ {
		part := strings.Split(in.Text(), "\t")
		if len(part) != 4 {
			return nil, 0, fmt.Errorf("%s: line %d: got %q", path, lines+1, in.Text())
		}
		life, err := strconv.Atoi(part[1])
		if err != nil {
			return nil, 0, err
		}
		switch r := byNonce[part[3]]; {
		case part[0] == "begin" && r == nil:
			r = &ran{life: life, line: part[2], nonce: part[3], began: lines, ended: -1}
			byNonce[part[3]] = r
			runs = append(runs, r)
		case part[0] == "end" && r != nil && r.ended < 0:
			r.ended = lines
		default:
			return nil, 0, fmt.Errorf("%s: line %d: got %q out of order", path, lines+1, in.Text())
		}
	}
	return runs, lines, in.Err()
}
