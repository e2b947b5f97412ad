package ferrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// tape is where a test records to. It keeps each Write by itself.
type tape struct {
	mu    sync.Mutex
	lines []string
}

func (w *tape) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, string(b))
	return len(b), nil
}

func (w *tape) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "")
}

// plainLines are lines without what is new each time: Ferrule's ids and times.
func plainLines(text string) string {
	text = regexp.MustCompile(`"result":\{"id":"[^"]*"`).ReplaceAllString(text, `"result":{"id":"ID"`)
	return regexp.MustCompile(`"time":"[^"]*"`).ReplaceAllString(text, `"time":"TIME"`)
}

// returning is a tool that returns this, whatever it is asked.
func returning(name string, res tool.Result, err error) tool.Tool {
	return doing(readerTool(name), func(context.Context, tool.Args) (tool.Result, error) { return res, err })
}

func TestRecordLine(t *testing.T) {
	t.Parallel()
	web := tool.Web
	picture := tool.Content{Type: tool.ImageContent, Data: []byte{0, 1, 0xff}, MediaType: "image/png", Name: "dot", Width: 3, Height: 1}
	link := tool.Content{Type: tool.LinkContent, URI: "https://example.com/a", Text: "a", MediaType: "text/html"}
	tests := []struct {
		name   string
		def    tool.Tool
		caller tool.Caller
		call   tool.Call
		want   string // of the line, from the call on, or all of it
	}{
		{
			"U3 a call and its text", readerTool("read"),
			tool.Caller{Session: "s"},
			tool.Call{ID: "call_1", Name: "read", Input: []byte(`{"text":"a"}`)},
			`{"v":1,"session":"s","turn":1,"place":0,"call":{"id":"call_1","name":"read","input":{"text":"a"}},` +
				`"result":{"id":"ID","content":[{"type":"text","text":"{\"text\":\"a\"}"}]},"time":"TIME"}`,
		},
		{
			"U3 whose it is", returning("read", tool.Result{}, nil),
			tool.Caller{Session: "s", Tenant: "acme", Principal: "ada", Agent: "one"},
			tool.Call{Name: "read"},
			`{"v":1,"session":"s","tenant":"acme","principal":"ada","agent":"one","turn":1,"place":0,"call":{"id":"","name":"read","input_text":""},"result":{"id":"ID"},"time":"TIME"}`,
		},
		{
			"U3 JSON that is laid out, as it is", returning("read", sayJSON("{\n \"n\": 1}"), nil),
			tool.Caller{},
			tool.Call{Name: "read", Input: []byte("{\n}")},
			`"call":{"id":"","name":"read","input_text":"{\n}"},"result":{"id":"ID","content":[{"type":"json","json_text":"{\n \"n\": 1}"}]},"time":"TIME"}`,
		},
		{
			"U3 JSON on one line", returning("read", sayJSON(`{ "n":1.0 }`), nil),
			tool.Caller{},
			tool.Call{Name: "read", Input: []byte(`{ "text": "\u00e9"}`)},
			`"call":{"id":"","name":"read","input":{ "text": "\u00e9"}},"result":{"id":"ID","content":[{"type":"json","json":{ "n":1.0 }}]},"time":"TIME"}`,
		},
		{
			"U3 a name and an input that are no text", readerTool("read"),
			tool.Caller{},
			tool.Call{Name: "r\xff", Input: []byte("\xfe")},
			`"call":{"id":"","name":{"base64":"cv8="},"input_text":{"base64":"/g=="}},` +
				`"result":{"id":"ID","error":{"kind":"unknown_tool","text":"Tool not found: r` + "\ufffd" + `"}},"time":"TIME"}`,
		},
		{
			"U3 pictures and links, and a trust that was lowered",
			returning("read", tool.Result{Content: []tool.Content{picture, link}, Trust: &web}, nil),
			tool.Caller{},
			tool.Call{Name: "read", Input: []byte(`{}`)},
			`"content":[{"type":"image","data":"AAH/","media_type":"image/png","name":"dot","width":3,"height":1},` +
				`{"type":"link","text":"a","media_type":"text/html","uri":"https://example.com/a"}],"trust":"web"},"time":"TIME"}`,
		},
		{
			"U3 an error with both its texts",
			returning("read", tool.Result{}, &tool.Outcome{Err: &tool.Error{Kind: tool.RateLimited, Text: "Later.", Detail: "host\ta"}, Fatal: true, RetryAfter: time.Second}),
			tool.Caller{},
			tool.Call{Name: "read", Input: []byte(`{}`)},
			`"error":{"kind":"rate_limited","text":"Later.","detail":"host\u0009a","retry_after":1000000000,"fatal":true}},"time":"TIME"}`,
		},
		{
			"U3 arguments that are no JSON", readerTool("read"),
			tool.Caller{},
			tool.Call{Name: "read", Input: []byte(`{"n":NaN}`)},
			`"call":{"id":"","name":"read","input_text":"{\"n\":NaN}"},"result":{"id":"ID","error":{"kind":"invalid_input",`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var w tape
			rt := &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}
			viewWith(t, rt, tt.def)
			rt.Session(tt.caller).View(t.Context()).Do(t.Context(), tt.call)
			if len(w.lines) != 1 || strings.Count(w.lines[0], "\n") != 1 || !strings.HasSuffix(w.lines[0], "\n") || !json.Valid([]byte(w.lines[0])) {
				t.Fatalf("got %q, want one Write of one line of JSON", w.lines)
			}
			if got := plainLines(w.lines[0]); !strings.Contains(got, tt.want) || tt.want[0] == '{' && got != tt.want+"\n" {
				t.Errorf("got  %swant %s", got, tt.want)
			}
		})
	}
}

func TestRecordWithheld(t *testing.T) {
	t.Parallel()
	secretIn, secretOut := readerTool("login"), returning("token", sayText("k-123"), nil)
	secretIn.InputSensitivity, secretOut.OutputSensitivity = tool.Secret, tool.Secret
	secretIn = doing(secretIn, func(context.Context, tool.Args) (tool.Result, error) { return sayText("welcome"), nil })
	fails := returning("token", sayText("k-123"), &tool.Error{Kind: tool.RateLimited, Text: "k-123 is used up", Detail: "k-123"})
	fails.OutputSensitivity = tool.Secret
	tests := []struct {
		name        string
		def         tool.Tool
		input, want string
	}{
		{"O7 a secret result is withheld", secretOut, `{}`, `"input":{}},"result":{"id":"ID","content":[{"type":"text","text":"[withheld: secret]"}]}`},
		{
			"O7 of a secret error the kind is kept", fails, `{}`,
			`"content":[{"type":"text","text":"[withheld: secret]"}],"error":{"kind":"rate_limited","text":"[withheld: secret]","detail":"[withheld: secret]"}`,
		},
		{"O7 secret arguments are withheld, the result is not", secretIn, textArg("k-123"), `"input_text":"[withheld: secret]","withheld":true},"result":{"id":"ID","content":[{"type":"text","text":"welcome"}]}`},
		{"O7 an error may quote secret arguments", secretIn, `{"k-123":1}`, `"withheld":true},"result":{"id":"ID","error":{"kind":"invalid_input","text":"[withheld: secret]","detail":"[withheld: secret]"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var w tape
			callOne(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}, tt.def, tt.input)
			if got := plainLines(w.String()); !strings.Contains(got, tt.want) || strings.Contains(got, "k-123") {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("O7 secret arguments are withheld of a call that was cut off in its middle", func(t *testing.T) {
		t.Parallel()
		var w tape
		v := viewWith(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}, secretIn)
		for range v.Stream(t.Context(), func(yield func(tool.Call, error) bool) {
			yield(tool.Call{Name: "login", Input: json.RawMessage(`{"text":"k-123`)}, errCut)
		}) {
			continue
		}
		if got := w.String(); len(w.lines) != 1 || strings.Contains(got, "k-123") || !strings.Contains(got, `"withheld":true`) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("O7 secret arguments are withheld of a call whose tool the view does not have", func(t *testing.T) {
		t.Parallel()
		var w tape
		v := viewWith(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}, secretIn, readerTool("read"))
		res := v.Only(ferrule.Filter{Names: []string{"read"}}).Do(t.Context(), tool.Call{Name: "login", Input: json.RawMessage(textArg("k-123"))})[0]
		if got := w.String(); kindOf(res) != tool.UnknownTool || strings.Contains(got, "k-123") || !strings.Contains(got, `"withheld":true`) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("O7 what was withheld is answered by place, and withheld again", func(t *testing.T) {
		t.Parallel()
		var first, second tape
		res := callOne(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&first)}, secretIn, textArg("k-123"))
		for _, defs := range [][]tool.Tool{{secretIn}, nil} { // what was withheld once stays so without its tool
			second.lines = nil
			rt := &ferrule.Runtime{Replay: readReplay(t, first.String()), Record: ferrule.NewRecorder(&second)}
			got := viewWith(t, rt, defs...).Do(t.Context(), tool.Call{ID: "call_1", Name: "login", Input: []byte(textArg("k-456"))})[0]
			if got.String() != res.String() {
				t.Errorf("got %q, want %q", got, res)
			}
			if a, b := sameSession(first.String()), sameSession(second.String()); a != b {
				t.Errorf("got  %swant %s", b, a)
			}
		}
		replay := readReplay(t, first.String())
		replay.ByInput = true
		rt := &ferrule.Runtime{Replay: replay}
		got := viewWith(t, rt, secretIn).Do(t.Context(), tool.Call{Name: "login", Input: []byte(textArg("k-456"))})[0]
		wantFailure(t, got, tool.Failed, "This call is not in the recording.")
		if strings.Contains(got.Err.Detail, "k-456") {
			t.Errorf("detail = %q, want no secret in it", got.Err.Detail)
		}
	})
}

// sameSession is plainLines whatever the session is called.
func sameSession(text string) string {
	return regexp.MustCompile(`"session":"[^"]*"`).ReplaceAllString(plainLines(text), `"session":"S"`)
}

func TestRecordTurn(t *testing.T) {
	t.Parallel()
	t.Run("U3 results are written once, in order, however often they are asked for", func(t *testing.T) {
		t.Parallel()
		var w tape
		turn := viewWith(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}, readerTool("read")).Begin(t.Context(), ferrule.TurnOptions{})
		input := []byte(textArg("a"))
		for i := range 9 {
			turn.Add(tool.Call{ID: fmt.Sprint(i), Name: "read", Input: input})
		}
		copy(input, textArg("b")) // the host uses its room again
		turn.Wait()
		turn.Wait()
		turn.Add(tool.Call{ID: "9", Name: "read", Input: input}) // too late, but it has a result too
		turn.Wait()
		for i, l := range w.lines {
			if want := fmt.Sprintf(`"place":%d,"call":{"id":"%[1]d","name":"read","input":{"text":"a"}}`, i); i < 9 && !strings.Contains(l, want) {
				t.Errorf("line %d = %s, want %s", i+1, l, want)
			}
		}
		if len(w.lines) != 10 || !strings.Contains(w.lines[9], `"kind":"aborted"`) {
			t.Errorf("got %d lines, the last %s, want 10", len(w.lines), w.lines[len(w.lines)-1])
		}
	})
	t.Run("U3 a streamed turn is written as it is given out, and what is added when it is over, too", func(t *testing.T) {
		t.Parallel()
		var w tape
		turn := viewWith(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}, streamTools()...).Begin(t.Context(), ferrule.TurnOptions{})
		n := 0
		for _, err := range turn.Stream(spoken(0, "r0", "r0", "r0!")) {
			if n++; err == nil && len(w.lines) != n {
				t.Errorf("%d lines with result %d", len(w.lines), n)
			}
		}
		turn.Add(tool.Call{ID: "late", Name: "r0"})
		if res := turn.Wait(); len(res) != 4 || len(w.lines) != 4 || !strings.Contains(w.lines[3], `"id":"late"`) {
			t.Errorf("%d results, %d lines, want 4", len(res), len(w.lines))
		}
		view := viewWith(t, &ferrule.Runtime{Replay: readReplay(t, w.String())})
		if got, err := collect(view.Stream(t.Context(), spoken(0, "r0", "r0", "r0!"))); len(got) != 3 || !errors.Is(err, errCut) || !strings.HasSuffix(got[2], "aborted") {
			t.Errorf("replayed as %q and %v", got, err)
		}
	})
	t.Run("U3 a line is written before its session is closed", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var w tape
			rt := &ferrule.Runtime{Record: ferrule.NewRecorder(slowly{&w})}
			viewWith(t, rt, readerTool("read"))
			s := rt.Session(tool.Caller{})
			go s.Call(t.Context(), "read", `{}`)
			time.Sleep(time.Millisecond)
			if err := s.Close(t.Context()); err != nil || len(w.lines) != 1 {
				t.Errorf("closed with %v and %d lines, want 1", err, len(w.lines))
			}
		})
	})
	t.Run("U3 a call that waits for a person is written when it is over, what is done already is not written again", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var w tape
			inbox := new(policy.Memory)
			rt := &ferrule.Runtime{Inbox: inbox, Record: ferrule.NewRecorder(&w)}
			view := viewWith(t, rt, readerTool("read"), writerTool("write"))
			calls := []tool.Call{{ID: "a", Name: "read", Input: []byte(`{}`)}, {ID: "b", Name: "write", Input: []byte(`{}`)}}
			begin := func(number int) (*ferrule.Turn, []tool.Result) {
				turn := view.Begin(t.Context(), ferrule.TurnOptions{HandBack: true, Number: number})
				turn.Add(calls...)
				return turn, turn.Wait()
			}
			turn, results := begin(0)
			if kindOf(results[1]) != tool.Suspended || len(w.lines) != 1 {
				t.Fatalf("got %q and %d lines, want one that waits and 1 line", results, len(w.lines))
			}
			pending, err := inbox.Pending(t.Context())
			if err != nil || len(pending) != 1 {
				t.Fatal(err, len(pending))
			}
			if err := inbox.Answer(t.Context(), pending[0].ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			_, results = begin(turn.Number())
			if len(w.lines) != 2 || !strings.Contains(w.lines[1], `"turn":1,"place":1,"call":{"id":"b"`) || strings.Contains(w.String(), "suspended") {
				t.Errorf("got %q, want one line for each call", w.lines)
			}

			again := &ferrule.Runtime{Replay: readReplay(t, w.String())}
			view = viewWith(t, again)
			for _, number := range []int{0, 1} { // nothing waits; a host that goes on all the same gets the same
				if _, got := begin(number); fmt.Sprint(got) != fmt.Sprint(results) {
					t.Errorf("replayed as %q, want %q", got, results)
				}
			}
		})
	})
	t.Run("U3 many turns at once write whole lines", func(t *testing.T) {
		t.Parallel()
		var w tape
		rt := &ferrule.Runtime{Record: ferrule.NewRecorder(&w)}
		viewWith(t, rt, readerTool("read"))
		var wg sync.WaitGroup
		for s := range 8 {
			wg.Go(func() {
				session := rt.Session(tool.Caller{Session: fmt.Sprint(s)})
				for range 10 {
					session.View(t.Context()).Do(t.Context(), tool.Call{Name: "read", Input: []byte(textArg("a"))}, tool.Call{Name: "none"})
				}
			})
		}
		wg.Wait()
		readReplay(t, w.String())
		if len(w.lines) != 160 {
			t.Errorf("got %d lines, want 160", len(w.lines))
		}
	})
}

func TestRecordAllocations(t *testing.T) {
	t.Run("U3 a usual line costs no allocation", func(t *testing.T) {
		r := ferrule.NewRecorder(io.Discard)
		call := tool.Call{ID: "call_1", Name: "search", Input: []byte(textArg("a"))}
		for _, res := range []tool.Result{sayText("a \"word\"\n"), sayJSON(`{"n":1}`), {}} {
			if n := testing.AllocsPerRun(100, func() { _ = ferrule.WriteLine(r, call, res) }); n > 0 {
				t.Errorf("%q: got %v allocations, want none", res, n)
			}
		}
	})
}

// slowly writes after a while.
type slowly struct{ io.Writer }

func (w slowly) Write(b []byte) (int, error) {
	time.Sleep(time.Second)
	return w.Writer.Write(b)
}

// full is a disk that has room for so many bytes.
type full struct {
	bytes.Buffer
	room int
	err  error
}

func (w *full) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.Buffer.Write(b[:n])
	w.room -= n
	if n < len(b) {
		return n, w.err
	}
	return n, nil
}

type throws struct{}

func (throws) Write([]byte) (int, error) { panic("no disk") }

func TestRecordFails(t *testing.T) {
	t.Parallel()
	errFull := errors.New("no space left on device")
	tests := []struct {
		name string
		w    io.Writer
		want string
	}{
		{"U3 a disk that is full", &full{room: 300, err: errFull}, "no space left on device"},
		{"U3 a writer that writes less and does not say so", &full{room: 300}, "short write"},
		{"U3 a writer that panics", throws{}, "panic: no disk"},
		{"U3 no writer", nil, "record: got no writer"},
	}
	for _, tt := range tests {
		t.Run(tt.name+": calls go on, and the observer is told once", func(t *testing.T) {
			t.Parallel()
			var told []string
			r := ferrule.NewRecorder(tt.w)
			rt := &ferrule.Runtime{Record: r, Observe: func(e audit.Event) {
				if e.Kind == audit.Found && e.Name == "Runtime.Record" {
					told = append(told, e.Text)
				}
			}}
			view := viewWith(t, rt, readerTool("read"))
			for range 5 {
				if res := view.Do(t.Context(), tool.Call{Name: "read", Input: []byte(`{}`)})[0]; res.Err != nil {
					t.Error(res.Err)
				}
			}
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Err() = %v, want %s", err, tt.want)
			}
			if len(told) != 1 || !strings.HasPrefix(told[0], "nothing more is recorded: "+tt.want) {
				t.Errorf("told %q, want it once: %s", told, tt.want)
			}
			found := func(f ferrule.Finding) bool { return f.Name == "Runtime.Record" }
			if !slices.ContainsFunc(rt.Findings(), found) {
				t.Error("it is no finding")
			}
			if w, ok := tt.w.(*full); ok {
				if lines := strings.Split(w.String(), "\n"); len(lines) != 2 || lines[1] == "" {
					t.Errorf("got %q, want a line and a half", lines)
				}
				readReplay(t, w.String()) // what there is can be read
			}
		})
	}
	t.Run("U3 nothing has failed", func(t *testing.T) {
		if err := ferrule.NewRecorder(io.Discard).Err(); err != nil {
			t.Error(err)
		}
	})
}
