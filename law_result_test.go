package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// output is what the tools of one turn return, and what may be left of it.
type output struct {
	Calls     []outputCall
	TurnChars int
	Store     string // "", memory, dir or broken
	Counter   string // "", bytes, words, characters, panics, nonsense
	Summary   string
}

type outputCall struct {
	Blocks []tool.Content
	Error  string
	Limit  tool.Limit
	Secret bool
}

// textOf draws text without brackets, which are kept for notices.
func textOf() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab \n€😀\u0301\u200b")), 0, 400, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("x")), 0, 2000, -1),
		rapid.Custom(func(r *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom([]byte("ab\xff\xe2\x82\xac\n ")), 0, 300).Draw(r, "bytes"))
		}),
	)
}

func drawOutput(r *rapid.T) output {
	block := rapid.Custom(func(r *rapid.T) tool.Content {
		switch rapid.IntRange(0, 4).Draw(r, "block") {
		case 0:
			return tool.Content{Type: tool.JSONContent, JSON: fmt.Appendf(nil, `{"n":%d}`, rapid.Int().Draw(r, "n"))}
		case 1:
			return tool.Content{Type: tool.ImageContent, Data: []byte{1}, MediaType: "image/png"}
		case 2:
			text, _ := json.Marshal(map[string]string{"a": textOf().Draw(r, "json")})
			return tool.Content{Type: tool.JSONContent, JSON: text}
		default:
			return tool.Content{Type: tool.TextContent, Text: textOf().Draw(r, "text")}
		}
	})
	some := rapid.OneOf(rapid.SampledFrom([]int{0, tool.Unlimited, 1, 2, 3}), rapid.IntRange(1, 500))
	call := rapid.Custom(func(r *rapid.T) outputCall {
		c := outputCall{
			Blocks: rapid.SliceOfN(block, 0, 4).Draw(r, "blocks"),
			Limit:  tool.Limit{Chars: some.Draw(r, "chars"), Tokens: some.Draw(r, "tokens"), Cut: rapid.SampledFrom([]string{"", "offload", "middle", "head", "tail", "summarize"}).Draw(r, "cut")},
			Secret: rapid.IntRange(0, 9).Draw(r, "secret") == 0,
		}
		if rapid.IntRange(0, 3).Draw(r, "fails") == 0 {
			c.Error = "failed " + textOf().Draw(r, "error")
		}
		return c
	})
	return output{
		Calls: rapid.SliceOfN(call, 1, mostCalls).Draw(r, "calls"), TurnChars: some.Draw(r, "turn"),
		Store:   rapid.SampledFrom([]string{"", "memory", "memory", "memory", "memory", "memory", "memory", "memory", "memory", "memory", "dir", "broken"}).Draw(r, "store"),
		Counter: rapid.SampledFrom([]string{"", "", "bytes", "words", "characters", "panics", "nonsense"}).Draw(r, "counter"),
		Summary: rapid.SampledFrom([]string{"", "short", strings.Repeat("a long summary ", 50)}).Draw(r, "summary"),
	}
}

func (o *output) count() func(string) int {
	switch o.Counter {
	case "bytes":
		return func(s string) int { return len(s) }
	case "words":
		return func(s string) int { return len(strings.Fields(s)) }
	case "characters":
		return utf8.RuneCountInString
	case "panics":
		return func(string) int { panic("oh") }
	case "nonsense":
		return func(s string) int { return len(s)*1000 - 70_000 }
	}
	return nil
}

// gallery is where outputs are shown: for each kind of store a runtime, and
// another that knows the same store, like another process. Making them takes
// longer than showing something.
type gallery struct {
	first, second map[string]*Runtime
	now           *output
	n             int
}

const mostCalls = 4

func newGallery(t *testing.T) *gallery {
	t.Helper()
	g := &gallery{first: make(map[string]*Runtime), second: make(map[string]*Runtime)}
	path, memory := t.TempDir(), new(durable.Memory)
	for _, all := range []map[string]*Runtime{g.first, g.second} {
		dir, err := durable.OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = dir.Close() })
		for name, blobs := range map[string]durable.Blobs{"memory": memory, "dir": dir, "broken": noBlobs{}, "": nil} {
			if all[name], err = g.runtime(blobs); err != nil {
				t.Fatal(err)
			}
		}
	}
	return g
}

// noBlobs keeps nothing.
type noBlobs struct{ durable.Blobs }

func (noBlobs) Put(context.Context, string, durable.Note, ...string) (string, error) {
	return "", errors.New("no space left on device")
}
func (noBlobs) Holds(context.Context, string) (bool, error) { return false, nil }

// runtime is one with tools that return what is shown now.
func (g *gallery) runtime(blobs durable.Blobs) (*Runtime, error) {
	accepted := []tool.Sensitivity{tool.Public, tool.Internal, tool.Secret}
	rt := &Runtime{Blobs: blobs, Guard: &guard.Guard{Sanitize: guard.Pass, Sinks: map[guard.Sink][]tool.Sensitivity{guard.Model: accepted}}}
	for i := range mostCalls {
		d := tool.Tool{
			Info: tool.Info{
				Name: fmt.Sprintf("tool_%d", i), Description: "Show.", Input: json.RawMessage(`{"type":"object"}`),
				Claims: tool.Claims{ReadOnly: true, Local: true}, Repeatable: true,
			},
			Run: func(context.Context, tool.Args) (tool.Result, error) {
				c := &g.now.Calls[i]
				if c.Error != "" {
					return tool.Result{Content: c.Blocks}, errors.New(c.Error)
				}
				return tool.Result{Content: c.Blocks}, nil
			},
		}
		made, err := d.Check()
		if err == nil {
			err = rt.Add(made)
		}
		if err != nil {
			return nil, err
		}
	}
	return rt, nil
}

// set gives a runtime the settings of an output. A host cannot do that.
func (g *gallery) set(o *output) *Runtime {
	g.now = o
	rt := g.first[o.Store]
	rt.set.countTokens, rt.set.summarize, rt.set.turnChars = o.count(), nil, o.TurnChars
	if o.TurnChars == 0 {
		rt.set.turnChars = defaultTurnChars
	}
	if o.Summary != "" {
		rt.set.summarize = func(context.Context, *tool.Request, string) (string, error) { return o.Summary, nil }
	}
	for i, c := range o.Calls {
		info := &rt.reg.find(fmt.Sprintf("tool_%d", i)).tool.Info
		if info.Limit, info.OutputSensitivity = c.Limit, tool.Internal; c.Secret {
			info.OutputSensitivity = tool.Secret
		}
	}
	return rt
}

// For any content, limits and strategy: what reaches the model is within the
// limits, valid UTF-8, and valid JSON where it was JSON; and what was kept can be
// read back, every byte, by its session alone, also by another process.
func TestResultLaws(t *testing.T) {
	t.Parallel()
	t.Run("O3 O5 O6 any content, any limits, any strategy: within the limits, well formed, and all of it can be read", func(t *testing.T) {
		g := newGallery(t)
		check(t, *cases, func(r *rapid.T) {
			o := drawOutput(r)
			if fault := g.show(&o); fault != "" {
				r.Fatalf("%s\n%+v", fault, o)
			}
		})
	})
}

func (g *gallery) show(o *output) string {
	rt := g.set(o)
	g.n++
	caller := tool.Caller{Session: fmt.Sprint(g.n % 50)} // to begin one takes longer than what is shown in it
	calls := make([]tool.Call, len(o.Calls))
	for i := range calls {
		calls[i].Name = fmt.Sprintf("tool_%d", i)
	}
	ctx := context.Background()
	total, largest := 0, 0
	for i, res := range rt.Session(caller).View(ctx).Do(ctx, calls...) {
		c := &o.Calls[i]
		if fault := wellFormedResult(res); fault != "" {
			return fmt.Sprintf("result %d: %s", i, fault)
		}
		shown := shownOf(res)
		chars := utf8.RuneCountInString(strings.Join(shown, ""))
		total, largest = total+chars, max(largest, chars)
		m := rt.set.meter(c.Limit)
		if m.chars >= 0 && chars > m.chars {
			return fmt.Sprintf("result %d: %d characters, want at most %d: %q", i, chars, m.chars, res)
		}
		if n := o.tokens(shown); m.tokens >= 0 && n > m.tokens {
			return fmt.Sprintf("result %d: %d tokens, want at most %d: %q", i, n, m.tokens, res)
		}
		if fault := g.read(o, c, caller, res); fault != "" {
			return fmt.Sprintf("result %d: %s", i, fault)
		}
	}
	if most := rt.set.turnChars; most >= 0 && total > most && largest > leastCut { // few characters are not cut
		return fmt.Sprintf("%d characters in all, want at most %d", total, most)
	}
	return ""
}

// tokens is how many there are, as the host counts.
func (o *output) tokens(texts []string) (n int) {
	for _, text := range texts {
		switch o.Counter {
		case "":
			n += len(text)
		case "panics", "nonsense": // the runtime counts bytes, or does what it can
		default:
			n += o.count()(text)
		}
	}
	if o.Counter == "" {
		return (n + bytesPerToken - 1) / bytesPerToken
	}
	return n
}

func wellFormedResult(res tool.Result) string {
	if !utf8.ValidString(res.String()) {
		return fmt.Sprintf("it is not UTF-8: %q", res)
	}
	for _, b := range res.Content {
		if b.Type == tool.JSONContent && (!json.Valid(b.JSON) || !utf8.Valid(b.JSON)) {
			return fmt.Sprintf("it has bad JSON: %q", b.JSON)
		}
	}
	return ""
}

var (
	cutNotice  = regexp.MustCompile(`\n?\[(?:Truncated|Summarized): [^\]]*\]\n?`)
	nextPage   = regexp.MustCompile(`Go on with offset (\d+)`)
	keptNotice = regexp.MustCompile(`\n\[All (\d+) bytes are kept\. Read on with read_result \{"handle":"([^"]*)","offset":(\d+)\}[^\]]*\]$`)
)

// shownOf is what the model reads of texts, without notices.
func shownOf(res tool.Result) (texts []string) {
	add := func(text string) {
		texts = append(texts, cutNotice.Split(keptNotice.ReplaceAllString(text, ""), -1)...)
	}
	if res.Err != nil {
		add(res.Err.Text)
	}
	for i := range res.Content {
		if b := &res.Content[i]; counts(b) {
			add(part(b, 0, size(b)))
		}
	}
	return texts
}

// read reads back what was kept of a result.
func (g *gallery) read(o *output, c *outputCall, owner tool.Caller, res tool.Result) string {
	var handle string
	for _, b := range res.Content {
		if m := keptNotice.FindStringSubmatch(b.Text); m != nil {
			handle = m[2]
		}
	}
	cut := len(res.Content) > 0 && cutNotice.MatchString(res.Content[0].Text)
	switch {
	case handle == "" && cut && (o.Store == "memory" || o.Store == "dir") && !c.Secret && (c.Limit.Cut == "" || c.Limit.Cut == "offload"):
		return fmt.Sprintf("it was not kept: %q", res)
	case handle == "":
		return ""
	case c.Secret:
		return "a secret was kept"
	}
	other := g.second[o.Store]
	ask := func(who tool.Caller, at string) tool.Result {
		return other.Session(who).Call(context.Background(), readResult, fmt.Sprintf(`{"handle":%q,"offset":%s}`, handle, at))
	}
	if stranger := ask(tool.Caller{Session: owner.Session + "x"}, "0"); stranger.Err == nil || stranger.Err.Kind != tool.InvalidValue {
		return fmt.Sprintf("a stranger reads %q", stranger)
	}
	var parts []string
	for i := range c.Blocks {
		if b := tool.Content(c.Blocks[i]); counts(&b) {
			parts = append(parts, valid(part(&b, 0, size(&b))))
		}
	}
	want := strings.Join(parts, "\n")
	var got strings.Builder
	for at, pages := "0", 0; ; pages++ {
		page := ask(owner, at)
		if page.Err != nil || pages > 100 {
			return fmt.Sprintf("page at %s: %v", at, page)
		}
		if len(page.Content) == 2 {
			got.WriteString(page.Content[0].Text)
		}
		m := nextPage.FindStringSubmatch(page.Content[len(page.Content)-1].Text)
		if m == nil {
			break
		}
		at = m[1]
	}
	if got.String() != want {
		return fmt.Sprintf("read %q, want %q", got.String(), want)
	}
	return ""
}
