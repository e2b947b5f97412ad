package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestReadSpec(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"list", "## T. The tool\n\n- T1 A tool.\n- T2 Typed.\n", "T1 T2"},
		{"inside a line", "## I. Tools\n- I1 Files. I2 Shell with `ls`. I3 Background\n  processes. I4 Fetch.\n", "I1 I2 I3 I4"},
		{"paragraph", "## D. Dispatch\n- D1 A call.\n\n**X. Streaming.** X1 Calls. X2 Results. X3 A cut gives\nresult. X4 Discarding.\n", "D1 X1 X2 X3 X4"},
		{"cited in a sentence", "## B. Output\n- B1 A call. B3 is later.\n- B2 A process.\n  D2 ends here. B1 began it.\n- B3 Last.\n", "B1 B2 B3"},
		{"a gap in a list", "## Y. Program\n- Y1 File.\n- Y2 State. Y3 Address.\n- Y5 Exit.\n", "Y1 Y2 Y3 Y5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readSpec(strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

func TestReadSpecRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"# Nothing\n":                    `got no rule, want lines such as "- T1 …"`,
		"## T. Tool\n- T1 A.\n- T1 B.\n": "rule T1: stands there twice",
		"## T. Tool\n- S1 A.\n":          `rule S1: stands in section "T"`,
	} {
		if _, err := readSpec(strings.NewReader(in)); text(err) != want {
			t.Errorf("readSpec(%q): got %q, want %q", in, text(err), want)
		}
	}
}

// The real specification has rules in every form that readSpec knows.
func TestSpecOfThisRepository(t *testing.T) {
	f, err := os.Open("../../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rules, err := readSpec(f)
	if err != nil {
		t.Fatal(err)
	}
	for rule := range strings.FieldsSeq("T1 T16 S8 R11 L9 D9 X1 X4 P11 H6 O9 B3 G7 K4 N3 J5 Q4 C1 A7 M6 U3 I1 I5 Y2 Y3 Y4") {
		if !slices.Contains(rules, rule) {
			t.Errorf("docs/spec.md: %s not found in %v", rule, rules)
		}
	}
}

func TestReadBuilt(t *testing.T) {
	tests := []struct{ in, want, wantError string }{
		{"# all\nT1\n\n S2 # soon\n", "S2 T1", ""},
		{"T1\nT1\n", "", "line 2: T1 stands there twice"},
		{"T1 T2\n", "", `line 1: got "T1 T2", want a rule such as T1`},
	}
	for _, tt := range tests {
		got, err := readBuilt(strings.NewReader(tt.in))
		if s := strings.Join(sorted(got), " "); s != tt.want || text(err) != tt.wantError {
			t.Errorf("readBuilt(%q) = %q, %q, want %q, %q", tt.in, s, text(err), tt.want, tt.wantError)
		}
	}
}

func TestShown(t *testing.T) {
	tests := []struct {
		name    string
		verdict verdict
		want    string
	}{
		{"TestX/D5_siblings:_stop", passed, "D5=a: siblings: stop"},
		{"TestX/D5:_siblings", passed, "D5=a: siblings"},
		{"TestX/deep/T10_interrupt", passed, "T10=a: interrupt"},
		{"TestX/T10_interrupt/deep", passed, ""}, // its parent is counted
		{"TestX/D5_siblings", failed, ""},
		{"TestX/D5_siblings", skipped, ""},
		{"TestX/D5_siblings", unfinished, ""},
		{"TestX/D5siblings", passed, ""},
		{"TestD5_siblings", passed, ""},
	}
	for _, tt := range tests {
		s := &suite{packages: []*report{{
			result: result{name: "m/a", verdict: passed},
			tests:  []*result{{name: tt.name, verdict: tt.verdict}},
		}}}
		var got []string
		for rule, names := range s.shown() {
			got = append(got, rule+"="+strings.Join(names, "; "))
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s %q: shows %q, want %q", tt.name, tt.verdict, g, tt.want)
		}
	}
}

func TestCheckRules(t *testing.T) {
	spec := []string{"T1", "T2"}
	tests := []struct {
		name  string
		built map[string]bool
		shown map[string][]string
		want  string
	}{
		{"shown", map[string]bool{"T1": true}, map[string][]string{"T1": {"a"}}, ""},
		{"shown before it is built", nil, map[string][]string{"T1": {"a"}}, ""},
		{"not shown", map[string]bool{"T1": true}, nil, "T1: listed as built, but no passing subtest names it"},
		{"built, unknown", map[string]bool{"T3": true}, nil, "T3: listed as built, but the specification has no such rule"},
		{"shown, unknown", nil, map[string][]string{"T9": {"a: b"}}, `T9: named by "a: b", but the specification has no such rule`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(ruleBook{spec, tt.built}.faults(tt.shown)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPrintRules(t *testing.T) {
	var out bytes.Buffer
	ruleBook{[]string{"T1", "T10"}, map[string]bool{"T1": true}}.print(&out, map[string][]string{"T1": {"a: x", "b: y"}})
	if want := "* T1    2  a: x; b: y\n  T10   0\n"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}
