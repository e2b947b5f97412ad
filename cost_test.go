package ferrule_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestAuto(t *testing.T) {
	t.Parallel()
	// About 50 tokens each, of which the description is 25.
	shelf := func(t *testing.T, rt *ferrule.Runtime, tools int) *ferrule.View {
		t.Helper()
		var all []*tool.Tool
		for i := range tools {
			all = append(all, answering("tool_"+string(rune('a'+i)), "", about(strings.Repeat("word", 25))))
		}
		done(t, rt.Add(all...))
		return rt.Session(tool.Caller{}).View(t.Context())
	}
	tokens := func(v *ferrule.View) (n int) {
		for _, c := range v.Costs() {
			n += c
		}
		return n
	}
	finders := []string{"tool_search", "tool_describe", "tool_call"}
	t.Run("Q1 a tenth of the context is offered, more is deferred", func(t *testing.T) {
		t.Parallel()
		v := shelf(t, lenient(), 8)
		context := 10 * tokens(v)
		if got := v.Auto(context, ferrule.DeferOptions{}); got != v {
			t.Errorf("at a tenth: offered %q, want the view as it is", got.Names())
		}
		if got := v.Auto(context-10, ferrule.DeferOptions{}).Names(); !slices.Equal(got, finders) {
			t.Errorf("a token more: offered %q, want %q", got, finders)
		}
		if got := v.Auto(0, ferrule.DeferOptions{}); got != v {
			t.Errorf("in a context that is not known: offered %q", got.Names())
		}
		if deferred := v.Auto(1, ferrule.DeferOptions{}); deferred.Auto(1, ferrule.DeferOptions{}) != deferred {
			t.Error("a deferred view changed")
		}
	})
	t.Run("Q1 each definition is counted once, by who counts tokens", func(t *testing.T) {
		t.Parallel()
		rt, asked := lenient(), 0
		rt.CountTokens = func(text string) int {
			asked++
			return strings.Count(text, "word")
		}
		v := shelf(t, rt, 4)
		for range 3 {
			if got := tokens(v); got != 100 {
				t.Errorf("got %d tokens, want 100", got)
			}
		}
		if v.Auto(1000, ferrule.DeferOptions{}) != v || v.Auto(990, ferrule.DeferOptions{}) == v {
			t.Error("want a tenth as CountTokens says")
		}
		if asked != 4 {
			t.Errorf("counted %d times, want once for each tool", asked)
		}
	})
	t.Run("Q1 what length alone says is not counted", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		rt.CountTokens = func(string) int {
			t.Error("it was counted")
			return 1
		}
		v := shelf(t, rt, 8)
		if v.Auto(1_000_000, ferrule.DeferOptions{}) != v || v.Auto(10, ferrule.DeferOptions{}) == v {
			t.Error("want few offered and many deferred")
		}
	})
	t.Run("Q1 what was loaded does not make it defer", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		done(t, rt.Add(answering("near", "", about("near")), answering("far", "gone far", about(strings.Repeat("word", 100)), deferredTool)))
		s := rt.Session(tool.Caller{Session: "s"})
		v := s.View(t.Context())
		context := 10 * tokens(v)
		v.Do(t.Context(), ask("far", "{}"))
		now := s.View(t.Context()).Auto(context, ferrule.DeferOptions{})
		if got, want := now.Names(), []string{"near", "far"}; !slices.Equal(got, want) {
			t.Errorf("offered %q, want %q", got, want)
		}
	})
	t.Run("Q1 a pick stays one", func(t *testing.T) {
		t.Parallel()
		v := shelf(t, lenient(), 8).Pick(t.Context(), "", 0, "tool_c").Auto(1, ferrule.DeferOptions{})
		if got, want := v.Names(), append(slices.Clone(finders), "tool_c"); !slices.Equal(got, want) {
			t.Errorf("offered %q, want %q", got, want)
		}
	})
}
