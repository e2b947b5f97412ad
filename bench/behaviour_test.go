package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		os.Exit(runChild(context.Background(), task, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// behaviours is what each peer does, in the order of faults.
var behaviours = map[string][]string{
	"Ferrule": {
		"result is an error, others kept",
		"result is an error, others kept",
		"result is an error, others kept",
		"result is an error, others kept",
		"result is an error, others kept",
		"in order of the calls",
		"one after the other",
		"all run, two results with one id",
		"none left",
		"every call has a result, after 10 s",
		"gives it up after 11 s: every call has a result",
	},
	"eino": {
		"panics in the caller",
		"error instead of all results (3 calls ran)",
		"error instead of all results (3 calls ran)",
		"error instead of all results (0 calls ran)",
		"runs without the argument",
		"in order of the calls",
		"overlap",
		"all run, two results with one id",
		"none left",
		"error instead of all results (3 calls ran)",
		"waits for the call",
	},
	"eino chain": {
		"error instead of all results (3 calls ran)",
		"error instead of all results (3 calls ran)",
		"error instead of all results (3 calls ran)",
		"error instead of all results (0 calls ran)",
		"runs without the argument",
		"in order of the calls",
		"overlap",
		"all run, two results with one id",
		"none left",
		"error instead of all results (3 calls ran)",
		"waits for the call",
	},
	"genkit": {
		"process dies",
		"process dies",
		"error instead of all results (3 calls ran)",
		"error instead of all results (2 calls ran)",
		"error instead of all results (2 calls ran)",
		"in order of completion",
		"overlap",
		"all run, two results with one id",
		"2 calls still run at return, 2 goroutines never end",
		"error instead of all results (3 calls ran)",
		"waits for the call",
	},
	"langchaingo": {
		"panics in the caller",
		"panics in the caller",
		"error instead of all results (2 calls ran)",
		"result is an error, others kept",
		"runs without the argument",
		"in order of the calls",
		"one after the other",
		"all run, two results with one id",
		"none left",
		"error instead of all results (2 calls ran)",
		"waits for the call",
	},
	"adk": {
		"result is an error with a stack trace, others kept",
		"result is an error with a stack trace, others kept",
		"result is an error, others kept",
		"error instead of all results (1 call ran)",
		"result is an error, others kept",
		"in order of the calls",
		"one after the other",
		"all run, two results with one id",
		"none left",
		"every call has a result",
		"waits for the call",
	},
}

func TestBehaviour(t *testing.T) {
	for _, p := range peers() {
		want := behaviours[p.name]
		if len(want) != len(faults()) {
			t.Errorf("%s: behaviours has %d phrases, want %d", p.name, len(want), len(faults()))
			continue
		}
		for i, f := range faults() {
			t.Run(p.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				got, err := observe(t.Context(), p, f)
				if err != nil {
					t.Fatal(err)
				}
				if got != want[i] {
					t.Errorf("got %q, want %q", got, want[i])
				}
			})
		}
	}
}

// shown is a turn that was run.
type shown []result

func (shown) Run(context.Context) error { return nil }

func (s shown) Results() []result { return s }

func TestVerdict(t *testing.T) {
	good := func(id, path string) result { return result{id, `{"path":"` + path + `","count":1,"done":true}`} }
	for _, tt := range []struct {
		name    string
		results shown
		wrong   []int
		want    string
	}{
		{"both as they should be", shown{good("call_1", "1"), {"call_2", "no such file"}}, []int{1}, "fine: an error"},
		{"in another order", shown{{"call_2", `{"error":"x"}`}, good("call_1", "1")}, []int{1}, "fine: an error"},
		{"with the stack", shown{good("call_1", "1"), {"call_2", "panic\ngoroutine 7 [running]"}}, []int{1}, "fine: an error with a stack trace"},
		{"one is missing", shown{good("call_1", "1")}, []int{1}, "1 results for 2 calls"},
		{"a failure looks like a reply", shown{good("call_1", "1"), good("call_2", "2")}, []int{1}, "taken for a success"},
		{"replies are exchanged", shown{good("call_1", "2"), good("call_2", "1")}, nil, "a reply is lost"},
		{"an error for a good call", shown{{"call_1", "sorry"}, {"call_2", "no such file"}}, []int{1}, "a reply is lost"},
	} {
		s := scene{turn: tt.results}
		s.ask("search", "search")
		if got := s.verdict("fine: an error", tt.wrong...); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		scene *scene
		want  string
	}{
		{&scene{recovered: "x"}, "panics in the caller"},
		{&scene{err: errTool}, "error instead of all results (0 calls ran)"},
	} {
		if got := tt.scene.verdict(""); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// The way to a child is tried with tasks that end at once.
func TestChild(t *testing.T) {
	for _, tt := range []struct{ task, want string }{
		{"nobody", `got the peer "nobody", want a known one`},
		{"eino/nothing", `got the fault "nothing", want a known one`},
	} {
		text, err := inChild(t.Context(), tt.task)
		if err == nil || errors.Is(err, errPanicked) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %q and the error %v, want %q", tt.task, text, err, tt.want)
		}
	}
}
