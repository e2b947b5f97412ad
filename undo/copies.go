package undo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// put keeps content under its digest, on the disk before it returns. The lock is
// held.
func (h *History) put(ctx context.Context, content io.Reader) (sum string, size int64, err error) {
	temp := filepath.Join(h.dir, "copies", "tmp-"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, err
	}
	defer func() {
		f.Close()
		_ = os.Remove(temp) // nothing, once it has its name
	}()
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(f, hash), io.LimitReader(inside.Until(ctx, content), h.keep.File+1))
	if err != nil {
		return "", 0, err
	}
	if size > h.keep.File {
		return "", 0, fmt.Errorf("got a file that grew beyond %d bytes", h.keep.File)
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	name := h.copyName(sum)
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == size {
		return sum, size, nil
	}
	if err := f.Sync(); err != nil {
		return "", 0, err
	}
	if err := f.Close(); err != nil {
		return "", 0, err
	}
	if err := os.Rename(temp, name); err != nil {
		return "", 0, err
	}
	h.mu.Lock()
	h.grown += size
	h.mu.Unlock()
	return sum, size, syncDir(filepath.Dir(name))
}

func (h *History) copyName(sum string) string { return filepath.Join(h.dir, "copies", sum) }

// Content opens what a file held. Its caller closes it.
func (h *History) Content(s State) (io.ReadCloser, error) {
	if !isDigest(s.Digest) {
		return nil, fmt.Errorf("undo: got digest %q, want that of a file that was there", s.Digest)
	}
	f, err := os.Open(h.copyName(s.Digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("undo: the copy is no longer kept: %w", fs.ErrNotExist)
	}
	return f, err
}

// verified is a copy, once it was read and has the digest that it is named for.
func (h *History) verified(ctx context.Context, s State) (*os.File, error) {
	c, err := h.Content(s)
	if err != nil {
		return nil, err
	}
	f, ok := c.(*os.File)
	if !ok {
		return nil, errors.New("undo: a copy is no file")
	}
	digest, _, err := inside.DigestOf(ctx, f)
	if err == nil && digest != s.Digest {
		err = fmt.Errorf("undo: the copy was damaged: it is not the content that it is named for")
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func isDigest(s string) bool {
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}
