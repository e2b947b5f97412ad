package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPages runs what README.md and docs/program.md tell a newcomer to type.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", "docs/program.md"} {
		t.Run("Y4 the commands of "+page+" work", func(t *testing.T) {
			t.Parallel()
			root, err := filepath.Abs(filepath.Join("..", ".."))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(root, page))
			if err != nil {
				t.Fatal(err)
			}
			ran, inside := 0, false
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "```") {
					inside = strings.TrimSpace(line) == "```sh"
				}
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/ferrule ")
				if !inside || !ok {
					continue
				}
				command, _, _ = strings.Cut(command, "  #")
				var out, errs bytes.Buffer
				p := &program{
					stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: root, now: time.Now, helper: helper,
					environ: []string{"FERRULE_HOME=" + filepath.Join(t.TempDir(), "home")},
				}
				if code := p.run(t.Context(), words(t, command)); code != 0 || out.Len() == 0 {
					t.Errorf("%s: got %d, %s%s", command, code, &out, &errs)
				}
				ran++
			}
			if ran < 2 {
				t.Errorf("got %d commands, want the first calls of a newcomer", ran)
			}
		})
	}
}
