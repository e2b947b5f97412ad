package inside_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	t.Run("I1 digest: of bytes and of what is read", func(t *testing.T) {
		t.Parallel()
		const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of FIPS 180-2
		if got := inside.Digest([]byte("abc")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, size, err := inside.DigestOf(t.Context(), strings.NewReader("abc")); got != want || size != 3 || err != nil {
			t.Errorf("got %s of %d bytes, %v, want %s of 3", got, size, err, want)
		}
	})
}

func TestUntil(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for _, tt := range []struct {
		name  string
		cause error
	}{
		{"T10 read: it ends with the context", nil},
		{"T10 read: and says why, where that is known", enough},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			r := inside.Until(ctx, strings.NewReader("abc"))
			if got, err := io.ReadAll(io.LimitReader(r, 1)); string(got) != "a" || err != nil {
				t.Errorf("before: got %q, %v, want a", got, err)
			}
			stop(tt.cause)
			got, err := io.ReadAll(r)
			if len(got) > 0 || !errors.Is(err, context.Canceled) || tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("after: got %q, %v, want %v and %v", got, err, context.Canceled, tt.cause)
			}
		})
	}
}
