package inside

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Digest is what a content is known by: its SHA-256 in hex.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// DigestOf is the digest of what is read, and how many bytes that is.
func DigestOf(ctx context.Context, r io.Reader) (digest string, size int64, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, Until(ctx, r))
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// Until reads as long as its context lasts. The error is then the context's, and
// its cause.
func Until(ctx context.Context, r io.Reader) io.Reader { return until{ctx, r} }

type until struct {
	ctx context.Context //nolint:containedctx,nolintlint // it lives as long as one reading
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	err := u.ctx.Err()
	if err == nil {
		return u.r.Read(p)
	}
	if cause := context.Cause(u.ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return 0, err
}
