package provider

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// toldAs is a stream's deltas in a line each.
func toldAs(f Format, stream string) (lines []string, a Answer, err error) {
	a, err = f.Stream(iotest.HalfReader(strings.NewReader(stream)), func(d Delta) {
		switch d.Kind {
		case DeltaBegun:
			lines = append(lines, "begun "+d.Call.ID+" "+d.Call.Name)
		case DeltaCall:
			lines = append(lines, "call "+d.Call.ID+" "+d.Call.Name+" "+string(d.Call.Input))
		case DeltaText, DeltaThought, DeltaRefusal, DeltaPart:
			lines = append(lines, string(d.Kind)+" "+d.Text)
		}
	})
	return lines, a, err
}

// heard is the same without whole parts: see TestToldLaw.
func heard(f Format, stream string) (lines []string, a Answer, err error) {
	lines, a, err = toldAs(f, stream)
	return slices.DeleteFunc(lines, func(line string) bool { return line == "part " }), a, err
}

// streamCase is a stream that is whole.
type streamCase struct {
	name, stream string
	told         string // separated by " | "
	stop         Stop
}

func streamsOf(t *testing.T, f Format, cases []streamCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			told, a, err := toldAs(f, tt.stream)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(told, " | "); got != tt.told {
				t.Errorf("told\n%s, want\n%s", got, tt.told)
			}
			if a.Stop != tt.stop {
				t.Errorf("stop: got %s, want %s", a.Stop, tt.stop)
			}
			if strings.Contains(tt.stream, "input_tokens") && a.Usage != (Usage{Input: 9, Output: 5, CacheRead: 4, Thought: 2}) {
				t.Errorf("usage: got %+v", a.Usage)
			}
		})
	}
}
