package store_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// appended puts events about a call on the record, and waits until they are kept.
func appended(t *testing.T, s *store.Store, id string, kinds ...audit.Kind) {
	t.Helper()
	r := &tool.Request{ID: id, CallID: "p" + id, Name: "send", Turn: 1, Caller: tool.Caller{Session: "s1"}}
	for i, k := range kinds {
		if _, err := s.Append(audit.Event{Kind: k, Time: time.Unix(int64(i), 0), Request: r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rawly runs a statement when nobody writes.
func rawly(t *testing.T, s *store.Store, query string) {
	t.Helper()
	defer s.Hold()()
	if err := s.Raw(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, s *store.Store, f store.Filter) (all []string) {
	t.Helper()
	for l, err := range s.Entries(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d %s %s", l.Place, l.Entry.Kind, l.Entry.ID))
	}
	return all
}

func verified(t *testing.T, s *store.Store, head *audit.Head) audit.Report {
	t.Helper()
	report, err := s.Verify(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestLog(t *testing.T) {
	t.Parallel()
	tooltest.Log(t, func(t *testing.T) (audit.Log, func() ([]audit.Entry, error)) {
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		return s, func() (all []audit.Entry, err error) {
			for l, err := range s.Entries(t.Context(), store.Filter{}) {
				if err != nil {
					return nil, err
				}
				all = append(all, l.Entry)
			}
			if report, err := s.Verify(t.Context(), nil); err != nil || len(report.Faults) > 0 || report.Rows != int64(len(all)) {
				return nil, fmt.Errorf("got %+v, %w, want %d rows without faults", report, err, len(all))
			}
			return all, nil
		}
	})
	t.Run("U1 each store that writes has a chain of its own, in one log", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		a, b := open(t, path), open(t, path)
		appended(t, a, "1", audit.Requested, audit.Started)
		appended(t, b, "2", audit.Requested)
		appended(t, a, "1", audit.Ended)
		report := verified(t, b, nil)
		if report.Rows != 4 || len(report.Marks) != 2 || len(report.Faults) != 0 {
			t.Errorf("got %+v, want 4 rows of 2 writers", report)
		}
		if got, want := listed(t, b, store.Filter{}), []string{"1 requested 1", "2 started 1", "3 requested 2", "4 ended 1"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("U1 what was appended is kept when the store is closed", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		s, err := store.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(taken(s, audit.Event{Kind: audit.Found}), s.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(audit.Event{Kind: audit.Found}); err == nil {
			t.Error("Append after Close: got no error")
		}
		again := open(t, path)
		if report := verified(t, again, nil); report.Rows != 1 || len(report.Faults) > 0 {
			t.Errorf("got %+v, want 1 row", report)
		}
	})
	t.Run("U1 lines wait for nobody, and go with what is written next", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		appended(t, s, "0", audit.Found)
		leave := s.Hold()
		for range 100 {
			if _, err := s.Append(audit.Event{Kind: audit.Found}); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := s.Commits()
		leave()
		if err := s.Commit(t.Context(), true, func(func(string, ...any) error) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if after, _ := s.Commits(); after > before+2 { // the alarm may have come first
			t.Errorf("got %d commits, want 1 or 2", after-before)
		}
		if got := listed(t, s, store.Filter{}); len(got) != 101 {
			t.Errorf("got %d lines, want 101", len(got))
		}
		before, _ = s.Commits()
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after, _ := s.Commits(); after != before {
			t.Errorf("got %d commits, want none: nothing waits", after-before)
		}
	})
	t.Run("U1 what could not be written stays, and has no gap", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		appended(t, s, "1", audit.Requested)
		rawly(t, s, `CREATE TRIGGER no BEFORE INSERT ON log BEGIN SELECT raise(ABORT, 'not now'); END`)
		for range 3 {
			if _, err := s.Append(audit.Event{Kind: audit.Found}, audit.Event{Kind: audit.Found}); err != nil {
				t.Fatal(err)
			}
			if err := s.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "not now") {
				t.Errorf("got %v, want that it cannot be written", err)
			}
		}
		rawly(t, s, `DROP TRIGGER no`)
		appended(t, s, "1", audit.Ended)
		if report := verified(t, s, nil); report.Rows != 8 || len(report.Faults) != 0 {
			t.Errorf("got %+v, want 8 rows without faults", report)
		}
	})
	t.Run("U1 only so many lines wait", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		rawly(t, s, `CREATE TRIGGER no BEFORE INSERT ON log BEGIN SELECT raise(ABORT, 'not now'); END`)
		const most = 100
		s.MostWaiting(most)
		many := make([]audit.Event, 10)
		for i := range many {
			many[i].Kind = audit.Found
		}
		var err error
		for range most {
			if _, err = s.Append(many...); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "lines wait") {
			t.Errorf("got %v, want that too many wait", err)
		}
		rawly(t, s, `DROP TRIGGER no`)
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		appended(t, s, "1", audit.Found)
		if report := verified(t, s, nil); report.Rows != most+1 || len(report.Faults) != 0 {
			t.Errorf("got %d rows and %v, want %d without faults", report.Rows, report.Faults, most+1)
		}
	})
}

func TestLogFilter(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	at := func(i int) time.Time { return time.Unix(int64(i), 0) }
	call := func(id, callID, session, name string) *tool.Request {
		return &tool.Request{ID: id, CallID: callID, Name: name, Caller: tool.Caller{Session: session}}
	}
	one, two, odd := call("a-1.0", "toolu_1", "s1", "send"), call("a-1.1", "a-1.0", "s2", "read"), call("a-1.2", "toolu_1", `s"3\`, `s"end`)
	if _, err := s.Append(
		audit.Event{Kind: audit.Registered, Time: at(1), Name: "send"},
		audit.Event{Kind: audit.Requested, Time: at(2), Request: one, Args: `{"to":"Bob"}`},
		audit.Event{Kind: audit.Decided, Time: at(3), Request: one, Decision: &tool.Decision{Verdict: tool.Deny, Reason: "no"}},
		audit.Event{Kind: audit.Requested, Time: at(4), Request: two},
		audit.Event{Kind: audit.Decided, Time: at(5), Request: two, Decision: &tool.Decision{Verdict: tool.Allow}},
		audit.Event{Kind: audit.Requested, Time: at(6), Request: odd, Text: `"session":"s1"`},
		audit.Event{Kind: audit.Asked, Time: at(7), Request: two, Question: "q1"},
		audit.Event{Kind: audit.Asked, Time: at(8), Request: odd, Question: `q"2\`},
		audit.Event{Kind: audit.Governed, Time: at(9), Question: "q1", Text: "allow"},
		audit.Event{Kind: audit.Found, Time: at(10), Text: `{"kind":"requested","tool":"send","session":"s1","question":"q1"}`},
	); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		filter store.Filter
		places string
	}{
		{"all", store.Filter{}, "1 2 3 4 5 6 7 8 9 10"},
		{"since", store.Filter{Since: at(5)}, "5 6 7 8 9 10"},
		{"until", store.Filter{Until: at(3)}, "1 2"},
		{"a session", store.Filter{Session: "s1"}, "2 3"},
		{"a session with an odd name", store.Filter{Session: `s"3\`}, "6 8"},
		{"a tool", store.Filter{Tool: "send"}, "1 2 3"},
		{"a tool with an odd name", store.Filter{Tool: `s"end`}, "6 8"},
		{"calls of a session", store.Filter{Session: "s1", Kind: audit.Requested}, "2"},
		{"calls of a session with an odd name", store.Filter{Session: `s"3\`, Kind: audit.Requested}, "6"},
		{"calls of a tool", store.Filter{Tool: "send", Kind: audit.Requested}, "2"},
		{"calls of a tool with an odd name", store.Filter{Tool: `s"end`, Kind: audit.Requested}, "6"},
		{"calls of a tool of which only the beginning is one", store.Filter{Tool: `s"e`, Kind: audit.Requested}, ""},
		{"calls of a tool in a session", store.Filter{Tool: "send", Session: "s2", Kind: audit.Requested}, ""},
		{"a question", store.Filter{Question: "q1"}, "7 9"},
		{"a question with an odd name", store.Filter{Question: `q"2\`}, "8"},
		{"a kind", store.Filter{Kind: audit.Requested}, "2 4 6"},
		{"a call", store.Filter{Call: "a-1.0"}, "2 3"}, // not the one that a model called so
		{"a call by the provider's id", store.Filter{Call: "toolu_1"}, "2 3 6 8"},
		{"no such call", store.Filter{Call: "a-1"}, ""},
		{"a verdict", store.Filter{Verdict: "deny"}, "3"},
		{"a text", store.Filter{Text: "bOB"}, "2"},
		{"behind a place", store.Filter{After: 8}, "9 10"},
		{"the newest", store.Filter{Newest: 2}, "9 10"},
		{"the newest of a kind", store.Filter{Newest: 2, Kind: audit.Requested}, "4 6"},
		{"the newest behind a place", store.Filter{Newest: 5, After: 8}, "9 10"},
		{"several", store.Filter{Session: "s1", Kind: audit.Decided, Verdict: "deny", Tool: "send", Since: at(1), Until: at(9), Text: "no"}, "3"},
	}
	for _, tt := range tests {
		t.Run("U1 "+tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for l, err := range s.Entries(t.Context(), tt.filter) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(l.Place))
			}
			if places := strings.Join(got, " "); places != tt.places {
				t.Errorf("got %q, want %q", places, tt.places)
			}
		})
	}
	t.Run("U1 several questions at once", func(t *testing.T) {
		t.Parallel()
		var got []int64
		for l, err := range s.Questioned(t.Context(), `q"2\`, "q1", "q3") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l.Place)
		}
		if !slices.Equal(got, []int64{7, 8, 9}) {
			t.Errorf("got %v, want their lines in order", got)
		}
	})
	t.Run("U1 what is looked for often has an index", func(t *testing.T) {
		t.Parallel()
		for index, f := range map[string]store.Filter{
			"log_tool": {Tool: "send", Kind: audit.Requested, Newest: 5}, "log_session": {Session: "s1", Kind: audit.Requested, Newest: 5}, "log_question": {Question: "q1"},
		} {
			if plan := s.Plan(t, f); !strings.Contains(plan, "USING INDEX "+index) || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%+v: got %s, want %s", f, plan, index)
			}
		}
	})
	t.Run("J2 a writer is there until its process ends", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		a, err := store.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, path)
		appended(t, a, "1", audit.Started)
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		writer := ""
		for l := range b.Entries(t.Context(), store.Filter{}) {
			writer = l.Writer
		}
		for _, of := range []*store.Store{a, b} {
			if there, err := of.Writes(writer); !there || err != nil {
				t.Errorf("got %t, %v, want that it is there", there, err)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{writer, "", "../x"} {
			if there, err := b.Writes(name); there || err != nil {
				t.Errorf("%q: got %t, %v, want that it is gone", name, there, err)
			}
		}
	})
	t.Run("U1 more than a page", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		events := make([]audit.Event, 1203)
		for i := range events {
			events[i] = audit.Event{Kind: audit.Found, Name: fmt.Sprint(i % 2)}
		}
		if err := errors.Join(taken(s, events...), s.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		for filter, want := range map[store.Filter]int{{}: 1203, {Newest: 700}: 700, {Tool: "1"}: 601, {Tool: "0", Newest: 601}: 601} {
			if got := listed(t, s, filter); len(got) != want || !slices.IsSortedFunc(got, func(a, b string) int { return place(a) - place(b) }) {
				t.Errorf("%+v: got %d, want %d in order", filter, len(got), want)
			}
		}
		for range s.Entries(t.Context(), store.Filter{}) {
			break
		}
	})
}

func place(listed string) (n int) {
	_, _ = fmt.Sscan(listed, &n)
	return n
}

func TestLogHead(t *testing.T) {
	t.Parallel()
	t.Run("U1 a head is signed with the key beside the store", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		s := open(t, path)
		if _, err := s.Key(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want that there is none", err)
		}
		if h, err := s.Head(t.Context()); err != nil || h.Place != 0 || len(h.Marks) != 0 || h.Store == "" {
			t.Errorf("of an empty log: got %+v, %v", h, err)
		}
		if _, err := s.Append(audit.Event{Kind: audit.Found}, audit.Event{Kind: audit.Found}); err != nil {
			t.Fatal(err)
		}
		h, err := s.Head(t.Context()) // has also what was not flushed
		if err != nil || h.Place != 2 || len(h.Marks) != 1 || h.Marks[0].Number != 2 {
			t.Fatalf("got %+v, %v, want 2 lines of one writer", h, err)
		}
		key, err := s.Key()
		if err != nil || h.Check(key) != nil {
			t.Errorf("got %v, %v, want it to be signed with the key", h.Check(key), err)
		}
		if info, err := os.Stat(filepath.Join(filepath.Dir(path), "audit.key")); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("got %v, %v, want a key that others cannot read", info, err)
		}
		appended(t, s, "1", audit.Started)
		if report := verified(t, s, &h); len(report.Faults) > 0 || report.Rows != 3 {
			t.Errorf("got %+v, want no faults", report)
		}
		other := open(t, filepath.Join(t.TempDir(), "store.db"))
		if _, err := other.Verify(t.Context(), &h); err == nil || !strings.Contains(err.Error(), "want one of this log") {
			t.Errorf("got %v, want that it is the head of another log", err)
		}
	})
	t.Run("U1 a key that others can read signs nothing", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "store.db"))
		if err := os.WriteFile(filepath.Join(dir, "audit.key"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Head(t.Context()); err == nil {
			t.Error("got no error")
		}
	})
}

var changes = flag.Int("changes", 30, "random changes of a log to be found")

// changing is a log in a file and a second connection to it, as somebody has who
// changes it.
type changing struct {
	*testing.T
	s    *store.Store
	db   *sql.DB
	head audit.Head
	rows int
}

func newChanging(t *testing.T) *changing {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	c := &changing{T: t}
	const writers = 3
	for w := range writers {
		s := open(t, path)
		for i := range 16 {
			id := fmt.Sprintf("w%d-%d.0", w, i/4)
			if i%10 == 9 {
				id = ""
			}
			r := &tool.Request{ID: id, Name: "send", Turn: i, Caller: tool.Caller{Session: "s1"}}
			if _, err := s.Append(audit.Event{Kind: audit.Started, Time: time.Unix(int64(i), 0), Request: r, Text: "é"}); err != nil {
				t.Fatal(err)
			}
			c.rows++
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.s = s
	}
	var err error
	if c.head, err = c.s.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.db, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)"); err != nil {
		t.Fatal(err)
	}
	c.db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := c.db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"log", "log_writers", "log_name"} {
		c.exec("CREATE TABLE good_" + name + " AS SELECT * FROM " + name)
	}
	return c
}

func (c *changing) exec(query string, args ...any) {
	c.Helper()
	if _, err := c.db.ExecContext(c.Context(), query, args...); err != nil {
		c.Fatalf("%s %v: %v", query, args, err)
	}
}

// undo puts everything back.
func (c *changing) undo() {
	c.Helper()
	for _, name := range []string{"log", "log_writers"} {
		c.exec("DELETE FROM " + name)
		c.exec("INSERT INTO " + name + " SELECT * FROM good_" + name)
	}
}

// relink makes every chain anew, as somebody does who knows how.
func (c *changing) relink() {
	c.Helper()
	rows, err := c.db.QueryContext(c.Context(), `SELECT place, w.key, w.writer, line FROM log JOIN log_writers AS w ON w.key = log.writer ORDER BY place`)
	if err != nil {
		c.Fatal(err)
	}
	type row struct {
		place, key   int64
		writer, line string
	}
	defer func() { _ = rows.Close() }()
	var all []row
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.place, &r.key, &r.writer, &r.line); err != nil {
			c.Fatal(err)
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		c.Fatal(err)
	}
	tx, err := c.db.BeginTx(c.Context(), nil)
	if err != nil {
		c.Fatal(err)
	}
	do := func(query string, args ...any) {
		c.Helper()
		if _, err := tx.ExecContext(c.Context(), query, args...); err != nil {
			c.Fatal(err)
		}
	}
	do("DELETE FROM log_writers WHERE key NOT IN (SELECT writer FROM log)")
	chains := make(map[string]*audit.Chain)
	for i, r := range all {
		chain := chains[r.writer]
		if chain == nil {
			chain = &audit.Chain{Mark: audit.Begin(r.writer)}
			chains[r.writer] = chain
		}
		place := int64(i) + 1
		hash := chain.Add(place, []byte(r.line))
		do("UPDATE log SET place = ?, number = ?, hash = ? WHERE place = ?", place, chain.Number, hash[:], r.place)
		do("UPDATE log_writers SET number = ?, hash = ? WHERE key = ?", chain.Number, hash[:], r.key)
	}
	if err := tx.Commit(); err != nil {
		c.Fatal(err)
	}
}

// flip changes a bit of a text or of bytes.
func flip[T string | []byte](rng *rand.Rand, value T) T {
	b := []byte(value)
	b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	return T(b)
}

// change does something to the log that verify must find without a head, and says
// what.
func (c *changing) change(rng *rand.Rand) string {
	c.Helper()
	at := 1 + rng.IntN(c.rows)
	read := func(column string, to any) {
		c.Helper()
		if err := c.db.QueryRowContext(c.Context(), "SELECT "+column+" FROM log WHERE place = ?", at).Scan(to); err != nil {
			c.Fatal(err)
		}
	}
	set := func(column string, value any) string {
		c.Helper()
		c.exec("UPDATE log SET "+column+" = ? WHERE place = ?", value, at)
		return fmt.Sprintf("%s of %d", column, at)
	}
	var text string
	var hash []byte
	switch rng.IntN(9) {
	case 0, 1, 2:
		read("line", &text)
		return set("line", flip(rng, text))
	case 3:
		read("hash", &hash)
		return set("hash", flip(rng, hash))
	case 4:
		if read("call", &text); text == "" {
			text = "x"
		}
		return set("call", flip(rng, text))
	case 5:
		var n int64
		read("number", &n)
		return set("number", n^1<<rng.IntN(40))
	case 6:
		var n int64
		read("writer", &n)
		return set("writer", n^1<<rng.IntN(3))
	case 7:
		// The last of a chain too: the store has noted it.
		c.exec("DELETE FROM log WHERE place = ?", at)
		return fmt.Sprintf("%d removed", at)
	default:
		other := 1 + (at+rng.IntN(c.rows-1))%c.rows
		c.exec("UPDATE log SET place = -1 WHERE place = ?", at)
		c.exec("UPDATE log SET place = ? WHERE place = ?", at, other)
		c.exec("UPDATE log SET place = ? WHERE place = -1", other)
		return fmt.Sprintf("%d and %d swapped", at, other)
	}
}

func TestLogChanged(t *testing.T) {
	t.Parallel()
	t.Run("U1 random changes are found", func(t *testing.T) {
		t.Parallel()
		c := newChanging(t)
		rng := rand.New(rand.NewPCG(6, 1))
		for range *changes {
			what := c.change(rng)
			if report := verified(t, c.s, nil); len(report.Faults) == 0 {
				t.Errorf("%s: not found", what)
			}
			c.undo()
		}
		if report := verified(t, c.s, &c.head); len(report.Faults) > 0 {
			t.Errorf("put back: got %v", report.Faults)
		}
	})
	t.Run("U1 a tail that was cut, and chains that were made anew, are found with a head", func(t *testing.T) {
		t.Parallel()
		c := newChanging(t)
		rng := rand.New(rand.NewPCG(6, 2))
		for range *changes / 5 {
			var what string
			switch rng.IntN(4) {
			case 0:
				n := 1 + rng.IntN(c.rows)
				c.exec("DELETE FROM log WHERE place > ?", c.rows-n)
				what = fmt.Sprintf("the last %d cut", n)
			case 1:
				c.exec("DELETE FROM log WHERE writer = ?", 1+rng.IntN(3))
				what = "a writer removed"
			case 2:
				c.exec("DELETE FROM log WHERE place = ?", 1+rng.IntN(c.rows))
				what = "one removed"
			default:
				c.exec("UPDATE log SET line = replace(line, 'started', 'ended') WHERE place = ?", 1+rng.IntN(c.rows))
				what = "one changed"
			}
			c.relink()
			if report := verified(t, c.s, nil); len(report.Faults) > 0 {
				t.Fatalf("%s, and all made anew: got %v without a head, want a forgery that is good", what, report.Faults[0])
			}
			if report := verified(t, c.s, &c.head); len(report.Faults) == 0 {
				t.Errorf("%s, and all made anew: not found with a head", what)
			}
			c.undo()
		}
	})
	t.Run("U1 a key that was exchanged does not make the head good", func(t *testing.T) {
		t.Parallel()
		c := newChanging(t)
		key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
		if err := c.head.Check(audit.PublicKey(key)); !errors.Is(err, audit.ErrOtherKey) {
			t.Errorf("got %v, want that it was signed with another", err)
		}
	})
}

// BenchmarkAppend is what a call that is on the record costs itself: its four
// events, written and queued. Flushing is left to the committer.
func BenchmarkAppend(b *testing.B) {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	r := &tool.Request{ID: "a-1.0", CallID: "toolu_1", Name: "send", Turn: 1, Caller: tool.Caller{Session: "s1"}}
	events := []audit.Event{{Kind: audit.Requested, Request: r, Args: `{"a":1}`}, {Kind: audit.Decided, Request: r}, {Kind: audit.Started, Request: r}, {Kind: audit.Ended, Request: r}}
	for b.Loop() {
		for i := range events {
			if _, err := s.Append(events[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Flush(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// taken is the error of Append.
func taken(s *store.Store, events ...audit.Event) error {
	_, err := s.Append(events...)
	return err
}
