package store_test

import (
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

// Somebody takes the last lines of a writer away, and puts its mark back, while it
// is writing. It knows what it wrote.
func TestLogTakenFromWriter(t *testing.T) {
	t.Parallel()
	t.Run("U1 a writer whose last lines were taken away does not go on as if they never were", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir()+"/store.db")
		appended(t, s, "a", audit.Requested, audit.Started)
		appended(t, s, "b", audit.Requested, audit.Started)
		rawly(t, s, `UPDATE log_writers SET number = 2, hash = (SELECT hash FROM log WHERE place = 2)`)
		rawly(t, s, `DELETE FROM log WHERE place > 2`)
		_, err := s.Append(audit.Event{Kind: audit.Found, Text: "later"})
		if err == nil {
			err = s.Flush(t.Context())
		}
		if report := verified(t, s, nil); err == nil && len(report.Faults) == 0 {
			t.Errorf("nobody noticed, and the log has %s", strings.Join(listed(t, s, store.Filter{}), ", "))
		}
	})
}
