// Package secret keeps values that must not be seen: it reads them where they
// are kept, gives each only to the tools that may have it, and takes them out of
// whatever is said afterwards.
//
// A [Vault] holds the secrets of a program by name. A tool uses one inside a
// function, and what it was given is wiped when that returns. From then on
// [Vault.Scrub] and [Stream] find the value in any text: as it is, escaped for
// JSON (twice, too), encoded for a URL, in base64 at any place of what was
// encoded, in hex. What they cannot find is a value that was changed in another
// way: reversed, encrypted, cut in pieces.
package secret

import (
	"errors"
	"fmt"
	"log/slog"
)

// Value is a secret value. It never prints, logs or marshals: whatever is asked
// of it but [Value.Use] says [secret]. The zero value is empty.
type Value struct {
	open func() []byte // a function prints as its address, wherever it stands
}

// hidden is what a value shows.
const hidden = "[secret]"

// NewValue makes a value of a copy of b. The caller may wipe b.
func NewValue(b []byte) Value {
	kept := append([]byte(nil), b...)
	return Value{open: func() []byte { return kept }}
}

// Use calls use with a copy of the value that is wiped when use has returned, and
// returns its error.
func (v Value) Use(use func(value []byte) error) error {
	var b []byte
	if v.open != nil {
		b = append(b, v.open()...)
	}
	defer clear(b)
	return use(b)
}

// Len is how many bytes the value has.
func (v Value) Len() int {
	if v.open == nil {
		return 0
	}
	return len(v.open())
}

// String does not tell the value.
func (v Value) String() string { return hidden }

// GoString does not tell the value.
func (v Value) GoString() string { return hidden }

// Format does not tell the value, whatever the verb.
func (v Value) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue does not tell the value.
func (v Value) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText does not tell the value.
func (v Value) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON does not tell the value.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// errKept is why a value has no form to be read back from.
var errKept = errors.New("a secret value is not encoded")

// MarshalBinary refuses: what it wrote could not be read back.
func (v Value) MarshalBinary() ([]byte, error) { return nil, errKept }

// GobEncode refuses like MarshalBinary.
func (v Value) GobEncode() ([]byte, error) { return nil, errKept }
