package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Head says where each chain of a log ended at some time, signed. Kept away from
// the log it shows later that nothing of what was there then was taken away or
// written anew: see [Verify]. [Head.JSON] is the form of it in a file.
type Head struct {
	Store string    `json:"store"` // the id of the log
	Time  time.Time `json:"time"`
	Place int64     `json:"place"` // of the last row; 0: there was none
	Marks []Mark    `json:"writers"`

	Key       Key    `json:"key"` // that signed it
	Signature []byte `json:"signature"`
}

// Key is a public key, which heads are checked with. It is written in base64.
type Key [ed25519.PublicKeySize]byte

// String is how it is written.
func (k Key) String() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// MarshalText writes it.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads it.
func (k *Key) UnmarshalText(text []byte) error {
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if err != nil || len(b) != len(k) {
		return fmt.Errorf("audit: got %q, want a public key: %d characters of base64", text, base64.RawURLEncoding.EncodedLen(len(k)))
	}
	*k = Key(b)
	return nil
}

// PublicKey is the part of a key that others may know.
func PublicKey(key ed25519.PrivateKey) Key {
	var k Key
	if len(key) == ed25519.PrivateKeySize {
		copy(k[:], key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
	}
	return k
}

// Sign signs the head.
func (h *Head) Sign(key ed25519.PrivateKey) error {
	if len(key) != ed25519.PrivateKeySize {
		return fmt.Errorf("audit: sign: got a key of %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	h.Key = PublicKey(key)
	h.Signature = ed25519.Sign(key, h.signed())
	return nil
}

// Why a head is refused.
const (
	ErrOtherKey  Refusal = "the head was signed with another key"
	ErrSignature Refusal = "the signature of the head is wrong: it was changed after it was made"
)

// Refusal is why a head is refused.
type Refusal string

// Error is the text.
func (r Refusal) Error() string { return string(r) }

// Check refuses a head that was not signed with the key that belongs to this
// public one, or was changed since: [ErrOtherKey], [ErrSignature].
func (h *Head) Check(key Key) error {
	if h.Key != key {
		return ErrOtherKey
	}
	if !ed25519.Verify(key[:], h.signed(), h.Signature) {
		return ErrSignature
	}
	return nil
}

// signed is what is signed: each part behind its size.
func (h *Head) signed() []byte {
	part := func(b []byte, s string) []byte {
		return append(appendInt(b, int64(len(s))), s...)
	}
	b := part([]byte("ferrule audit head 1\n"), h.Store)
	b = part(b, h.Time.UTC().Format(time.RFC3339Nano))
	b = appendInt(b, h.Place)
	for _, m := range h.Marks {
		b = part(b, m.Writer)
		b = append(appendInt(b, m.Number), m.Hash[:]...)
	}
	return b
}

// JSON is the head as a file.
func (h *Head) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("audit: head: %w", err)
	}
	return append(b, '\n'), nil
}

// ParseHead reads a head from a file. It must still be checked ([Head.Check]).
func ParseHead(text []byte) (Head, error) {
	var h Head
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return Head{}, fmt.Errorf("audit: got what is no head: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Head{}, errors.New("audit: got a head with something behind it")
	}
	if len(h.Signature) == 0 || h.Store == "" || h.Place < 0 {
		return Head{}, errors.New("audit: got what is no head: it has no signature, no store or no place")
	}
	names := make([]string, len(h.Marks))
	for i, m := range h.Marks {
		if names[i] = m.Writer; m.Number < 1 {
			return Head{}, fmt.Errorf("audit: got a head in which %q wrote %d, want 1 at least", m.Writer, m.Number)
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(h.Marks) {
		return Head{}, errors.New("audit: got a head with a writer that is there twice")
	}
	return h, nil
}
