package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childEnv says what this binary does as another process, ordersEnv how.
const (
	childEnv  = "CRASH_TEST_CHILD"
	ordersEnv = "CRASH_TEST_ORDERS"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		var o orders
		err := json.Unmarshal([]byte(os.Getenv(ordersEnv)), &o)
		if err == nil {
			err = children()[what](context.Background(), o)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, what, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// orders are what a child is told.
type orders struct {
	Dir   string `json:"dir"`
	Life  int    `json:"life"`
	Seed  uint64 `json:"seed"`
	Calls int    `json:"calls"`
	Tool  string `json:"tool"`
}

func children() map[string]func(context.Context, orders) error {
	return map[string]func(context.Context, orders) error{"script": childScript, "keys": childKeys, "hold": childHold, "shut": childShut, "same": childSame}
}

// process is a child with its ends.
type process struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stain  bytes.Buffer // what it said to its standard error
	opened bool         // it said so
	locks  []string     // its files by which others know that it is there
}

// start starts a child.
func start(t *testing.T, what string, o orders) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), self)}
	// The race detector has a process wait for a second at its end.
	p.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "GOMAXPROCS=2", childEnv+"="+what, ordersEnv+"="+string(text))
	p.Stderr = &p.stain
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	// One that hangs says where.
	stuck := time.AfterFunc(time.Minute, func() { _ = p.Process.Signal(syscall.SIGQUIT) })
	t.Cleanup(func() { stuck.Stop() })
	return p
}

// line is the next thing that it says; "": it is dead.
func (p *process) line() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}
