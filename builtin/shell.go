package builtin

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

//go:embed texts/shell.md
var shellText string

// Shell is the tool shell, which runs command lines in bash, and the tools for
// what goes on in the background: process_list, process_read and process_stop.
//
// A command always runs in a [sandbox.Box], one for each session, which ends with
// the session and takes with it whatever still runs. Each call is a new bash that
// begins in the first folder of the workspace, or in the one that the call names:
// no directory, variable or function is kept from one call to the next.
//
// Whether a call only reads is judged by its line, and not believed: what is
// judged so runs without the right to write. The tools belong to one runtime.
type Shell struct {
	// Workspace is the folders that commands read and write, absolute. They begin
	// in the first.
	Workspace []string
	// Sandbox is how commands are isolated. Its Workspace is the one above; below its
	// State each principal has a folder, which its sessions share. Of its
	// limits Time and Output are for all that runs, also in the background; zero
	// is none for these two: Timeout and Output below bound a call.
	Sandbox sandbox.Config

	// Timeout is how long a command may take, unless the call says otherwise; 0: 2
	// minutes. Longest is what a call may ask for; 0: 10 minutes.
	Timeout, Longest time.Duration
	// Output is how many bytes a command may print before it is ended; 0: 8 MiB.
	// It is not for what runs in the background.
	Output int
	// Background is how many processes a session may have in the background; 0: 8.
	Background int
	// Kept is how many bytes of the output of each can be read; 0: the last 1 MiB.
	Kept int
}

// shellGrace is how much longer than its command a call may take: to start it,
// to end it and to read the rest of its output.
const shellGrace = 15 * time.Second

// shellLine is how long a line may be, in bytes: no system takes a longer
// argument.
const shellLine = 100 << 10

type shellInput struct {
	Command     string `json:"command" jsonschema:"description=the command line for bash,minLength=1"`
	Dir         string `json:"dir,omitempty" jsonschema:"description=the folder of the workspace to run it in; absolute or from the first folder of the workspace"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"description=seconds that it may take,minimum=1"`
	Background  bool   `json:"background,omitempty" jsonschema:"description=start it in the background and return an id at once"`
	Description string `json:"description,omitempty" jsonschema:"description=what it is for in a few words for the person who is asked,maxLength=200"`
}

// shellHost is a Shell at work. What it holds but the sessions does not change.
type shellHost struct {
	Shell
	config   sandbox.Config
	roots    []string // the workspace, without symlinks
	applied  sandbox.Applied
	confined bool

	mu       sync.Mutex
	sessions map[shellKey]*shellSession
}

// Tools makes the tools. Where the level of isolation cannot be had, the error is
// a [sandbox.Unavailable] that says why: leave the shell out then, and tell the
// operator.
func (s Shell) Tools() ([]*tool.Tool, error) {
	h, err := s.host()
	if err != nil {
		return nil, fmt.Errorf("shell: %w", err)
	}
	var tools []*tool.Tool
	for _, one := range []func() (*tool.Tool, error){h.tool, h.processList, h.processRead, h.processStop} {
		t, err := one()
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// host checks what was configured, fills in what was left out, and finds out what
// isolation there will be.
func (s Shell) host() (*shellHost, error) {
	switch {
	case len(s.Workspace) == 0:
		return nil, errors.New("workspace: got no folder, want at least one")
	case len(s.Sandbox.Workspace) > 0:
		return nil, errors.New("sandbox: got a workspace of its own, want it in Shell.Workspace alone")
	case s.Timeout < 0 || s.Longest < 0 || s.Output < 0 || s.Background < 0 || s.Kept < 0:
		return nil, errors.New("limits: got one below zero, want 0 for the default, or more")
	}
	roots, err := shellRoots(s.Workspace)
	if err != nil {
		return nil, err
	}
	h := &shellHost{Shell: s, config: s.Sandbox, roots: roots, sessions: make(map[shellKey]*shellSession)}
	h.Longest = shellOr(h.Longest, max(10*time.Minute, s.Timeout))
	h.Timeout = min(shellOr(h.Timeout, 2*time.Minute), h.Longest)
	h.Output, h.Background, h.Kept = shellOr(h.Output, 8<<20), shellOr(h.Background, 8), shellOr(h.Kept, 1<<20)

	c := &h.config
	c.Workspace = roots
	c.Limits.Time, c.Limits.Output = shellOr(c.Limits.Time, -1), shellOr(c.Limits.Output, -1)
	// Nobody is there to page or to type a password.
	c.Env = append([]string{"PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}, c.Env...)
	if h.applied, err = shellProbe(*c); err != nil {
		return nil, err
	}
	if h.applied.Level != sandbox.Container {
		if _, err := exec.LookPath("bash"); err != nil {
			return nil, fmt.Errorf("bash: %w", err)
		}
	}
	h.confined = h.isConfined(h.applied)
	return h, nil
}

// shellOr is what was given, or otherwise where that is zero.
func shellOr[T comparable](given, otherwise T) T {
	if zero := *new(T); given != zero {
		return given
	}
	return otherwise
}

// shellProbe says what a command would get.
func shellProbe(c sandbox.Config) (sandbox.Applied, error) {
	box, err := sandbox.New(c)
	if err != nil {
		return sandbox.Applied{}, err
	}
	applied := box.Applied()
	return applied, box.Close()
}

func (h *shellHost) tool() (*tool.Tool, error) {
	return tool.Spec[shellInput, tool.Result]{
		Info: tool.Info{
			Name: "shell", Description: h.fill(shellText), Tags: []string{"shell"},
			Timeout: h.Longest + shellGrace, Cancel: true, Cooperative: true, Streams: true,
			Isolation: string(sandbox.Process),
			Examples: []tool.Example{
				{Input: json.RawMessage(`{"command":"git status --short"}`)},
				{Input: json.RawMessage(`{"command":"go test ./...","timeout":300}`)},
			},
		},
		ClaimsOf: h.claims, Facts: h.facts, Scopes: h.scopes,
		Validate: h.validate, Preview: h.preview, Run: h.run,
	}.Tool()
}

// fill puts into a description what holds here.
func (h *shellHost) fill(text string) string {
	network := "There is no network."
	switch h.applied.Network {
	case sandbox.Open:
		network = "The network is open."
	case sandbox.Loopback:
		network = "The network is a private loopback: commands of this session reach each other and nothing else."
	case sandbox.Off:
	}
	return strings.TrimSpace(strings.NewReplacer(
		"{first}", h.roots[0], "{workspace}", strings.Join(h.roots, ", "), "{network}", network,
		"{time}", h.Timeout.String(), "{longest}", h.Longest.String(), "{output}", shellSize(int64(h.Output)),
		"{page}", shellSize(processPage), "{kept}", shellSize(int64(h.Kept)),
	).Replace(text))
}
