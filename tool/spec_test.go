package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

// define makes a typed tool that does nothing, for what it says about its
// types.
func define[In, Out any]() (*tool.Tool, error) {
	return tool.New(info(), func(context.Context, In) (Out, error) { return *new(Out), nil })
}

// stars writes itself, but only where it can be pointed to.
type stars struct{ N int }

func (s *stars) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Repeat("*", s.N)) }

// hidden has what JSON cannot hold where JSON does not look.
type hidden struct {
	A int
	B chan int `json:"-"`
	c func()   //nolint:unused // it is there to be left out
}

// chain contains itself.
type chain struct{ Next []chain }

type answer struct {
	Count int      `json:"count"`
	Names []string `json:"names"`
}

func TestInferredSchemas(t *testing.T) {
	type level string
	const (
		none   = `{"type":"object","properties":{}}`
		counts = `{"type":"object","properties":{"count":{"type":"integer"},"names":{"type":["array","null"],"items":{"type":"string"}}},"required":["count","names"]}`
	)
	for _, tt := range []struct {
		name          string
		make          func() (*tool.Tool, error)
		input, output string
	}{
		{"T2 a struct in, a string out", define[search, string], `{"type":"object","properties":{"path":{"type":"string","description":"where to look"},"limit":{"type":"integer"},"small":{"type":"integer","minimum":-128,"maximum":127},"count":{"type":"integer","minimum":0},"tags":{"type":"array","items":{"type":"string"}},"at":{"type":"object","properties":{"line":{"type":"integer"}},"required":["line"]}},"required":["path"]}`, ``},
		{"T2 nothing in, a struct out", define[struct{}, answer], none, counts},
		{"T2 a map out", define[struct{}, map[string]int], none, `{"type":["object","null"],"additionalProperties":{"type":"integer"}}`},
		{"T2 a reply with a struct out", define[struct{}, tool.Reply[answer]], none, counts},
		{"T2 a reply with a string out", define[struct{}, tool.Reply[string]], none, ``},
		{"T2 a named string out", define[struct{}, level], none, ``},
		{"T2 a number out", define[struct{}, float64], none, ``},
		{"T2 a list out", define[struct{}, []answer], none, ``},
		{"T2 anything out", define[struct{}, any], none, ``},
		{"T2 nothing out", define[struct{}, struct{}], none, ``},
		{"T2 a result out", define[struct{}, tool.Result], none, ``},
		{"T2 content out", define[struct{}, tool.Content], none, ``},
		{"T2 contents out", define[struct{}, []tool.Content], none, ``},
		{"T2 a pointer to a struct out is a struct out", define[struct{}, *answer], none, counts},
		{"T2 a pointer to a reply out is a reply out", define[struct{}, *tool.Reply[answer]], none, counts},
		{"T2 a reply with a pointer out", define[struct{}, tool.Reply[*answer]], none, counts},
		{"T2 a pointer to a result out", define[struct{}, *tool.Result], none, ``},
		{"T2 a pointer to content out", define[struct{}, *tool.Content], none, ``},
		{"T2 a type that writes itself", define[struct{}, badJSON], none, ``},
		{"T2 a pointer to a type that writes itself", define[struct{}, *big.Int], none, `{}`},
		{"T2 a type whose pointer writes itself", define[struct{}, stars], none, `{}`},
		{"T2 a list of what JSON leaves out", define[struct{}, []hidden], none, ``},
		{"T2 a list of what contains itself", define[struct{}, []chain], none, ``},
		{"T2 a list with keys that write themselves", define[struct{}, []map[time.Time]time.Time], none, ``},
		{"T2 a map in", define[map[string]int, string], `{"type":"object","additionalProperties":{"type":"integer"}}`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tl := must(tt.make())(t)
			if string(tl.Input) != tt.input {
				t.Errorf("input\ngot  %s\nwant %s", tl.Input, tt.input)
			}
			if string(tl.Output) != tt.output {
				t.Errorf("output\ngot  %s\nwant %s", tl.Output, tt.output)
			}
		})
	}
	t.Run("T2 a schema that is given beats the inferred one", func(t *testing.T) {
		i := info()
		i.Input = json.RawMessage(`{"type":"object","properties":{"path":{"enum":["a","b"]}},"required":["path"]}`)
		i.Output = json.RawMessage(`{"type":"object"}`)
		tl := must(tool.New(i, func(_ context.Context, in search) (answer, error) { return answer{}, nil }))(t)
		if string(tl.Input) != string(i.Input) || string(tl.Output) != string(i.Output) {
			t.Errorf("input %s, output %s", tl.Input, tl.Output)
		}
		admit(t, tl, `{"path":"b"}`)
		if got, want := refused(t, tl, `{"path":"c"}`).Text, `InputValidationError: /path: got string "c", want one of "a", "b"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("T2 a schema that says less than the type: the type refuses in words", func(t *testing.T) {
		i := info()
		i.Input = json.RawMessage(`{"type":"object"}`)
		tl := must(tool.New(i, func(_ context.Context, in search) (string, error) { return "", nil }))(t)
		for input, want := range map[string]string{
			`{"small":300}`:       `InputValidationError: /small: got number 300, want a whole number of 8 bits`,
			`{"small":3e2}`:       `InputValidationError: /small: got number 3e2, want a whole number of 8 bits`,
			`{"count":-1}`:        `InputValidationError: /count: got number -1, want a whole number from 0, of 64 bits`,
			`{"limit":1.5}`:       `InputValidationError: /limit: got number 1.5, want a whole number of 64 bits`,
			`{"tags":["a",true]}`: `InputValidationError: /tags/1: got boolean true, want a string`,
		} {
			if got := refused(t, tl, input).Text; got != want {
				t.Errorf("%s\ngot  %s\nwant %s", input, got, want)
			}
		}
	})
}

func TestTypesWithoutSchema(t *testing.T) {
	type twice struct {
		A int `json:"B"`
		B int
	}
	for _, tt := range []struct {
		name string
		make func() (*tool.Tool, error)
		want string // what the error ends in
	}{
		{"T2 a channel", define[struct{ F chan int }, string], `.F: chan int has no JSON form`},
		{"T2 a function", define[struct{ F func() }, string], `.F: func() has no JSON form`},
		{"T2 a complex number", define[struct{ F complex128 }, string], `.F: complex128 has no JSON form`},
		{"T2 an interface with methods", define[struct{ F fmt.Stringer }, string], `.F: fmt.Stringer has no JSON form`},
		{"T2 struct keys", define[struct{ F map[struct{ A int }]int }, string], `.F: map[struct { A int }]int: keys must be strings or integers`},
		{"T2 a duration", define[struct{ F time.Duration }, string], `.F: time.Duration has no JSON form: use a number and say the unit in its name`},
		{"T2 a duration further down", define[struct{ F []map[string]*time.Duration }, string], `.F[]{}: time.Duration has no JSON form: use a number and say the unit in its name`},
		{"T2 a number that may be any", define[struct{ F json.Number }, string], `.F: json.Number has no single JSON form here: use float64 or json.RawMessage`},
		{"T2 an array of bytes", define[struct{ F [4]byte }, string], `.F: [4]uint8 has no single JSON form: use []byte`},
		{"T2 two fields with one name", define[twice, string], `tool_test.twice: two fields are called "B"`},
		{"T2 an unknown jsonschema keyword", define[struct {
			F int `jsonschema:"minimumm=5"`
		}, string], `.F: jsonschema tag: unknown keyword "minimumm" (a comma inside a value is written \\,)`},
		{"T2 a bound that is no number", define[struct {
			F int `jsonschema:"minimum=low"`
		}, string], `.F: jsonschema tag minimum=low: want a number`},
		{"T2 an unknown json option", define[struct {
			F int `json:"f,omitemtpy"` //nolint:staticcheck // the mistake is what is tested
		}, string], `.F: json tag option "omitemtpy": want omitempty, omitzero or string`},
		{"T2 a string in", define[string, string], `input schema: got type "string" at the root, want "object"`},
		{"T2 a number in", define[int, string], `input schema: got type "integer" at the root, want "object"`},
		{"T2 a list in", define[[]search, string], `input schema: got type "array" at the root, want "object"`},
		{"T2 a time in", define[time.Time, string], `input schema: got type "string" at the root, want "object"`},
		{"T2 an error in", define[error, string], `input: infer: error: error has no JSON form`},
		{"T2 a channel in", define[chan int, string], `input: infer: chan int: chan int has no JSON form`},
		{"T2 a channel out", define[search, struct{ F chan int }], `output: infer: struct { F chan int }.F: chan int has no JSON form`},
		{"T2 a channel out by itself", define[search, chan int], `output: chan int: chan int has no JSON form`},
		{"T2 a pointer to a function out", define[search, *func()], `output: func(): func() has no JSON form`},
		{"T2 a list of complex numbers out", define[search, [][2]complex64], `output: [][2]complex64: complex64 has no JSON form`},
		{"T2 a list of structs with a channel out", define[search, []struct{ F *chan int }], `output: []struct { F *chan int }: chan int has no JSON form`},
		{"T2 a list of maps whose keys JSON cannot hold", define[search, []map[float64]int], `output: []map[float64]int: map[float64]int has no JSON form`},
		{"T2 a function in a reply", define[search, tool.Reply[func()]], `output: func(): func() has no JSON form`},
		{"T2 a channel out, whatever schema is given", func() (*tool.Tool, error) {
			i := info()
			i.Output = json.RawMessage(`{}`)
			return tool.New(i, func(context.Context, search) (out struct{ F chan int }, _ error) { return out, nil })
		}, `output: struct { F chan int }: chan int has no JSON form`},
		{"T2 a channel in a reply", define[search, tool.Reply[struct{ F func() }]], `output: infer: struct { F func() }.F: func() has no JSON form`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tl, err := tt.make()
			if err == nil || tl != nil {
				t.Fatalf("got %v, %v, want it refused", tl, err)
			}
			if s := err.Error(); !strings.HasPrefix(s, `tool "search": `) || !strings.HasSuffix(s, tt.want) {
				t.Errorf("got  %s\nwant it to name the tool and to end in %s", s, tt.want)
			}
		})
	}
	t.Run("T1 no function", func(t *testing.T) {
		if _, err := tool.New[search, string](info(), nil); err == nil || err.Error() != `tool "search": no Run function` {
			t.Errorf("New = %v", err)
		}
		if _, err := (tool.Spec[search, string]{Info: info()}).Tool(); err == nil || err.Error() != `tool "search": no Run function` {
			t.Errorf("Tool() = %v", err)
		}
	})
	t.Run("T8 an example that the inferred schemas refuse", func(t *testing.T) {
		run := func(context.Context, search) (answer, error) { return answer{}, nil }
		for want, e := range map[string]tool.Example{
			``: {Input: json.RawMessage(`{"path":"a"}`), Output: json.RawMessage(`{"count":1,"names":[]}`)},
			`tool "search": example 1: input: invalid_input: InputValidationError: (root): got no "path", want "path" (string)`: {Input: json.RawMessage(`{}`)},
			`tool "search": example 1: output: /count: got string "1", want integer`:                                            {Input: json.RawMessage(`{"path":"a"}`), Output: json.RawMessage(`{"count":"1","names":[]}`)},
		} {
			i := info()
			i.Examples = []tool.Example{e}
			got := ""
			if _, err := tool.New(i, run); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	})
}

func TestTypedRun(t *testing.T) {
	image := tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: []byte{1}}
	type level string
	for _, tt := range []struct {
		name string
		make func() (*tool.Tool, error)
		want []tool.Content
	}{
		{"O2 a string stays as it is", returns(`<a> "b"`), []tool.Content{tool.Text(`<a> "b"`)}},
		{"O2 a named string too", returns(level("high")), []tool.Content{tool.Text("high")}},
		{"O2 no output", returns(""), nil},
		{"O2 a struct without fields", returns(struct{}{}), nil},
		{"O2 a struct becomes JSON", returns(answer{Count: 1}), []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"count":1,"names":null}`)}}},
		{"O2 a number becomes JSON", returns(1.5), []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`1.5`)}}},
		{"O2 a list becomes JSON", returns([]string{"a"}), []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`["a"]`)}}},
		{"T2 a block", returns(image), []tool.Content{image}},
		{"T2 blocks", returns([]tool.Content{tool.Text("a"), image}), []tool.Content{tool.Text("a"), image}},
		{"T2 a result", returns(tool.Result{Content: []tool.Content{image}}), []tool.Content{image}},
		{"T2 blocks beside a value", returns(tool.Reply[answer]{Value: answer{Count: 2}, Content: []tool.Content{image}}), []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"count":2,"names":null}`)}, image}},
		{"T2 blocks beside a string", returns(tool.Reply[string]{Value: "two", Content: []tool.Content{image}}), []tool.Content{tool.Text("two"), image}},
		{"T2 blocks beside nothing", returns(tool.Reply[string]{Content: []tool.Content{image}}), []tool.Content{image}},
		{"T2 a reply without blocks", returns(tool.Reply[string]{Value: "two"}), []tool.Content{tool.Text("two")}},
		{"T2 an empty reply", returns(tool.Reply[struct{}]{}), nil},
		{"T2 a result by pointer", returns(&tool.Result{Content: []tool.Content{image}}), []tool.Content{image}},
		{"T2 no result by pointer", returns((*tool.Result)(nil)), nil},
		{"T2 a block by pointer", returns(&image), []tool.Content{image}},
		{"T2 no block by pointer", returns((*tool.Content)(nil)), nil},
		{"T2 a reply by pointer", returns(&tool.Reply[answer]{Value: answer{Count: 2}, Content: []tool.Content{image}}), []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"count":2,"names":null}`)}, image}},
		{"T2 no reply by pointer", returns((*tool.Reply[answer])(nil)), nil},
		{"T2 a reply as anything", returns[any](tool.Reply[string]{Value: "two", Content: []tool.Content{image}}), []tool.Content{tool.Text("two"), image}},
		{"T2 a result as anything", returns[any](&tool.Result{Content: []tool.Content{image}}), []tool.Content{image}},
		{"T2 nothing as anything", returns[any](nil), nil},
		{"O2 a struct by pointer", returns(&answer{Count: 1}), []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"count":1,"names":null}`)}}},
		{"O2 no struct by pointer", returns((*answer)(nil)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tl := must(tt.make())(t)
			res := must(tl.Run(t.Context(), admit(t, tl, `{}`)))(t)
			if !reflect.DeepEqual(res.Content, tt.want) {
				t.Errorf("content = %+v, want %+v", res.Content, tt.want)
			}
			for _, c := range res.Content {
				if c.Type != tool.JSONContent {
					continue
				}
				if err := tl.CheckOutput(c.JSON); err != nil {
					t.Errorf("the inferred output schema refuses %s: %v", c.JSON, err)
				}
			}
		})
	}
	t.Run("O2 a value that JSON cannot hold is invalid_output", func(t *testing.T) {
		tl := must(returns(math.NaN())())(t)
		_, err := tl.Run(t.Context(), admit(t, tl, `{}`))
		if e := tool.AsError(err); e.Kind != tool.InvalidOutput {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O2 a result inside a reply is invalid_output", func(t *testing.T) {
		tl := must(returns(tool.Reply[*tool.Result]{Value: &tool.Result{}})())(t)
		_, err := tl.Run(t.Context(), admit(t, tl, `{}`))
		if e := tool.AsError(err); e == nil || e.Kind != tool.InvalidOutput {
			t.Errorf("got %v", err)
		}
	})
	t.Run("L7 an error beside a pointer", func(t *testing.T) {
		logs := []tool.Content{tool.Text("the log")}
		for _, tt := range []struct {
			out  any
			want []tool.Content
		}{
			{&tool.Reply[answer]{Content: logs}, logs},
			{(*tool.Reply[answer])(nil), nil},
			{&tool.Result{Content: logs}, logs},
			{(*tool.Result)(nil), nil},
			{(*answer)(nil), nil},
			{&answer{}, nil},
			{nil, nil},
		} {
			tl := must(tool.New(info(), func(context.Context, struct{}) (any, error) { return tt.out, errBroken }))(t)
			res, err := tl.Run(t.Context(), admit(t, tl, `{}`))
			if !errors.Is(err, errBroken) || !sameResult(res, tool.Result{Content: tt.want}) {
				t.Errorf("%T: Run = %+v, %v", tt.out, res, err)
			}
		}
	})
	t.Run("T2 a result keeps all that it says", func(t *testing.T) {
		web := tool.Web
		want := tool.Result{Content: []tool.Content{image}, Err: &tool.Error{Kind: tool.Failed}, Trust: &web}
		for _, make := range []func() (*tool.Tool, error){returns(want), returns(&want)} {
			tl := must(make())(t)
			if res := must(tl.Run(t.Context(), admit(t, tl, `{}`)))(t); !sameResult(res, want) {
				t.Errorf("Run = %+v, want %+v", res, want)
			}
		}
	})
	t.Run("L7 an error is the tool's own, and blocks beside it stay", func(t *testing.T) {
		tl := must(tool.New(info(), func(context.Context, struct{}) (tool.Reply[answer], error) {
			return tool.Reply[answer]{Value: answer{Count: 5}, Content: []tool.Content{tool.Text("the log")}}, errBroken
		}))(t)
		res, err := tl.Run(t.Context(), admit(t, tl, `{}`))
		if !errors.Is(err, errBroken) || !reflect.DeepEqual(res.Content, []tool.Content{tool.Text("the log")}) {
			t.Errorf("Run = %+v, %v", res, err)
		}
	})
	t.Run("T2 arguments of another tool are an error, not a panic", func(t *testing.T) {
		tl := must(returns("x")())(t)
		for _, a := range []tool.Args{{}, admit(t, searchTool(t), `{"path":"a"}`), admit(t, must(untyped(`{}`).Check())(t), `{}`)} {
			if _, err := tl.Run(t.Context(), a); err == nil {
				t.Errorf("it ran with %s of another", a.Text())
			}
		}
	})
	t.Run("T2 a type that contains itself", func(t *testing.T) {
		type node struct {
			Name string  `json:"name"`
			Kids []*node `json:"kids,omitempty"`
		}
		var got node
		tl := must(tool.New(info(), func(_ context.Context, in node) (string, error) { got = in; return "", nil }))(t)
		must(tl.Run(t.Context(), admit(t, tl, `{"name":"a","kids":[{"name":"b"},null]}`)))(t)
		if want := (node{"a", []*node{{Name: "b"}, nil}}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		e := refused(t, tl, `{"name":"a","kids":[{"name":"b","kids":[{"name":5}]}]}`)
		if want := "InputValidationError: /kids/0/kids/0/name: got number 5, want string"; e.Text != want {
			t.Errorf("got %s, want %s", e.Text, want)
		}
	})
}

// returns makes a tool that returns v.
func returns[Out any](v Out) func() (*tool.Tool, error) {
	return func() (*tool.Tool, error) {
		return tool.New(info(), func(context.Context, struct{}) (Out, error) { return v, nil })
	}
}

func TestTypedFunctions(t *testing.T) {
	s := tool.Spec[search, string]{
		Info: info(),
		Run:  func(_ context.Context, in search) (string, error) { return in.Path, nil },
		Validate: func(_ context.Context, in search) (json.RawMessage, error) {
			switch in.Path {
			case "bad":
				return nil, errBroken
			case "mend":
				return json.RawMessage(`{"path":"mended"}`), nil
			}
			return nil, nil
		},
		Permit: func(_ context.Context, in search) (tool.Decision, error) {
			if in.Path == "bad" {
				return tool.Decision{}, errBroken
			}
			return tool.Decision{Verdict: tool.Ask, Reason: in.Path, Rule: "r1", Message: "Ask first.", Override: true}, nil
		},
		AskIf:        func(_ context.Context, in search) (bool, error) { return in.Limit > 10, failing(in) },
		AskReasonOf:  func(_ context.Context, in search) (string, error) { return "may it read " + in.Path, failing(in) },
		RejectTextOf: func(_ context.Context, in search) (string, error) { return "not " + in.Path, failing(in) },
		Preview:      func(_ context.Context, in search) (string, error) { return "grep " + in.Path, failing(in) },
		Facts: func(in search) (tool.Facts, error) {
			return tool.Facts{Paths: []string{in.Path}, Commands: [][]string{{"grep", in.Path}}}, failing(in)
		},
		Scopes: func(in search) ([]string, error) { return []string{in.Path, "*"}, failing(in) },
		Key:    func(_ context.Context, in search) (string, error) { return "key-" + in.Path, failing(in) },
		DescriptionOf: func(_ context.Context, c tool.Caller) (string, error) {
			return "for " + c.Principal, nil
		},
		InputOf: func(context.Context, tool.Caller) (json.RawMessage, error) { return json.RawMessage(pathSchema), nil },
	}
	tl := must(s.Tool())(t)
	ctx := t.Context()
	good, bad := admit(t, tl, `{"path":"/a","limit":11}`), admit(t, tl, `{"path":"bad"}`)
	mend := admit(t, tl, `{"path":"mend"}`)

	for _, tt := range []struct {
		name string
		call func(tool.Args) (any, error)
		want any
	}{
		{"T12 Permit", func(a tool.Args) (any, error) { return tl.Permit(ctx, a) }, tool.Decision{Verdict: tool.Ask, Reason: "/a", Rule: "r1", Message: "Ask first.", Override: true}},
		{"T13 AskIf", func(a tool.Args) (any, error) { return tl.AskIf(ctx, a) }, true},
		{"T13 AskReasonOf", func(a tool.Args) (any, error) { return tl.AskReasonOf(ctx, a) }, "may it read /a"},
		{"T13 RejectTextOf", func(a tool.Args) (any, error) { return tl.RejectTextOf(ctx, a) }, "not /a"},
		{"T14 Preview", func(a tool.Args) (any, error) { return tl.Preview(ctx, a) }, "grep /a"},
		{"T14 Facts", func(a tool.Args) (any, error) { return tl.Facts(a) }, tool.Facts{Paths: []string{"/a"}, Commands: [][]string{{"grep", "/a"}}}},
		{"T14 Scopes", func(a tool.Args) (any, error) { return tl.Scopes(a) }, []string{"/a", "*"}},
		{"T15 Key", func(a tool.Args) (any, error) { return tl.Key(ctx, a) }, "key-/a"},
		{"T11 Validate keeps the input", func(a tool.Args) (any, error) { return tl.Validate(ctx, a) }, json.RawMessage(nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.call(good); err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
			if _, err := tt.call(bad); !errors.Is(err, errBroken) {
				t.Errorf("its own error became %v", err)
			}
			if got, err := tt.call(tool.Args{}); err == nil {
				t.Errorf("without arguments it said %+v", got)
			}
		})
	}
	t.Run("T11 Validate corrects the input, which is admitted anew", func(t *testing.T) {
		corrected := must(tl.Validate(ctx, mend))(t)
		again := must(tl.Readmit(mend, corrected))(t)
		if res := must(tl.Run(ctx, again))(t); res.String() != "mended" || again.Received() != `{"path":"mend"}` {
			t.Errorf("it ran with %q, received %s", res, again.Received())
		}
		if mend.Text() != `{"path":"mend"}` {
			t.Errorf("the first input became %s", mend.Text())
		}
	})
	t.Run("T7 description and schema of a session", func(t *testing.T) {
		text := must(tl.DescriptionOf(ctx, tool.Caller{Principal: "ann"}))(t)
		input := must(tl.InputOf(ctx, tool.Caller{}))(t)
		if text != "for ann" || string(input) != pathSchema || tl.Description != info().Description {
			t.Errorf("got %q, %s, static %q", text, input, tl.Description)
		}
	})
	t.Run("T1 what is not given stays not given", func(t *testing.T) {
		plain := searchTool(t)
		v := reflect.ValueOf(*plain)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type.Kind() == reflect.Func && f.IsExported() && f.Name != "Run" && !v.Field(i).IsNil() {
				t.Errorf("%s was made up", f.Name)
			}
		}
	})
	t.Run("T2 every function of a typed tool reaches the tool", func(t *testing.T) {
		s.ClaimsOf = func(search) tool.Claims { return tool.Claims{} }
		s.Enabled = func(context.Context, tool.Caller) (bool, error) { return true, nil }
		v := reflect.ValueOf(*must(s.Tool())(t))
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type.Kind() == reflect.Func && f.IsExported() && v.Field(i).IsNil() {
				t.Errorf("%s got lost", f.Name)
			}
		}
	})
}

func failing(in search) error {
	if in.Path == "bad" {
		return errBroken
	}
	return nil
}

// record is every kind of field that survives encoding/json.
type record struct {
	Text    string             `json:"text"`
	Yes     bool               `json:"yes"`
	Int     int                `json:"int"`
	Int8    int8               `json:"int8"`
	Int64   int64              `json:"int64"`
	Uint16  uint16             `json:"uint16"`
	Uint64  uint64             `json:"uint64"`
	Float   float64            `json:"float"`
	Float32 float32            `json:"float32"`
	Maybe   *string            `json:"maybe"`
	Nested  place              `json:"nested"`
	Places  []place            `json:"places"`
	Tags    []string           `json:"tags"`
	Counts  map[string]int     `json:"counts"`
	Bytes   []byte             `json:"bytes"`
	When    time.Time          `json:"when"`
	Deep    [][]map[int8]*bool `json:"deep"`
	Quoted  int                `json:"quoted,string"`
}

func records() *rapid.Generator[record] {
	return rapid.Custom(func(t *rapid.T) record {
		finite := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) })
		return record{
			Text: rapid.String().Draw(t, "text"), Yes: rapid.Bool().Draw(t, "yes"),
			Int: rapid.Int().Draw(t, "int"), Int8: rapid.Int8().Draw(t, "int8"), Int64: rapid.Int64().Draw(t, "int64"),
			Uint16: rapid.Uint16().Draw(t, "uint16"), Uint64: rapid.Uint64().Draw(t, "uint64"),
			Float: finite.Draw(t, "float"), Float32: rapid.Float32Range(-1e30, 1e30).Draw(t, "float32"),
			Maybe:  rapid.Ptr(rapid.String(), true).Draw(t, "maybe"),
			Nested: place{rapid.Int().Draw(t, "line")},
			Places: rapid.SliceOfN(rapid.Map(rapid.Int(), func(n int) place { return place{n} }), 0, 5).Draw(t, "places"),
			Tags:   rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "tags"),
			Counts: rapid.MapOfN(rapid.String(), rapid.Int(), 0, 5).Draw(t, "counts"),
			Bytes:  rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "bytes"),
			When:   time.Unix(rapid.Int64Range(-60e9, 250e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC(),
			Deep:   rapid.SliceOfN(rapid.SliceOfN(rapid.MapOfN(rapid.Int8(), rapid.Ptr(rapid.Bool(), true), 0, 2), 0, 2), 0, 2).Draw(t, "deep"),
			Quoted: rapid.Int().Draw(t, "quoted"),
		}
	})
}

func TestTypedRoundTrip(t *testing.T) {
	t.Run("T2 what Go writes as JSON is admitted and means the same", func(t *testing.T) {
		var got record
		tl := must(tool.New(info(), func(_ context.Context, in record) (record, error) { got = in; return in, nil }))(t)
		rapid.Check(t, func(t *rapid.T) {
			want := records().Draw(t, "record")
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			args, err := tl.Admit(text)
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			res, err := tl.Run(context.Background(), args)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s\ngot  %+v\nwant %+v", text, got, want)
			}
			out := res.Content[0].JSON
			if err := tl.CheckOutput(out); err != nil {
				t.Fatalf("the inferred output schema refuses %s: %v", out, err)
			}
			if _, err := tl.Admit(out); err != nil {
				t.Fatalf("what came out does not go in: %s: %v", out, err)
			}
		})
	})
}
