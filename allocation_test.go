package ferrule_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// raced reports whether the race detector looks on.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// uncounted skips a test where what is allocated cannot be told.
func uncounted(t *testing.T) {
	t.Helper()
	if raced() {
		t.Skip("the race detector allocates, and empties pools: make laws runs it without")
	}
}

// wantAllocated wants a function to allocate at most so many bytes. They are
// counted for the whole process, so that no test that asks for it is parallel, and
// once is enough: something else may disturb it.
func wantAllocated(t *testing.T, most uint64, f func()) {
	t.Helper()
	least := ^uint64(0)
	for try := 0; try < 5 && least > most; try++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > most {
		t.Errorf("%d bytes were allocated, want at most %d", least, most)
	}
}

func TestAllocatedForLongResults(t *testing.T) {
	uncounted(t)
	store, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	list := func(item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item, 10<<20/len(item)), ",") + "]"
	}
	text := strings.Repeat("0123456789abcdef0123456789 abcd\n", 10<<20/32)
	wide := strings.Repeat("世界 0123456789abcdef012345678\n", 10<<20/33)
	for _, tt := range []struct {
		rule  string
		res   tool.Result
		count func(string) int
	}{
		{"O8 10 MB of text", sayText(text), nil},
		{"O8 10 MB of wide text", sayText(wide), nil},
		{"O8 10 MB of JSON", sayJSON(list(`{"id":1,"name":"abcdefgh\n"},`)), nil},
		{"O8 10 MB of wide JSON", sayJSON(list(`{"id":1,"name":"世界"},`)), nil},
		{"O8 10 MB in blocks", tool.Result{Content: []tool.Content{tool.Text(text[:5<<20]), tool.Text(text[5<<20:])}}, nil},
		{"O8 10 MB beside an error", tool.Result{Content: []tool.Content{tool.Text(text)}, Err: &tool.Error{Kind: tool.Failed, Text: "oh"}}, nil},
		{"O8 10 MB of text, counted", sayText(text), func(s string) int { return len(s) / 4 }},
	} {
		t.Run(tt.rule+", kept in a directory: at most 64 KiB beyond it", func(t *testing.T) {
			d := fixed("log", tt.res)
			d.Repeatable = true
			v := viewWith(t, &ferrule.Runtime{Blobs: store, CountTokens: tt.count}, d)
			wantAllocated(t, 64<<10, func() { handleIn(t, v.Do(t.Context(), tool.Call{Name: "log"})[0]) })
		})
	}
}

func TestAllocatedWithinLimits(t *testing.T) {
	uncounted(t)
	for _, tt := range []struct {
		rule string
		res  tool.Result
	}{
		{"O8 text", sayText(strings.Repeat("x", 60_000))},
		{"O8 wide text", sayText(strings.Repeat("é", 32_000))},
		{"O8 JSON", sayJSON(`"` + strings.Repeat("x", 60_000) + `"`)},
		{"O8 wide JSON", sayJSON(`"` + strings.Repeat("é", 32_000) + `"`)},
	} {
		for name, count := range map[string]func(string) int{"": nil, ", counted": func(s string) int { return len(s) / 5 }} {
			t.Run(tt.rule+name+", within the limits: no copy", func(t *testing.T) {
				d := fixed("log", tt.res)
				d.Repeatable = true
				v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), CountTokens: count}, d)
				wantAllocated(t, 16<<10, func() { v.Do(t.Context(), tool.Call{Name: "log"}) })
			})
		}
	}
}

func TestAllocatedForPages(t *testing.T) {
	uncounted(t)
	const page = 64_000
	caller := tool.Caller{Session: "s", Principal: "p"}
	for name, part := range map[string]string{"of lines": strings.Repeat("0123456789abcdef0123456789 abcd\n", 1<<20/32), "of one line": strings.Repeat("0123456789abcdef0123456789 abcde", 1<<20/32)} {
		store := &durable.Memory{Max: 1 << 30}
		rt := &ferrule.Runtime{Blobs: store}
		handle, err := store.Put(t.Context(), policy.Digest("", "p", "s"), durable.Note{Tool: "log", Trust: tool.Own}, slices.Repeat([]string{part}, 64)...)
		if err != nil {
			t.Fatal(err)
		}
		s := rt.Session(caller)
		for _, args := range []string{`"offset":40000000`, `"lines":"-20"`, `"lines":"1-"`, `"pattern":"nowhere"`, `"pattern":"0+"`, `"pattern":"e$"`} {
			t.Run(fmt.Sprintf("O5 a page of 64 MB %s, by %s: at most two pages", name, args), func(t *testing.T) {
				in := fmt.Sprintf(`{"handle":%q,%s}`, handle, args)
				wantAllocated(t, 2*page, func() {
					if res := s.Call(t.Context(), "read_result", in); res.Err != nil {
						t.Fatal(res.Err)
					}
				})
			})
		}
	}
}
