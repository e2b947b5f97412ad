package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// openBrowser opens an address in the browser of whoever sits here; opened is false
// where nobody can see one.
func (p *program) openBrowser(ctx context.Context, address string) (opened bool, err error) {
	command := p.browserOn(runtime.GOOS)
	if command == nil {
		return false, nil
	}
	// It may be the browser itself that runs, which outlasts this.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], address)...) //nolint:gosec // the address is http or https, and an argument
	cmd.Env = p.environ
	if err := cmd.Start(); err != nil {
		return false, err
	}
	return true, cmd.Process.Release()
}

// browserOn is the command that opens an address on a system; nil: none can. Over ssh
// the screen is another one, unless X is passed on.
func (p *program) browserOn(system string) []string {
	remote := p.env("SSH_CONNECTION") != "" || p.env("SSH_TTY") != ""
	switch system {
	case "windows":
		if remote {
			return nil
		}
		return p.found("rundll32.exe", "url.dll,FileProtocolHandler")
	case "darwin":
		if remote {
			return nil
		}
		return p.found("open")
	}
	if p.env("DISPLAY") == "" && p.env("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return p.found("xdg-open")
}

// found is a command whose program is in PATH; nil: it is not.
func (p *program) found(name string, args ...string) []string {
	path := p.env("PATH")
	for _, e := range p.environ { // Path, on Windows
		if key, value, ok := strings.Cut(e, "="); ok && path == "" && strings.EqualFold(key, "PATH") {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && filepath.IsAbs(file) {
			return append([]string{file}, args...)
		}
	}
	return nil
}
