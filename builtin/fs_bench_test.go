package builtin_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ferrule-dev/ferrule/builtin"
)

// BenchmarkGrep compares fs_grep with grep -r, on the source of Go:
//
//	go test ./builtin -run xxx -bench Grep
func BenchmarkGrep(b *testing.B) {
	src := filepath.Join(runtime.GOROOT(), "src") //nolint:staticcheck,nolintlint // it is there where tests run
	tools, err := builtin.Files{Roots: []string{src}}.Tools()
	if err != nil {
		b.Skip(err)
	}
	grep := tools[5]
	for _, c := range []struct {
		name, pattern string
		fold          bool
	}{
		{"rare word", "doInRoot", false},
		{"common word", "func", false},
		{"expression", `func \(r \*[A-Z][a-z]+\) Read`, false},
		{"alternatives", `TODO|FIXME|XXX`, false},
		{"no fixed text", `[0-9]{9,}`, false},
		{"any case", "unexported", true},
	} {
		input, err := json.Marshal(map[string]any{"pattern": c.pattern, "ignore_case": c.fold, "output": "count", "limit": 2000})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/fs_grep", func(b *testing.B) {
			for b.Loop() {
				args, err := grep.Admit(input)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := grep.Run(b.Context(), args); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/grep -r", func(b *testing.B) {
			flags := []string{"-rcIE"}
			if c.fold {
				flags = append(flags, "-i")
			}
			for b.Loop() {
				_ = exec.Command("grep", append(flags, "-e", c.pattern, src)...).Run()
			}
		})
	}
}
