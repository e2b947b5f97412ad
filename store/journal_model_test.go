package store_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// twin is a journal in a file and one in memory, which must say the same.
type twin struct {
	*rapid.T
	path  string
	file  *store.Store
	past  []*store.Store // that were taken for gone
	model durable.MemoryJournal
	began []durable.Record
	ids   int
}

// histories is how many are tried. Up to 100 are by this flag, more with
// -rapid.checks.
var histories = flag.Int("histories", 2, "how many histories of a journal are held against those of one in memory")

// TestJournalModel does the same with both, in any order.
func TestJournalModel(t *testing.T) {
	t.Parallel()
	t.Run("J2 whatever is done, crashes too: the file says what the memory says", func(t *testing.T) {
		dir := t.TempDir()
		done, failed := 0, false
		rapid.Check(t, func(rt *rapid.T) {
			if done++; done > *histories && !failed {
				return
			}
			defer func() { failed = failed || rt.Failed() }()
			name, err := os.MkdirTemp(dir, "")
			if err != nil {
				rt.Fatal(err)
			}
			w := &twin{T: rt, path: name + "/store.db"}
			w.open()
			defer func() {
				for _, s := range append(w.past, w.file) {
					_ = s.Close()
				}
			}()
			rt.Repeat(map[string]func(*rapid.T){
				"begin": w.begin, "begin again": w.begin, "end": w.end, "end again": w.end, "crash": w.crash, "": w.same,
			})
		})
	})
}

func (w *twin) open() {
	var err error
	if w.file, err = store.Open(w.Context(), w.path); err != nil {
		w.Fatal(err)
	}
}

func (w *twin) begin(t *rapid.T) {
	w.ids++
	r := call(fmt.Sprint("call", w.ids), rapid.IntRange(0, 4).Draw(t, "place"))
	r.Given = rapid.SampledFrom([]string{"given", "given", "given", "another"}).Draw(t, "given")
	r.Repeats = rapid.IntRange(0, 3).Draw(t, "repeats") > 0
	if rapid.IntRange(0, 2).Draw(t, "keyed") > 0 {
		r.Key = rapid.SampledFrom([]string{"k", "l"}).Draw(t, "key")
		r.Digest = rapid.SampledFrom([]string{"digest", "digest", "another"}).Draw(t, "digest")
	}
	got, err := w.file.Begin(w.Context(), r)
	want, wantErr := w.model.Begin(w.Context(), r)
	if why(err) != why(wantErr) || describe(got) != describe(want) {
		t.Fatalf("begin %+v:\ngot  %s, %v,\nwant %s, %v", r, describe(got), err, describe(want), wantErr)
	}
	if err == nil {
		w.began = append(w.began, got)
	}
}

func (w *twin) end(t *rapid.T) {
	if len(w.began) == 0 {
		return
	}
	r := rapid.SampledFrom(w.began).Draw(t, "which")
	e := durable.Ending{ID: r.ID, Attempt: r.Attempt, Sync: rapid.Bool().Draw(t, "sync")}
	switch rapid.IntRange(0, 6).Draw(t, "how") {
	case 0:
		e.Undone = true
	case 1:
		e.Failed, e.Result = true, &tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: r.ID}}
	case 2:
		e.Attempt++
	case 3: // not kept
	default:
		e.Result = said(r.ID)
	}
	for _, s := range w.past {
		if err := s.End(w.Context(), e); !errors.Is(err, durable.ErrStale) {
			t.Fatalf("end %+v by one who was taken for gone: got %v, want %v", e, err, durable.ErrStale)
		}
	}
	if err, want := w.file.End(w.Context(), e), w.model.End(w.Context(), e); why(err) != why(want) {
		t.Fatalf("end %+v: got %v, want %v", e, err, want)
	}
}

// crash has the owner be gone: closed, or still there and taken for gone.
func (w *twin) crash(t *rapid.T) {
	w.model.Leave()
	if rapid.Bool().Draw(t, "closed") {
		if err := w.file.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		if err := os.RemoveAll(w.path + store.OwnersSuffix); err != nil {
			t.Fatal(err)
		}
		for _, s := range w.past { // one of them will do
			_ = s.Close()
		}
		w.past = []*store.Store{w.file}
	}
	w.open()
}

// same compares all that can be seen.
func (w *twin) same(t *rapid.T) {
	for _, of := range []durable.Place{{}, {Principal: "ada", Session: "s"}, {Principal: "ada", Session: "s", Turn: 1}} {
		got, err := w.file.Open(w.Context(), of)
		want, wantErr := w.model.Open(w.Context(), of)
		if err != nil || wantErr != nil || len(got) != len(want) {
			t.Fatalf("open %+v: got %d, %v, want %d, %v", of, len(got), err, len(want), wantErr)
		}
		for i := range got {
			if describe(got[i]) != describe(want[i]) {
				t.Fatalf("open %+v: %d:\ngot  %s,\nwant %s", of, i, describe(got[i]), describe(want[i]))
			}
			if got[i].Live {
				continue
			}
			if r, err := w.file.Wait(w.Context(), got[i].ID); err != nil || describe(r) != describe(want[i]) {
				t.Fatalf("wait for %s: got %s, %v,\nwant %s", got[i].ID, describe(r), err, describe(want[i]))
			}
		}
	}
}

// describe is a record without the time at which it ended.
func describe(r durable.Record) string {
	res := "nothing"
	if r.Result != nil {
		res = r.Result.String()
	}
	ended := !r.Ended.IsZero()
	r.Result, r.Ended = nil, time.Time{}
	return fmt.Sprintf("%+v, ended %v, with %q", r, ended, res)
}

// why is the refusal in an error.
func why(err error) string {
	if r, ok := errors.AsType[durable.Refusal](err); ok {
		return string(r)
	}
	return fmt.Sprint(err)
}
