package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// sdkVersion is that of the official Go SDK, whose conformance server is the one
// that the suites are run against.
const sdkVersion = "v1.8.0"

// bundle is a folder of npm packages, each at one version. What is in a group of
// its own cannot change what another package is resolved to.
type bundle struct {
	name     string
	packages map[string]string
	optional bool // the packages' optional dependencies are needed
}

// bundles are all that is installed, node first: the others are run with it.
func bundles() []bundle {
	return []bundle{
		{name: "node", packages: map[string]string{nodePackage(): "22.23.3"}},
		{name: "suite1", packages: map[string]string{"@modelcontextprotocol/conformance": "0.1.16"}},
		{name: "suite2", packages: map[string]string{"@modelcontextprotocol/conformance": "0.2.0-alpha.12"}},
		{name: "clients", packages: map[string]string{
			"@modelcontextprotocol/sdk":    "1.32.2", // the 2025 generation
			"@modelcontextprotocol/client": "2.4.0",  // the 2026 generation
		}},
		{name: "inspector", optional: true, packages: map[string]string{"@modelcontextprotocol/inspector": "2.12.0"}},
		{name: "servers", packages: map[string]string{
			"@modelcontextprotocol/server-everything":          "2026.8.31",
			"@modelcontextprotocol/server-filesystem":          "2026.8.31",
			"@modelcontextprotocol/server-memory":              "2026.8.31",
			"@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
			"@cyanheads/git-mcp-server":                        "2.15.3",
			"@bytebase/dbhub":                                  "1.4.0",
		}},
		{name: "supergateway", packages: map[string]string{"supergateway": "4.0.0"}},
		{name: "axe", packages: map[string]string{"axe-core": "4.10.3"}},
		{name: "mcp-proxy", packages: map[string]string{"mcp-proxy": "6.7.19"}},
	}
}

// nodePackage is the package that holds node's program for this machine.
func nodePackage() string {
	system, arch := runtime.GOOS, runtime.GOARCH
	if system == "windows" {
		system = "win"
	}
	if arch == "amd64" {
		arch = "x64"
	}
	return "node-" + system + "-" + arch
}

// exe is how the names of programs end.
func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// tools is where what is installed lies.
type tools struct{ dir string }

// node is the program that everything from npm is run with.
func (t tools) node() string {
	return filepath.Join(t.dir, "npm", "node", "node_modules", nodePackage(), "bin", "node"+exe())
}

// script is a file of a package of a group.
func (t tools) script(group, path string) string {
	return filepath.Join(t.dir, "npm", group, "node_modules", filepath.FromSlash(path))
}

// everything is the conformance server of the Go SDK.
func (t tools) everything() string {
	return filepath.Join(t.dir, "bin", "everything-server-"+sdkVersion+exe())
}

// conformanceClient is the one of the Go SDK.
func (t tools) conformanceClient() string {
	return filepath.Join(t.dir, "bin", "everything-client-"+sdkVersion+exe())
}

// environment is that of this program, with our node first.
func (t tools) environment() []string {
	path := filepath.Dir(t.node()) + string(os.PathListSeparator) + os.Getenv("PATH")
	return append(os.Environ(), "PATH="+path, "NO_COLOR=1", "NODE_NO_WARNINGS=1")
}

// install fetches what is missing. What is there is found by a file that says
// what was asked for, so that a second run takes no time.
func (t tools) install(ctx context.Context, log io.Writer) error {
	var missing []error
	for _, g := range bundles() {
		if err := t.installGroup(ctx, log, g); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", strings.Join(g.list(), " "), err))
		}
	}
	for name, program := range map[string]string{"everything-server": t.everything(), "everything-client": t.conformanceClient()} {
		if err := installGo(ctx, log, name, program); err != nil {
			missing = append(missing, fmt.Errorf("%s %s: %w", name, sdkVersion, err))
		}
	}
	return errors.Join(missing...)
}

// list names the packages of a group.
func (g bundle) list() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(g.packages)) {
		names = append(names, name+"@"+g.packages[name])
	}
	return names
}

// installGroup asks npm three times at most: registries answer with faults that
// are gone the next time.
func (t tools) installGroup(ctx context.Context, log io.Writer, g bundle) error {
	dir := filepath.Join(t.dir, "npm", g.name)
	want, err := json.MarshalIndent(map[string]any{"private": true, "dependencies": g.packages}, "", "  ")
	if err != nil {
		return err
	}
	done := filepath.Join(dir, "installed")
	if have, err := os.ReadFile(done); err == nil && bytes.Equal(have, want) {
		return nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is missing: it comes with Node.js (https://nodejs.org), any version from 20 on")
	}
	args := []string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"}
	if !g.optional {
		args = append(args, "--omit=optional")
	}
	for try := 1; ; try++ {
		fmt.Fprintf(log, "installing %s\n", strings.Join(g.list(), " "))
		err := t.npmInstall(ctx, npm, args, dir, want)
		if err == nil {
			return os.WriteFile(done, want, 0o600)
		}
		if try == 3 || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(log, "try %d: %v\n", try, err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Duration(try) * 5 * time.Second):
		}
	}
}

// npmInstall begins with an empty folder: half of an earlier try is not mended.
func (t tools) npmInstall(ctx context.Context, npm string, args []string, dir string, manifest []byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, args...) //nolint:gosec // npm, with arguments that are all above
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	if _, err := os.Stat(t.node()); err == nil {
		cmd.Env = t.environment()
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm install: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// installGo builds a program of the SDK. It is no dependency of ours, so go is
// asked for it by its version.
func installGo(ctx context.Context, log io.Writer, name, program string) error {
	if _, err := os.Stat(program); err == nil {
		return nil
	}
	fmt.Fprintf(log, "building %s %s\n", name, sdkVersion)
	dir, err := os.MkdirTemp("", "ferrule-e2e")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.CommandContext(ctx, "go", "install", "github.com/modelcontextprotocol/go-sdk/conformance/"+name+"@"+sdkVersion) //nolint:gosec // one of two names
	cmd.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go install: %w: %s", err, bytes.TrimSpace(out))
	}
	return move(filepath.Join(dir, name+exe()), program)
}

// move copies a program to where it stays, in one step as others see it.
func move(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", program, 0o700); err != nil { //nolint:gosec // a program is run
		return err
	}
	return os.Rename(to+".new", to)
}
