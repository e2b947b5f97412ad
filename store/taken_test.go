package store_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/store"
)

// What stands beside the rows is what the next of them follow from.
func TestLogBesideRows(t *testing.T) {
	t.Parallel()
	c := newChanging(t)
	for _, tt := range []struct{ rule, query string }{
		{"U1 a writer whose mark was put back to nothing is found", `UPDATE log_writers SET number = 0 WHERE key = 2`},
		{"U1 a writer whose mark was put back is found", `UPDATE log_writers SET number = 3 WHERE key = 2`},
		{"U1 a writer who was renamed is found", `UPDATE log_writers SET writer = 'x' || writer WHERE key = 2`},
		{"U1 a writer who wrote nothing and is put in is found", `INSERT INTO log_writers (writer, number, hash) VALUES ('y', 3, zeroblob(32))`},
		{"U1 a row before all others is found", `INSERT INTO log SELECT -9223372036854775807, writer, number, call, line, hash FROM log WHERE place = 3`},
		{"U1 a row at place 0 is found", `INSERT INTO log SELECT 0, writer, number, call, line, hash FROM log WHERE place = 3`},
		{"U1 a row behind all others is found", `INSERT INTO log SELECT 9223372036854775807, writer, number, call, line, hash FROM log WHERE place = 3`},
		{"U1 a hash that is longer is found", `UPDATE log SET hash = CAST(hash || x'00' AS BLOB) WHERE place = 3`},
		{"U1 a line with something behind it is found", `UPDATE log SET line = line || char(0) WHERE place = 3`},
		{"U1 a line with a space behind it is found", `UPDATE log SET line = line || ' ' WHERE place = 48`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			defer c.undo()
			c.exec(tt.query)
			report, err := c.s.Verify(t.Context(), nil)
			if err == nil && len(report.Faults) == 0 {
				t.Error("not found")
			}
			t.Log(err, report.Faults)
		})
	}
}

func TestLogIndex(t *testing.T) {
	t.Parallel()
	t.Run("U1 an index that does not lead to the lines of a call is found", func(t *testing.T) {
		t.Parallel()
		c := newChanging(t)
		// It is made anew as one of nothing, and then said to be what it was.
		c.exec(`PRAGMA writable_schema = ON`)
		c.exec(`UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'log_call'`, "<> ''", "= 'none'")
		c.exec(`PRAGMA writable_schema = RESET`)
		c.exec(`REINDEX log_call`)
		c.exec(`PRAGMA writable_schema = ON`)
		c.exec(`UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'log_call'`, "= 'none'", "<> ''")
		c.exec(`PRAGMA writable_schema = RESET`)
		if got := listed(t, c.s, store.Filter{Call: "w1-0.0"}); len(got) > 0 {
			t.Fatalf("got %q, want an index that does not lead there", got)
		}
		if report := verified(t, c.s, nil); len(report.Faults) != 1 || !strings.Contains(report.Faults[0].What, "log_call") {
			t.Errorf("got %v, want the index", report.Faults)
		}
	})
}

func TestLogExchanged(t *testing.T) {
	t.Parallel()
	t.Run("U1 an empty store where heads of another were made is found", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "store.db"))
		if _, err := s.Head(t.Context()); err != nil {
			t.Fatal(err)
		}
		if report := verified(t, s, nil); len(report.Faults) != 0 {
			t.Errorf("of its own key: got %v", report.Faults)
		}
		if report := verified(t, open(t, filepath.Join(dir, "other.db")), nil); len(report.Faults) != 1 {
			t.Errorf("got %v, want that it stands in the place of another", report.Faults)
		}
	})
}

// Somebody takes the last lines of a writer away, and puts its mark back, while it
// is writing. It knows what it wrote.
func TestLogTakenFromWriter(t *testing.T) {
	t.Parallel()
	t.Run("U1 a writer whose last lines were taken away does not go on as if they never were", func(t *testing.T) {
		t.Parallel()
		s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		appended(t, s, "a", audit.Requested, audit.Started)
		appended(t, s, "b", audit.Requested, audit.Started)
		rawly(t, s, `UPDATE log_writers SET number = 2, hash = (SELECT hash FROM log WHERE place = 2)`)
		rawly(t, s, `DELETE FROM log WHERE place > 2`)
		if err := taken(s, audit.Event{Kind: audit.Found, Text: "later"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "not where this process left it, at number 4") {
			t.Errorf("got %v, and the log has %s", err, strings.Join(listed(t, s, store.Filter{}), ", "))
		}
		if err := taken(s, audit.Event{Kind: audit.Found}); err == nil {
			t.Error("it goes on")
		}
		if err := s.Close(); err == nil {
			t.Error("got no error, want that a line could not be written")
		}
	})
}
