package leak_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/internal/leak"
)

// A test fails where a value can be read in what left.
func ExampleWay() {
	fmt.Printf("%q\n", leak.Way("Authorization: Basic dXNlcjpodW50ZXIyIQ==", "hunter2!"))
	fmt.Printf("%q\n", leak.Way("Authorization: Basic [secret]", "hunter2!"))
	// Output:
	// "base64 in plain"
	// ""
}
