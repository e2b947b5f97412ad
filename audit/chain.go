package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Hash is a link of a chain: SHA-256. It is written in hexadecimal digits.
type Hash [sha256.Size]byte

// String is the digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the digits.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads the digits.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("hash: got %d characters, want %d", len(text), hex.EncodedLen(len(h)))
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		return fmt.Errorf("hash: %w", err)
	}
	return nil
}

// Row is an entry as it is stored, with its link. Its JSON is what is exported.
type Row struct {
	// Place is where it stands in the log, of all writers together, from 1.
	Place int64 `json:"place"`
	// Writer is who wrote it, and Number counts what they wrote, from 1.
	Writer string `json:"writer"`
	Number int64  `json:"number"`
	// Call is Ferrule's id of the call, for who looks one up: what the line says.
	Call string `json:"call,omitempty"`
	Line string `json:"line"` // see Entry
	Hash Hash   `json:"hash"`
}

// Entry reads the line.
func (r Row) Entry() (Entry, error) { return ParseEntry(r.Line) }

// Mark is the end of what one writer wrote.
type Mark struct {
	Writer string `json:"writer"`
	Number int64  `json:"number"` // 0: nothing
	Hash   Hash   `json:"hash"`
}

// Begin is the mark of a writer who wrote nothing yet.
func Begin(writer string) Mark {
	return Mark{Writer: writer, Hash: sha256.Sum256([]byte("ferrule audit 1 " + writer))}
}

// Chain links what one writer writes. It must not be used by several goroutines at
// once.
//
// Each link is the hash of the link before it, which for the first is that of the
// writer, and of the row: its place, its number and its line. Nothing of a row can
// change without its own link being wrong, and none can be taken out or moved
// without the next one being so.
type Chain struct {
	Mark
	room []byte
}

// Add links a line at a place, and gives its link, which is the mark's now.
func (c *Chain) Add(place int64, line []byte) Hash {
	c.Number++
	b := append(c.room[:0], c.Hash[:]...)
	b = append(appendInt(appendInt(b, place), c.Number), line...)
	c.Hash, c.room = sha256.Sum256(b), b
	return c.Hash
}

// appendInt appends a number in eight bytes.
func appendInt(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // those below 0 are others too
}
