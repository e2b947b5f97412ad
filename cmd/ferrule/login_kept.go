package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrule-dev/ferrule/internal/lock"
)

// logins are what servers have granted, in the state directory: a file for each,
// sealed with a key that is kept apart where that can be.
type logins struct {
	dir string
	key *sealingKey
}

// sealed is the file of a login.
type sealed struct {
	Version int    `json:"version"`
	Server  string `json:"server"`
	// URL is the SHA-256 of the address that it is for, so that what is wrong can be
	// told; the seal is bound to the address itself.
	URL  string `json:"url_sha256"`
	Key  string `json:"key,omitempty"` // the name of the key; "": it was not written down
	Seal []byte `json:"seal"`          // a nonce, and what was granted
}

const (
	sealedVersion = 1
	maxSealed     = 1 << 20
	// lockTime is how long another process may be at a login.
	lockTime  = 45 * time.Second
	lockEvery = 20 * time.Millisecond
)

var errOtherURL = errors.New("it is for another url than the server has now")

// file is where a login is. Servers whose names differ in case only have their own.
func (l *logins) file(server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(l.dir, "login-"+server+"-"+hex.EncodeToString(sum[:4]))
}

// load is what was kept for a server at an address; nothing where nothing was.
func (l *logins) load(ctx context.Context, server, url string) ([]byte, error) {
	text, err := readBounded(l.file(server), maxSealed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := parseSealed(text)
	if err != nil {
		return nil, err
	}
	if s.Server != server || s.URL != urlSum(url) {
		return nil, errOtherURL
	}
	for {
		key, err := l.key.value(ctx, false)
		if err != nil {
			return nil, err
		}
		granted, err := s.open(key, server, url)
		if err == nil || !l.key.doubt() {
			return granted, err
		}
	}
}

// parseSealed reads the file of a login.
func parseSealed(text []byte) (s sealed, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, errors.New("its file is damaged")
	}
	if s.Version != sealedVersion {
		return s, fmt.Errorf("its file has version %d, want %d", s.Version, sealedVersion)
	}
	return s, nil
}

// open breaks the seal.
func (s *sealed) open(key []byte, server, url string) ([]byte, error) {
	box, err := boxOf(key)
	if err != nil {
		return nil, err
	}
	if len(s.Seal) < box.NonceSize() {
		return nil, errors.New("its file is damaged")
	}
	granted, err := box.Open(nil, s.Seal[:box.NonceSize()], s.Seal[box.NonceSize():], boundTo(server, url))
	switch {
	case err == nil:
		return granted, nil
	case s.Key == "":
		return nil, errors.New("its file was changed, or sealed with another key")
	case s.Key != keyName(key):
		return nil, errors.New("its file was sealed with another key than there is now")
	}
	return nil, errors.New("its file was changed")
}

// keep seals what was granted. The file is whole, and on the disk, when it returns.
func (l *logins) keep(ctx context.Context, server, url string, granted []byte) error {
	if err := l.make(); err != nil {
		return err
	}
	key, err := l.key.value(ctx, true)
	if err != nil {
		return err
	}
	box, err := boxOf(key)
	if err != nil {
		return err
	}
	nonce := make([]byte, box.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	text, err := json.Marshal(sealed{sealedVersion, server, urlSum(url), keyName(key), box.Seal(nonce, nonce, granted, boundTo(server, url))})
	if err != nil {
		return err
	}
	return putWhole(l.file(server), append(text, '\n'))
}

// remove forgets a login. there: there was one.
func (l *logins) remove(ctx context.Context, server string) (there bool, err error) {
	if _, err := os.Lstat(l.file(server)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = l.alone(ctx, server, func(context.Context) error { return os.Remove(l.file(server)) })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// alone does work while no other process does any for the server.
func (l *logins) alone(ctx context.Context, server string, work func(context.Context) error) error {
	if err := l.make(); err != nil {
		return err
	}
	f, err := os.OpenFile(l.file(server)+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // which gives the lock back
	waiting, cancel := context.WithTimeoutCause(ctx, lockTime, fmt.Errorf("another ferrule has been at the login of %s for %s", server, lockTime))
	defer cancel()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		mine, err := lock.File(f, false)
		if err != nil {
			return err
		}
		if mine {
			return work(ctx)
		}
		select {
		case <-tick.C:
		case <-waiting.Done():
			return context.Cause(waiting)
		}
	}
}

// make makes the folder, in a state directory that is there.
func (l *logins) make() error {
	if err := os.Mkdir(l.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func boxOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, errors.New("the key of the logins is damaged")
	}
	return cipher.NewGCM(block)
}

// boundTo is what a seal is bound to: a login of one server is none of another, and
// none of the same at another address.
func boundTo(server, url string) []byte { return []byte("ferrule login\x00" + server + "\x00" + url) }

func urlSum(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

// readBounded reads a file of which more is not looked at.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: got more than %d bytes, want at most that many", path, most)
	}
	return text, err
}

// putWhole writes a file at once or not at all, for its user only.
func putWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".login-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // its name is to last, too, where that can be
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}
