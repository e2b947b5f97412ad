package leaks_test

import (
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/leaks"
	"github.com/ferrule-dev/ferrule/guard/redact"
)

func Example() {
	scanner := new(leaks.Scanner)
	wait := scanner.Start() // in the background; a scan waits for it
	r := redact.New(redact.Options{Secrets: scanner})

	key := "AKI" + strings.ToUpper("a7qx2hzm4tkw5vbnc") // no key of anybody
	clean, _, err := r.Redact("export AWS_ACCESS_KEY_ID=" + key)
	fmt.Println(clean, err)
	fmt.Println(wait())
	// Output:
	// export AWS_ACCESS_KEY_ID=[SECRET:aws-key:1] <nil>
	// <nil>
}
