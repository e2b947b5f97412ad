package tooltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Blobs checks a store of texts. Each call of open gives a store that is empty,
// and takes care of closing it. It must hold 20 MB.
func Blobs(t *testing.T, open func(t *testing.T) durable.Blobs) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(b blobs)
	}{
		{"O5 put and read: every text comes back whole", blobs.texts},
		{"O5 read at: every kind of offset", blobs.offsets},
		{"O5 the note is kept with the text", blobs.notes},
		{"O5 the same text is kept once, however it is cut", blobs.once},
		{"O5 another note or owner: another handle", blobs.differs},
		{"O5 another owner: refused, same error as not found", blobs.owners},
		{"O5 no handle: same error as not found", blobs.strangers},
		{"O5 owners that look like paths are owners like others", blobs.paths},
		{"O5 holds: only who has something", blobs.holds},
		{"O5 sweep: the old go, the new stay", blobs.sweep},
		{"O5 sweep: put again is put now", blobs.again},
		{"O5 sweep: what is open can be read or is an error", blobs.sweptOpen},
		{"O5 a context that ended: an error and no trace", blobs.ended},
		{"O5 a context that ends in the middle: all or nothing", blobs.ends},
		{"O5 many at once", blobs.many},
		{"O8 parts: a long text in many parts", blobs.parts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(blobs{t, open(t)})
		})
	}
}

// blobs is a store under test.
type blobs struct {
	*testing.T
	durable.Blobs
}

const owner = "session-1"

func note() durable.Note {
	return durable.Note{Source: "github", Tool: "list_issues", Trust: tool.MCP, Sensitivity: tool.Public}
}

func (b blobs) put(owner string, n durable.Note, parts ...string) string {
	b.Helper()
	handle, err := b.Put(b.Context(), owner, n, parts...)
	if err != nil {
		b.Fatalf("Put for %q: %v", owner, err)
	}
	if want := durable.Handle(owner, n, parts...); handle != want {
		b.Fatalf("Put for %q = %q, want %q, which is that of durable.Handle", owner, handle, want)
	}
	return handle
}

// open gives a text of owner.
func (b blobs) open(handle string) *durable.Blob {
	b.Helper()
	blob, err := b.Open(b.Context(), owner, handle)
	if err != nil {
		b.Fatalf("Open: %v", err)
	}
	b.Cleanup(func() { _ = blob.Close() })
	return blob
}

// want reads a text and compares it.
func (b blobs) want(owner, handle, text string) {
	b.Helper()
	if err := b.check(owner, handle, text); err != nil {
		b.Error(err)
	}
}

// check is want for goroutines: it ends no test.
func (b blobs) check(owner, handle, text string) (err error) {
	blob, err := b.Open(b.Context(), owner, handle)
	if err != nil {
		return fmt.Errorf("open for %q: %w", owner, err)
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	if blob.Size != int64(len(text)) {
		return fmt.Errorf("size: got %d, want %d", blob.Size, len(text))
	}
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size+1))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if string(got) != text {
		return fmt.Errorf("text: got %s, want %s", brief(string(got)), brief(text))
	}
	return nil
}

func brief(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q and %d bytes more", s[:60], len(s)-60)
	}
	return fmt.Sprintf("%q", s)
}

// none wants a handle to lead nowhere, in the one way there is.
func (b blobs) none(owner, handle string) {
	b.Helper()
	blob, err := b.Open(b.Context(), owner, handle)
	if !errors.Is(err, durable.ErrNotFound) {
		b.Errorf("Open(%q, %s): got error %v, want ErrNotFound", owner, brief(handle), err)
	} else if err.Error() != durable.ErrNotFound.Error() {
		b.Errorf("Open(%q, %s): got error %q, want no word more than %q", owner, brief(handle), err, durable.ErrNotFound)
	}
	if blob != nil {
		b.Errorf("Open(%q, %s): got a text with the error", owner, brief(handle))
	}
}

func (b blobs) wantHeld(owner string, want bool) {
	b.Helper()
	if got, err := b.Holds(b.Context(), owner); err != nil || got != want {
		b.Errorf("Holds(%q) = %v, %v, want %v", owner, got, err, want)
	}
}

func (b blobs) wantSwept(before time.Time, want int) {
	b.Helper()
	if got, err := b.Sweep(b.Context(), before); err != nil || got != want {
		b.Errorf("Sweep = %d, %v, want %d", got, err, want)
	}
}

func (b blobs) texts() {
	for _, parts := range [][]string{
		nil,
		{""},
		{"a"},
		{"", "a", "", "b", ""},
		{"one line\n", "and the next"},
		{"{\"version\":1}\n", "\n"},
		{"Grüße, 世界 🎉"},
		{"世"[:1], "世"[1:]},
		{"\x00\xff\xfe not UTF-8 \r\n"},
		{strings.Repeat("0123456789", 1<<16)},
	} {
		b.want(owner, b.put(owner, note(), parts...), strings.Join(parts, ""))
	}
}

func (b blobs) offsets() {
	for _, parts := range [][]string{
		nil,
		{"abc"},
		{"a", "bcd", "", "e", "fghij"},
		strings.Split(strings.Repeat("0123456789 世界\n", 300), "5"),
	} {
		text := strings.Join(parts, "")
		blob := b.open(b.put(owner, note(), parts...))
		for _, off := range []int{0, 1, 2, len(text) / 2, len(text) - 1, len(text), len(text) + 1, len(text) + 1<<20} {
			for _, n := range []int{0, 1, 3, 100, len(text), len(text) + 1} {
				if off >= 0 {
					b.readAt(blob, text, off, n)
				}
			}
		}
		if n, err := blob.ReadAt(make([]byte, 1), -1); err == nil || errors.Is(err, io.EOF) {
			b.Errorf("ReadAt(-1) = %d, %v, want an error", n, err)
		}
		if err := iotest.TestReader(struct {
			io.Reader
			io.ReaderAt
		}{io.NewSectionReader(blob, 0, blob.Size), blob}, []byte(text)); err != nil {
			b.Error(err)
		}
	}
}

// readAt holds one reading to the rules of io.ReaderAt.
func (b blobs) readAt(blob io.ReaderAt, text string, off, n int) {
	b.Helper()
	want := text[min(off, len(text)):min(off+n, len(text))]
	p := make([]byte, n)
	got, err := blob.ReadAt(p, int64(off))
	if string(p[:got]) != want {
		b.Errorf("ReadAt(%d bytes, %d) of %d: got %s, want %s", n, off, len(text), brief(string(p[:got])), brief(want))
	}
	if short := off+n > len(text); short && n > 0 && !errors.Is(err, io.EOF) {
		b.Errorf("ReadAt(%d bytes, %d) of %d: got error %v, want EOF", n, off, len(text), err)
	}
	if err != nil && (!errors.Is(err, io.EOF) || off+n < len(text)) {
		b.Errorf("ReadAt(%d bytes, %d) of %d: got error %v", n, off, len(text), err)
	}
}

func (b blobs) notes() {
	for _, n := range []durable.Note{
		{},
		note(),
		{Source: "a \"b\"\n世", Tool: "\x00<>&", Trust: tool.BuiltIn, Sensitivity: tool.Secret},
	} {
		if got := b.open(b.put(owner, n, "text")).Note; got != n {
			b.Errorf("note: got %+v, want %+v", got, n)
		}
	}
}

func (b blobs) once() {
	handle := b.put(owner, note(), "a long text")
	for _, parts := range [][]string{{"a long text"}, {"a ", "long", " text"}, {"", "a long text", ""}} {
		if got := b.put(owner, note(), parts...); got != handle {
			b.Errorf("Put(%q) = %q, want %q", parts, got, handle)
		}
	}
	b.want(owner, handle, "a long text")
	b.wantSwept(future(), 1)
}

func (b blobs) differs() {
	seen := make(map[string]string)
	put := func(what, owner string, n durable.Note) {
		handle := b.put(owner, n, "text")
		if other, ok := seen[handle]; ok {
			b.Errorf("%s: got the handle of %s", what, other)
		}
		seen[handle] = what
	}
	put("the first", owner, note())
	put("another owner", owner+"2", note())
	for what, change := range map[string]func(*durable.Note){
		"another source":      func(n *durable.Note) { n.Source = "gitlab" },
		"another tool":        func(n *durable.Note) { n.Tool = "list" },
		"the words cut anew":  func(n *durable.Note) { n.Source, n.Tool = n.Source+n.Tool[:4], n.Tool[4:] },
		"another trust":       func(n *durable.Note) { n.Trust = tool.Web },
		"another sensitivity": func(n *durable.Note) { n.Sensitivity = tool.Internal },
	} {
		n := note()
		change(&n)
		put(what, owner, n)
	}
	b.wantSwept(future(), len(seen))
}

func (b blobs) owners() {
	mine := b.put("ada", note(), "the text")
	b.none("bob", mine)
	b.none("", mine)
	b.none("ada ", mine)
	b.none("ADA", mine)
	his := b.put("bob", note(), "the text")
	b.none("ada", his)
	b.want("ada", mine, "the text")
	b.want("bob", his, "the text")
}

func (b blobs) strangers() {
	handle := b.put(owner, note(), "the text")
	for _, h := range []string{
		"", ".", "..", "/", "../" + handle, "./" + handle, handle + "/", handle + "/..", "x/../" + handle,
		strings.ToUpper(handle), " " + handle, handle + "\n", handle + "\x00", handle[:len(handle)-1], handle + "0", handle + " ",
		`..\` + handle, "C:" + handle, "/etc/passwd", "\x00", "\xff", strings.Repeat("a", 1<<16), strings.Repeat("../", 100) + "etc/passwd",
		durable.Handle(owner, note(), "never put"),
	} {
		b.none(owner, h)
		b.none("nobody", h)
	}
}

func (b blobs) paths() {
	owners := []string{
		"", ".", "..", "/", "../..", "a/b", "a", "b", "/etc/passwd", `..\..`, "C:", "CON", "a\x00b", "\xff", "世界", "A", "a.", "a ",
		strings.Repeat("long", 1<<10), "r_0123456789abcdef0123456789abcdef",
	}
	handles := make([]string, len(owners))
	for i, o := range owners {
		b.wantHeld(o, false)
		handles[i] = b.put(o, note(), "text of ", o)
	}
	for i, o := range owners {
		b.want(o, handles[i], "text of "+o)
		b.none(o, handles[(i+1)%len(handles)])
	}
	b.wantSwept(future(), len(owners))
	for _, o := range owners {
		b.wantHeld(o, false)
	}
}

func (b blobs) holds() {
	b.wantHeld("ada", false)
	b.put("ada", note())
	b.wantHeld("ada", true) // an empty text is a text
	b.wantHeld("bob", false)
	b.put("ada", note(), "another")
	b.wantSwept(future(), 2)
	b.wantHeld("ada", false)
}

// Times that no file system rounds away.

func past() time.Time   { return time.Now().Add(-time.Hour) }
func future() time.Time { return time.Now().Add(time.Hour) }

func (b blobs) sweep() {
	b.wantSwept(future(), 0)
	one, two := b.put("ada", note(), "one"), b.put("bob", note(), "two")
	b.wantSwept(past(), 0)
	b.want("ada", one, "one")
	b.want("bob", two, "two")
	b.wantSwept(future(), 2)
	b.none("ada", one)
	b.none("bob", two)
	b.wantSwept(future(), 0)
	b.want("ada", b.put("ada", note(), "one"), "one")
}

func (b blobs) again() {
	one, two := b.put(owner, note(), "one"), b.put(owner, note(), "two")
	// Stores on a disk may know times only to some milliseconds.
	<-time.After(30 * time.Millisecond)
	between := time.Now()
	<-time.After(30 * time.Millisecond)
	b.put(owner, note(), "one")
	b.wantSwept(between, 1)
	b.want(owner, one, "one")
	b.none(owner, two)
}

func (b blobs) sweptOpen() {
	text := strings.Repeat("0123456789", 1<<12)
	blob := b.open(b.put(owner, note(), text))
	if _, err := b.Sweep(b.Context(), future()); err != nil {
		b.Logf("Sweep: %v", err) // a store may refuse as long as somebody reads
	}
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size))
	if err == nil && string(got) != text {
		b.Errorf("got %s, want the text or an error", brief(string(got)))
	}
}

func (b blobs) ended() {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if handle, err := b.Put(ctx, owner, note(), "text"); !errors.Is(err, context.Canceled) || handle != "" {
		b.Errorf("Put = %q, %v, want no handle and context.Canceled", handle, err)
	}
	b.none(owner, durable.Handle(owner, note(), "text"))
	b.wantHeld(owner, false)
	b.wantSwept(future(), 0)
}

// ends lets the context end at each look that the store takes at it.
func (b blobs) ends() {
	parts := []string{strings.Repeat("a", 3<<20), strings.Repeat("b", 1<<10), strings.Repeat("c", 3<<20)}
	for looks := range 100 {
		ctx := &ending{Context: b.Context(), looks: looks}
		handle, err := b.Put(ctx, owner, note(), parts...)
		if err == nil {
			b.want(owner, handle, strings.Join(parts, ""))
			return
		}
		if !errors.Is(err, context.Canceled) {
			b.Fatalf("Put with a context that ends after %d looks: %v", looks, err)
		}
		b.none(owner, durable.Handle(owner, note(), parts...))
		b.wantHeld(owner, false)
		b.wantSwept(future(), 0)
	}
}

// ending is a context that ends after so many looks.
type ending struct {
	context.Context
	mu    sync.Mutex
	looks int
}

func (e *ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return e.Context.Err()
}

func (b blobs) many() {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			o, text := fmt.Sprint("owner ", i%3), fmt.Sprint("text ", i%4)
			for range 10 {
				handle, err := b.Put(b.Context(), o, note(), text, " and more")
				if err == nil {
					err = b.check(o, handle, text+" and more")
				}
				if err == nil {
					_, err = b.Sweep(b.Context(), past())
				}
				if held, e := b.Holds(b.Context(), o); e != nil || !held {
					err = errors.Join(err, e, fmt.Errorf("holds: got %v, want true", held))
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.wantSwept(future(), 8) // 3 owners and 4 texts, of which 8 pairs were put
}

func (b blobs) parts() {
	var parts []string
	for i := range 1 << 15 {
		parts = append(parts, fmt.Sprintf("%d\n", i), "")
	}
	text := strings.Join(parts, "")
	handle := b.put(owner, note(), parts...)
	parts[0] = "changed" // the slice is the caller's
	b.want(owner, handle, text)
	blob := b.open(handle)
	for off := 0; off < len(text); off += 997 {
		b.readAt(blob, text, off, 50)
	}
}
