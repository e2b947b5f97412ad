package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// beServer says what testdata/server is: "stubborn" is one that ends neither with its
// input nor by TERM, and has a child that does not either.
const beServer = "FERRULE_TEST_SERVER"

// actingServer is one with tools that write files and open connections.
const actingServer = "acting"

// beFerrule has the test binary be this program.
const beFerrule = "FERRULE_TEST_PROGRAM"

// heldPipe is the variable that names a pipe which stubborn servers hold open.
const heldPipe = "FERRULE_TEST_PIPE"

func testBinary(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// serverDir is where the server was built; TestMain removes it.
var serverDir string

// buildServer builds testdata/server once.
var buildServer = sync.OnceValues(func() (path string, err error) {
	// What the go command reads is not seen by the cache of tests: this is.
	if _, err := os.ReadFile(filepath.Join("testdata", "server", "main.go")); err != nil {
		return "", err
	}
	if serverDir, err = os.MkdirTemp("", "server"); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(serverDir)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "server.exe")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./testdata/server")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// serverProgram is an MCP server. It is not the test binary: to start that takes many
// times as long.
func serverProgram(t *testing.T) string {
	t.Helper()
	path, err := buildServer()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// testServer is one of ferrule.yaml.
func testServer(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("{command: %q, env: {%s: \"1\"}}", serverProgram(t), beServer)
}
