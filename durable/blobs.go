// Package durable holds what outlives a call: the seams for the journal of calls
// and for results that are too long for a model, and stores behind them.
package durable

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Blobs keeps texts that are too long for a model, each whole and for one owner.
// All methods are safe for concurrent use, and by several processes where the
// store lies outside of one. A context that has ended is an error of each of
// them. tooltest.Blobs is the test of what is said here.
type Blobs interface {
	// Put keeps the parts, joined by nothing, as one text of an owner, and gives
	// its handle, which is that of [Handle]. What is there already is not kept
	// twice, but counts as put now. With an error nothing is left behind, not
	// even a part. The parts may be kept as they are: strings do not change.
	Put(ctx context.Context, owner string, n Note, parts ...string) (handle string, err error)
	// Open gives what was put, to be closed after use. What the owner does not
	// have is [ErrNotFound], and nothing tells why: it is another owner's, it was
	// swept, it never was, or it is no handle.
	Open(ctx context.Context, owner, handle string) (*Blob, error)
	// Holds reports whether there is anything of an owner.
	Holds(ctx context.Context, owner string) (bool, error)
	// Sweep removes what was last put before that time, and says how much.
	Sweep(ctx context.Context, before time.Time) (removed int, err error)
}

// ErrNotFound is what [Blobs.Open] finds nothing with.
var ErrNotFound = errors.New("not found")

// Note says whose text it is. It is kept with it.
type Note struct {
	Source      string           `json:"source,omitempty"` // "": the program itself
	Tool        string           `json:"tool,omitempty"`   // its name within the source
	Trust       tool.Trust       `json:"trust"`
	Sensitivity tool.Sensitivity `json:"sensitivity"`
}

// Blob is a kept text that is open for reading.
type Blob struct {
	Note Note
	Size int64 // bytes
	io.ReaderAt
	io.Closer
}
