package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestManyCalls(t *testing.T) {
	t.Parallel()
	t.Run("L4 no calls, no results", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{}, readerTool("read"))
		if res := v.Do(t.Context()); len(res) != 0 {
			t.Errorf("results = %v", res)
		}
		turn := v.Begin(t.Context(), ferrule.TurnOptions{})
		turn.Add()
		if res := turn.Wait(); len(res) != 0 {
			t.Errorf("results = %v", res)
		}
	})
	t.Run("L4 10,000 calls, as many results, in their order", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{Policy: policy.AllowOwn{}}, readerTool("read"), writerTool("write"))
		calls := make([]tool.Call, 10_000)
		for i := range calls {
			calls[i] = tool.Call{ID: fmt.Sprint("c", i), Name: "read", Input: json.RawMessage(textArg(fmt.Sprint(i)))}
			switch {
			case i%100 == 99:
				calls[i].Name = "write"
			case i%1000 == 500:
				calls[i].Name = "nothing"
			}
		}
		ids := make(map[string]bool)
		for i, res := range v.Do(t.Context(), calls...) {
			if i%1000 == 500 {
				wantFailure(t, res, tool.UnknownTool, "")
			} else if res.String() != textArg(fmt.Sprint(i)) {
				t.Fatalf("result %d = %v", i, res)
			}
			if res.CallID != calls[i].ID || ids[res.ID] || res.ID == "" {
				t.Fatalf("result %d has the ids %q and %q", i, res.ID, res.CallID)
			}
			ids[res.ID] = true
		}
	})
	for name, id := range map[string]string{"the same id 100 times": "toolu_1", "no ids": ""} {
		t.Run("L4 ids of the provider are passed on and nothing else: "+name, func(t *testing.T) {
			v := viewWith(t, &ferrule.Runtime{}, readerTool("read"))
			calls := make([]tool.Call, 100)
			for i := range calls {
				calls[i] = tool.Call{ID: id, Name: "read", Input: json.RawMessage(textArg(fmt.Sprint(i)))}
			}
			ids := make(map[string]bool)
			for i, res := range v.Do(t.Context(), calls...) {
				ids[res.ID] = true
				if res.CallID != id || res.String() != textArg(fmt.Sprint(i)) {
					t.Errorf("result %d = %+v", i, res)
				}
			}
			if len(ids) != len(calls) {
				t.Errorf("got %d own ids for %d calls", len(ids), len(calls))
			}
		})
	}
	t.Run("L4 every result is of a known kind, whatever is wrong with its call", func(t *testing.T) {
		def := behaving()
		late := readerTool("late")
		late.Deferred = true
		v := viewWith(t, withPhases(&ferrule.Runtime{}), def, late, writerTool("write"))
		calls := []tool.Call{
			{},
			{Name: "late"},
			{Name: "write"},
			{Name: "\xff"},
			{Name: strings.Repeat("x", 1<<20)},
			{Name: "act", Input: json.RawMessage("\xff")},
			{Name: "act", Input: json.RawMessage(`[]`)},
			{Name: "act", Input: json.RawMessage(`null`)},
			{Name: "act", Input: json.RawMessage(`{}{}`)},
			{Name: "act", Input: json.RawMessage(strings.Repeat("[", 1<<16))},
		}
		for _, p := range phases {
			calls = append(calls, tool.Call{Name: p.call, Input: json.RawMessage(p.input)})
		}
		for i, res := range v.Do(t.Context(), calls...) {
			if res.Err == nil || !res.Err.Kind.Known() || res.Err.Text == "" {
				t.Errorf("call %d: result = %+v", i, res)
			}
			if len(res.String()) > 64_200 {
				t.Errorf("call %d: the model reads %d bytes", i, len(res.String()))
			}
		}
	})
	t.Run("L4 a context that was cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		def, ran := counted(readerTool("read"))
		res := viewWith(t, &ferrule.Runtime{}, def).Do(ctx, tool.Call{ID: "1", Name: "read"}, tool.Call{ID: "2", Name: "nothing"})
		if len(res) != 2 || ran.Load() != 0 {
			t.Fatalf("results = %v, ran %d times", res, ran.Load())
		}
		for i, r := range res {
			wantFailure(t, r, tool.Aborted, "Aborted: the run was stopped.")
			if r.CallID != fmt.Sprint(i+1) || !errors.Is(r.Err, context.Canceled) {
				t.Errorf("result = %+v", r)
			}
		}
	})
	t.Run("L7 a tool that closes over a cancelled context failed and was not stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, ctx.Err() })
		wantFailure(t, callOne(t, &ferrule.Runtime{}, def, ""), tool.Failed, "context canceled")
	})
	t.Run("T2 a tool without a function is refused", func(t *testing.T) {
		rt := &ferrule.Runtime{}
		def := doing(readerTool("read"), nil)
		if _, err := def.Check(); err == nil {
			t.Error("made")
		}
		if err := rt.Add(&def); err == nil || rt.Has("read") {
			t.Error("registered")
		}
		if err := rt.Add(nil); err == nil {
			t.Error("nil was registered")
		}
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	image := tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: []byte("png"), Name: "a.png", Width: 1, Height: 2}
	link := tool.Content{Type: tool.LinkContent, URI: "https://example.org/a", Text: "a"}
	encoded := []struct {
		name  string
		value any
		want  []tool.Content
		text  string
	}{
		{"O2 a string stays as it is", `{"a":`, []tool.Content{tool.Text(`{"a":`)}, `{"a":`},
		{"O2 a number becomes JSON", 7, []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage("7")}}, "7"},
		{"O2 a list becomes JSON", []string{"<a>"}, []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`["<a>"]`)}}, `["<a>"]`},
		{"O2 nothing", nil, nil, "(tool ran successfully with no output)"},
		{"O2 an empty string", "", nil, "(tool ran successfully with no output)"},
		{"O1 an image is a sibling of the text", []tool.Content{tool.Text("a"), image}, []tool.Content{tool.Text("a"), image}, "a\n[image:image/png]"},
		{"O1 a sound", tool.Content{Type: tool.AudioContent, MediaType: "audio/wav", Data: []byte("x")}, []tool.Content{{Type: tool.AudioContent, MediaType: "audio/wav", Data: []byte("x")}}, "[audio:audio/wav]"},
		{"O1 a link", link, []tool.Content{link}, "[link:https://example.org/a]"},
	}
	for _, tt := range encoded {
		t.Run(tt.name, func(t *testing.T) {
			def, err := tool.New(readerTool("read").Info, func(context.Context, struct {
				Text string `json:"text,omitempty"`
			},
			) (any, error) {
				return tt.value, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			res := callOne(t, &ferrule.Runtime{}, *def, "")
			if res.Err != nil || !reflect.DeepEqual(res.Content, tt.want) || res.String() != tt.text {
				t.Errorf("result = %+v, %q, want %+v", res, res, tt.want)
			}
		})
	}
	say := func(content ...tool.Content) tool.Tool {
		return doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{Content: content}, nil })
	}
	encode := func(v any) tool.Tool {
		return doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
			content, err := tool.Encode(v)
			return tool.Result{Content: content}, err
		})
	}
	nothing := countTool("")
	nothing.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil }
	invalid := []struct {
		name string
		def  tool.Tool
		text string
	}{
		{"O2 a value that JSON cannot hold", encode(math.NaN()), "The tool returned a value that JSON cannot hold."},
		{"O2 a function", encode(func() {}), "The tool returned a value that JSON cannot hold."},
		{"O1 an image of 0 bytes", say(tool.Content{Type: tool.ImageContent, MediaType: "image/png"}), "The tool returned image content of 0 bytes."},
		{"O1 an image of no type", say(tool.Content{Type: tool.ImageContent, Data: []byte("x")}), "The tool returned image content without a media type."},
		{"O1 a link to nowhere", say(tool.Content{Type: tool.LinkContent}), "The tool returned a link without an address."},
		{"O1 a link with an address of 10 MB", say(tool.Content{Type: tool.LinkContent, URI: "https://example.org/" + strings.Repeat("a", 10<<20)}), "The tool returned a link with an address that is too long."},
		{"O1 a link of a type without end", say(tool.Content{Type: tool.LinkContent, URI: "a", MediaType: strings.Repeat("a", 256)}), "The tool returned a link with a media type that is too long."},
		{"O1 an image of a type without end", say(tool.Content{Type: tool.ImageContent, Data: []byte("x"), MediaType: strings.Repeat("a", 256)}), "The tool returned image content with a media type that is too long."},
		{"O1 a block of no type", say(tool.Content{Text: "x"}), "The tool returned content of an unknown type."},
		{"O1 a block of an unknown type", say(tool.Text("a"), tool.Content{Type: "video"}), "The tool returned content of an unknown type."},
		{"O1 structured output that is not JSON", say(tool.Content{Type: tool.JSONContent, JSON: json.RawMessage(`{"a":`)}), "The tool returned output that does not fit its schema."},
		{"O1 structured output of nothing", say(tool.Content{Type: tool.JSONContent}), "The tool returned output that does not fit its schema."},
		{"L1 output that violates its schema", countTool(`{"n":"one"}`), "The tool returned output that does not fit its schema."},
		{"L1 no output where there is a schema", nothing, "The tool returned no structured output, which it must."},
	}
	for _, tt := range invalid {
		t.Run(tt.name, func(t *testing.T) {
			res := callOne(t, &ferrule.Runtime{}, tt.def, "")
			wantFailure(t, res, tool.InvalidOutput, tt.text)
			if len(res.Content) != 0 {
				t.Errorf("what is invalid goes to the model: %v", res.Content)
			}
		})
	}
	full := tool.Content{Text: "t", JSON: json.RawMessage("not json"), Data: []byte("d"), MediaType: "m", Name: "n", Width: 1, Height: 2, URI: "u"}
	for _, want := range []tool.Content{
		tool.Text("t"),
		{Type: tool.JSONContent, JSON: json.RawMessage(`{}`)},
		{Type: tool.ImageContent, Data: []byte("d"), MediaType: "m", Name: "n", Width: 1, Height: 2},
		{Type: tool.AudioContent, Data: []byte("d"), MediaType: "m", Name: "n"},
		{Type: tool.LinkContent, URI: "u", Text: "t", MediaType: "m", Name: "n"},
	} {
		t.Run(fmt.Sprintf("O1 a block of %s has the fields of its type and no others", want.Type), func(t *testing.T) {
			block := full
			block.Type = want.Type
			if want.JSON != nil {
				block.JSON = want.JSON
			}
			given := []tool.Content{block, tool.Text("after")}
			res := callOne(t, &ferrule.Runtime{}, say(given...), "")
			if !reflect.DeepEqual(res.Content, []tool.Content{want, tool.Text("after")}) {
				t.Errorf("content = %+v, want %+v", res.Content, want)
			}
			if _, err := json.Marshal(res); err != nil {
				t.Errorf("the result cannot be sent: %v", err)
			}
			if !reflect.DeepEqual(given[0], block) {
				t.Errorf("the tool's own content was written to: %+v", given[0])
			}
		})
	}
	t.Run("O1 names and titles without end are cut, never within a character", func(t *testing.T) {
		long := strings.Repeat("é", 1<<20)
		res := callOne(t, &ferrule.Runtime{}, say(tool.Content{Type: tool.LinkContent, URI: "u", Text: long, Name: long}, tool.Content{Type: tool.ImageContent, Data: []byte("x"), MediaType: "m", Name: long}), "")
		want := strings.Repeat("é", 1000) + "…"
		if len(res.Content) != 2 || res.Content[0].Text != want || res.Content[0].Name != want || res.Content[1].Name != want {
			t.Errorf("%d blocks: %.50s", len(res.Content), fmt.Sprint(res.Content))
		}
		just := strings.Repeat("é", 1000)
		if res := callOne(t, &ferrule.Runtime{}, say(tool.Content{Type: tool.LinkContent, URI: "u", Text: just}), ""); res.Content[0].Text != just {
			t.Errorf("a title of 1,000 characters was cut to %d", utf8.RuneCountInString(res.Content[0].Text))
		}
	})
	t.Run("O1 a failure needs no structured output", func(t *testing.T) {
		def := countTool("")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errBroken }
		wantFailure(t, callOne(t, &ferrule.Runtime{}, def, ""), tool.Failed, "broken")
	})
	t.Run("L4 a tool cannot choose the ids of its result", func(t *testing.T) {
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{ID: "mine", CallID: "mine"}, nil
		})
		if res := callOne(t, &ferrule.Runtime{}, def, ""); res.CallID != "call_1" || res.ID == "mine" || res.ID == "" {
			t.Errorf("ids %q and %q", res.ID, res.CallID)
		}
	})
	for _, source := range []tool.Trust{tool.MCP, tool.Own, tool.BuiltIn} {
		t.Run(fmt.Sprintf("I4 a tool of trust %s can lower the trust of its result and not raise it", source), func(t *testing.T) {
			for said := tool.Inbound; said <= tool.BuiltIn+1; said++ {
				rt := &ferrule.Runtime{Policy: allowAll}
				def := checkedTool(t, doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{Trust: &said}, nil }))
				if err := rt.Set(tool.Source{Name: "src", Trust: source}, def); err != nil {
					t.Fatal(err)
				}
				name := "src__read"
				if source == tool.BuiltIn {
					name = "read"
				}
				res := rt.Session(tool.Caller{}).Call(t.Context(), name, "{}")
				switch {
				case res.Err != nil:
					t.Errorf("result = %v", res)
				case said < source && (res.Trust == nil || *res.Trust != said):
					t.Errorf("said %d: trust = %v", said, res.Trust)
				case said >= source && res.Trust != nil:
					t.Errorf("said %d: trust = %v, want that of the source", said, *res.Trust)
				}
			}
		})
	}
}

func TestLongResults(t *testing.T) {
	const size = 10 << 20
	long := func(limit tool.Limit, content ...tool.Content) tool.Result {
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{Content: content}, nil })
		def.Limit = limit
		return callOne(t, &ferrule.Runtime{Guard: unguarded()}, def, "")
	}
	t.Run("O4 10 MB are cut, and the model is told", func(t *testing.T) {
		res := long(tool.Limit{}, tool.Text(strings.Repeat("ab", size/2)))
		want := strings.Repeat("ab", 16_000) + "\n[Truncated: 10485760 chars total, showing first 32000 and last 32000]\n" + strings.Repeat("ab", 16_000)
		if res.Err != nil || res.String() != want {
			t.Errorf("the model reads %d characters: %.50s", len(res.String()), res)
		}
	})
	t.Run("O4 the words of a cut at the end", func(t *testing.T) {
		res := long(tool.Limit{Chars: 5000, Cut: "head"}, tool.Text(strings.Repeat("é", 12_000)))
		if want := strings.Repeat("é", 5000) + "\n[Truncated: 12000 chars total, showing first 5000]"; res.String() != want {
			t.Errorf("the model reads %.50s", res)
		}
	})
	blocks := []tool.Content{tool.Text("alpha"), tool.Text(""), {Type: tool.JSONContent, JSON: json.RawMessage(`"bétà"`)}, tool.Text("試"), tool.Text("gamma")}
	whole := []rune(tool.TextOf(blocks))
	for _, how := range []string{"head", "tail", "middle"} {
		t.Run("O4 what is cut is the text as it stands uncut, newlines between blocks too: "+how, func(t *testing.T) {
			for n := 1; n <= len(whole); n++ {
				first, last := (n+1)/2, n/2
				begin, end := string(whole[:first]), string(whole[len(whole)-last:])
				want := map[string]string{
					"head":   fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d]", string(whole[:n]), len(whole), n),
					"tail":   fmt.Sprintf("[Truncated: %d chars total, showing last %d]\n%s", len(whole), n, string(whole[len(whole)-n:])),
					"middle": fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d and last %d]\n%s", begin, len(whole), first, last, end),
				}[how]
				if n == len(whole) {
					want = string(whole)
				}
				if res := long(tool.Limit{Chars: n, Cut: how}, blocks...); res.String() != want {
					t.Errorf("%d characters:\ngot  %q\nwant %q", n, res, want)
				}
			}
		})
	}
	t.Run("O7 JSON that is too long is never cut into invalid JSON", func(t *testing.T) {
		image := tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: make([]byte, size)}
		res := long(tool.Limit{Chars: 10}, tool.Content{Type: tool.JSONContent, JSON: json.RawMessage(`"` + strings.Repeat("a", 100) + `"`)}, image)
		if len(res.Content) != 2 || res.Content[0].Type != tool.TextContent || res.Content[1].Type != tool.ImageContent || len(res.Content[1].Data) != size {
			t.Errorf("blocks %v", res)
		}
	})
	t.Run("O8 what is looked through costs no full copy", func(t *testing.T) {
		const size = 2 << 20
		callOne(t, &ferrule.Runtime{}, fixed("warm", sayText("the rules are made once for all")), "")
		def := fixed("read", sayText(strings.Repeat("plain text ", size/11)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := callOne(t, &ferrule.Runtime{}, def, "")
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n >= size || res.Err != nil {
			t.Errorf("cost %d kB", n>>10)
		}
	})
	t.Run("O8 10 MB of text cost no full copy", func(t *testing.T) {
		block := tool.Text(strings.Repeat("a", size))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := long(tool.Limit{}, block)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n >= size || res.Err != nil {
			t.Errorf("cost %d MB", n>>20)
		}
	})
	t.Run("O8 many small blocks cost little more than one large one", func(t *testing.T) {
		const bound = 32 << 20
		blocks := make([]tool.Content, 200_000)
		for i := range blocks {
			blocks[i] = tool.Text("ab")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := long(tool.Limit{Cut: "tail"}, blocks...)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n >= bound || !strings.HasPrefix(res.String(), "[Truncated: 599999 chars total, showing last 64000]\nb\nab\nab\n") {
			t.Errorf("cost %d MB: %.80s", n>>20, res)
		}
	})
	t.Run("O3 more tokens than can be counted in bytes are no limit", func(t *testing.T) {
		for _, tokens := range []int{math.MaxInt/4 + 1, math.MaxInt/2 + 1, math.MaxInt, tool.Unlimited} {
			if res := long(tool.Limit{Tokens: tokens}, tool.Text("hello")); res.String() != "hello" {
				t.Errorf("%d tokens: the model reads %q", tokens, res)
			}
		}
	})
	both := func(failure, content int) tool.Result {
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
			return sayText(strings.Repeat("c", content)), errors.New(strings.Repeat("e", failure))
		})
		return callOne(t, &ferrule.Runtime{}, def, "")
	}
	for _, tt := range []struct {
		name             string
		failure, content int // characters
		e, c             int // of them that the model reads
	}{
		{"both are too long", 64_000, 64_000, 32_000, 31_999},
		{"the error is short", 1000, 64_000, 1000, 62_999},
		{"the content is short", 64_000, 1000, 62_999, 1000},
		{"together they are too long", 40_000, 30_000, 33_999, 30_000},
		{"both have room", 32_000, 31_999, 32_000, 31_999},
		{"there is no content", 64_000, 0, 64_000, 0},
	} {
		t.Run("O3 an error and the content beside it share one room: "+tt.name, func(t *testing.T) {
			res := both(tt.failure, tt.content)
			failure, content := res.Err.Text, tool.TextOf(res.Content)
			notice := regexp.MustCompile(`\n\[Truncated: .*\]\n`)
			e, c := len(notice.ReplaceAllString(failure, "")), len(notice.ReplaceAllString(content, ""))
			if e != tt.e || c != tt.c {
				t.Errorf("the model reads %d characters of the error and %d of the content, want %d and %d", e, c, tt.e, tt.c)
			}
		})
	}
	t.Run("O3 an error is limited", func(t *testing.T) {
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{}, errors.New(strings.Repeat("a", size))
		})
		res := callOne(t, &ferrule.Runtime{Guard: unguarded()}, def, "")
		wantFailure(t, res, tool.Failed, "")
		if len(res.String()) > 64_200 {
			t.Errorf("the model reads %d bytes", len(res.String()))
		}
	})
	t.Run("O3 tokens are limited where characters are many tokens each", func(t *testing.T) {
		res := long(tool.Limit{}, tool.Text(strings.Repeat("試", 60_000)))
		if !strings.Contains(res.String(), "[Truncated: ") {
			t.Errorf("the model reads %d characters of 3 bytes, want at most 16,384 tokens", utf8.RuneCountInString(res.String()))
		}
	})
}

// TestValidUTF8 lets everybody say something that is not text.
func TestValidUTF8(t *testing.T) {
	t.Parallel()
	const bad = "a\xffb"
	tests := []struct {
		name   string
		call   tool.Call
		infect func(*ferrule.Runtime, *tool.Tool)
	}{
		{"output", tool.Call{}, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{Content: []tool.Content{{Type: tool.TextContent, Text: bad}, {Type: tool.LinkContent, URI: bad, Text: bad, Name: bad, MediaType: bad}}}, nil
			}
		}},
		{"an error", tool.Call{}, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errors.New(bad) }
		}},
		{"an error in the result", tool.Call{}, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: bad}}, nil
			}
		}},
		{"Validate", tool.Call{}, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return nil, errors.New(bad) }
		}},
		{"the rules", tool.Call{}, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Policy = policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Message: bad} })
		}},
		{"Permit", tool.Call{}, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Permit = func(context.Context, tool.Args) (tool.Decision, error) { return tool.Decision{Reason: bad}, nil }
		}},
		{"a hook that blocks", tool.Call{}, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{Block: bad}, nil })}
		}},
		{"an output hook", tool.Call{}, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{outputHook(func(tool.Result, tool.Result) (*tool.Result, error) {
				return &tool.Result{Content: []tool.Content{{Type: tool.TextContent, Text: bad}}, Err: &tool.Error{Text: bad}}, nil
			})}
		}},
		{"a person", tool.Call{}, func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Answer = tool.Claims{}, says(policy.Answer{Message: bad})
		}},
		{"a tool's words for a rejection", tool.Call{}, func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Answer = tool.Claims{}, says(policy.Answer{})
			d.RejectTextOf = func(context.Context, tool.Args) (string, error) { return bad, nil }
		}},
		{"the model, a name", tool.Call{Name: bad}, func(*ferrule.Runtime, *tool.Tool) {}},
		{"the model, a long name", tool.Call{Name: strings.Repeat("a", 127) + "é"}, func(*ferrule.Runtime, *tool.Tool) {}},
		{"the model, arguments", tool.Call{Name: "read", Input: json.RawMessage(`{"text":"` + bad + `"}`)}, func(*ferrule.Runtime, *tool.Tool) {}},
		{"the model, an unknown argument", tool.Call{Name: "read", Input: json.RawMessage(`{"` + bad + `":1}`)}, func(*ferrule.Runtime, *tool.Tool) {}},
	}
	for _, tt := range tests {
		t.Run("O1 whatever reaches the model is valid UTF-8: "+tt.name, func(t *testing.T) {
			rt, def := &ferrule.Runtime{}, readerTool("read")
			tt.infect(rt, &def)
			if tt.call.Name == "" {
				tt.call.Name = "read"
			}
			res := viewWith(t, rt, def).Do(t.Context(), tt.call)[0]
			text := res.String()
			for _, c := range res.Content {
				text += c.Text + c.Name + c.URI + c.MediaType
			}
			if !utf8.ValidString(text) || text == "" {
				t.Errorf("the model reads %q", text)
			}
		})
	}
}
