package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// builtinTimes measures what the tools that come with Ferrule cost, in time that
// passes: most of it is not spent in this process.
func builtinTimes(ctx context.Context, helper sandbox.Helper) ([]row, error) {
	isolated, err := sandboxed(ctx, helper)
	if err != nil {
		return nil, err
	}
	searched, err := searching(ctx)
	if err != nil {
		return nil, err
	}
	return []row{isolated, judging(), searched}, nil
}

// searching compares fs_grep with grep -r over the sources of Go, for a word that
// is rare there.
func searching(ctx context.Context) (r row, err error) {
	const pattern = "findRunnableGCWorker"
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return r, err
	}
	tree := filepath.Join(strings.TrimSpace(string(out)), "src")
	tools, err := builtin.Files{Roots: []string{tree}}.Tools()
	if err != nil {
		return r, err
	}
	i := slices.IndexFunc(tools, func(t *tool.Tool) bool { return t.Name == "fs_grep" })
	args, err := tools[i].Admit([]byte(`{"pattern":"` + pattern + `"}`))
	if err != nil {
		return r, err
	}
	best, err := least(8, func() error {
		return exec.CommandContext(ctx, "grep", "-rnE", pattern, tree).Run()
	}, func() error {
		_, err := tools[i].Run(ctx, args)
		return err
	})
	if err != nil {
		return r, err
	}
	return row{
		Name: "fs_grep over the sources of Go, to grep -r (wall)",
		NS:   float64(best[1]), Ratio: float64(best[1]) / float64(best[0]), most: 2, mostAllocs: -1,
	}, nil
}

// sandboxed compares a program that does nothing in a sandbox with the same program
// started as any other. What is made once for all commands of a Box is made before.
func sandboxed(ctx context.Context, helper sandbox.Helper) (r row, err error) {
	const program, at = "/bin/true", 10
	workspace, err := os.MkdirTemp("", "ferrule-bench-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	box, err := sandbox.New(sandbox.Config{Helper: helper, Workspace: []string{workspace}, Network: sandbox.Loopback}) //nolint:contextcheck // what it looks for takes a moment
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	box.Applied()
	best, err := least(40, func() error {
		for range at {
			if err := exec.CommandContext(ctx, program).Run(); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		for range at {
			if o, err := box.Run(ctx, sandbox.Command{Args: []string{program}}); err != nil || o.Code != 0 {
				return fmt.Errorf("sandboxed %s: exit status %d: %w", program, o.Code, err)
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	return row{
		Name: "a program that does nothing, in a sandbox, to the same without (wall)",
		NS:   float64(best[1]) / at, Ratio: float64(best[1]) / float64(best[0]), most: 3, mostAllocs: -1,
	}, nil
}

// judging is how long it takes to judge a command line, to parsing it: of ten
// lines the ninth. Wanted are 20 microseconds, which depend on the machine.
func judging() row {
	lines := commandLines()
	parsed, judged := make([]time.Duration, len(lines)), make([]time.Duration, len(lines))
	for i, line := range lines {
		parsed[i], judged[i] = time.Hour, time.Hour
		for range 200 {
			parsed[i] = min(parsed[i], timeOf(func() { _, _ = syntax.NewParser().Parse(strings.NewReader(line), "") }))
			judged[i] = min(judged[i], timeOf(func() { shell.Judge(line) }))
		}
	}
	slices.Sort(parsed)
	slices.Sort(judged)
	ninth := len(lines) * 9 / 10
	return row{
		Name: "judging a command line, the ninth of ten by time, to parsing it (wall)",
		NS:   float64(judged[ninth]), Ratio: float64(judged[ninth]) / float64(parsed[ninth]), most: 10, mostAllocs: -1,
	}
}

func timeOf(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// commandLines are such as agents write, from a word to a small program.
func commandLines() []string {
	return []string{
		"ls -la",
		"pwd",
		"git status --short",
		"git log --oneline -20",
		"git diff HEAD~1 -- internal/config",
		"cat go.mod",
		"head -n 40 README.md",
		"go test ./...",
		"go build ./... && go vet ./...",
		"npm test -- --watch=false",
		"make -j4 all",
		"rm -rf build dist",
		"mkdir -p internal/new && touch internal/new/new.go",
		"grep -rn 'func main' --include='*.go' .",
		"find . -name '*.go' -not -path './vendor/*' | xargs wc -l | sort -n | tail -20",
		"find . -type f -newer go.sum -exec ls -l {} +",
		`awk -F: '{ print $1 }' /etc/passwd | sort | uniq -c | sort -rn | head`,
		`sed -n '10,40p' cmd/server/main.go`,
		`sed -i 's/old/new/g' internal/*.go`,
		`for f in *.txt; do echo "$f: $(wc -l < "$f")"; done`,
		`if [ -f go.mod ]; then go list -m all; else echo "no module"; fi`,
		`curl -sS https://example.com/api | jq '.items[] | {id, name}'`,
		`docker ps --format '{{.Names}}' | grep -v registry`,
		`ps aux | grep -v grep | grep server | awk '{print $2}'`,
		`tar -czf backup.tar.gz --exclude=node_modules . && du -h backup.tar.gz`,
		`git ls-files | grep -E '\.(go|mod|sum)$' | while read -r f; do printf '%s %s\n' "$(wc -c < "$f")" "$f"; done | sort -rn | head -n 15`,
		`python3 -c 'import json,sys; print(json.load(open("package.json"))["version"])'`,
		`cd web && npm ci && npm run build && ls -la dist | head -20`,
		`diff <(sort a.txt) <(sort b.txt) | head -50`,
		"cat <<'EOF' > notes.md\n# Notes\n\n- one\n- two\nEOF",
	}
}
