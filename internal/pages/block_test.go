package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/pages"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const program = "```go\npackage main\n```\n"
	tests := []struct{ name, page, want string }{
		{"none", "Just words.\n", ""},
		{"program", program, "p:1 go program"},
		{"with output", program + "\n```output\nhi\n```\n", `p:1 go program "hi\n"; p:5 output`},
		{"a comment first", "```go\n// Hello.\n\npackage main\n```\n", "p:1 go program"},
		{"a program with a name", "```go file=mine/main.go\npackage main\n```\n", "p:1 go program mine/main.go"},
		{"fragments", "```go\nx := 1\n```\n\n```sh\nmake\n```\n", "p:1 go; p:5 sh"},
		{"a command with output", "```sh exit=3\nx\n```\n```output\n1\n```\n", `p:1 sh exit 3 "1\n"; p:4 output`},
		{"in a list", "- so:\n  ```yaml part\n  a:\n    b: 1\n  ```\n", `p:2 yaml`},
		{"stray output", "```go\nx := 1\n```\n```output\n1\n```\n", "p:4: output of nothing: want it behind a go program or an sh block that is run"},
		{"output of what is not run", "```sh shown\nx\n```\n```output\n1\n```\n", "p:4: output of nothing: want it behind a go program or an sh block that is run"},
		{"open", "\n```go\nx := 1\n", "p:2: the block does not end"},
		{"no language", "```\nx\n```\n", "p:1: block: got no language, want go, sh, output, yaml, json, cedar, ini or text"},
		{"another language", "```bash\nx\n```\n", `p:1: block: got the language "bash", want go, sh, output, yaml, json, cedar, ini or text`},
		{"no status", "```sh exit=no\nx\n```\n", `p:1: block: got "exit=no", want exit= and a status from 1 to 255`},
		{"a word of another language", "```go shown\nx\n```\n", `p:1: block: got "shown" behind go, want shown, stays, asks or exit=N behind sh, part behind yaml, file=PATH behind go`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			blocks, err := pages.Read("p", tt.page)
			var said []string
			for _, b := range blocks {
				s := b.String() + " " + b.Lang
				if b.Program() {
					s += strings.TrimRight(" program "+b.File, " ")
				}
				if b.Exit != 0 {
					s += fmt.Sprint(" exit ", b.Exit)
				}
				if b.Output != nil {
					s += fmt.Sprintf(" %q", b.Output.Text)
				}
				said = append(said, s)
			}
			got := strings.Join(said, "; ")
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a block in a list is moved to the left", func(t *testing.T) {
		t.Parallel()
		blocks, err := pages.Read("p", "- so:\n  ```yaml\n  a:\n    b: 1\n  ```\n")
		if err != nil || blocks[0].Text != "a:\n  b: 1\n" {
			t.Errorf("got %+v, %v", blocks, err)
		}
	})
}

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		got, want string
		ok        bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a  \r\nb\n\n", "\na\nb", true},
		{"a\nb", "a", false},
		{"a", "a\nb", false},
		{"id 17 of 3", "id … of 3", true},
		{"id 17 of 4", "id … of 3", false},
		{"a\nb\nc\nd", "a\n…\nd", true},
		{"a\nd", "a\n…\nd", true},
		{"a\nb\nc", "…\nb\n…", true},
		{"a\nb\nc", "…\nd\n…", false},
		{"1.5", "1+5", false},
	}
	for _, tt := range tests {
		if err := pages.Match(tt.got, tt.want); (err == nil) != tt.ok {
			t.Errorf("Match(%q, %q): got %v, want ok %v", tt.got, tt.want, err, tt.ok)
		}
	}
	const want = "prints other than the page says:\ngot:\nhello\nwant:\ngoodbye"
	if err := pages.Match("hello\n", "goodbye\n"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
