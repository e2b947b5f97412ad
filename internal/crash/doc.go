// Package crash holds tests of what becomes of calls when a process dies, when
// two processes share a store, and when the disk fails: with real processes, and
// with nothing but what the specification promises. It has no code of its own.
package crash
