package durable

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"
)

const (
	handlePrefix = "r_"
	handleHex    = 32 // digits behind it: 128 bits
)

// Handle is the name of a text: the same for the same owner, note and text,
// however it is cut into parts, and another one as soon as any of them differs.
// It tells nothing of them.
func Handle(owner string, n Note, parts ...string) string {
	s := sum{hash: sha256.New()}
	// The words, not the numbers: a store may outlive the program's version.
	for _, field := range []string{"blob 1", owner, n.Source, n.Tool, n.Trust.String(), n.Sensitivity.String()} {
		s.field(field)
	}
	for _, p := range parts { // the rest, so that it needs no length
		s.text(p)
	}
	return handlePrefix + s.hex()[:handleHex]
}

// isHandle reports whether a name has the form of [Handle]. What has it is safe
// as the name of a file.
func isHandle(name string) bool {
	digits, ok := strings.CutPrefix(name, handlePrefix)
	return ok && len(digits) == handleHex && isHex(digits)
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// sum hashes strings through a small buffer: turning them into bytes would copy
// them whole.
type sum struct {
	hash hash.Hash
	buf  [4 << 10]byte
}

// field adds a string with its length in front, so that it cannot run into the
// next one.
func (s *sum) field(text string) {
	binary.BigEndian.PutUint64(s.buf[:8], uint64(len(text)))
	s.hash.Write(s.buf[:8])
	s.text(text)
}

func (s *sum) text(text string) {
	for len(text) > 0 {
		n := copy(s.buf[:], text)
		s.hash.Write(s.buf[:n])
		text = text[n:]
	}
}

func (s *sum) hex() string { return hex.EncodeToString(s.hash.Sum(s.buf[:0])) }
