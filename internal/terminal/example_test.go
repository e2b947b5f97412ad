package terminal_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

func ExampleVisible() {
	fmt.Println(terminal.Visible("rm -rf \u202egpj.a\x1b[2K"))
	// Output: rm -rf ‹U+202E›gpj.a‹U+001B›[2K
}
