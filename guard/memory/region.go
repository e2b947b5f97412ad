package memory

import (
	"context"
	"errors"
)

// Region is a part of an agent's memory. Its methods are safe for concurrent use
// and return soon after their context has ended, with an error.
type Region interface {
	// Hash is a fingerprint of what the region holds. Two are equal if and only if
	// it held the same, as far as that can be told without reading all of it.
	Hash(context.Context) (string, error)
	// Snapshot copies what the region holds. It is an error if that is more than
	// can be copied.
	Snapshot(context.Context) (Snapshot, error)
}

// Snapshot is what a region held. It does not change.
type Snapshot interface {
	// Hash is the fingerprint that the region had, as Region.Hash gives it.
	Hash() string
	// Changed names what the region holds otherwise now, sorted. All of it is
	// read: no fingerprint is believed. What contains other things is named if it is
	// itself another; the region as a whole is named ".".
	Changed(context.Context) ([]string, error)
	// Restore makes the region hold what it held, and nothing else. Where it fails
	// it has done what it could.
	Restore(context.Context) error
	// Light reports whether it may be kept while no call runs.
	Light() bool
	// Close lets go of what it holds. It is called once, and last.
	Close() error
}

// Store is a region with operations that tools may use. Keys are names as
// [Snapshot.Changed] has them: an operation changes the one that it is given, and
// makes what contains it.
type Store interface {
	Region
	// Read is the value of a key, or [ErrNotFound].
	Read(ctx context.Context, key string) ([]byte, error)
	// Write gives a key a value, whole or not at all.
	Write(ctx context.Context, key string, value []byte) error
	// Delete removes a key; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// Keys are those with a value, sorted.
	Keys(ctx context.Context) ([]string, error)
}

// Errors of operations.
var (
	ErrNotFound   = errors.New("there is no such key")
	ErrNotAllowed = errors.New("the call may not use the operations of this memory")
)
