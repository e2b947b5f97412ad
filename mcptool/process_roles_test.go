package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
)

// child is a server that is the test program in a role.
func child(t *testing.T, role string, env ...string) Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: role, Command: []string{program}, Env: append(env, childRole+"="+role)}
}

// hostRole is the variable that names the role of a host's server.
const hostRole = "FERRULE_TEST_HOST"

// childPipe is the variable that names a pipe to which each process of a child
// writes its number, and which it holds open.
const childPipe = "FERRULE_TEST_PIPE"

// daemonPipe is childPipe for who is not to write to it itself.
const daemonPipe = "FERRULE_TEST_DAEMON"

// play is the test program in a role, until its input ends.
func play(role string) int {
	if role == "host" {
		return host(os.Getenv(childPipe))
	}
	if role == "orphan" || role == "stubborn" || role == "family" {
		signal.Ignore(syscall.SIGTERM) // before anybody knows of it
	}
	if path := os.Getenv(childPipe); path != "" {
		pipe, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 9
		}
		fmt.Fprintln(pipe, os.Getpid())
		defer pipe.Close()
	}
	s := &testServer{methods: childMethods()}
	maps.Copy(s.methods, childTools())
	switch role {
	case "old":
		s.old = true
	case "new":
		s.new = true
	case "deaf":
		s.old, s.deaf = true, true
	case "garbage":
		fmt.Println("Listening on stdio …\n{\"jsonrpc\":")
	case "failing":
		fmt.Fprintln(os.Stderr, "first\nDATABASE_URL is not set")
		return 3
	case "blabbing": // says what it was given wherever it can
		fmt.Println(strings.Repeat("-", 70) + os.Getenv("API_KEY"))
		fmt.Fprintln(os.Stderr, strings.Repeat("+", 70)+os.Getenv("API_KEY"))
		return 3
	case "nervous": // ends when it is asked what it does not know
		in := newLines(os.Stdin, maxLine)
		line, err := in.next()
		if m, _ := parseMessage(line); err != nil || m.method != methodInitialize {
			return 1
		}
		s.old = true
		m, _ := parseMessage(line)
		fmt.Println(string(message{id: m.id, result: s.initialized(m)}.append(nil)))
		_ = s.serve(context.Background(), in.r, os.Stdout)
		return 0
	case "silent":
		in := newLines(os.Stdin, maxLine)
		for {
			if _, err := in.next(); err != nil {
				return 0
			}
		}
	case "stubborn": // takes no hint
		_ = s.serve(context.Background(), os.Stdin, os.Stdout)
		<-time.After(time.Hour)
	case "family": // takes no hint, and neither does its child
		if startOrphan(false) != nil {
			return 8
		}
		_ = s.serve(context.Background(), os.Stdin, os.Stdout)
		<-time.After(time.Hour)
	case "orphan":
		<-time.After(time.Hour)
	case "polite": // waits for TERM
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		_ = s.serve(context.Background(), os.Stdin, os.Stdout)
		<-told
		return 0
	case "parent": // has a child that takes no hint and holds its output
		if startOrphan(false) != nil {
			return 8
		}
	case "escaped": // has one that has left its group too
		if startOrphan(true) != nil {
			return 8
		}
	case "daemon": // has one that has left its group, and whose parent is gone
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childRole+"=daemons", childPipe+"=", daemonPipe+"="+os.Getenv(childPipe))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if cmd.Run() != nil {
			return 8
		}
	case "daemons":
		if startOrphan(true, childPipe+"="+os.Getenv(daemonPipe)) != nil {
			return 8
		}
		return 0
	}
	if s.serve(context.Background(), os.Stdin, os.Stdout) != nil {
		return 1
	}
	return 0
}

// host is a program that keeps a server until it is killed.
func host(pipe string) int {
	program, err := os.Executable()
	if err != nil {
		return 9
	}
	h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Servers: []Server{{
		Name: "s", Command: []string{program}, Env: []string{childRole + "=" + os.Getenv(hostRole), childPipe + "=" + pipe},
	}}}
	if h.Start(context.Background()) != nil {
		return 9
	}
	<-time.After(time.Hour)
	return 0
}

// startOrphan starts a process that takes no hint and holds the output.
func startOrphan(escaped bool, env ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Env = append(append(os.Environ(), childRole+"=orphan"), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if escaped {
		leaveGroup(cmd)
	}
	return cmd.Start()
}

func childMethods() map[string]func(*testCall) (json.RawMessage, error) {
	second := make(chan struct{})
	return map[string]func(*testCall) (json.RawMessage, error){
		"echo": func(c *testCall) (json.RawMessage, error) {
			text, _ := member(c.params, "text")
			return setMembers(nil, pair{"text", text}), nil
		},
		"environ": func(*testCall) (json.RawMessage, error) {
			dir, _ := os.Getwd()
			return json.Marshal(map[string]any{"env": os.Environ(), "dir": dir})
		},
		"die": func(*testCall) (json.RawMessage, error) {
			fmt.Fprintln(os.Stderr, "out of luck")
			syscall.Exit(7)
			return nil, nil
		},
		"garbage": func(*testCall) (json.RawMessage, error) {
			fmt.Println("debug: here")
			return json.RawMessage(`{}`), nil
		},
		"stderr": func(c *testCall) (json.RawMessage, error) {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 3*maxStderrLine)+"\nshort")
			for i := range 2 * maxStderrLines {
				fmt.Fprintln(os.Stderr, "line", i)
			}
			return json.RawMessage(`{}`), nil
		},
		// first is answered after second.
		"first": func(*testCall) (json.RawMessage, error) {
			<-second
			return json.RawMessage(`{"n":1}`), nil
		},
		"second": func(*testCall) (json.RawMessage, error) {
			close(second)
			return json.RawMessage(`{"n":2}`), nil
		},
		"notify": func(c *testCall) (json.RawMessage, error) {
			c.notify("notifications/tools/list_changed", `{}`)
			return json.RawMessage(`{}`), nil
		},
		"wait": func(c *testCall) (json.RawMessage, error) {
			<-c.ctx.Done()
			return nil, c.ctx.Err()
		},
	}
}
