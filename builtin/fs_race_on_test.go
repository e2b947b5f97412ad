//go:build race

package builtin_test

// fsRaceTries is how often each tool runs into the swapping goroutine: fewer
// where every look at memory is watched, which takes ten times as long.
const fsRaceTries = 500
