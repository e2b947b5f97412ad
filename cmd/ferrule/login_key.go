package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/secret/keyring"
)

// ring is the keyring of the operating system.
type ring interface {
	value(ctx context.Context, account string) (string, error)
	put(ctx context.Context, account, value string) error
}

// ringService is what entries of this program are called in a keyring.
const ringService = "ferrule"

// systemRing is the one of this machine.
type systemRing struct{}

func (systemRing) value(ctx context.Context, account string) (text string, err error) {
	v, err := keyring.New(ringService, account).Value(ctx)
	if err != nil {
		return "", err
	}
	err = v.Use(func(b []byte) error { text = string(b); return nil })
	return text, err
}

func (systemRing) put(ctx context.Context, account, value string) error {
	return keyring.Put(ctx, ringService, account, value)
}

// sealingKey is what logins are sealed with. A file says where it is: in the keyring,
// or, where there is none that answers, in the file itself.
type sealingKey struct {
	file string
	ring ring // nil: there is none

	mu     sync.Mutex
	bytes  []byte // nil: not read yet
	failed error  // why it could not be read
	until  time.Time
}

const (
	keySize = 32 // AES-256
	// keyPause is how long a keyring that did not answer is not asked again: it may
	// show a window each time.
	keyPause = time.Minute

	inFile    = "file"
	inKeyring = "keyring"
)

// value is the key. create: it is made where there is none.
func (k *sealingKey) value(ctx context.Context, create bool) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.bytes != nil:
		return k.bytes, nil
	case k.failed != nil && time.Now().Before(k.until):
		return nil, k.failed
	}
	bytes, err := k.read(ctx)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = k.create(ctx); err == nil {
			bytes, err = k.read(ctx)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the key of the logins is gone: %s is not there", k.file)
	case err != nil:
		k.failed, k.until = err, time.Now().Add(keyPause)
		return nil, err
	}
	k.bytes = bytes
	return bytes, nil
}

// place says where the key is, for a person; "": nowhere yet.
func (k *sealingKey) place() string {
	where, _, err := k.where()
	switch {
	case err != nil:
		return ""
	case where == inKeyring:
		return "the keyring of the operating system"
	}
	return k.file
}

// where reads the file: a word for where the key is, and its text or the name of the
// entry.
func (k *sealingKey) where() (word, rest string, err error) {
	text, err := readBounded(k.file, 4<<10)
	if err != nil {
		return "", "", err
	}
	word, rest, _ = strings.Cut(strings.TrimSpace(string(text)), " ")
	if word != inFile && word != inKeyring || rest == "" {
		return "", "", fmt.Errorf("%s is damaged: remove it, and log in anew", k.file)
	}
	return word, rest, nil
}

func (k *sealingKey) read(ctx context.Context) ([]byte, error) {
	word, text, err := k.where()
	if err != nil {
		return nil, err
	}
	if word == inKeyring {
		if k.ring == nil {
			return nil, errors.New("the key of the logins is in a keyring, and there is none here")
		}
		if text, err = k.ring.value(ctx, text); err != nil {
			return nil, fmt.Errorf("the key of the logins cannot be had: %w", err)
		}
	}
	key, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("the key of the logins is damaged: remove %s, and log in anew", k.file)
	}
	return key, nil
}

// create makes a key, in the keyring if one takes it.
func (k *sealingKey) create(ctx context.Context) error {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	text := base64.RawStdEncoding.EncodeToString(key)
	line := inFile + " " + text + "\n"
	if account := "logins-" + strings.ToLower(rand.Text()[:12]); k.takes(ctx, account, text) {
		line = inKeyring + " " + account + "\n"
	}
	f, err := os.CreateTemp(filepath.Dir(k.file), ".key-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), k.file) // whole, or that of somebody else who was first
	}
	if gone := os.Remove(f.Name()); err == nil || errors.Is(err, fs.ErrExist) {
		err = gone
	}
	return err
}

// takes puts the key into the keyring, and looks whether it is there.
func (k *sealingKey) takes(ctx context.Context, account, text string) bool {
	if k.ring == nil || k.ring.put(ctx, account, text) != nil {
		return false
	}
	got, err := k.ring.value(ctx, account)
	return err == nil && got == text
}
