//go:build !race

package scan

import "testing"

func TestNothingAllocated(t *testing.T) {
	s := scanner(t)
	for _, text := range []string{ordinaryText, "", "naïve café", `{"a":"b\nc \u2019 d"}`, "<p>a &amp; b&#32;c</p>&nbsp;<b>bo</b>ld"} {
		if n := testing.AllocsPerRun(100, func() { s.Scan([]byte(text)) }); n > 1 { // the conversion is one
			t.Errorf("%q: got %v allocations, want none", head([]byte(text)), n-1)
		}
	}
}
