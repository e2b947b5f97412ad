package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
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
	// link gives a file another name, unless there is one of that name. Nil: os.Link.
	link func(from, to string) error

	mu     sync.Mutex
	bytes  []byte    // nil: not read yet
	line   string    // of the file, when that was read
	since  time.Time // when that was
	failed error     // why it could not be read
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

// value is the key. create: it is made where there is none. The file is looked at
// each time: a person may have removed it, and another process made another. What is
// sealed with a key that is gone is lost.
func (k *sealingKey) value(ctx context.Context, create bool) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	word, rest, err := k.where()
	line := word + " " + rest
	switch {
	case err == nil && k.bytes != nil && k.line == line:
		return k.bytes, nil
	case err == nil && k.line != line:
		k.failed = nil // that was about another
	}
	k.bytes = nil
	switch {
	case k.failed != nil && time.Now().Before(k.until):
		return nil, k.failed
	}
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = k.create(ctx); err == nil {
			word, rest, err = k.where()
		}
	}
	var bytes []byte
	if err == nil {
		k.line = word + " " + rest
		bytes, err = k.read(ctx, word, rest)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the key of the logins is gone: %s is not there", k.file)
	case err != nil:
		k.failed, k.until = err, time.Now().Add(keyPause)
		return nil, err
	}
	k.bytes, k.since = bytes, time.Now()
	return bytes, nil
}

// doubt has the key read anew the next time: it does not open what it should. Not
// more often than a keyring should be asked. It says whether it will be.
func (k *sealingKey) doubt() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes == nil || time.Since(k.since) < keyPause {
		return false
	}
	k.bytes = nil
	return true
}

// keyName tells keys apart, and says nothing else about them.
func keyName(key []byte) string {
	sum := sha256.Sum256(append([]byte("ferrule key\x00"), key...))
	return hex.EncodeToString(sum[:4])
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

// read is the key that the file tells of.
func (k *sealingKey) read(ctx context.Context, word, text string) ([]byte, error) {
	if word == inKeyring {
		if k.ring == nil {
			return nil, errors.New("the key of the logins is in a keyring, and there is none here")
		}
		var err error
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
	return k.write(line)
}

// write writes the file whole, unless somebody else was first.
func (k *sealingKey) write(line string) error {
	f, err := os.CreateTemp(filepath.Dir(k.file), ".key-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	link := k.link
	if link == nil {
		link = os.Link
	}
	if err = link(f.Name(), k.file); err != nil && !errors.Is(err, fs.ErrExist) {
		err = k.writeAlone(line)
	}
	if gone := os.Remove(f.Name()); err == nil || errors.Is(err, fs.ErrExist) {
		err = gone
	}
	return err
}

// writeAlone is for file systems without links, such as exFAT: who reads the file in
// the moment while it is written finds it damaged.
func (k *sealingKey) writeAlone(line string) error {
	f, err := os.OpenFile(k.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(k.file)) // half of it would be in the way
	}
	return nil
}

// takes puts the key into the keyring, and looks whether it is there.
func (k *sealingKey) takes(ctx context.Context, account, text string) bool {
	if k.ring == nil || k.ring.put(ctx, account, text) != nil {
		return false
	}
	got, err := k.ring.value(ctx, account)
	return err == nil && got == text
}
