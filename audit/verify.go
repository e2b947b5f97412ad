package audit

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Report is what [Verify] found.
type Report struct {
	Rows   int64
	Marks  []Mark  // the end of each writer, sorted by the writer
	Faults []Fault // the first hundred
	More   int64   // faults beyond these
}

// maxFaults is how many faults are listed: where a log was made anew all of it is
// one.
const maxFaults = 100

// Fault is a place where a log is not as it was written.
type Fault struct {
	Place  int64  `json:"place,omitempty"` // 0: of no row
	Writer string `json:"writer,omitempty"`
	Number int64  `json:"number,omitempty"`
	What   string `json:"what"`
}

// Error says where, and what is wrong.
func (f Fault) Error() string {
	switch {
	case f.Writer == "" && f.Place == 0:
		return f.What
	case f.Writer == "":
		return fmt.Sprintf("place %d: %s", f.Place, f.What)
	case f.Place == 0:
		return fmt.Sprintf("writer %s: %s", f.Writer, f.What)
	}
	return fmt.Sprintf("writer %s, number %d, at place %d: %s", f.Writer, f.Number, f.Place, f.What)
}

// Verify follows the chains of all rows of a log, which come in the order of their
// places, beginning with the first. It finds a row that was changed, taken out,
// put in or moved, but not that the last ones of a log were taken away, nor that
// chains were made anew from some row on.
//
// With a head, which must have been checked ([Head.Check]), it finds these too,
// for all that was there when the head was made.
//
// The error is that of reading the rows; faults are none.
func Verify(rows iter.Seq2[Row, error], head *Head) (Report, error) {
	v := verifier{chains: make(map[string]*Chain)}
	if head != nil {
		v.head, v.until = make(map[string]Mark), head.Place
		for _, m := range head.Marks {
			v.head[m.Writer] = m
		}
	}
	for r, err := range rows {
		if err != nil {
			return v.report, err
		}
		v.row(r)
	}
	v.end()
	return v.report, nil
}

// verifier is a verification under way.
type verifier struct {
	report Report
	chains map[string]*Chain
	last   int64           // place
	head   map[string]Mark // nil: there is none
	until  int64           // the place of the head
}

func (v *verifier) fault(r Row, format string, args ...any) {
	if len(v.report.Faults) == maxFaults {
		v.report.More++
		return
	}
	v.report.Faults = append(v.report.Faults, Fault{r.Place, r.Writer, r.Number, fmt.Sprintf(format, args...)})
}

func (v *verifier) row(r Row) {
	v.report.Rows++
	switch missing := r.Place - v.last - 1; {
	case missing == 1:
		v.fault(Row{Place: v.last + 1}, "a row is missing")
	case missing > 1:
		v.fault(Row{Place: v.last + 1}, "%d rows are missing", missing)
	case missing < 0:
		v.fault(r, "it stands behind place %d", v.last)
	}
	v.last = r.Place
	c := v.chains[r.Writer]
	if c == nil {
		c = &Chain{Mark: Begin(r.Writer)}
		v.chains[r.Writer] = c
	}
	want := c.Number + 1
	c.Number = r.Number - 1
	switch link := c.Add(r.Place, []byte(r.Line)); {
	case r.Number > want && want == 1:
		v.fault(r, "it is the first of its writer, but numbers begin with 1: what stood before it is missing")
	case r.Number > want:
		v.fault(r, "the number before it is %d: what stood between is missing", want-1)
	case r.Number < want:
		v.fault(r, "the number before it is %d: it was moved, or stands there twice", want-1)
	case link != r.Hash:
		v.fault(r, "it does not fit its hash and the one before it: it was changed, or the one before it was")
	}
	c.Hash = r.Hash // what follows is judged by what stands here: one change is one fault
	v.columns(r)
	v.withHead(r)
}

// columns compares what stands beside a line with the line.
func (v *verifier) columns(r Row) {
	switch e, err := r.Entry(); {
	case err != nil:
		v.fault(r, "%s", strings.TrimPrefix(err.Error(), "audit: "))
	case e.ID != r.Call:
		v.fault(r, "it is found under the call %q, but is of %q", r.Call, e.ID)
	}
}

// withHead compares a row with what was there when the head was made.
func (v *verifier) withHead(r Row) {
	if v.head == nil {
		return
	}
	m, known := v.head[r.Writer]
	switch {
	case r.Place <= v.until && !known:
		v.fault(r, "its writer had written nothing when the head was made: it was put in later")
	case r.Place <= v.until && r.Number > m.Number:
		v.fault(r, "its writer had written only %d when the head was made: it was put in later", m.Number)
	case known && r.Number == m.Number && r.Hash != m.Hash:
		v.fault(r, "its hash is not the one of the head: what this writer wrote was written anew, here or before")
	}
}

func (v *verifier) end() {
	for _, writer := range slices.Sorted(maps.Keys(v.chains)) {
		v.report.Marks = append(v.report.Marks, v.chains[writer].Mark)
	}
	for _, writer := range slices.Sorted(maps.Keys(v.head)) {
		m, c := v.head[writer], v.chains[writer]
		switch {
		case c == nil && m.Number > 0:
			v.fault(Row{Writer: writer}, "nothing of it is there, but it had written %d when the head was made", m.Number)
		case c != nil && c.Number < m.Number:
			v.fault(Row{Writer: writer}, "its last number is %d, but it had written %d when the head was made: the end was taken away", c.Number, m.Number)
		}
	}
}
