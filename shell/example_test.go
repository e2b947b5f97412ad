package shell_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/shell"
)

func Example() {
	for _, line := range []string{"git log --oneline | head -5", "ls; sort -o x y"} {
		j := shell.Judge(line)
		fmt.Printf("ReadOnly %v: %q\n", j.ReadOnly, j.Commands)
		if !j.ReadOnly {
			fmt.Println(j.Why)
		}
	}
	fmt.Println(shell.Scopes("go test ./..."))
	// Output:
	// ReadOnly true: [["git" "log" "--oneline"] ["head" "-5"]]
	// ReadOnly false: [["ls"] ["sort" "-o" "x" "y"]]
	// sort: the flag -o is not among those that only read
	// [go test ./... go test*]
}
