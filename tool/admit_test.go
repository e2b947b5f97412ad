package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestNotReady has the ways round Check that a program can compile.
func TestNotReady(t *testing.T) {
	def := untyped(pathSchema)
	for name, call := range map[string]func() (tool.Args, error){
		"T2 Admit":       func() (tool.Args, error) { return def.Admit(json.RawMessage(`{"path":"a"}`)) },
		"T2 AdmitMended": func() (tool.Args, error) { return def.AdmitMended(json.RawMessage(`{"path":"a",}`), schema.Repair) },
		"T2 Readmit":     func() (tool.Args, error) { return def.Readmit(tool.Args{}, json.RawMessage(`{"path":"a"}`)) },
	} {
		t.Run(name+" of a tool that nobody checked", func(t *testing.T) {
			args, err := call()
			e := tool.AsError(err)
			if args != (tool.Args{}) || e == nil || e.Kind != tool.Failed || e.Text != "The tool is not ready." {
				t.Fatalf("got %q, %+v", args.Text(), e)
			}
			if want := `tool "search": not made by Check, New or Spec.Tool`; e.Detail != want {
				t.Errorf("the operator reads %q, want %q", e.Detail, want)
			}
		})
	}
	t.Run("T2 CheckOutput of a tool that nobody checked", func(t *testing.T) {
		def.Output = json.RawMessage(`{"type":"object"}`)
		if err := def.CheckOutput(json.RawMessage(`{}`)); err == nil || err.Error() != `tool "search": not made by Check, New or Spec.Tool` {
			t.Errorf("CheckOutput = %v", err)
		}
	})
	t.Run("T2 nothing is admitted for it", func(t *testing.T) {
		if def.Admitted(tool.Args{}) || def.Admitted(admit(t, must(untyped(pathSchema).Check())(t), `{"path":"a"}`)) {
			t.Error("arguments count as checked, and no schema is there")
		}
	})
}

func TestReadmit(t *testing.T) {
	tl := searchTool(t)
	t.Run("L2 new arguments are checked, and what was received stays", func(t *testing.T) {
		old := must(tl.AdmitMended(json.RawMessage(`{"path":"a",}`), schema.Repair))(t)
		args := must(tl.Readmit(old, json.RawMessage(`{"path":"b"}`)))(t)
		if args.Text() != `{"path":"b"}` || args.Received() != `{"path":"a",}` || !reflect.DeepEqual(args.Mended(), old.Mended()) {
			t.Errorf("text %s, received %s, mended %q", args.Text(), args.Received(), args.Mended())
		}
		if old.Text() != `{"path":"a"}` {
			t.Errorf("the old ones became %s", old.Text())
		}
		if res := must(tl.Run(t.Context(), args))(t); res.String() != "b" {
			t.Errorf("it ran with %q", res)
		}
	})
	t.Run("L2 new arguments that do not fit are refused", func(t *testing.T) {
		old := admit(t, tl, `{"path":"a"}`)
		for _, input := range []string{`{"path":5}`, `{"path":"a",}`, `{"path":"a","path":"b"}`, ``, `[]`} {
			args, err := tl.Readmit(old, json.RawMessage(input))
			if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Kind != tool.InvalidInput || args != (tool.Args{}) {
				t.Errorf("%s: got %q, %v, want invalid_input", input, args.Text(), err)
			}
		}
	})
	t.Run("L2 where nothing was received, nothing is", func(t *testing.T) {
		if args := must(tl.Readmit(tool.Args{}, json.RawMessage(`{"path":"b"}`)))(t); args.Received() != "" || args.Text() != `{"path":"b"}` {
			t.Errorf("text %s, received %s", args.Text(), args.Received())
		}
	})
}

func TestAdmitted(t *testing.T) {
	tl := searchTool(t)
	args := admit(t, tl, `{"path":"a"}`)
	for _, tt := range []struct {
		name string
		by   *tool.Tool
		args tool.Args
		want bool
	}{
		{"S2 by this tool", tl, args, true},
		{"S2 by this tool, anew", tl, must(tl.Readmit(args, json.RawMessage(`{"path":"b"}`)))(t), true},
		{"S2 by this tool, mended", tl, must(tl.AdmitMended(json.RawMessage(`{"path":"b",}`), schema.Repair))(t), true},
		{"S2 by nobody", tl, tool.Args{}, false},
		{"S2 by another tool of the same definition", searchTool(t), args, false},
		{"S2 by the tool as it was before it was checked again", must(tl.Check())(t), args, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.by.Admitted(tt.args); got != tt.want {
				t.Errorf("Admitted = %v, want %v", got, tt.want)
			}
		})
	}
}

// writer has every kind of field that a value, passed by value, shares with
// another.
type writer struct {
	List []string       `json:"list"`
	Map  map[string]int `json:"map"`
	Ptr  *int           `json:"ptr"`
	Any  any            `json:"any"`
	Deep [1]lines       `json:"deep"`
}

type lines struct {
	Lines []int `json:"lines"`
}

const written = `{"list":["a"],"map":{"a":1},"ptr":1,"any":["a"],"deep":[{"lines":[1]}]}`

func (w writer) spoil() {
	w.List[0], w.Map["a"], *w.Ptr, w.Any.([]any)[0], w.Deep[0].Lines[0] = "spoiled", 666, 666, "spoiled", 666
}

func TestNobodyWritesForOthers(t *testing.T) {
	var got string
	run := func(_ context.Context, in writer) (string, error) {
		b, err := json.Marshal(in)
		got = string(b)
		in.spoil()
		return "", err
	}
	// Every function of a typed tool but Run, each writing to what it gets.
	s := reflect.New(reflect.TypeFor[tool.Spec[writer, string]]()).Elem()
	for f, v := range s.Fields() {
		if f.Type.Kind() != reflect.Func || f.Type.In(f.Type.NumIn()-1) != reflect.TypeFor[writer]() {
			continue
		}
		v.Set(reflect.MakeFunc(f.Type, func(args []reflect.Value) []reflect.Value {
			in, _ := reflect.TypeAssert[writer](args[len(args)-1])
			in.spoil()
			return zeros(f.Type)
		}))
	}
	spec := s.Interface().(tool.Spec[writer, string])
	spec.Info, spec.Run = info(), run
	tl := must(spec.Tool())(t)
	for name := range calls(t.Context(), tl, tool.Args{}) {
		t.Run("S2 what "+name+" does to its input changes nothing for Run", func(t *testing.T) {
			args := admit(t, tl, written)
			calls(t.Context(), tl, args)[name]()
			must(tl.Run(t.Context(), args))(t)
			if got != written {
				t.Errorf("Run got  %s\nadmitted %s", got, written)
			}
		})
	}
	t.Run("S2 a tool that only runs gets its input whole when it runs anew", func(t *testing.T) {
		tl := must(tool.New(info(), run))(t)
		args := admit(t, tl, written)
		for range 3 {
			must(tl.Run(t.Context(), args))(t)
			if got != written {
				t.Errorf("Run got  %s\nadmitted %s", got, written)
			}
		}
	})
	t.Run("S2 calls at once do not share their input", func(t *testing.T) {
		tl := must(tool.New(info(), func(_ context.Context, in writer) (string, error) {
			b, err := json.Marshal(in)
			in.spoil()
			return string(b), err
		}))(t)
		args := admit(t, tl, written)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if res, err := tl.Run(t.Context(), args); err != nil || res.String() != written {
					t.Errorf("Run got %s, %v, want %s", res, err, written)
				}
			})
		}
		wg.Wait()
	})
}

func TestIntact(t *testing.T) {
	tests := []struct {
		name string
		run  func(writer)
		want bool
	}{
		{"T2 it reads", func(w writer) { _ = w.List[0] }, true},
		{"T2 it writes to its own copy", func(w writer) { w.List = append(w.List[:0:0], "b"); _ = w.List }, true},
		{"T2 it writes what was there", func(w writer) { w.List[0], *w.Ptr = "a", 1 }, true},
		{"T2 it writes through a slice", func(w writer) { w.List[0] = "b" }, false},
		{"T2 it writes through a map", func(w writer) { w.Map["b"] = 1 }, false},
		{"T2 it writes through a pointer", func(w writer) { *w.Ptr = 2 }, false},
		{"T2 it writes far below", func(w writer) { w.Deep[0].Lines[0] = 2 }, false},
		{"T2 it writes through an interface", func(w writer) { w.Any.([]any)[0] = "b" }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tl := must(tool.New(info(), func(_ context.Context, in writer) (string, error) { tt.run(in); return "", nil }))(t)
			args := admit(t, tl, written)
			if !tl.Intact(args) {
				t.Error("not intact before anybody had them")
			}
			must(tl.Run(t.Context(), args))(t)
			if got := tl.Intact(args); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
	t.Run("T2 nobody's arguments, and those that nobody decoded, are intact", func(t *testing.T) {
		tl := must(untyped(`{"type":"object"}`).Check())(t)
		if !tl.Intact(tool.Args{}) || !tl.Intact(admit(t, tl, `{"a":[1]}`)) {
			t.Error("got false, want true")
		}
	})
	t.Run("T2 a value that is decoded to another each time says nothing", func(t *testing.T) {
		type in struct {
			At *stamp `json:"at"`
		}
		tl := must(tool.New(info(), func(context.Context, in) (string, error) { return "", nil }))(t)
		args := admit(t, tl, `{"at":"now"}`)
		must(tl.Run(t.Context(), args))(t)
		if !tl.Intact(args) {
			t.Error("got false, want true")
		}
	})
}

// stamp is decoded to another value each time.
type stamp struct{ n int64 }

var stamps atomic.Int64

func (s *stamp) UnmarshalText([]byte) error {
	s.n = stamps.Add(1)
	return nil
}

func (s *stamp) MarshalText() ([]byte, error) { return nil, nil }

// TestWritableTypes has each kind alone: one of them in a type is enough.
func TestWritableTypes(t *testing.T) {
	type list struct{ V []int }
	t.Run("S2 a list", runsAnew(`{"V":[1]}`, func(in list) { in.V[0] = 666 }))
	t.Run("S2 a map", runsAnew(`{"V":{"a":1}}`, func(in struct{ V map[string]int }) { in.V["a"] = 666 }))
	t.Run("S2 a map alone", runsAnew(`{"a":1}`, func(in map[string]int) { in["a"] = 666 }))
	t.Run("S2 a pointer", runsAnew(`{"V":1}`, func(in struct{ V *int }) { *in.V = 666 }))
	t.Run("S2 anything", runsAnew(`{"V":[1]}`, func(in struct{ V any }) { in.V.([]any)[0] = 666 }))
	t.Run("S2 an array of lists", runsAnew(`{"V":[[1]]}`, func(in struct{ V [1][]int }) { in.V[0][0] = 666 }))
	t.Run("S2 a struct within", runsAnew(`{"A":"a","V":{"V":[1]}}`, func(in struct {
		A string
		V list
	},
	) {
		in.V.V[0] = 666
	}))
}

// runsAnew runs a tool that spoils its input a second time.
func runsAnew[In any](input string, spoil func(In)) func(*testing.T) {
	return func(t *testing.T) {
		tl := must(tool.New(info(), func(_ context.Context, in In) (string, error) {
			b, err := json.Marshal(in)
			spoil(in)
			return string(b), err
		}))(t)
		args := admit(t, tl, input)
		for range 2 {
			if res := must(tl.Run(t.Context(), args))(t); res.String() != input {
				t.Errorf("Run got %s, want %s", res, input)
			}
		}
	}
}

// calls are the functions of a tool that take the arguments of a call.
func calls(ctx context.Context, tl *tool.Tool, args tool.Args) map[string]func() {
	all := map[string]func(){}
	for f, v := range reflect.ValueOf(*tl).Fields() {
		if !f.IsExported() || f.Type.Kind() != reflect.Func || v.IsNil() || f.Type.In(f.Type.NumIn()-1) != reflect.TypeFor[tool.Args]() {
			continue
		}
		in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(args)}
		all[f.Name] = func() { v.Call(in[2-f.Type.NumIn():]) }
	}
	return all
}

// zeros are what a function of type t returns when it has nothing to say.
func zeros(t reflect.Type) (all []reflect.Value) {
	for out := range t.Outs() {
		all = append(all, reflect.Zero(out))
	}
	return all
}

func TestMend(t *testing.T) {
	tl := searchTool(t)
	to := func(text string, changes ...string) mend {
		return func(string) (string, []string, error) { return text, changes, nil }
	}
	t.Run("S8 broken text is mended, and what was changed is kept", func(t *testing.T) {
		args := must(tl.AdmitMended(json.RawMessage(`{'path':'a'}`), to(`{"path":"a"}`, "quotes")))(t)
		if args.Text() != `{"path":"a"}` || args.Received() != `{'path':'a'}` || !reflect.DeepEqual(args.Mended(), []string{"quotes"}) {
			t.Errorf("text %s, received %s, mended %q", args.Text(), args.Received(), args.Mended())
		}
		if res := must(tl.Run(t.Context(), args))(t); res.String() != "a" {
			t.Errorf("the tool got %q", res)
		}
	})
	t.Run("S8 by rules", func(t *testing.T) {
		args := must(tl.AdmitMended(json.RawMessage(`{"path":"a",}`), schema.Repair))(t)
		if args.Text() != `{"path":"a"}` || len(args.Mended()) != 1 {
			t.Errorf("text %s, mended %q", args.Text(), args.Mended())
		}
	})
	t.Run("S8 off by default", func(t *testing.T) {
		if e := refused(t, tl, `{"path":"a",}`); !strings.Contains(e.Text, "not valid JSON") {
			t.Errorf("got %s", e.Text)
		}
	})
	t.Run("S8 text that is JSON is not mended", func(t *testing.T) {
		for _, input := range []string{`{"path":"a"}`, `{"path":5}`, ` `} {
			_, _ = tl.AdmitMended(json.RawMessage(input), func(string) (string, []string, error) {
				t.Errorf("%q went to be mended", input)
				return "", nil, nil
			})
		}
	})
	t.Run("S8 once", func(t *testing.T) {
		n := 0
		_, err := tl.AdmitMended(json.RawMessage(`{`), func(string) (string, []string, error) { n++; return `{"path"`, nil, nil })
		if err == nil || n != 1 {
			t.Errorf("mended %d times: %v", n, err)
		}
	})
	for _, tt := range []struct {
		name string
		mend mend
		want string
	}{
		{"S8 what was mended passes every check", to(`{"pth":"a"}`), `InputValidationError: (root): got unknown "pth", want only "at", "count", "limit", "path", "small", "tags" ("pth": did you mean "path"?); (root): got no "path", want "path" (string)`},
		{"S8 what was mended has no duplicate keys", to(`{"path":"a","path":"b"}`), `InputValidationError: the arguments are not valid JSON: the text ends too early (not closed, or cut off) at byte 1 (line 1, column 2)`},
		{"S8 what was mended is an object", to(`[]`), `InputValidationError: (root): got array of 0 items, want object`},
		{"S8 what cannot be mended has its own error", func(string) (string, []string, error) { return `{"path":"a"}`, nil, errBroken }, `InputValidationError: the arguments are not valid JSON: the text ends too early (not closed, or cut off) at byte 1 (line 1, column 2)`},
		{"L6 a repair that panics has mended nothing", func(string) (string, []string, error) { panic("broken") }, `InputValidationError: the arguments are not valid JSON: the text ends too early (not closed, or cut off) at byte 1 (line 1, column 2)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tl.AdmitMended(json.RawMessage(`{`), tt.mend)
			var e *tool.Error
			if !errors.As(err, &e) || e.Kind != tool.InvalidInput || e.Text != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	t.Run("S8 the list of changes is a copy", func(t *testing.T) {
		args := must(tl.AdmitMended(json.RawMessage(`{`), to(`{"path":"a"}`, "one", "two")))(t)
		args.Mended()[0] = "spoiled"
		if got := args.Mended(); !reflect.DeepEqual(got, []string{"one", "two"}) {
			t.Errorf("mended = %q", got)
		}
	})
	t.Run("S8 who mended cannot change the list later", func(t *testing.T) {
		changes := []string{"one"}
		args := must(tl.AdmitMended(json.RawMessage(`{`), to(`{"path":"a"}`, changes...)))(t)
		changes[0] = "spoiled"
		if got := args.Mended(); !reflect.DeepEqual(got, []string{"one"}) {
			t.Errorf("mended = %q", got)
		}
	})
}

// mend is the form of a function that repairs text.
type mend = func(text string) (mended string, changes []string, err error)
