package pages

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Shell runs the sh blocks of one page, in order, in one bash: what a block sets or
// changes is there for the next. Nothing can be typed into it.
type Shell struct {
	Dir     string   // where it begins
	Env     []string // all of its environment
	Ferrule string   // the program that answers questions
	// Seen changes what was printed before it is compared; nil: nothing does.
	Seen func(string) string
	// Wait is how long a block may take; 0: a minute.
	Wait time.Duration

	scratch string // scripts, and what they printed
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	ended   *bufio.Scanner // a line for each block, its status
	kept    *os.File       // the other end of that
	n       int
}

// Run runs a block, and compares what it prints. After an error the shell is over.
func (s *Shell) Run(ctx context.Context, b *Block) error {
	if s.cmd == nil {
		if err := s.start(); err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
	}
	wait := s.Wait
	if wait == 0 {
		wait = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cmd := s.cmd
	defer context.AfterFunc(ctx, func() { killGroup(cmd) })() // what waits for the block ends with it
	if err := s.run(ctx, b); err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	return nil
}

func (s *Shell) run(ctx context.Context, b *Block) error {
	s.n++
	script := filepath.Join(s.scratch, strconv.Itoa(s.n))
	if err := os.WriteFile(script, []byte(b.Text), 0o600); err != nil {
		return err
	}
	line := fmt.Sprintf(". '%s' </dev/null >'%[1]s.out' 2>&1 3>&-", script)
	switch {
	case b.Stays:
		line = "( " + line + " ) &\necho 0 >&3\n"
	case b.Exit != 0:
		line = "set +e\n" + line + "\necho $? >&3\n"
	case b.Asks: // on a terminal the question itself would stand there
		line = strings.Replace(line, "2>&1", "2>'"+script+".err'", 1)
		fallthrough
	default:
		line = "set -e\n" + line + "\necho 0 >&3\n"
	}
	if _, err := io.WriteString(s.stdin, line); err != nil {
		return fmt.Errorf("bash is gone: %w", err)
	}
	var answering sync.WaitGroup
	asked, stop := context.WithCancel(ctx)
	if b.Asks {
		answering.Go(func() { s.allow(asked) })
	}
	status, err := s.status(ctx)
	stop()
	answering.Wait()
	if err == nil && status == b.Exit {
		return s.compare(ctx, b, script)
	}
	said := s.said(script+".out") + s.said(script+".err")
	if err != nil {
		return fmt.Errorf("%w:\n%s", err, said)
	}
	return fmt.Errorf("ends with status %d, want %d:\n%s", status, b.Exit, said)
}

// status waits for the block.
func (s *Shell) status(ctx context.Context) (int, error) {
	if s.ended.Scan() {
		return strconv.Atoi(s.ended.Text())
	}
	err := s.cmd.Wait() // set -e has ended it, or time
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("does not end: %w", ctx.Err())
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	}
	return 0, errors.New("ends the shell, by exec or exit")
}

// compare looks at what a block printed; what stays is given time to print it.
func (s *Shell) compare(ctx context.Context, b *Block, script string) error {
	if b.Output == nil {
		return nil
	}
	for {
		err := Match(s.said(script+".out"), b.Output.Text)
		if err == nil || !b.Stays {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Shell) said(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	if s.Seen != nil {
		return s.Seen(string(text))
	}
	return string(text)
}

// allow says yes to whatever waits, until the context ends.
func (s *Shell) allow(ctx context.Context) {
	for ctx.Err() == nil {
		var waits []struct {
			ID string `json:"id"`
		}
		text, err := s.ferrule(ctx, "approvals", "--json")
		if err == nil && json.Unmarshal(text, &waits) == nil {
			for _, q := range waits {
				_, _ = s.ferrule(ctx, "approvals", "allow", q.ID) // somebody else may have answered it
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *Shell) ferrule(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.Ferrule, args...) //nolint:gosec // the program under test
	cmd.Dir, cmd.Env = s.Dir, s.Env
	return cmd.Output()
}

func (s *Shell) start() (err error) {
	if s.scratch, err = os.MkdirTemp("", "ferrule-pages"); err != nil {
		return err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	s.cmd = exec.Command("bash", "--noprofile", "--norc") //nolint:noctx // Close ends it
	s.cmd.Dir, s.cmd.Env, s.cmd.ExtraFiles = s.Dir, s.Env, []*os.File{out}
	s.ended, s.kept = bufio.NewScanner(in), in
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	ownGroup(s.cmd)
	return s.cmd.Start()
}

// Close ends the shell and all that it started. What stays is asked to end first.
func (s *Shell) Close() error {
	if s.cmd == nil {
		return nil
	}
	cmd := s.cmd
	s.cmd = nil
	_ = s.stdin.Close()
	defer killGroup(cmd)
	terminateGroup(cmd)
	_ = cmd.Wait() // bash ends at once
	for end := time.Now().Add(10 * time.Second); aliveGroup(cmd) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	return errors.Join(s.kept.Close(), os.RemoveAll(s.scratch))
}
