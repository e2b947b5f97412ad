package audit_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// logOf makes the rows of a log that these writers wrote in turn.
func logOf(t *testing.T, n int, writers ...string) []audit.Row {
	t.Helper()
	var enc audit.Encoder
	chains := make([]audit.Chain, len(writers))
	for i, w := range writers {
		chains[i].Mark = audit.Begin(w)
	}
	rows := make([]audit.Row, n)
	for i := range rows {
		id := fmt.Sprintf("c%d", i/3)
		line := enc.Append(nil, &audit.Event{Kind: audit.Started, Time: time.Unix(int64(i), 0), Request: &tool.Request{ID: id, Name: "x"}})
		c := &chains[i%len(chains)]
		hash := c.Add(int64(i)+1, line)
		rows[i] = audit.Row{Place: int64(i) + 1, Writer: c.Writer, Number: c.Number, Call: id, Line: string(line), Hash: hash}
	}
	return rows
}

func seq(rows []audit.Row) iter.Seq2[audit.Row, error] {
	return func(yield func(audit.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func headOf(t *testing.T, rows []audit.Row) *audit.Head {
	t.Helper()
	report, err := audit.Verify(seq(rows), nil)
	if err != nil || len(report.Faults) > 0 {
		t.Fatalf("got %+v, %v, want no faults", report, err)
	}
	return &audit.Head{Store: "s", Place: int64(len(rows)), Marks: report.Marks}
}

// relink makes the chains of rows anew.
func relink(rows []audit.Row) {
	chains := make(map[string]*audit.Chain)
	for i := range rows {
		r := &rows[i]
		c := chains[r.Writer]
		if c == nil {
			c = &audit.Chain{Mark: audit.Begin(r.Writer)}
			chains[r.Writer] = c
		}
		r.Place = int64(i) + 1
		r.Hash = c.Add(r.Place, []byte(r.Line))
		r.Number = c.Number
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		change  func([]audit.Row) []audit.Row
		without string // what is found; "": nothing
		with    string // what is found with a head; "": the same
	}{
		{"nothing", func(r []audit.Row) []audit.Row { return r }, "", ""},
		{"a line", func(r []audit.Row) []audit.Row {
			r[4].Line = strings.Replace(r[4].Line, "started", "starteb", 1)
			return r
		}, "writer a, number 3, at place 5: it does not fit its hash", ""},
		{"a hash", func(r []audit.Row) []audit.Row { r[4].Hash[31] ^= 1; return r }, "writer a, number 3, at place 5: it does not fit", ""},
		{"a call", func(r []audit.Row) []audit.Row { r[4].Call = "c2"; return r }, `it is found under the call "c2", but is of "c1"`, ""},
		{"a number", func(r []audit.Row) []audit.Row { r[4].Number = 9; return r }, "the number before it is 2: what stood between is missing", ""},
		{"a writer", func(r []audit.Row) []audit.Row { r[4].Writer = "x"; return r }, "writer x, number 3, at place 5: it is the first of its writer", ""},
		{"a place", func(r []audit.Row) []audit.Row { r[11].Place = 13; return r }, "place 12: a row is missing", ""},
		{"a line that is none", func(r []audit.Row) []audit.Row { r[11].Line = "{"; return r }, "does not fit", ""},
		{"one removed", func(r []audit.Row) []audit.Row { return slices.Delete(r, 4, 5) }, "place 5: a row is missing", ""},
		{"two removed", func(r []audit.Row) []audit.Row { return slices.Delete(r, 4, 6) }, "place 5: 2 rows are missing", ""},
		{"one removed, and the gap closed", func(r []audit.Row) []audit.Row {
			r = slices.Delete(r, 4, 5)
			for i := range r {
				r[i].Place = int64(i) + 1
			}
			return r
		}, "number 4, at place 6: the number before it is 2", ""},
		{"the first removed", func(r []audit.Row) []audit.Row { return r[1:] }, "place 1: a row is missing", ""},
		{"one twice", func(r []audit.Row) []audit.Row { return slices.Insert(r, 5, r[4]) }, "it stands behind place 5", ""},
		{"two swapped, of one writer", func(r []audit.Row) []audit.Row { r[4], r[6] = r[6], r[4]; return r }, "missing", ""},
		{"two swapped, of two writers", func(r []audit.Row) []audit.Row {
			r[4], r[5] = r[5], r[4]
			r[4].Place, r[5].Place = 5, 6
			return r
		}, "at place 5: it does not fit", ""},
		{"the last removed", func(r []audit.Row) []audit.Row { return r[:11] }, "", "writer b: its last number is 5, but it had written 6 when the head was made: the end was taken away"},
		{"all removed", func([]audit.Row) []audit.Row { return nil }, "", "writer a: nothing of it is there, but it had written 6"},
		{"a writer removed, and all written anew", func(r []audit.Row) []audit.Row {
			r = slices.DeleteFunc(r, func(r audit.Row) bool { return r.Writer == "b" })
			relink(r)
			return r
		}, "", "nothing of it is there"},
		{"changed and written anew", func(r []audit.Row) []audit.Row {
			r[4].Line = strings.Replace(r[4].Line, "started", "starteb", 1)
			relink(r)
			return r
		}, "", "writer a, number 6, at place 11: its hash is not the one of the head"},
		{"a writer put in, and all written anew", func(r []audit.Row) []audit.Row {
			r = append(r[:6:6], append([]audit.Row{{Writer: "x", Line: r[0].Line, Call: r[0].Call}}, r[6:]...)...)
			relink(r)
			return r
		}, "", "writer x, number 1, at place 7: its writer had written nothing when the head was made"},
		{"one put in at the end of a writer", func(r []audit.Row) []audit.Row {
			r = append(r[:10:10], audit.Row{Writer: "a", Line: r[0].Line, Call: r[0].Call}, r[10], r[11])
			relink(r)
			return r
		}, "", "its hash is not the one of the head"},
		{"more was written later", func(r []audit.Row) []audit.Row {
			r = append(r, audit.Row{Writer: "a", Line: r[0].Line, Call: r[0].Call}, audit.Row{Writer: "c", Line: r[0].Line, Call: r[0].Call})
			relink(r)
			return r
		}, "", ""},
	}
	for _, tt := range tests {
		t.Run("U1 "+tt.name, func(t *testing.T) {
			t.Parallel()
			rows := logOf(t, 12, "a", "b")
			head := headOf(t, rows)
			rows = tt.change(rows)
			for _, h := range []*audit.Head{nil, head} {
				want := tt.without
				if h != nil && tt.with != "" {
					want = tt.with
				}
				report, err := audit.Verify(seq(rows), h)
				if err != nil {
					t.Fatal(err)
				}
				var found []string
				for _, f := range report.Faults {
					found = append(found, f.Error())
				}
				if text := strings.Join(found, "\n"); (want == "") != (text == "") || !strings.Contains(text, want) {
					t.Errorf("with a head: %v: got %q, want %q", h != nil, text, want)
				}
				if report.Rows != int64(len(rows)) {
					t.Errorf("got %d rows, want %d", report.Rows, len(rows))
				}
			}
		})
	}
	t.Run("U1 faults are bounded", func(t *testing.T) {
		t.Parallel()
		rows := logOf(t, 300, "a")
		for i := range rows {
			rows[i].Hash = audit.Hash{byte(i), byte(i >> 8)}
		}
		if report, err := audit.Verify(seq(rows), nil); err != nil || len(report.Faults) != 100 || report.More != 200 {
			t.Errorf("got %d and %d more, %v, want 100 and 200", len(report.Faults), report.More, err)
		}
	})
	t.Run("U1 rows that cannot be read are an error", func(t *testing.T) {
		t.Parallel()
		errRead := errors.New("torn")
		_, err := audit.Verify(func(yield func(audit.Row, error) bool) { yield(audit.Row{}, errRead) }, nil)
		if !errors.Is(err, errRead) {
			t.Errorf("got %v, want %v", err, errRead)
		}
	})
	t.Run("U1 any change of a byte is found", func(t *testing.T) {
		t.Parallel()
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 2000 {
			rows := logOf(t, 9, "a", "b")
			at := rng.IntN(len(rows))
			r := &rows[at]
			field, flip := rng.IntN(4), func(s string) string {
				b := []byte(s)
				b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
				return string(b)
			}
			switch field {
			case 0:
				r.Line = flip(r.Line)
			case 1:
				r.Writer = flip(r.Writer)
			case 2:
				r.Call = flip(r.Call)
			case 3:
				r.Hash[rng.IntN(len(r.Hash))] ^= 1 << rng.IntN(8)
			}
			if report, err := audit.Verify(seq(rows), nil); err != nil || len(report.Faults) == 0 {
				t.Fatalf("change %d, of field %d at %d, was not found: %v", i, field, at, err)
			}
		}
	})
}

func TestHead(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signed := func() audit.Head {
		rows := logOf(t, 12, "a", "b")
		h := *headOf(t, rows)
		h.Time = time.Unix(1, 2)
		if err := h.Sign(key); err != nil {
			t.Fatal(err)
		}
		text, err := h.JSON()
		if err != nil {
			t.Fatal(err)
		}
		h, err = audit.ParseHead(text)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	tests := []struct {
		name   string
		change func(*audit.Head)
		want   error
	}{
		{"as it was signed", func(*audit.Head) {}, nil},
		{"in another time zone", func(h *audit.Head) { h.Time = h.Time.In(time.FixedZone("far", 3600)) }, nil},
		{"another time", func(h *audit.Head) { h.Time = h.Time.Add(1) }, audit.ErrSignature},
		{"another store", func(h *audit.Head) { h.Store += "x" }, audit.ErrSignature},
		{"another place", func(h *audit.Head) { h.Place-- }, audit.ErrSignature},
		{"another number", func(h *audit.Head) { h.Marks[0].Number-- }, audit.ErrSignature},
		{"another hash", func(h *audit.Head) { h.Marks[1].Hash[0] ^= 1 }, audit.ErrSignature},
		{"another writer", func(h *audit.Head) { h.Marks[1].Writer = "c" }, audit.ErrSignature},
		{"a writer less", func(h *audit.Head) { h.Marks = h.Marks[:1] }, audit.ErrSignature},
		{"another order", func(h *audit.Head) { slices.Reverse(h.Marks) }, audit.ErrSignature},
		{"another signature", func(h *audit.Head) { h.Signature[3] ^= 1 }, audit.ErrSignature},
		{"no signature", func(h *audit.Head) { h.Signature = nil }, audit.ErrSignature},
		{"another key", func(h *audit.Head) { h.Key[0] ^= 1 }, audit.ErrOtherKey},
		{"signed by another", func(h *audit.Head) {
			if err := h.Sign(ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))); err != nil {
				t.Error(err)
			}
		}, audit.ErrOtherKey},
	}
	for _, tt := range tests {
		t.Run("U1 "+tt.name, func(t *testing.T) {
			t.Parallel()
			h := signed()
			tt.change(&h)
			if err := h.Check(audit.PublicKey(key)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("U1 what is no head is refused", func(t *testing.T) {
		t.Parallel()
		h := signed()
		good, err := h.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range []func(string) string{
			func(string) string { return "" },
			func(string) string { return "{}" },
			func(s string) string { return s + "{}" },
			func(s string) string { return strings.Replace(s, `"place": 12`, `"place": -12`, 1) },
			func(s string) string { return strings.Replace(s, `"number": 6`, `"number": 0`, 1) },
			func(s string) string { return strings.Replace(s, `"writer": "b"`, `"writer": "a"`, 1) },
			func(s string) string { return strings.Replace(s, `"store"`, `"stor"`, 1) },
			func(s string) string { return strings.Replace(s, `"hash": "`, `"hash": "0`, 1) },
			func(s string) string { return strings.Replace(s, `"key": "`, `"key": "0`, 1) },
		} {
			text := change(string(good))
			if _, err := audit.ParseHead([]byte(text)); err == nil || text == string(good) {
				t.Errorf("%s: got no error", text)
			}
		}
	})
	t.Run("U1 a key of a wrong size signs nothing", func(t *testing.T) {
		t.Parallel()
		if err := new(audit.Head).Sign(nil); err == nil {
			t.Error("got no error")
		}
		if h := (audit.Head{}); h.Check(audit.PublicKey(nil)) == nil {
			t.Error("the zero head is good with the zero key")
		}
	})
}
