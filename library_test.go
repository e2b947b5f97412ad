package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/tool"
)

// searched is what tool_search of a session says now.
func searched(t *testing.T, s *ferrule.Session, query string) string {
	t.Helper()
	text, err := json.Marshal(query)
	done(t, err)
	res := s.View(t.Context()).Defer(ferrule.DeferOptions{}).Do(t.Context(), ask("tool_search", `{"query":`+string(text)+`}`))[0]
	if res.Err != nil {
		t.Errorf("search for %q: %v", query, res.Err)
	}
	return res.String()
}

func TestSearchFollows(t *testing.T) {
	t.Parallel()
	mail, git := tool.Source{Name: "mail", Trust: tool.MCP}, tool.Source{Name: "git", Trust: tool.MCP}
	t.Run("Q2 what comes, changes and goes is found so", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		s := shop(t, rt)
		for _, tt := range []struct {
			name   string
			change func() error
			found  string // "": nothing
		}{
			{"before", func() error { return nil }, ""},
			{"a source came", func() error {
				return rt.Set(tool.Source{Name: "zoo", Trust: tool.MCP}, answering("feed", "", about("Feed a zebra.")))
			}, "zoo__feed"},
			{"it changed", func() error {
				return rt.Set(tool.Source{Name: "zoo", Trust: tool.MCP}, answering("wash", "", about("Wash a zebra.")))
			}, "zoo__wash"},
			{"it went", func() error { return rt.Set(tool.Source{Name: "zoo", Trust: tool.MCP}) }, ""},
			{"one of the program's own", func() error { return rt.Add(answering("ride", "", about("Ride a zebra."))) }, "ride"},
		} {
			done(t, tt.change())
			got := searched(t, s, "zebra")
			if tt.found == "" && !strings.HasPrefix(got, "No tool has these words.") || !strings.HasPrefix(got, tt.found) || strings.Count(got, "[description: zebra]") > 1 {
				t.Errorf("%s: found %q, want %q", tt.name, got, tt.found)
			}
		}
	})
	t.Run("Q2 only what the view has is found, and only what the rules show", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Policy: denying("mail__send")}
		v := shop(t, rt).View(t.Context())
		part := v.Only(ferrule.Filter{Sources: []string{"git"}}).Defer(ferrule.DeferOptions{})
		if got := part.Do(t.Context(), ask("tool_search", `{"query":"keep a note"}`))[0].String(); strings.Contains(got, "note(") {
			t.Errorf("a view of git found %q", got)
		}
		if got := v.Defer(ferrule.DeferOptions{}).Do(t.Context(), ask("tool_search", `{"query":"send a letter"}`))[0].String(); strings.Contains(got, "mail") {
			t.Errorf("what is denied was found: %q", got)
		}
	})
	t.Run("Q2 what a source says of itself counts, and is not shown", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		rt.About = func(source string) string {
			if source == "mail" {
				panic("nobody knows")
			}
			return "All about aquariums, and\nmore" + strings.Repeat(" of it", 1_000)
		}
		done(t, rt.Set(git, answering("log", "", about("Show what was."))))
		done(t, rt.Set(mail, answering("send", "", about("Send a letter."))))
		got := searched(t, rt.Session(tool.Caller{}), "aquariums")
		if !strings.HasPrefix(got, "git__log(") || strings.Contains(got, "All about") || strings.Contains(got, "mail__") {
			t.Errorf("found %q", got)
		}
	})
	t.Run("Q4 that the embedder fails is told once, without secrets", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		rt.Embedder = telling(0)
		rt.Embedder.Queries = func(context.Context, []string) ([][]float32, error) { return nil, errors.New("no such model") }
		done(t, rt.Set(mail, answering("send", "", about("Send a letter."))))
		s := rt.Session(tool.Caller{})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		s.View(t.Context()).Search(gone, "letter", 1)
		for range 3 {
			searched(t, s, "letter")
		}
		told := slices.DeleteFunc(rt.Findings(), func(f ferrule.Finding) bool { return f.Name != "Runtime.Embedder" })
		if len(told) != 1 || !strings.Contains(told[0].Text, "no such model") {
			t.Errorf("findings %v", told)
		}
	})
	t.Run("Q2 near copies share a line", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		for i := range 4 {
			done(t, rt.Set(tool.Source{Name: fmt.Sprintf("s%d", i), Trust: tool.MCP}, answering("web_search", "", about("Search the web for pages.", "query"))))
		}
		done(t, rt.Set(git, answering("grep", "", about("Search the files of a repository.", "pattern"))))
		got := searched(t, rt.Session(tool.Caller{}), "search the web")
		if lines := strings.Split(got, "\n"); len(lines) != 2 || !strings.Contains(lines[0], "; much the same: s") || !strings.HasPrefix(lines[1], "git__grep(pattern?)") {
			t.Errorf("found %q", got)
		}
	})
	t.Run("Q2 where nothing fits it says so", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		rt.Embedder = telling(0)
		for i := range 40 {
			done(t, rt.Set(tool.Source{Name: fmt.Sprintf("s%d", i), Trust: tool.MCP}, answering(fmt.Sprintf("make_report_number_%d", i), "", about("Make a report of what is in store, by day.", "day"))))
		}
		done(t, rt.Set(mail, answering("send_letter", "", about("Send a letter to a person."))))
		s := rt.Session(tool.Caller{})
		if got := searched(t, s, "what should I eat on a rainy day"); !strings.HasPrefix(got, "No tool seems to fit. The nearest:\n") || strings.Count(got, "\n") > 3 {
			t.Errorf("found %q", got)
		}
		if got := searched(t, s, "send a letter to my aunt"); !strings.HasPrefix(got, "mail__send_letter()") {
			t.Errorf("found %q", got)
		}
	})
	t.Run("Q2 searches go on while sources change", func(t *testing.T) {
		t.Parallel()
		rt := lenient()
		rt.Embedder = telling(0)
		done(t, rt.Set(mail, answering("send", "", about("Send a letter."))))
		s := rt.Session(tool.Caller{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					if got := s.View(t.Context()).Search(t.Context(), "send a letter", 1).Hits; len(got) != 1 || got[0].Document.ID != "mail__send" {
						t.Errorf("found %v", got)
					}
				}
			})
		}
		for i := range 20 {
			done(t, rt.Set(git, answering(fmt.Sprintf("log_%d", i), "", about("Show what was committed."))))
		}
		all.Wait()
		if got := searched(t, s, "what was committed"); !strings.Contains(got, "git__log_19()") || strings.Contains(got, "git__log_18()") {
			t.Errorf("found %q", got)
		}
	})
	t.Run("Q2 any bytes are a query", func(t *testing.T) {
		t.Parallel()
		s := shop(t, new(ferrule.Runtime))
		for _, query := range []string{"", "\x00", "the of and", "日本語のツール", strings.Repeat("send a letter, then ", 5_000), "select:" + strings.Repeat("x,", 200)} {
			if got := searched(t, s, query); got == "" || len(got) > 50_000 {
				t.Errorf("%.40q: %d bytes", query, len(got))
			}
		}
	})
}

// telling is an embedder to which letters and mail mean one thing. Other queries
// mean nothing that a tool does.
func telling(wait time.Duration) *search.Embedder {
	mean := func(text string, tools, queries float32) []float32 {
		if strings.Contains(text, "letter") || strings.Contains(text, "correspondence") {
			return []float32{1, 0, 0}
		}
		return []float32{0, tools, queries}
	}
	return &search.Embedder{
		Wait: wait,
		Documents: func(_ context.Context, docs []search.Document) (all [][]float32, err error) {
			for _, d := range docs {
				all = append(all, mean(d.Description, 1, 0))
			}
			return all, nil
		},
		Queries: func(_ context.Context, texts []string) (all [][]float32, err error) {
			for _, text := range texts {
				all = append(all, mean(text, 0, 1))
			}
			return all, nil
		},
	}
}

func TestEmbedder(t *testing.T) {
	t.Parallel()
	const meant, said = "some correspondence", "a letter"
	t.Run("Q4 what is meant is found", func(t *testing.T) {
		t.Parallel()
		for _, wait := range []time.Duration{0, time.Hour} {
			s := shop(t, &ferrule.Runtime{Embedder: telling(wait)})
			if got := searched(t, s, meant); !strings.Contains(got, "mail__send(text?, to?) [meaning 1.00]: Send a letter.") {
				t.Errorf("found %q", got)
			}
		}
	})
	t.Run("Q4 who asks others with it does not claim to stay on this machine", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			name string
			e    *search.Embedder
			want bool
		}{{"none", nil, true}, {"one inside", &search.Embedder{Local: true}, true}, {"one that may be anywhere", telling(0), false}} {
			for r := range shop(t, &ferrule.Runtime{Embedder: tt.e}).View(t.Context()).Defer(ferrule.DeferOptions{}).Offered() {
				want := r.Name == "tool_describe" || r.Name == "tool_search" && tt.want
				if got := r.Info.Claims.Local; got != want {
					t.Errorf("%s: %s claims Local: %t, want %t", tt.name, r.Name, got, want)
				}
			}
		}
	})
	t.Run("G5 a key that was taken out reaches none", func(t *testing.T) {
		t.Parallel()
		for _, local := range []bool{false, true} {
			var asked []string
			e := telling(time.Hour)
			e.Local = local
			e.Queries = func(_ context.Context, texts []string) ([][]float32, error) {
				asked = append(asked, texts...)
				return make([][]float32, len(texts)), nil
			}
			key := someKey(1)
			read := doing(writerTool("read_letter"), func(context.Context, tool.Args) (tool.Result, error) { return sayText(key), nil })
			s := keyed(t, &ferrule.Runtime{Policy: allowAll, Embedder: e}, tool.Own, read)
			if got := s.Call(t.Context(), "src__read_letter", "{}").String(); got != "[SECRET:aws-key:1]" {
				t.Fatalf("the model is given %q", got)
			}
			v := s.View(t.Context()).Defer(ferrule.DeferOptions{})
			arguments := `{"query":"read letter [SECRET:aws-key:1]"}`
			for _, c := range []tool.Call{ask("tool_search", arguments), throughCall("tool_search", arguments)} {
				if res := v.Do(t.Context(), c)[0]; res.Err != nil || !strings.HasPrefix(res.String(), "src__read_letter(") {
					t.Errorf("found %q, %v", res, res.Err)
				}
			}
			if all := strings.Join(asked, "\n"); !strings.Contains(all, "[SECRET:aws-key:1]") || strings.Contains(all, key) {
				t.Errorf("local %t: the embedder was asked %q", local, all)
			}
		}
	})
	errNo := errors.New("no")
	for _, tt := range []struct {
		name   string
		change func(*search.Embedder)
	}{
		{"Q4 one that fails for tools", func(e *search.Embedder) {
			e.Documents = func(context.Context, []search.Document) ([][]float32, error) { return nil, errNo }
		}},
		{"Q4 one that fails for queries", func(e *search.Embedder) {
			e.Queries = func(context.Context, []string) ([][]float32, error) { return nil, errNo }
		}},
		{"Q4 one that panics", func(e *search.Embedder) {
			e.Documents = func(context.Context, []search.Document) ([][]float32, error) { panic("no") }
			e.Queries = func(context.Context, []string) ([][]float32, error) { panic("no") }
		}},
		{"Q4 one without functions", func(e *search.Embedder) { e.Documents, e.Queries = nil, nil }},
		{"Q4 one that answers with too little", func(e *search.Embedder) {
			e.Documents = func(context.Context, []search.Document) ([][]float32, error) { return nil, nil }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := telling(0)
			tt.change(e)
			s := shop(t, &ferrule.Runtime{Embedder: e})
			for range 2 {
				if got := searched(t, s, said); !strings.HasPrefix(got, "mail__send(text?, to?) [description: letter") {
					t.Errorf("found %q", got)
				}
			}
		})
	}
	t.Run("Q4 one that is slow is not waited for, and not asked twice at once", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var asked atomic.Int32
			e := telling(time.Second)
			e.Documents = func(ctx context.Context, _ []search.Document) ([][]float32, error) {
				asked.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			rt := &ferrule.Runtime{Embedder: e}
			s := shop(t, rt)
			began := time.Now()
			for range 2 {
				if got := searched(t, s, said); !strings.HasPrefix(got, "mail__send(") {
					t.Errorf("found %q", got)
				}
			}
			if took := time.Since(began); took > 3*time.Second || asked.Load() != 1 {
				t.Errorf("two searches took %s and asked %d times", took, asked.Load())
			}
			done(t, rt.Close(t.Context()))
		})
	})
}
