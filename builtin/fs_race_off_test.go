//go:build !race

package builtin_test

// fsRaceTries is how often each tool runs into the swapping goroutine.
const fsRaceTries = 10_000
