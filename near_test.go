package ferrule

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

func named(names ...string) []*entry {
	list := make([]*entry, len(names))
	for i, n := range names {
		list[i] = &entry{wire: n, tool: new(tool.Tool)}
	}
	return list
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, call, tools, want string }{
		{"R6 the nearest first", "read_fil", "read_files write_file read_file", "read_file read_files"},
		{"R6 of equally near ones the first three", "tool_x", "tool_1 tool_2 tool_3 tool_4", "tool_1 tool_2 tool_3"},
		{"R6 a nearer one comes last", "tool_4x", "tool_1 tool_2 tool_3 tool_4", "tool_4 tool_1 tool_2"},
		{"R6 another case", "READ", "write read", "read"},
		{"R6 without the source in front", "create_issue", "gh__create_issue gh__close_pull_request", "gh__create_issue"},
		{"R6 with a source in front", "gh__think_it_over", "think_it_over close", "think_it_over"},
		{"R6 the whole name differs", "w", "r", ""},
		{"R6 the whole of a longer name differs", "ab", "xy ax", "ax"},
		{"R6 one letter within a name is nothing in common", "read_all", "r a l", ""},
		{"R6 no name", "", "r read", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(nearest(tt.call, named(strings.Fields(tt.tools)...)), " "); got != tt.want {
				t.Errorf("nearest(%q, %s) = %q, want %q", tt.call, tt.tools, got, tt.want)
			}
		})
	}
}

// plainDistance is the definition.
func plainDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	if a[0] == b[0] {
		return plainDistance(a[1:], b[1:])
	}
	return 1 + min(plainDistance(a[1:], b), plainDistance(a, b[1:]), plainDistance(a[1:], b[1:]))
}

func TestDistance(t *testing.T) {
	t.Parallel()
	t.Run("R6 what is near is what takes few changes", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			word := rapid.StringMatching(`[abc]{0,7}`)
			a, b, most := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(0, 8).Draw(t, "most")
			if got, want := distance(a, b, most, make([]int, len(b)+1)), min(plainDistance(a, b), most+1); min(got, most+1) != want {
				t.Fatalf("distance(%q, %q, %d) = %d, want %d", a, b, most, got, want)
			}
		})
	})
}

func TestManyUnknownNames(t *testing.T) {
	t.Parallel()
	t.Run("R9 names that a model makes up do not each cost a look at 10,000 tools", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			names := make([]string, 10_000)
			for i := range names {
				names[i] = fmt.Sprintf("server_function_name_%d", i)
			}
			tools := newToolset(named(names...))
			helped := 0
			for i := range 10_000 {
				if len(tools.near(fmt.Sprintf("server_function_nome_%d", i))) > 0 {
					helped++
				}
			}
			if helped < 10 || helped > 30 {
				t.Errorf("%d of 10,000 were helped, want the first few", helped)
			}
			if got := tools.near("server_function_nome_0"); len(got) != 3 {
				t.Errorf("near(server_function_nome_0) = %q, want what was found before", got)
			}
			time.Sleep(time.Minute)
			if got := tools.near("server_function_nome_9999"); len(got) != 3 {
				t.Errorf("near(server_function_nome_9999) = %q after a minute, want three", got)
			}
		})
	})
	t.Run("R9 what is remembered of them is bounded", func(t *testing.T) {
		tools := newToolset(named("read"))
		for i := range 10_000 {
			tools.near(fmt.Sprintf("read_%d", i))
		}
		if n := len(tools.nearby.known); n > maxKept {
			t.Errorf("%d are remembered, want at most %d", n, maxKept)
		}
	})
}
