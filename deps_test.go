package ferrule_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows are what one package may import, separated by spaces. The standard
// library is free to all; cgo is not.
type arrows struct {
	ours  string // packages of this module, from the root
	third string // modules of others
	tests string // packages of this module that only its tests import
}

// architecture is every package and all that it may import. Imports point at
// nouns: schema knows nothing of tools, tool knows nothing of who runs them.
// A third-party module stands in as few rows as can be, so that it can be
// exchanged in one place.
var architecture = map[string]arrows{
	".":          {ours: "audit durable guard guard/flow guard/memory guard/redact policy schema search secret tool", tests: "internal/leak internal/pages"},
	"tool":       {ours: "schema"},
	"guard":      {ours: "guard/flow guard/memory guard/redact guard/scan tool"},
	"guard/flow": {ours: "tool"},
	"policy":     {ours: "tool", tests: "tooltest"},
	"policy/cedar": {
		ours:  "policy tool",
		third: "github.com/cedar-policy/cedar-go",
	},
	"agent": {ours: ". audit provider tool", tests: "durable policy"},
	"agent/anthropic": {
		ours:  "internal/reply provider",
		third: "github.com/anthropics/anthropic-sdk-go",
		tests: "agent internal/modeltest",
	},
	"agent/openai": {
		ours:  "internal/reply provider",
		third: "github.com/openai/openai-go/v3",
		tests: "agent internal/modeltest",
	},
	"audit":          {ours: "tool", tests: "tooltest"},
	"durable":        {ours: "tool", tests: "tooltest"},
	"secret":         {tests: "internal/leak"},
	"secret/keyring": {ours: "secret", third: "github.com/zalando/go-keyring"},
	"schema": {
		third: "github.com/santhosh-tekuri/jsonschema/v6 github.com/go-json-experiment/json golang.org/x/text",
		tests: "internal/hostile",
	},
	"search":                  {},
	"search/endpoint":         {ours: "search", tests: "tooltest"},
	"search/vectors":          {ours: "search", tests: "tooltest"},
	"search/vectors/generate": {},

	"agent/scripted":       {ours: "agent provider tool", third: "golang.org/x/tools/txtar"},
	"builtin":              {ours: "internal/inside sandbox shell tool undo", third: "github.com/aymanbagabas/go-udiff golang.org/x/net", tests: ". audit policy policy/cedar tooltest"},
	"mcptool":              {ours: ". audit guard internal/lock policy schema tool", third: "github.com/modelcontextprotocol/go-sdk/auth github.com/modelcontextprotocol/go-sdk/oauthex golang.org/x/oauth2 golang.org/x/sys", tests: "durable guard/flow guard/redact internal/hostile secret"},
	"cmd/ferrule":          {ours: ". agent agent/anthropic agent/openai agent/scripted audit builtin durable guard guard/flow guard/leaks guard/redact guard/scan internal/config internal/lock internal/terminal internal/web mcptool policy policy/cedar provider sandbox schema search search/endpoint search/vectors secret secret/keyring shell store telemetry tool undo", third: "github.com/anthropics/anthropic-sdk-go/option github.com/aymanbagabas/go-udiff github.com/charmbracelet/x/term github.com/spf13/cobra github.com/spf13/pflag"},
	"e2e":                  {ours: "internal/pages tokens"},
	"e2e/client":           {ours: ". mcptool policy tool"},
	"e2e/hostile":          {},
	"e2e/sdkserver":        {third: "github.com/modelcontextprotocol/go-sdk/mcp"},
	"e2e/server":           {},
	"eval":                 {ours: "guard/flow guard/leaks guard/redact guard/scan provider schema search search/vectors shell tool", third: "github.com/anthropics/anthropic-sdk-go github.com/openai/openai-go/v3"},
	"examples":             {},
	"examples/agent":       {ours: ". agent agent/scripted tool"},
	"examples/approvals":   {ours: ". policy store tool"},
	"examples/asking":      {ours: ". audit policy tool"},
	"examples/bigresult":   {ours: ". durable tool"},
	"examples/commandhook": {ours: ". policy tool"},
	"examples/content":     {ours: ". audit policy tool"},
	"examples/crash":       {ours: ". durable policy store tool"},
	"examples/files":       {ours: ". builtin policy tool undo"},
	"examples/gateway":     {ours: ". mcptool policy tool"},
	"examples/hello":       {ours: ". audit policy tool"},
	"examples/hooks":       {ours: ". audit policy tool"},
	"examples/ownloop":     {ours: ". provider tool"},
	"examples/owntool":     {ours: ". audit policy tool"},
	"examples/progress":    {ours: ". audit policy tool"},
	"examples/replay":      {ours: ". policy tool"},
	"examples/rules":       {ours: ". policy policy/cedar tool"},
	"examples/search":      {ours: ". tool"},
	"examples/secrets":     {ours: ". audit policy secret tool"},
	"examples/servers":     {ours: ". mcptool policy policy/cedar tool"},
	"examples/shell":       {ours: ". builtin policy/cedar sandbox tool"},
	"examples/streaming":   {ours: ". tool"},
	"guard/leaks":          {ours: "guard/leaks/before guard/redact", third: "github.com/betterleaks/betterleaks"},
	"guard/leaks/before":   {},
	"guard/redact":         {},
	"guard/memory":         {ours: "tool", tests: "tooltest"},
	"guard/scan":           {third: "golang.org/x/text/unicode/norm"},
	"internal/check":       {},
	"internal/config":      {ours: "policy secret tool", third: "go.yaml.in/yaml/v3"},
	"internal/crash":       {tests: ". audit durable policy secret store tool"},
	"internal/hostile":     {},
	"internal/inside":      {third: "golang.org/x/sys"},
	"internal/leak":        {},
	"internal/lock":        {third: "golang.org/x/sys"},
	"internal/modeltest":   {ours: ". agent policy provider tool"},
	"internal/pages":       {tests: "internal/config policy/cedar"},
	"internal/release":     {},
	"internal/reply":       {ours: "provider"},
	"internal/terminal":    {ours: "policy", third: "charm.land/bubbletea/v2 charm.land/lipgloss/v2 github.com/charmbracelet/x/term golang.org/x/sys golang.org/x/text", tests: "tool"},
	"internal/web":         {ours: "audit internal/terminal policy tool", tests: "schema"},
	"provider":             {ours: "schema tool"},
	"sandbox":              {third: "github.com/elastic/go-seccomp-bpf golang.org/x/net golang.org/x/sys"},
	"shell":                {third: "mvdan.cc/sh/v3", tests: "policy tool"},
	"store":                {ours: "audit durable internal/lock policy tool", third: "modernc.org/sqlite", tests: ". tooltest"},
	"telemetry": {
		ours: "audit tool", third: "github.com/prometheus/client_golang go.opentelemetry.io/otel go.opentelemetry.io/proto/otlp google.golang.org/protobuf",
		tests: ". agent agent/scripted mcptool policy",
	},
	"tokens":   {third: "github.com/tiktoken-go/tokenizer", tests: ". tool"},
	"tooltest": {ours: ". audit durable guard/memory policy search tool"},
	"undo":     {ours: "internal/inside internal/lock"},
}

// testModules may be imported by any test and by nothing else. What is listed
// here need not be used yet.
var testModules = []string{
	"pgregory.net/rapid",
	"github.com/google/go-cmp",
	"go.uber.org/goleak",
	"golang.org/x/tools/txtar",
	"golang.org/x/net/html",
	"github.com/prometheus/common",
}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	_, all := tree(t)
	for _, fault := range checkArrows(architecture, importsOf(all)) {
		t.Error(fault)
	}
}

// imports are the import paths of one package.
type imports struct{ code, tests []string }

func importsOf(all []*pkg) map[string]imports {
	collect := func(files []*ast.File) []string {
		var paths []string
		for _, f := range files {
			for _, spec := range f.Imports {
				if p, err := strconv.Unquote(spec.Path.Value); err == nil {
					paths = append(paths, p)
				}
			}
		}
		slices.Sort(paths)
		return slices.Compact(paths)
	}
	found := make(map[string]imports)
	for _, p := range all {
		found[p.path] = imports{collect(p.files), collect(p.tests)}
	}
	return found
}

// checkArrows compares the table with what is imported, in both directions: an
// arrow that the table lacks is a fault, and so is a row or an arrow of the
// table that nothing in the code bears out.
func checkArrows(table map[string]arrows, found map[string]imports) []string {
	var faults []string
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf(format, args...)+" (deps_test.go)")
	}
	for name, in := range found {
		row, ok := table[name]
		if !ok {
			fault("%s: not in the table of packages", title(name))
			continue
		}
		ours, third, tests := strings.Fields(row.ours), strings.Fields(row.third), strings.Fields(row.tests)
		used := make(map[string]bool)
		for _, p := range in.code {
			to, ok := allowed(p, ours, third)
			if used[to] = true; !ok {
				fault("%s -> %s: not an allowed import", title(name), title(to))
			}
		}
		ours = append(slices.Concat(ours, tests), name) // an external test imports its own package
		for _, p := range in.tests {
			to, ok := allowed(p, ours, slices.Concat(third, testModules))
			if slices.Contains(tests, to) {
				used[to] = true
			}
			if !ok {
				fault("test of %s -> %s: not an allowed import", title(name), title(to))
			}
		}
		for _, to := range slices.Concat(strings.Fields(row.ours), third, tests) {
			if !used[to] {
				fault("%s -> %s: allowed, but nothing imports it", title(name), title(to))
			}
		}
	}
	for name := range table {
		if _, ok := found[name]; !ok {
			fault("%s: in the table, but there is no such package", title(name))
		}
	}
	slices.Sort(faults)
	return faults
}

// allowed names what an import path leads to (a package of ours, a listed
// module, or the path itself) and whether a package may go there.
func allowed(importPath string, ours, third []string) (to string, ok bool) {
	if importPath == module {
		return ".", slices.Contains(ours, ".")
	}
	if to, ok := strings.CutPrefix(importPath, module+"/"); ok {
		return to, slices.Contains(ours, to)
	}
	for _, m := range third {
		if importPath == m || strings.HasPrefix(importPath, m+"/") {
			return m, true
		}
	}
	first, _, _ := strings.Cut(importPath, "/")
	return importPath, importPath != "C" && !strings.Contains(first, ".")
}

// title is how a fault names a package.
func title(name string) string {
	if name == "." {
		return "ferrule"
	}
	return name
}

func TestCheckArrows(t *testing.T) {
	t.Parallel()
	table := map[string]arrows{
		".":      {ours: "tool"},
		"tool":   {ours: "schema", tests: "eval"},
		"schema": {third: "example.com/json"},
		"eval":   {},
	}
	good := func() map[string]imports {
		return map[string]imports{
			".":      {code: []string{"fmt", module + "/tool"}},
			"tool":   {code: []string{module + "/schema"}, tests: []string{module + "/tool", module + "/eval", "pgregory.net/rapid"}},
			"schema": {code: []string{"example.com/json/text"}, tests: []string{"example.com/json"}},
			"eval":   {},
		}
	}
	tests := []struct {
		name   string
		change func(map[string]imports)
		want   string
	}{
		{"as the table says", func(map[string]imports) {}, ""},
		{
			"a bad arrow", func(m map[string]imports) {
				m["schema"] = imports{code: []string{"example.com/json", module + "/tool"}}
			},
			"schema -> tool: not an allowed import",
		},
		{
			"the root", func(m map[string]imports) { m["eval"] = imports{code: []string{module}} },
			"eval -> ferrule: not an allowed import",
		},
		{
			"a module that only begins alike", func(m map[string]imports) { m["eval"] = imports{code: []string{"example.com/jsonic"}} },
			"eval -> example.com/jsonic: not an allowed import",
		},
		{
			"a module for tests in code", func(m map[string]imports) { m["eval"] = imports{code: []string{"pgregory.net/rapid"}} },
			"eval -> pgregory.net/rapid: not an allowed import",
		},
		{
			"cgo", func(m map[string]imports) { m["eval"] = imports{code: []string{"C"}} },
			"eval -> C: not an allowed import",
		},
		{
			"a bad arrow in a test", func(m map[string]imports) { m["eval"] = imports{tests: []string{module + "/tool"}} },
			"test of eval -> tool: not an allowed import",
		},
		{
			"an arrow for tests in code", func(m map[string]imports) {
				m["tool"] = imports{code: []string{module + "/schema", module + "/eval"}}
			},
			"tool -> eval: not an allowed import",
		},
		{
			"an arrow that only a test uses", func(m map[string]imports) {
				m["tool"] = imports{tests: []string{module + "/schema", module + "/eval"}}
			},
			"tool -> schema: allowed, but nothing imports it",
		},
		{
			"an unused module", func(m map[string]imports) { m["schema"] = imports{} },
			"schema -> example.com/json: allowed, but nothing imports it",
		},
		{
			"a package without a row", func(m map[string]imports) { m["util"] = imports{} },
			"util: not in the table of packages",
		},
		{
			"a row without a package", func(m map[string]imports) { delete(m, "eval") },
			"eval: in the table, but there is no such package",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := good()
			tt.change(found)
			want := tt.want
			if want != "" {
				want += " (deps_test.go)"
			}
			if got := strings.Join(checkArrows(table, found), "\n"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
