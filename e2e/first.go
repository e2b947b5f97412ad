package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/internal/pages"
)

// firstMinutes is a newcomer: a fresh clone, a home and a module cache that are empty, and
// what README.md says, word for word and in order. What it asks for is allowed by
// ferrule approvals. Modules come from the machine's own cache where that has them, as
// if it were a proxy, and compiled packages from its build cache: -trimpath has both
// fit whatever folder the clone is in, so that only a first run compiles everything.
func firstMinutes(ctx context.Context, w *world, s *score) (err error) {
	if err := free(ctx, "127.0.0.1:7711"); err != nil {
		return err
	}
	dir, err := w.folder("first")
	if err != nil {
		return err
	}
	clone := filepath.Join(dir, "ferrule")
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", ".", clone).CombinedOutput(); err != nil { //nolint:gosec // our own folder
		return fmt.Errorf("git clone: %w: %s", err, out)
	}
	env, err := stranger(ctx, dir)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		return err
	}
	blocks, err := pages.Read("README.md", string(text))
	if err != nil {
		return err
	}
	shell := &pages.Shell{Dir: clone, Env: env, Ferrule: w.program, Wait: 20 * time.Minute, Seen: func(text string) string { return downloads.ReplaceAllString(text, "") }}
	defer func() { err = errors.Join(err, shell.Close()) }()
	for _, b := range blocks {
		if err := follow(ctx, s, shell, b); err != nil {
			return err
		}
	}
	return ownModule(ctx, s, shell, dir, string(text), blocks)
}

// downloads is what the go command says of an empty module cache, before a program runs.
var downloads = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// follow does what one block says.
func follow(ctx context.Context, s *score, shell *pages.Shell, b *pages.Block) error {
	switch {
	case b.Lang == "go" && b.File != "":
		return save(shell.Dir, b.File, b.Text)
	case b.Lang == "yaml" && !b.Part:
		return save(shell.Dir, "ferrule.yaml", b.Text)
	case b.Lang != "sh" || b.Shown:
		return nil
	}
	start := time.Now()
	if err := shell.Run(ctx, b); err != nil {
		return err
	}
	s.hold(strings.TrimSpace(b.Text), true, took(start), nil)
	if !b.Stays {
		return nil
	}
	key, err := os.ReadFile(filepath.Join(shell.Dir, ".ferrule", "console-key"))
	if err != nil {
		return err
	}
	for _, page := range []string{"/?key=" + strings.TrimSpace(string(key)), "/api/questions"} {
		status, err := look(ctx, "http://127.0.0.1:7711"+page, strings.TrimSpace(string(key)))
		if name, _, _ := strings.Cut(page, "="); !s.hold("the console answers "+name, err == nil && status == http.StatusOK, fmt.Sprint(status), http.StatusOK) {
			return err
		}
	}
	return nil
}

// ownModule does what README.md says of a module of one's own, with its program.
func ownModule(ctx context.Context, s *score, shell *pages.Shell, dir, text string, blocks []*pages.Block) error {
	own := filepath.Join(dir, "own")
	script := []string{"cd '" + own + "'", "go mod init own 2>/dev/null"}
	commands := regexp.MustCompile("`(go mod [^`]+)`").FindAllStringSubmatch(text, -1)
	if len(commands) == 0 {
		return errors.New("README.md: got no go mod, want how a module of one's own finds the clone")
	}
	for _, m := range commands {
		script = append(script, m[1]+" 2>/dev/null")
	}
	for _, b := range blocks {
		if !b.Program() || b.File == "" {
			continue
		}
		if err := save(own, "main.go", b.Text); err != nil {
			return err
		}
		start := time.Now()
		run := &pages.Block{Page: b.Page, Line: b.Line, Lang: "sh", Text: strings.Join(append(script, "go run ."), "\n"), Output: printed(blocks, b)}
		if err := shell.Run(ctx, run); err != nil {
			return err
		}
		s.hold("the same tool in a module of its own", true, took(start), nil)
		return nil
	}
	return errors.New("README.md: got no program, want a tool of one's own")
}

// save writes a file that README.md tells to write.
func save(dir, name, text string) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil { //nolint:gosec // README.md is ours
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600) //nolint:gosec // README.md is ours
}

// printed is the output of the sh block behind a program that is saved.
func printed(blocks []*pages.Block, program *pages.Block) *pages.Block {
	for _, b := range blocks {
		if b.Line > program.Line && b.Output != nil {
			return b.Output
		}
	}
	return nil
}

// stranger is the environment of somebody who has Go, and has never used it.
func stranger(ctx context.Context, dir string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var set map[string]string
	if err := json.Unmarshal(out, &set); err != nil {
		return nil, err
	}
	set["GOPROXY"] = "file://" + filepath.ToSlash(filepath.Join(set["GOMODCACHE"], "cache", "download")) + "," + set["GOPROXY"]
	set["GOMODCACHE"] = filepath.Join(dir, "modules")
	set["GOFLAGS"] += " -modcacherw -trimpath"
	set["HOME"], set["TMPDIR"], set["PATH"], set["TERM"] = filepath.Join(dir, "home"), dir, os.Getenv("PATH"), "dumb"
	if err := os.Mkdir(set["HOME"], 0o700); err != nil {
		return nil, err
	}
	var env []string
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env, nil
}

// free says who must go first, where somebody listens already.
func free(ctx context.Context, address string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("README.md needs %s for itself: %w", address, err)
	}
	return l.Close()
}

func look(ctx context.Context, url, key string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}

func took(start time.Time) string { return time.Since(start).Round(100 * time.Millisecond).String() }
