package pages_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/pages"
)

// A check that cannot fail is a defect.
func TestChecks(t *testing.T) {
	t.Parallel()
	t.Run("links", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			"[a](README.md) [b](docs/mcp.md) [c](https://example.com/x)": "",
			"[a](no.md)":                                   "README.md:1: the link no.md leads nowhere",
			"\n<img src=\"docs/img/no.png\">":              "README.md:2: the link docs/img/no.png leads nowhere",
			"# A `b` (c)\n[a](#a-b-c)":                     "",
			"# A b\n[a](#b)":                               "README.md:2: the link #b: README.md has no such heading",
			"[a](docs/audit.md#commands)":                  "",
			"[a](docs/audit.md#nothing)":                   "docs/audit.md has no such heading",
			"```text\n[a](no.md)\n```":                     "",
			"[life.go](life.go) and [folder](tool), twice": "",
		} {
			said(t, text, errors.Join(links("README.md", text)...), want)
		}
	})
	t.Run("figures", func(t *testing.T) {
		t.Parallel()
		const table = "# Fast\n| a | 1 ms |\n| b | 2 ms |\n| c | 30 % |\n"
		for text, want := range map[string]string{
			table:                       `p:1: "Fast" has 3 rows of figures and names no command`,
			table + "`make bench` says": "",
			"# Slow\n" + table + "# Other\n`make bench`": `p:2: "Fast"`,
			"- 1 ms\n- 2 ms\n- 3 ms\n`go run ./eval\nx`": "",
			"| a | 1 tool |\n| a | 2 |\n| a | 3 |\n":     "",
			"It takes 1 ms, 2 ms or 3 ms.":               "",
		} {
			said(t, text, errors.Join(figures("p", text)...), want)
		}
	})
	t.Run("fragments", func(t *testing.T) {
		t.Parallel()
		check := newChecker(t)
		for text, want := range map[string]string{
			"x := rt.Session(tool.Caller{})":                              "",
			"type T struct{ A int }":                                      "",
			"func f() *ferrule.Runtime { return nil }":                    "",
			"if err := session.Close(ctx); err != nil {\n\treturn err\n}": "",
			"\nx := rt.Sesion()":                                          "p:3: rt.Sesion undefined",
			"x := {":                                                      "p:2: expected operand",
			"x := unknown":                                                "p:2: undefined: unknown",
			"var rt int = 1\nrt++":                                        "",
			"y := own + 1":                                                "",
			"for range calls.Missing {}":                                  "calls.Missing undefined",
		} {
			b := &pages.Block{Page: "p", Line: 1, Lang: "go", Text: text}
			said(t, text, check.fragment(b, declared("<!-- go\nvar own int\nvar text []byte\n-->\n")), want)
		}
	})
	t.Run("commands", func(t *testing.T) {
		t.Parallel()
		program := filepath.Join(t.TempDir(), "ferrule")
		write(t, program, "#!/bin/sh\nshift\ncase \"$*\" in\n"+
			"\"\") printf 'audit\\tShow\\ncall\\tCall\\n';;\n"+
			"'audit ') printf 'list\\tList\\n';;\n*--) printf -- '--json\\tprint JSON\\n';;\nesac\necho :4\n")
		if err := os.Chmod(program, 0o700); err != nil {
			t.Fatal(err)
		}
		c := &commands{program: program}
		for line, want := range map[string]string{
			"ferrule audit list --json":                     "",
			"ferrule audit list [--json] [--since 2h]":      "ferrule audit list --json: got the flag --since",
			"go run ./cmd/ferrule audits":                   "ferrule audits: there is no such command",
			"ferrule call fs_read '{}' --josn # --whatever": "got the flag --josn",
			"ferrule call x -- prog --flag":                 "",
			"ferrule COMMAND --help":                        "",
			"ferrule.yaml":                                  "",
			"make ci":                                       "",
			"make haste":                                    `make haste: got "haste", want what Makefile has`,
			"make":                                          "",
			"go run ./e2e fast":                             "",
			"go run ./e2e slow":                             `go run ./e2e slow: got "slow", want what ./e2e/main.go has`,
			"go run ./eval keys":                            "",
			"go run ./examples/none":                        "go run ./examples/none",
			"curl --anything":                               "",
		} {
			said(t, line, c.exists(t.Context(), line), want)
		}
		blocks, err := pages.Read("p", "a `make\nhaste`\n```sh shown\n\nferrule audit \\\n --no\n```\n")
		if err != nil {
			t.Fatal(err)
		}
		got := errors.Join(c.named(t.Context(), &page{"p", "a `make\nhaste`\n", blocks})...)
		said(t, "a page", got, "p:5: ferrule audit: got the flag --no, want one that it has\np:1: make haste")
	})
}

// said compares an error with what it must begin with or hold; "": none.
func said(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

func number(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
