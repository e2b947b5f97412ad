package tooltest_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// A store of one's own is checked by a test of one's own.
func ExampleBlobs() {
	_ = func(t *testing.T) { // TestStore
		tooltest.Blobs(t, func(*testing.T) durable.Blobs { return new(durable.Memory) })
	}
}

// faulty are stores of which each breaks one promise, and the subtest that must
// find it.
func faulty() map[string]struct {
	store durable.Blobs
	found string
} {
	type fault = struct {
		store durable.Blobs
		found string
	}
	return map[string]fault{
		"one owner":      {&oneOwner{}, "another_owner:_refused"},
		"tells why":      {&tellsWhy{}, "another_owner:_refused"},
		"no end":         {&noEnd{}, "read_at"},
		"any context":    {&anyContext{}, "a_context_that_ended"},
		"sweeps nothing": {&sweepsNothing{}, "sweep:_the_old_go"},
		"cuts":           {&cuts{}, "put_and_read"},
		"forgets notes":  {&forgetsNotes{}, "the_note_is_kept"},
	}
}

type oneOwner struct{ durable.Memory }

func (s *oneOwner) Put(ctx context.Context, owner string, n durable.Note, parts ...string) (string, error) {
	handle, err := s.Memory.Put(ctx, owner, n, parts...)
	for _, o := range []string{"ada", "bob"} {
		_, _ = s.Memory.Put(ctx, o, n, parts...)
	}
	return handle, err
}

func (s *oneOwner) Open(ctx context.Context, owner, handle string) (*durable.Blob, error) {
	for _, o := range []string{owner, "ada", "bob"} {
		if b, err := s.Memory.Open(ctx, o, handle); err == nil {
			return b, nil
		}
	}
	return nil, durable.ErrNotFound
}

type tellsWhy struct{ durable.Memory }

func (s *tellsWhy) Open(ctx context.Context, owner, handle string) (*durable.Blob, error) {
	b, err := s.Memory.Open(ctx, owner, handle)
	if err != nil {
		return nil, errors.Join(err, errors.New("it is another owner's"))
	}
	return b, nil
}

type noEnd struct{ durable.Memory }

func (s *noEnd) Open(ctx context.Context, owner, handle string) (*durable.Blob, error) {
	b, err := s.Memory.Open(ctx, owner, handle)
	if err == nil {
		b.ReaderAt = endless{b.ReaderAt}
	}
	return b, err
}

type endless struct{ io.ReaderAt }

func (e endless) ReadAt(p []byte, off int64) (int, error) {
	n, err := e.ReaderAt.ReadAt(p, off)
	if errors.Is(err, io.EOF) && n > 0 {
		err = nil
	}
	return n, err
}

type anyContext struct{ durable.Memory }

func (s *anyContext) Put(ctx context.Context, owner string, n durable.Note, parts ...string) (string, error) {
	return s.Memory.Put(context.WithoutCancel(ctx), owner, n, parts...)
}

type sweepsNothing struct{ durable.Memory }

func (*sweepsNothing) Sweep(context.Context, time.Time) (int, error) { return 0, nil }

type cuts struct{ durable.Memory }

func (s *cuts) Put(ctx context.Context, owner string, n durable.Note, parts ...string) (string, error) {
	_, err := s.Memory.Put(ctx, owner, n, strings.ToValidUTF8(strings.Join(parts, ""), "?"))
	return durable.Handle(owner, n, parts...), err
}

type forgetsNotes struct{ durable.Memory }

func (s *forgetsNotes) Open(ctx context.Context, owner, handle string) (*durable.Blob, error) {
	b, err := s.Memory.Open(ctx, owner, handle)
	if err == nil {
		b.Note = durable.Note{}
	}
	return b, err
}

const faultEnv = "TOOLTEST_FAULT"

// A test that cannot fail shows nothing: each fault is found. The stores are
// tested in processes of their own, since those tests fail.
func TestBlobsFindsFaults(t *testing.T) {
	if fault := os.Getenv(faultEnv); fault != "" {
		tooltest.Blobs(t, func(*testing.T) durable.Blobs { return faulty()[fault].store })
		return
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range faulty() {
		t.Run("O5 "+name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestBlobsFindsFaults$")
			cmd.Env = append(os.Environ(), faultEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBlobsFindsFaults/O5_"+f.found) {
				t.Errorf("got %v, want %q to fail:\n%s", err, f.found, out)
			}
		})
	}
}
