package sandbox

import "os"

// Helper is proof that main began with Enter. The zero value is none.
type Helper struct{ entered bool }

// keeperName is the name under which this program runs as a keeper. Nobody calls
// it so by accident, and who does it by intent finds no connection and ends.
const keeperName = "ferrule sandbox keeper"

// Enter must be the first thing that main does. In this program's second role, a
// child that a Box started, it does not return. What it gives is needed to make
// a Box.
func Enter() Helper {
	if len(os.Args) == 1 && os.Args[0] == keeperName {
		keep()
	}
	return Helper{entered: true}
}
