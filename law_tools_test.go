package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

type worldIn struct {
	Do   string `json:"do"`
	MS   int    `json:"ms,omitempty"`
	Path string `json:"path,omitempty"`
	Tag  string `json:"tag,omitempty"`
}

// behave is what the tools do.
func behave(ctx context.Context, in worldIn) (tool.Result, error) {
	d := time.Duration(in.MS) * time.Millisecond
	text := func(s string) (tool.Result, error) { return tool.Result{Content: []tool.Content{tool.Text(s)}}, nil }
	switch in.Do {
	case "fail":
		return tool.Result{}, errors.New("it failed")
	case "panic":
		panic("it panicked")
	case "sleep":
		time.Sleep(d)
	case "long":
		time.Sleep(5 * d)
	case "hang":
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case "ignore":
		time.Sleep(20*time.Second + d)
	case "huge":
		return text(strings.Repeat("é", 3000))
	case "utf8":
		return tool.Result{Content: []tool.Content{{Type: tool.TextContent, Text: "a\xffb"}}}, nil
	case "badjson":
		return tool.Result{Content: []tool.Content{{Type: tool.JSONContent, JSON: []byte(`{"a":`)}}}, nil
	case "image":
		return tool.Result{Content: []tool.Content{{Type: tool.ImageContent, MediaType: "image/png"}}}, nil
	case "other":
		return tool.Result{ID: "mine", CallID: "mine", Content: []tool.Content{{Type: "poem"}}}, nil
	case "exit":
		if !tool.From(ctx).Request().Tool.Cooperative { // such a one may run on the test's own goroutine
			runtime.Goexit()
		}
	case "stop":
		return tool.Result{}, &tool.Outcome{Err: errors.New("all stop"), StopSiblings: true}
	case "fatal":
		return tool.Result{}, &tool.Outcome{Fatal: true}
	case "suspend":
		if _, ok := tool.From(ctx).Answer(); !ok {
			return tool.Result{}, &tool.Outcome{Suspend: "which one?"}
		}
	case "derive":
		inner, cancel := context.WithTimeout(ctx, d+1)
		defer cancel()
		<-inner.Done()
	}
	return text("done")
}

// linger is what every other function of a tool does first, about some paths.
func linger(ctx context.Context, in worldIn) {
	switch {
	case in.Path != "table:x" && in.Path != "file:/c":
	case in.Do == "hang":
		<-ctx.Done()
	case in.Do == "ignore" && !tool.From(ctx).Request().Tool.Cooperative:
		time.Sleep(5 * time.Second)
	default:
		time.Sleep(time.Duration(in.MS) * time.Millisecond)
	}
}

// worldClaims are the constant ones of the tools that are believed.
var worldClaims = map[string]tool.Claims{
	"shared": {Parallel: true}, "reader": {ReadOnly: true, Local: true}, "cancelled": {Parallel: true}, "capped": {Parallel: true}, "asks": {Parallel: true},
	"never": {ReadOnly: true, Touches: []tool.Access{}}, "old_name": {ReadOnly: true, Touches: []tool.Access{}}, "fixes": {Parallel: true}, "asksif": {Parallel: true},
	"strict": {ReadOnly: true, Local: true}, "keyed": {Parallel: true, Reversible: true}, "believed": {Parallel: true, Local: true, Idempotent: true},
}

// touches are the claims by a function.
func touches(in worldIn) tool.Claims {
	c := tool.Claims{Parallel: in.MS%2 == 0, Touches: []tool.Access{{Resource: in.Path, Write: in.MS > 1}}}
	if in.Do == "derive" {
		c.Touches = append(c.Touches, tool.Access{Resource: "file:/c", Write: in.MS > 2})
	}
	return c
}

func slowTouches(in worldIn) tool.Claims {
	switch {
	case in.Do == "panic":
		panic("claims")
	case in.Path == slowPath:
		time.Sleep(3 * time.Millisecond)
	case in.Path == hangPath:
		time.Sleep(100 * time.Second)
	}
	return touches(in)
}

// permit and askIf are voices that are functions.

func permit(in worldIn) (tool.Decision, error) {
	switch in.MS {
	case 1:
		return tool.Decision{Verdict: tool.Ask}, nil
	case 2:
		return tool.Decision{Verdict: tool.Deny, Override: true}, nil
	case 10:
		return tool.Decision{}, errors.New("cannot say")
	}
	return tool.Decision{Verdict: tool.Allow}, nil
}

func askIf(in worldIn) bool { return in.MS > 0 }

type worldSpec = tool.Spec[worldIn, tool.Result]

func (st *stage) tools(t *testing.T) (own, foreign []*tool.Tool) {
	t.Helper()
	add := func(name string, more func(*worldSpec)) {
		s := worldSpec{Info: tool.Info{Name: name, Claims: worldClaims[name]}, Run: behave}
		if more != nil {
			more(&s)
		}
		own = append(own, st.make(t, s))
	}
	for _, plain := range []string{"alone", "shared", "reader", "believed"} {
		add(plain, nil)
	}
	add("toucher", func(s *worldSpec) { s.ClaimsOf, s.Preview = slowTouches, st.preview })
	add("teller", func(s *worldSpec) { s.ClaimsOf, s.Preview, s.Approval = slowTouches, st.preview, tool.AskAlways })
	add("mover", func(s *worldSpec) { s.ClaimsOf, s.Validate, s.Preview = slowTouches, elsewhere, st.preview })
	add("cancelled", func(s *worldSpec) { s.Cancel, s.Cooperative = true, true })
	add("capped", func(s *worldSpec) { s.AtOnce, s.Preview = 1, st.preview })
	add("asks", func(s *worldSpec) { s.Approval, s.Preview = tool.AskAlways, st.preview })
	add("never", func(s *worldSpec) { s.Approval, s.Aliases, s.Cooperative = tool.AskNever, []string{"old_name"}, true })
	add("careful", func(s *worldSpec) {
		s.Approval, s.Cooperative = tool.AskNever, true
		s.Validate = func(ctx context.Context, in worldIn) (json.RawMessage, error) { linger(ctx, in); return nil, nil }
	})
	add("fixes", func(s *worldSpec) { s.Validate = st.fix })
	add("permits", func(s *worldSpec) {
		s.Permit = func(ctx context.Context, in worldIn) (tool.Decision, error) { linger(ctx, in); return permit(in) }
	})
	add("asksif", func(s *worldSpec) {
		s.AskIf = func(ctx context.Context, in worldIn) (bool, error) { linger(ctx, in); return askIf(in), nil }
	})
	add("keyed", func(s *worldSpec) {
		s.Key = func(ctx context.Context, in worldIn) (string, error) {
			linger(ctx, in)
			return strings.TrimPrefix(in.Path, "file:/a"), nil
		}
	})
	add("strict", func(s *worldSpec) { s.Output = json.RawMessage(`{"type":"object"}`) })
	add("deferred", func(s *worldSpec) { s.Deferred = true })
	return own, []*tool.Tool{st.make(t, worldSpec{Info: tool.Info{Name: "x", Claims: tool.Claims{ReadOnly: true}}, Run: behave})}
}

// make makes a tool that the witness sees, below everything that is typed.
func (st *stage) make(t *testing.T, s worldSpec) *tool.Tool {
	t.Helper()
	s.Description, s.Timeout, s.Limit.Chars = "A tool of the test.", runTime, 1000
	made, err := s.Tool()
	if err != nil {
		t.Fatal(err)
	}
	run := made.Run
	made.Run = func(ctx context.Context, a tool.Args) (res tool.Result, err error) {
		ends := st.see.starts(ctx, a)
		defer func() { ends(err) }()
		return run(ctx, a)
	}
	return made
}

const runTime = 2 * time.Second

func (st *stage) preview(ctx context.Context, in worldIn) (string, error) {
	defer st.see.shows(ctx, in)()
	linger(ctx, in)
	if in.Do == "panic" {
		panic("preview")
	}
	return "would do " + in.Do, nil
}

// elsewhere is a Validate after which the call touches something else.
func elsewhere(ctx context.Context, in worldIn) (json.RawMessage, error) {
	linger(ctx, in)
	if in.Tag != "" {
		return nil, nil
	}
	next := map[string]string{"file:/a": "file:/c", "file:/a/b": "file:/a", "file:/c": "table:x", "table:x": "file:/a"}
	in.Tag, in.Path = "moved", next[in.Path]
	if in.Path == "" {
		in.Path = slowPath
	}
	return json.Marshal(in)
}

// fix is a Validate that corrects its input. The witness hears what passed.
func (st *stage) fix(ctx context.Context, in worldIn) (json.RawMessage, error) {
	linger(ctx, in)
	if in.Do == "badvalue" {
		return nil, errors.New("no such value")
	}
	r := tool.From(ctx).Request()
	if in.Tag == "" {
		in.Tag = "fixed"
		text, err := json.Marshal(in)
		st.see.passed(r.ID, string(text)) // what it wrote itself
		return text, err
	}
	st.see.passed(r.ID, r.Args.Text())
	return nil, nil
}

// fallback supplies the tools of the stage under other names.
func (st *stage) fallback(ctx context.Context, _ tool.Caller, name string) (*tool.Tool, error) {
	name, ours := strings.CutPrefix(name, "fb_")
	switch {
	case !ours:
		return nil, nil
	case name == "fails":
		return nil, errors.New("fallback")
	case name == "hangs":
		<-ctx.Done()
	case name == "ignores":
		time.Sleep(70 * time.Second)
	case name == "panics":
		panic("fallback")
	case name == "exits":
		runtime.Goexit()
	case name == "bad":
		return &tool.Tool{}, nil
	case name == "slow":
		time.Sleep(2 * time.Millisecond)
		return st.own["shared"], nil
	}
	return st.own[name], nil
}
