package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// search is the input that most tests use: every kind of field that goes wrong
// in a way of its own.
type search struct {
	Path  string   `json:"path" jsonschema:"description=where to look"`
	Limit int      `json:"limit,omitempty"`
	Small int8     `json:"small,omitempty"`
	Count uint     `json:"count,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	At    place    `json:"at,omitzero"`
}

type place struct {
	Line int `json:"line"`
}

// must fails the test where a definition or arguments that are good were
// refused.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func info() tool.Info { return tool.Info{Name: "search", Description: "Look for a text in files."} }

// untyped is a definition that lacks nothing and has nothing more than it
// needs.
func untyped(input string) tool.Tool {
	i := info()
	i.Input = json.RawMessage(input)
	return tool.Tool{Info: i, Run: func(_ context.Context, a tool.Args) (tool.Result, error) {
		return tool.Result{Content: []tool.Content{tool.Text(a.Text())}}, nil
	}}
}

const pathSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

func admit(t testing.TB, tl *tool.Tool, input string) tool.Args {
	t.Helper()
	return must(tl.Admit(json.RawMessage(input)))(t)
}

func TestPlainTool(t *testing.T) {
	t.Run("T1 name, description, input schema and function are enough", func(t *testing.T) {
		tl := must(untyped(pathSchema).Check())(t)
		res := must(tl.Run(t.Context(), admit(t, tl, `{"path":"a"}`)))(t)
		if got, want := res.String(), `{"path":"a"}`; got != want {
			t.Errorf("result = %q, want %q", got, want)
		}
	})
	t.Run("T1 what is left out falls to the strict side", func(t *testing.T) {
		tl := must(untyped(pathSchema).Check())(t)
		c := must(tl.ClaimsFor(admit(t, tl, `{"path":"a"}`)))(t)
		if c.Overlaps() || !c.Destructive() || c.Idempotent || c.Class() != "unsafe" || c.SideEffect() != "external-stateful" {
			t.Errorf("claims of a plain tool = %+v, want none", c)
		}
	})
	t.Run("T2 a schema without type takes objects only", func(t *testing.T) {
		tl := must(untyped(`{}`).Check())(t)
		if got := admit(t, tl, `{"any":[1,{"thing":null}]}`).Text(); got != `{"any":[1,{"thing":null}]}` {
			t.Errorf("text = %s", got)
		}
		if _, err := tl.Admit(json.RawMessage(`[1]`)); err == nil {
			t.Error("an array was admitted as arguments")
		}
	})
	t.Run("T2 an untyped tool may say what comes out", func(t *testing.T) {
		def := untyped(pathSchema)
		def.Output = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		tl := must(def.Check())(t)
		for text, ok := range map[string]bool{`{"n":1}`: true, `{"n":"1"}`: false, `{}`: false, `{"n":1,"more":2}`: true, `{`: false, ``: false, `{"n":1} x`: false} {
			if err := tl.CheckOutput(json.RawMessage(text)); (err == nil) != ok {
				t.Errorf("CheckOutput(%s) = %v, want accepted: %v", text, err, ok)
			}
		}
	})
	t.Run("T2 without an output schema any JSON may come out", func(t *testing.T) {
		tl := must(untyped(pathSchema).Check())(t)
		for text, ok := range map[string]bool{`[1]`: true, `null`: true, ` {"a":1} `: true, ``: false, `plain`: false, `[1`: false, `[1] x`: false, "\"\xff\"": false} {
			if err := tl.CheckOutput(json.RawMessage(text)); (err == nil) != ok {
				t.Errorf("CheckOutput(%q) = %v, want accepted: %v", text, err, ok)
			}
		}
	})
}

func TestBadDefinition(t *testing.T) {
	long := strings.Repeat("n", 129)
	tests := []struct {
		name   string // begins with the rule
		change func(*tool.Tool)
		want   string
	}{
		{"T6 no name", func(d *tool.Tool) { d.Name = "" }, `tool "": no name`},
		{"T6 129 characters", func(d *tool.Tool) { d.Name = long }, `tool "` + long + `": name "nnnnnnnnnnnnnnnnnnnn"…: got 129 characters, want at most 128`},
		{"T6 a space", func(d *tool.Tool) { d.Name = "a b" }, `tool "a b": name "a b": got ' ', want letters, digits, _ . and -`},
		{"T6 a slash", func(d *tool.Tool) { d.Name = "a/b" }, `tool "a/b": name "a/b": got '/', want letters, digits, _ . and -`},
		{"T6 a letter beyond ASCII", func(d *tool.Tool) { d.Name = "é" }, `tool "é": name "é": got 'é', want letters, digits, _ . and -`},
		{"T6 bytes that are no text", func(d *tool.Tool) { d.Name = "a\xff" }, `tool "a\xff": name "a\xff": got '�', want letters, digits, _ . and -`},

		{"T1 no description", func(d *tool.Tool) { d.Description = "" }, `tool "search": no description: a model chooses by it`},
		{"T1 a blank description", func(d *tool.Tool) { d.Description = " \n\t " }, `tool "search": no description: a model chooses by it`},
		{"T1 a description that is no text", func(d *tool.Tool) { d.Description = "caf\xe9" }, `tool "search": the description is not valid UTF-8`},
		{"T1 no function", func(d *tool.Tool) { d.Run = nil }, `tool "search": no Run function`},
		{"T1 no schema", func(d *tool.Tool) { d.Input = nil }, `tool "search": no input schema: a tool without arguments says {"type":"object","additionalProperties":false}`},
		{"T1 an empty schema", func(d *tool.Tool) { d.Input = json.RawMessage{} }, `tool "search": no input schema: a tool without arguments says {"type":"object","additionalProperties":false}`},
		{"T2 a schema cut short", func(d *tool.Tool) { d.Input = json.RawMessage(`{"type":`) }, `tool "search": input schema /type: not a JSON text: the text ends too early (not closed, or cut off) at byte 8 (line 1, column 9, in /type)`},
		{"T2 a schema that is none", func(d *tool.Tool) { d.Input = json.RawMessage(`5`) }, `tool "search": input schema: got 5, want an object`},
		{"T2 a schema of yes or no", func(d *tool.Tool) { d.Input = json.RawMessage(`true`) }, `tool "search": input schema: got true, want an object`},
		{"T2 a keyword of the wrong type", func(d *tool.Tool) { d.Input = json.RawMessage(`{"type":"object","properties":5}`) }, `tool "search": input schema /properties: got number, want object`},
		{"T2 a root that is no object", func(d *tool.Tool) { d.Input = json.RawMessage(`{"type":"string"}`) }, `tool "search": input schema: got type "string" at the root, want "object"`},
		{"T2 a root of other types", func(d *tool.Tool) { d.Input = json.RawMessage(`{"type":["array","null"]}`) }, `tool "search": input schema: got type [array null] at the root, want "object"`},
		{"T2 a bad output schema", func(d *tool.Tool) { d.Output = json.RawMessage(`{"type":"objekt"}`) }, `tool "search": output schema `},

		{"T4 read-only, but it writes", func(d *tool.Tool) {
			d.Claims = tool.Claims{ReadOnly: true, Touches: []tool.Access{{Resource: "file:/a"}, {Resource: "file:/b", Write: true}}}
		}, `tool "search": claims: read-only, but writes "file:/b"`},
		{"T3 a resource with two names", func(d *tool.Tool) { d.Claims.Touches = []tool.Access{{Resource: "file:/a/../b"}} }, `tool "search": claims: touches "file:/a/../b": want a clean path, without . .. // or / at the end`},
		{"T3 a resource without kind", func(d *tool.Tool) { d.Claims.Touches = []tool.Access{{Resource: "/a"}} }, `tool "search": claims: touches "/a": want kind:path, such as file:/a/b`},

		{"T3 what it touches by constants and by a function", func(d *tool.Tool) {
			d.Claims.Touches, d.ClaimsOf = touches("file:/a"), func(tool.Args) (tool.Claims, error) { return tool.Claims{}, nil }
		}, `tool "search": what it touches is said by constants and by a function: want one of them`},
		{"T3 touching nothing is a constant claim too", func(d *tool.Tool) {
			d.Claims.Touches, d.ClaimsOf = touches(), func(tool.Args) (tool.Claims, error) { return tool.Claims{}, nil }
		}, `tool "search": what it touches is said by constants and by a function: want one of them`},

		{"T9 an alias given twice", func(d *tool.Tool) { d.Aliases = []string{"a", "b", "a"} }, `tool "search": alias "a": given twice`},
		{"T9 an empty tag", func(d *tool.Tool) { d.Tags = []string{"a", ""} }, `tool "search": tag "": want a word`},
		{"T9 a tag with space around it", func(d *tool.Tool) { d.Tags = []string{"a "} }, `tool "search": tag "a ": want a word`},
		{"T9 a tag that cannot be seen", func(d *tool.Tool) { d.Tags = []string{"a\u200bb"} }, `tool "search": tag "a\u200bb": want a word`},
		{"T9 a tag that is no text", func(d *tool.Tool) { d.Tags = []string{"a\xff"} }, `tool "search": tag "a\xff": want a word`},
		{"T9 a tag given twice", func(d *tool.Tool) { d.Tags = []string{"a", "a"} }, `tool "search": tag "a": given twice`},
		{"T9 a model that is no text", func(d *tool.Tool) { d.Model = "\xff" }, `tool "search": "\xff": want valid UTF-8`},
		{"K1 an empty secret", func(d *tool.Tool) { d.Secrets = []string{""} }, `tool "search": secret "": want a word`},
		{"K1 a secret with a line break", func(d *tool.Tool) { d.Secrets = []string{"A\nB"} }, `tool "search": secret "A\nB": want a word`},
		{"K1 a secret named twice", func(d *tool.Tool) { d.Secrets = []string{"A", "B", "A"} }, `tool "search": secret "A": given twice`},
		{"T9 an alias equal to the name", func(d *tool.Tool) { d.Aliases = []string{"find", "search"} }, `tool "search": alias "search" is the name itself`},
		{"T9 a bad alias", func(d *tool.Tool) { d.Aliases = []string{"a b"} }, `tool "search": alias: name "a b": got ' ', want letters, digits, _ . and -`},
		{"T9 an empty alias", func(d *tool.Tool) { d.Aliases = []string{""} }, `tool "search": alias: no name`},
		{"T10 a negative time", func(d *tool.Tool) { d.Timeout = -time.Second }, `tool "search": timeout: got -1s, want more than 0, 0 for 1m0s, or Unlimited`},
		{"T13 an unknown approval", func(d *tool.Tool) { d.Approval = "sometimes" }, `tool "search": approval: got "sometimes", want "always", "never" or unset`},
		{"T13 always, and a predicate", func(d *tool.Tool) {
			d.Approval, d.AskIf = tool.AskAlways, func(context.Context, tool.Args) (bool, error) { return false, nil }
		}, `tool "search": approval "always" and AskIf at once`},
		{"T13 never, and a predicate", func(d *tool.Tool) {
			d.Approval, d.AskIf = tool.AskNever, func(context.Context, tool.Args) (bool, error) { return false, nil }
		}, `tool "search": approval "never" and AskIf at once`},
		{"T13 a reason that is no text", func(d *tool.Tool) { d.AskReason = "\xff" }, `tool "search": "\xff": want valid UTF-8`},
		{"T13 a text for rejection that is none", func(d *tool.Tool) { d.RejectText = "\xff" }, `tool "search": "\xff": want valid UTF-8`},
		{"D3 fewer at once than none", func(d *tool.Tool) { d.AtOnce = -1 }, `tool "search": at once: got -1, want 0 for no cap, or more`},
		{"G1 an unknown way to sanitize", func(d *tool.Tool) { d.Sanitize = "wash" }, `tool "search": sanitize: got "wash", want one of pass, flag, strip, wrap, strip+wrap, or unset`},
		{"G1 two ways to sanitize", func(d *tool.Tool) { d.Sanitize = "strip wrap" }, `tool "search": sanitize: got "strip wrap", want one of pass, flag, strip, wrap, strip+wrap, or unset`},
		{"G7 an unknown tier", func(d *tool.Tool) { d.Memory = "unknown" }, `tool "search": memory: got "unknown", want one of pure, no-memory, memory-aware, untrusted, or unset`},
		{"N1 an unknown level", func(d *tool.Tool) { d.Isolation = "Process" }, `tool "search": isolation: got "Process", want one of process, namespace, container, or unset`},
		{"N1 no isolation cannot be said", func(d *tool.Tool) { d.Isolation = "in-process" }, `tool "search": isolation: got "in-process", want one of process, namespace, container, or unset`},
		{"T15 an unknown input sensitivity", func(d *tool.Tool) { d.InputSensitivity = 9 }, `tool "search": sensitivity: got 9, want Internal, Public or Secret`},
		{"T15 an unknown output sensitivity", func(d *tool.Tool) { d.OutputSensitivity = 3 }, `tool "search": sensitivity: got 3, want Internal, Public or Secret`},
		{"Q1 deferred and always loaded", func(d *tool.Tool) { d.Deferred, d.AlwaysLoad = true, true }, `tool "search": deferred and always loaded at once`},
		{"O3 fewer characters than none", func(d *tool.Tool) { d.Limit.Chars = -2 }, `tool "search": limit: got -2 characters and 0 tokens, want at least 0, or Unlimited`},
		{"O3 fewer tokens than none", func(d *tool.Tool) { d.Limit.Tokens = -7 }, `tool "search": limit: got 0 characters and -7 tokens, want at least 0, or Unlimited`},
		{"O4 an unknown cut", func(d *tool.Tool) { d.Limit.Cut = "chop" }, `tool "search": limit: cut: got "chop", want one of offload, middle, head, tail, summarize, or unset`},

		{"T8 an input that the schema refuses", func(d *tool.Tool) {
			d.Examples = []tool.Example{{Input: json.RawMessage(`{"path":"a"}`)}, {Input: json.RawMessage(`{"path":5}`)}}
		}, `tool "search": example 2: input: invalid_input: InputValidationError: /path: got number 5, want string`},
		{"T8 an input that is no JSON", func(d *tool.Tool) { d.Examples = []tool.Example{{Input: json.RawMessage(`{`)}} }, `tool "search": example 1: input: invalid_input: InputValidationError: the arguments are not valid JSON: the text ends too early (not closed, or cut off) at byte 1 (line 1, column 2)`},
		{"T8 an output that the schema refuses", func(d *tool.Tool) {
			d.Output = json.RawMessage(`{"type":"object"}`)
			d.Examples = []tool.Example{{Input: json.RawMessage(`{"path":"a"}`), Output: json.RawMessage(`[]`)}}
		}, `tool "search": example 1: output: (root): got array of 0 items, want object`},
		{"T8 an output that is no JSON", func(d *tool.Tool) {
			d.Examples = []tool.Example{{Input: json.RawMessage(`{"path":"a"}`), Output: json.RawMessage(`plain`)}}
		}, `tool "search": example 1: output: invalid character 'p' at start of value at byte 0 (line 1, column 1)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := untyped(pathSchema)
			tt.change(&def)
			got, err := def.Check()
			if err == nil || got != nil {
				t.Fatalf("Check() = %v, %v, want it refused", got, err)
			}
			if s := err.Error(); s != tt.want && (!strings.HasSuffix(tt.want, " ") || !strings.HasPrefix(s, tt.want)) {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestGoodDefinition(t *testing.T) {
	tests := []struct {
		name   string
		change func(*tool.Tool)
	}{
		{"T6 one character", func(d *tool.Tool) { d.Name = "a" }},
		{"T6 128 characters", func(d *tool.Tool) { d.Name = strings.Repeat("n", 128) }},
		{"T6 every kind of character", func(d *tool.Tool) { d.Name = "aZ09_.-" }},
		{"T2 a root that may also be null", func(d *tool.Tool) { d.Input = json.RawMessage(`{"type":["object","null"]}`) }},
		{"T2 a keyword that looks like type but is not", func(d *tool.Tool) { d.Input = json.RawMessage(`{"type":"object","Type":"string"}`) }},
		{"T2 a draft 7 schema", func(d *tool.Tool) {
			d.Input = json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`)
		}},
		{"T8 more than 5 examples", func(d *tool.Tool) {
			for range 9 {
				d.Examples = append(d.Examples, tool.Example{Input: json.RawMessage(`{"path":"a"}`), Output: json.RawMessage(`"found"`)})
			}
		}},
		{"T10 no time-out, said", func(d *tool.Tool) { d.Timeout = tool.Unlimited }},
		{"T13 always", func(d *tool.Tool) { d.Approval = tool.AskAlways }},
		{"T13 never", func(d *tool.Tool) { d.Approval = tool.AskNever }},
		{"T13 a predicate", func(d *tool.Tool) {
			d.AskIf = func(context.Context, tool.Args) (bool, error) { return false, nil }
		}},
		{"T3 claims by a function", func(d *tool.Tool) {
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{}, nil }
		}},
		{"T9 a tag of two words", func(d *tool.Tool) { d.Tags = []string{"two words", "zwei Wörter"} }},
		{"D3 one at once", func(d *tool.Tool) { d.AtOnce = 1 }},
		{"T15 public and secret", func(d *tool.Tool) { d.InputSensitivity, d.OutputSensitivity = tool.Public, tool.Secret }},
		{"O3 unlimited, said", func(d *tool.Tool) { d.Limit = tool.Limit{Chars: tool.Unlimited, Tokens: tool.Unlimited} }},
		{"O4 offload", func(d *tool.Tool) { d.Limit.Cut = "offload" }},
		{"O4 middle", func(d *tool.Tool) { d.Limit.Cut = "middle" }},
		{"O4 head", func(d *tool.Tool) { d.Limit.Cut = "head" }},
		{"O4 tail", func(d *tool.Tool) { d.Limit.Cut = "tail" }},
		{"O4 summarize", func(d *tool.Tool) { d.Limit.Cut = "summarize" }},
	}
	for rule, set := range map[string]struct {
		words string
		field func(*tool.Tool) *string
	}{
		"G1": {"pass flag strip wrap strip+wrap", func(d *tool.Tool) *string { return &d.Sanitize }},
		"G7": {"pure no-memory memory-aware untrusted", func(d *tool.Tool) *string { return &d.Memory }},
		"N1": {"process namespace container", func(d *tool.Tool) *string { return &d.Isolation }},
	} {
		for word := range strings.FieldsSeq(set.words) {
			tests = append(tests, struct {
				name   string
				change func(*tool.Tool)
			}{rule + " " + word, func(d *tool.Tool) { *set.field(d) = word }})
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := untyped(pathSchema)
			tt.change(&def)
			if _, err := def.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckAgain(t *testing.T) {
	t.Run("T2 a checked tool can be checked again", func(t *testing.T) {
		first := must(tool.New(info(), func(_ context.Context, in search) (string, error) { return in.Path, nil }))(t)
		second := must(first.Check())(t)
		if second == first {
			t.Fatal("the second check returned the same tool, want a copy")
		}
		res := must(second.Run(t.Context(), admit(t, second, `{"path":"a"}`)))(t)
		if res.String() != "a" {
			t.Errorf("the copy says %q, want %q", res, "a")
		}
	})
	t.Run("T4 what became bad after the first check is refused by the second", func(t *testing.T) {
		first := must(untyped(pathSchema).Check())(t)
		first.Claims = tool.Claims{ReadOnly: true, Touches: []tool.Access{{Resource: "file:/a", Write: true}}}
		if _, err := first.Check(); err == nil {
			t.Error("contradicting claims passed the second check")
		}
	})
	t.Run("T2 what has not changed is not compiled again", func(t *testing.T) {
		def := full()
		made := must(def.Check())(t)
		first := testing.AllocsPerRun(5, func() { _ = must(def.Check())(t) })
		again := testing.AllocsPerRun(5, func() { _ = must(made.Check())(t) })
		if again > first/4 {
			t.Errorf("the second check takes %.0f allocations, the first %.0f: want a quarter at most", again, first)
		}
	})
	t.Run("T2 what has changed is", func(t *testing.T) {
		made := must(full().Check())(t)
		for name, change := range map[string]func(*tool.Tool){
			"input": func(c *tool.Tool) {
				c.Input, c.Examples = json.RawMessage(`{"type":"object","properties":{"file":{}}}`), nil
			},
			"open":      func(c *tool.Tool) { c.Open = true },
			"output":    func(c *tool.Tool) { c.Output = json.RawMessage(`{"type":"array"}`); c.Examples = nil },
			"no output": func(c *tool.Tool) { c.Output = nil },
		} {
			other := *made
			change(&other)
			other = *must(other.Check())(t)
			_, file := other.Admit(json.RawMessage(`{"file":"a"}`))
			_, more := other.Admit(json.RawMessage(`{"path":"a","more":1}`))
			got := []bool{file == nil, more == nil, other.CheckOutput(json.RawMessage(`[]`)) == nil}
			want := map[string][]bool{
				"input": {true, false, false}, "open": {false, true, false}, "output": {false, false, true}, "no output": {false, false, true},
			}[name]
			if !slices.Equal(got, want) {
				t.Errorf("%s: a file, more and a list are taken: got %v, want %v", name, got, want)
			}
		}
	})
}

// full is a definition in which every slice has something to change.
func full() tool.Tool {
	def := untyped(pathSchema)
	def.Output = json.RawMessage(`{"type":"object"}`)
	def.Aliases, def.Tags, def.Secrets = []string{"find"}, []string{"files"}, []string{"TOKEN"}
	def.Claims.Touches = []tool.Access{{Resource: "file:/a"}}
	def.Examples = []tool.Example{{Input: json.RawMessage(`{"path":"a"}`), Output: json.RawMessage(`{"n":1}`)}}
	return def
}

func spoil(i tool.Info) {
	for _, b := range []json.RawMessage{i.Input, i.Output, i.Examples[0].Input, i.Examples[0].Output} {
		for n := range b {
			b[n] = 'x'
		}
	}
	i.Aliases[0], i.Tags[0], i.Secrets[0] = "bad name", "spoiled", "OTHER"
	i.Claims.Touches[0] = tool.Access{Resource: "file:/", Write: true}
	i.Examples[0] = tool.Example{}
}

func TestDefinitionIsCopied(t *testing.T) {
	t.Run("T2 changing the definition after the check changes nothing", func(t *testing.T) {
		def := full()
		tl := must(def.Check())(t)
		spoil(def.Info)
		if want := full().Info; !reflect.DeepEqual(tl.Info, want) {
			t.Errorf("got  %+v\nwant %+v", tl.Info, want)
		}
		admit(t, tl, `{"path":"a"}`)
		if _, err := tl.Admit(json.RawMessage(`{"path":5}`)); err == nil {
			t.Error("the schema no longer holds")
		}
	})
	t.Run("T2 nothing claimed and nothing touched stay two things", func(t *testing.T) {
		for _, touches := range [][]tool.Access{nil, {}} {
			def := untyped(pathSchema)
			def.Claims.Touches = touches
			if got := must(def.Check())(t).Claims.Touches; (got == nil) != (touches == nil) {
				t.Errorf("touches %#v became %#v", touches, got)
			}
		}
	})
	t.Run("T2 changing what a model was shown changes nothing", func(t *testing.T) {
		tl := must(full().Check())(t)
		d := tl.Definition("search")
		d.Input[0], d.Tags[0], d.Examples[0].Input[0] = 'x', "spoiled", 'x'
		if want := full().Info; !reflect.DeepEqual(tl.Info, want) {
			t.Errorf("got  %+v\nwant %+v", tl.Info, want)
		}
	})
}

func TestExtras(t *testing.T) {
	t.Run("T9 all of it is kept", func(t *testing.T) {
		def := untyped(pathSchema)
		def.Aliases, def.Tags = []string{"find", "grep.old"}, []string{"files", "read"}
		def.Silent, def.Repeatable, def.NeedsUser, def.Streams = true, true, true, true
		def.Model = "fast"
		got := must(def.Check())(t)
		if !slices.Equal(got.Aliases, []string{"find", "grep.old"}) || !slices.Equal(got.Tags, []string{"files", "read"}) || got.Model != "fast" {
			t.Errorf("aliases %q, tags %q, model %q", got.Aliases, got.Tags, got.Model)
		}
		if !got.Silent || !got.Repeatable || !got.NeedsUser || !got.Streams {
			t.Errorf("silent %v, repeatable %v, needs user %v, streams %v", got.Silent, got.Repeatable, got.NeedsUser, got.Streams)
		}
	})
	t.Run("T9 none of it is needed, and none of it is made up", func(t *testing.T) {
		want := tool.Info{Name: "search", Description: "Look for a text in files.", Input: json.RawMessage(pathSchema)}
		if got := must(untyped(pathSchema).Check())(t).Info; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
	t.Run("T9 enabled is asked with the caller", func(t *testing.T) {
		s := tool.Spec[search, string]{Info: info(), Run: func(context.Context, search) (string, error) { return "", nil }}
		s.Enabled = func(_ context.Context, c tool.Caller) (bool, error) { return c.Attended, nil }
		tl := must(s.Tool())(t)
		for _, attended := range []bool{false, true} {
			if got := must(tl.Enabled(t.Context(), tool.Caller{Attended: attended}))(t); got != attended {
				t.Errorf("Enabled(attended: %v) = %v", attended, got)
			}
		}
	})
	for _, tt := range []struct {
		name string
		set  time.Duration
		want time.Duration
		ok   bool
	}{
		{"T10 not set is 60 seconds", 0, 60 * time.Second, true},
		{"T10 set is what was set", 90 * time.Millisecond, 90 * time.Millisecond, true},
		{"T10 none must be said", tool.Unlimited, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := untyped(pathSchema)
			def.Timeout = tt.set
			got, ok := must(def.Check())(t).RunTime()
			if got != tt.want || ok != tt.ok {
				t.Errorf("time-out = %v, %v, want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
	t.Run("T10 not said means it blocks and may ignore its context", func(t *testing.T) {
		if tl := must(untyped(pathSchema).Check())(t); tl.Cancel || tl.Cooperative {
			t.Errorf("cancel %v, cooperative %v, want neither", tl.Cancel, tl.Cooperative)
		}
	})
	t.Run("T15 not said means internal, and no secret", func(t *testing.T) {
		tl := must(untyped(pathSchema).Check())(t)
		if tl.InputSensitivity.String() != "internal" || tl.OutputSensitivity.String() != "internal" || len(tl.Secrets) > 0 {
			t.Errorf("got %v, %v, %v", tl.InputSensitivity, tl.OutputSensitivity, tl.Secrets)
		}
	})
	for s, want := range map[tool.Sensitivity]string{tool.Internal: "internal", tool.Public: "public", tool.Secret: "secret", 200: "secret"} {
		t.Run("G4 sensitivity "+want, func(t *testing.T) {
			if got := s.String(); got != want {
				t.Errorf("Sensitivity(%d) = %q, want %q", s, got, want)
			}
		})
	}
}

func TestWhatAModelSees(t *testing.T) {
	t.Run("T16 wire name, description, tags, examples and input schema", func(t *testing.T) {
		tl := must(full().Check())(t)
		got := must(json.Marshal(tl.Definition("src__search")))(t)
		want := `{"name":"src__search","description":"Look for a text in files.","input_schema":` + pathSchema +
			`,"tags":["files"],"examples":[{"input":{"path":"a"},"output":{"n":1}}]}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("T16 never claims, approval or secrets", func(t *testing.T) {
		def := full()
		def.Claims = tool.Claims{Reversible: true, Touches: []tool.Access{{Resource: "file:/private", Write: true}}}
		def.Approval, def.AskReason, def.RejectText = tool.AskAlways, "it costs money", "the boss said no"
		def.Secrets, def.Model = []string{"API_KEY"}, "smart"
		def.Aliases = []string{"older"}
		def.OutputSensitivity = tool.Secret
		seen := string(must(json.Marshal(must(def.Check())(t).Definition("search")))(t))
		for _, hidden := range []string{"private", "evers", "always", "money", "boss", "API_KEY", "smart", "older", "ecret"} {
			if strings.Contains(seen, hidden) {
				t.Errorf("a model sees %q in %s", hidden, seen)
			}
		}
	})
	t.Run("T16 a plain tool shows no more than it has", func(t *testing.T) {
		got := must(json.Marshal(must(untyped(pathSchema).Check())(t).Definition("search")))(t)
		want := `{"name":"search","description":"Look for a text in files.","input_schema":` + pathSchema + `}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("T8 up to 5 examples are shown", func(t *testing.T) {
		def := untyped(pathSchema)
		for range 7 {
			def.Examples = append(def.Examples, tool.Example{Input: json.RawMessage(`{"path":"a"}`)})
		}
		tl := must(def.Check())(t)
		if got := len(tl.Definition("search").Examples); got != 5 {
			t.Errorf("%d examples are shown, want 5", got)
		}
		if got := len(tl.Examples); got != 7 {
			t.Errorf("%d examples are kept, want 7", got)
		}
	})
}

func TestTrustAndVerdict(t *testing.T) {
	for trust, want := range map[tool.Trust]struct {
		word      string
		untrusted bool
	}{
		tool.Inbound: {"inbound", true}, tool.Web: {"web", true}, tool.MCP: {"mcp", true}, tool.SkillUntrusted: {"skill-untrusted", true},
		tool.SkillTrusted: {"skill-trusted", false}, tool.Own: {"own", false}, tool.BuiltIn: {"built-in", false},
	} {
		t.Run("R3 "+want.word, func(t *testing.T) {
			if got := trust.String(); got != want.word || trust.Untrusted() != want.untrusted {
				t.Errorf("Trust(%d) = %q, untrusted %v, want %+v", trust, got, trust.Untrusted(), want)
			}
		})
	}
	t.Run("R3 nothing said is the least", func(t *testing.T) {
		if s := (tool.Source{}); s.Trust != tool.Inbound || !s.Trust.Untrusted() {
			t.Errorf("the zero source has trust %v", s.Trust)
		}
	})
	t.Run("R3 an unknown class falls to the strict side", func(t *testing.T) {
		for _, unknown := range []tool.Trust{tool.BuiltIn + 1, 255} {
			if !unknown.Untrusted() || unknown.String() != "inbound" {
				t.Errorf("Trust(%d) is %s, untrusted %v", uint8(unknown), unknown, unknown.Untrusted())
			}
		}
	})
	for v, want := range map[tool.Verdict]string{tool.Deny: "deny", tool.Ask: "ask", tool.Allow: "allow", tool.Silent: "silent"} {
		t.Run("P1 the word "+want, func(t *testing.T) {
			if got := v.String(); got != want {
				t.Errorf("Verdict(%d) = %q, want %q", v, got, want)
			}
		})
	}
	t.Run("P1 deny beats ask beats allow beats silence", func(t *testing.T) {
		if got := min(tool.Silent, tool.Allow, tool.Ask, tool.Deny); got != tool.Deny {
			t.Errorf("the least is %v", got)
		}
		if got := min(tool.Silent, tool.Allow, tool.Ask); got != tool.Ask {
			t.Errorf("the least is %v", got)
		}
	})
	t.Run("P1 nothing said denies, and no person may overrule it", func(t *testing.T) {
		if d := (tool.Decision{}); d.Verdict != tool.Deny || d.Override {
			t.Errorf("the zero decision is %+v", d)
		}
	})
	t.Run("P1 an unknown verdict falls to the strict side", func(t *testing.T) {
		for _, unknown := range []tool.Verdict{tool.Silent + 1, 255} {
			if got := unknown.String(); got != "deny" {
				t.Errorf("Verdict(%d) = %q, want deny", uint8(unknown), got)
			}
		}
	})
}

func TestWordsInJSON(t *testing.T) {
	type words struct {
		Trust       tool.Trust       `json:"trust"`
		Verdict     tool.Verdict     `json:"verdict"`
		Sensitivity tool.Sensitivity `json:"sensitivity"`
	}
	read := func(text string) (w words, err error) {
		w = words{tool.Own, tool.Allow, tool.Public}
		return w, json.Unmarshal([]byte(text), &w)
	}
	t.Run("U1 each is recorded as its word, and read again", func(t *testing.T) {
		for trust := range tool.BuiltIn + 1 {
			for verdict := range tool.Silent + 1 {
				for sensitivity := range tool.Secret + 1 {
					want := words{trust, verdict, sensitivity}
					text := string(must(json.Marshal(want))(t))
					if form := fmt.Sprintf(`{"trust":%q,"verdict":%q,"sensitivity":%q}`, trust, verdict, sensitivity); text != form {
						t.Errorf("got %s, want %s", text, form)
					}
					if got, err := read(text); err != nil || got != want {
						t.Errorf("%s was read as %+v, %v", text, got, err)
					}
				}
			}
		}
	})
	t.Run("U1 what is no member is recorded as the strictest", func(t *testing.T) {
		if got := must(json.Marshal(words{99, 99, 99}))(t); string(got) != `{"trust":"inbound","verdict":"deny","sensitivity":"secret"}` {
			t.Errorf("got %s", got)
		}
	})
	for _, tt := range []struct{ name, text, want string }{
		{"R3 an unknown trust", `{"trust":"Own"}`, `got "Own", want one of inbound, web, mcp, skill-untrusted, skill-trusted, own, built-in`},
		{"R3 an empty trust", `{"trust":""}`, `got "", want one of inbound, web, mcp, skill-untrusted, skill-trusted, own, built-in`},
		{"P1 an unknown verdict", `{"verdict":"yes"}`, `got "yes", want one of deny, ask, allow, silent`},
		{"G4 an unknown sensitivity", `{"sensitivity":"high"}`, `got "high", want one of internal, public, secret`},
	} {
		t.Run(tt.name+" is an error", func(t *testing.T) {
			if got, err := read(tt.text); err == nil || err.Error() != tt.want {
				t.Errorf("read as %+v, %v, want %s", got, err, tt.want)
			}
		})
	}
	t.Run("R3 what was not read is the least trusted", func(t *testing.T) {
		if got := tool.Own; got.UnmarshalText([]byte("x")) == nil || got != tool.Inbound {
			t.Errorf("got %v", got)
		}
	})
	t.Run("P1 what was not read denies", func(t *testing.T) {
		if got := tool.Allow; got.UnmarshalText([]byte("x")) == nil || got != tool.Deny {
			t.Errorf("got %v", got)
		}
	})
	t.Run("G4 what was not read is secret", func(t *testing.T) {
		if got := tool.Public; got.UnmarshalText([]byte("x")) == nil || got != tool.Secret {
			t.Errorf("got %v", got)
		}
	})
}

var errBroken = errors.New("broken")
