package search_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/search"
)

func doc(name, description string, arguments ...string) search.Document {
	d := search.Document{Name: name, Description: description}
	for _, a := range arguments {
		d.Arguments = append(d.Arguments, search.Argument{Name: a})
	}
	return d
}

func set(t testing.TB, x *search.Index, source string, docs ...search.Document) {
	t.Helper()
	if err := x.Set(t.Context(), source, docs...); err != nil {
		t.Fatal(err)
	}
}

func names(a search.Answer) string {
	var all []string
	for _, h := range a.Hits {
		all = append(all, h.Document.Name)
	}
	return strings.Join(all, " ")
}

// desk is a small index of three sources.
func desk(t testing.TB) *search.Index {
	x := new(search.Index)
	set(t, x, "github",
		doc("create_issue", "Open a new issue in a repository.", "title", "body"),
		doc("list_issues", "List the issues of a repository.", "state"),
		doc("merge_pull_request", "Merge a pull request.", "number"))
	set(t, x, "mail",
		doc("sendMail", "Send a message to somebody.", "recipient", "subject"),
		search.Document{Name: "archive", Description: "Put a message away.", Tags: []string{"cleanup"}, Examples: []string{"last week"}, About: "An inbox for newsletters"})
	set(t, x, "weather", doc("forecast", "The weather of the next days in a city."))
	return x
}

func TestSearch(t *testing.T) {
	t.Parallel()
	x := desk(t)
	for _, tt := range []struct {
		name, query string
		limit       int
		want        string
	}{
		{"Q2 words of the name", "open issue", 1, "create_issue"},
		{"Q2 other forms of a word", "merging pulls", 1, "merge_pull_request"},
		{"Q2 the description", "tell me about days in the city", 1, "forecast"},
		{"Q2 an argument", "recipient", 0, "sendMail"},
		{"Q2 a tag", "cleanup", 0, "archive"},
		{"Q2 the source", "github", 1, "list_issues"},
		{"Q2 what the source says of itself", "newsletters", 0, "archive"},
		{"an example", "week", 0, "archive"},
		{"more of the words come first", "issues repository list", 2, "list_issues create_issue"},
		{"each of two wishes", "list all the open repository issues, then send somebody the message subject", 2, "sendMail list_issues"},
		{"nothing but common words", "what is it to you?", 0, ""},
		{"no words", " \x00\xff ", 0, ""},
		{"words that nothing has", "quantum entanglement", 0, ""},
		{"Q2 exact names", "select:forecast, sendMail", 0, "forecast sendMail"},
		{"an exact name in other letters", "select:Forecast", 0, ""},
		{"select: without a name", "select: , ", 0, ""},
		{"as many as asked for", "message issue request weather", 3, "merge_pull_request forecast list_issues"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := x.Search(t.Context(), search.Query{Text: tt.query, Limit: tt.limit})
			if got := names(a); got != tt.want {
				t.Errorf("Search(%q) = %q, want %q", tt.query, got, tt.want)
			}
		})
	}
	t.Run("Q2 only what a view lets pass", func(t *testing.T) {
		t.Parallel()
		only := func(d *search.Document) bool { return d.Source != "github" }
		for _, query := range []string{"issue message", "select:create_issue,archive"} {
			a := x.Search(t.Context(), search.Query{Text: query, Only: only})
			if got := names(a); strings.Contains(got, "issue") || !strings.Contains(got, "archive") {
				t.Errorf("Search(%q) = %q, want nothing of github", query, got)
			}
		}
	})
	t.Run("a name that is missing is said", func(t *testing.T) {
		t.Parallel()
		a := x.Search(t.Context(), search.Query{Text: "select:forecast,nothing"})
		if got := strings.Join(a.Missing, " "); got != "nothing" {
			t.Errorf("missing: got %q, want nothing", got)
		}
	})
	t.Run("why", func(t *testing.T) {
		t.Parallel()
		a := x.Search(t.Context(), search.Query{Text: "Open an issue with a title", Limit: 1})
		if got, want := a.Hits[0].Why(), "name: issue; description: open; argument: title"; got != want {
			t.Errorf("Why() = %q, want %q", got, want)
		}
	})
}

func TestAlike(t *testing.T) {
	t.Parallel()
	x := new(search.Index)
	for i := range 5 {
		d := doc("web_search", "Search the web for pages about a topic and give back links.", "query", "count")
		d.ID = fmt.Sprintf("copy%d__web_search", i)
		set(t, x, fmt.Sprintf("copy%d", i), d)
	}
	set(t, x, "local", doc("file_search", "Search the files of a folder by name.", "folder"))
	a := x.Search(t.Context(), search.Query{Text: "search the web", Limit: 2})
	if got, want := names(a), "web_search file_search"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := len(a.Hits[0].Alike); got != 4 {
		t.Errorf("got %d near copies, want 4", got)
	}
	t.Run("Q2 one source does not keep the copies of others out", func(t *testing.T) {
		var many []search.Document
		for i := range 8 {
			d := doc("web_search", "Search the web for pages about a topic and give back links.", "query", "count")
			d.ID = fmt.Sprintf("many__web_search_%d", i)
			many = append(many, d)
		}
		set(t, x, "many", many...)
		a := x.Search(t.Context(), search.Query{Text: "search the web", Limit: 2})
		from := map[string]int{a.Hits[0].Document.Source: 1}
		for _, d := range a.Hits[0].Alike {
			from[d.Source]++
		}
		if len(a.Hits[0].Alike) != 5 || from["many"] > 3 {
			t.Errorf("got copies of %v, want some of others", from)
		}
	})
	t.Run("Q2 a copy does not take the place of what is trusted more", func(t *testing.T) {
		d := doc("web_search", "Search the web for pages about a topic and give back links.", "query", "count")
		d.ID, d.Standing = "web_search", 5
		set(t, x, "", d)
		a := x.Search(t.Context(), search.Query{Text: "search the web", Limit: 1})
		if len(a.Hits) != 1 || a.Hits[0].Document.ID != "web_search" || len(a.Hits[0].Alike) != 5 {
			t.Errorf("got %+v, want web_search first, and the others named", a.Hits)
		}
	})
	t.Run("Q2 two tools of one source are no copies, nor is what goes the other way", func(t *testing.T) {
		x := new(search.Index)
		text := "Act on a virtual instance of the cloud account by its number and wait until it is done; gives back the state that it has then."
		var docs []search.Document
		for _, verb := range []string{"start", "stop", "lock", "reboot", "migrate", "restore", "clone", "tag"} {
			docs = append(docs, doc(verb+"_instance", text, "number", "wait", "account"))
		}
		set(t, x, "cloud", docs...)
		set(t, x, "a", doc("pdf_to_word", "Convert a document.", "file"))
		set(t, x, "b", doc("word_to_pdf", "Convert a document.", "file"))
		for _, q := range []string{"act on an instance", "convert a document"} {
			for _, h := range x.Search(t.Context(), search.Query{Text: q}).Hits {
				if len(h.Alike) > 0 {
					t.Errorf("%s is said to be much the same as %s", h.Document.Name, h.Alike[0].Name)
				}
			}
		}
	})
}

// shelf makes documents of few words, so that they share many.
func shelf(source string) *rapid.Generator[[]search.Document] {
	word := rapid.SampledFrom([]string{"read", "write", "file", "mail", "send", "list", "city", "weather", "userName", "天気予報"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ") })
	return rapid.Custom(func(t *rapid.T) []search.Document {
		var docs []search.Document
		for i := range rapid.IntRange(0, 6).Draw(t, "documents") {
			d := search.Document{ID: fmt.Sprint(source, i), Name: text.Draw(t, "name"), Description: text.Draw(t, "description")}
			if rapid.Bool().Draw(t, "more") {
				d.Arguments = []search.Argument{{Name: text.Draw(t, "argument"), Description: text.Draw(t, "about")}}
				d.Tags = []string{text.Draw(t, "tag")}
			}
			docs = append(docs, d)
		}
		return docs
	})
}

// An index that was changed many times answers as one that was just made.
func TestSetInPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		changed, last := new(search.Index), make(map[string][]search.Document)
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			source := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "source")
			docs := shelf(source).Draw(t, "docs")
			if err := changed.Set(context.Background(), source, slices.Clone(docs)...); err != nil {
				t.Fatal(err)
			}
			last[source] = docs
		}
		made, n := new(search.Index), 0
		for source, docs := range last {
			if err := made.Set(context.Background(), source, docs...); err != nil {
				t.Fatal(err)
			}
			n += len(docs)
		}
		if changed.Len() != n || made.Len() != n {
			t.Fatalf("got %d and %d documents, want %d", changed.Len(), made.Len(), n)
		}
		for _, q := range []string{"read file", "weather in the city", "send a mail, then write the file list", "user", "天気", "select:a0,b1,c9"} {
			got := changed.Search(context.Background(), search.Query{Text: q, Limit: 5})
			want := made.Search(context.Background(), search.Query{Text: q, Limit: 5})
			if !reflect.DeepEqual(got.Hits, want.Hits) || got.Fit != want.Fit {
				t.Fatalf("%q: got %+v, a new index has %+v", q, got, want)
			}
		}
	})
}

// Searches run while a source of a thousand tools comes and goes among others, and
// find what stays each time.
func TestSetWhileSearching(t *testing.T) {
	t.Parallel()
	x := &search.Index{Embedder: senses()}
	x.Embedder.Batch = 0
	x.Embedder.Documents = func(_ context.Context, docs []search.Document) ([][]float32, error) {
		all := make([][]float32, len(docs))
		for i, d := range docs {
			all[i] = []float32{float32(len(d.Source)), 1}
		}
		return all, nil
	}
	many := func(source string, n int) []search.Document {
		docs := make([]search.Document, n)
		for i := range docs {
			docs[i] = doc(fmt.Sprintf("%s_tool_%d", source, i), fmt.Sprintf("Work number %d on things of %s.", i, source), "thing")
		}
		return docs
	}
	set(t, x, "stays", many("stays", 2_000)...)
	set(t, x, "stays2", doc("find_needle", "Find the needle in a haystack."))
	done := make(chan struct{})
	var searches sync.WaitGroup
	for range 2 {
		searches.Go(func() {
			for {
				a := x.Search(context.Background(), search.Query{Text: "needle or work on things", Limit: 3})
				if len(a.Hits) != 3 || a.Hits[0].Document.Name != "find_needle" {
					t.Errorf("got %q, want find_needle first of 3", names(a))
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		set(t, x, "goes", many("goes", 1_000)...)
		set(t, x, "goes")
	}
	close(done)
	searches.Wait()
	if got := x.Len(); got != 2_001 {
		t.Errorf("got %d documents, want 2001", got)
	}
}

func FuzzSearch(f *testing.F) {
	x := desk(f)
	for _, s := range []string{"open issue", "select:forecast", "天気 \xff\xfe", strings.Repeat("a b, ", 3_000), "issue. mail! then weather? and request; also message"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := x.Search(t.Context(), search.Query{Text: text})
		if len(a.Hits) > 10 {
			t.Errorf("got %d hits, want at most 10", len(a.Hits))
		}
		for i, h := range a.Hits {
			if !(h.Score >= 0) || i > 0 && h.Score > a.Hits[i-1].Score {
				t.Errorf("hit %d of %q: score %v", i, text, h.Score)
			}
		}
		if !(a.Fit >= 0 && a.Fit <= 1) {
			t.Errorf("fit of %q: got %v", text, a.Fit)
		}
	})
}
