package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// Model is what is tested.
type Model struct {
	// New makes one that asks the server there, with a key, and for the model "own"
	// where a request names none. It asks again so often, and gives a server up that is
	// silent for so long.
	New func(url, key string, again int, idle time.Duration) agent.Model
	// Path is where it must ask.
	Path string
	// Key is the key that a request has.
	Key func(h http.Header) string
	// Broken is an event that says that something went wrong; its text has the word
	// overloaded.
	Broken string
	// Refusal is the body of a refusal with such a text.
	Refusal func(text string) string
}

const key = "sk-test-0123456789abcdef"

// answer is what the model says in most of the tests.
func answer(calls int) provider.Answer {
	a := provider.Answer{ID: "answer_1", Model: "own", Parts: []provider.Part{provider.Text("I look – at thrée.")}, Stop: provider.StopCalls, Usage: provider.Usage{Input: 12, Output: 34}}
	for i := range calls {
		a.Parts = append(a.Parts, provider.Part{Kind: provider.PartCall, Call: &tool.Call{
			ID: fmt.Sprintf("call_%d", i), Name: "read", Input: json.RawMessage(fmt.Sprintf(`{"path":"file %d","note":"\"quoted\" – é"}`, i)),
		}})
	}
	return a
}

// request is what is asked.
func request() provider.Request {
	return provider.Request{System: "Be terse.", Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("What is there?")}}}, MaxTokens: 100}
}

// heard is what a model told.
type heard struct {
	text  strings.Builder
	calls []tool.Call
}

func (h *heard) told(d provider.Delta) {
	switch d.Kind {
	case provider.DeltaText:
		h.text.WriteString(d.Text)
	case provider.DeltaCall:
		h.calls = append(h.calls, d.Call)
	case provider.DeltaThought, provider.DeltaRefusal, provider.DeltaBegun, provider.DeltaPart:
	}
}

// Run is the table of what models must do.
func Run(t *testing.T, m Model) {
	t.Helper()
	f := m.New("http://localhost", key, 0, 0).Format()
	stream, err := f.WriteStream(answer(3))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := f.WriteAnswer(answer(3))
	if err != nil {
		t.Fatal(err)
	}
	test := func(name string, run func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
	// ask asks a server that answers so.
	ask := func(t *testing.T, again int, handlers ...http.HandlerFunc) (*Server, *heard, provider.Answer, error) {
		t.Helper()
		server, h := Serve(t, handlers...), new(heard)
		got, err := m.New(server.URL, key, again, 0).Ask(t.Context(), request(), h.told)
		return server, h, got, err
	}

	test("A2 asks with key, model and stream", func(t *testing.T) {
		server, h, got, err := ask(t, 0, Stream(stream))
		same(t, h, got, err, answer(3))
		asked := server.Asked()[0]
		if got := m.Key(asked.Header); got != key || asked.Path != m.Path {
			t.Errorf("asked %s with key %q, want %s with %q", asked.Path, got, m.Path, key)
		}
		if typ := asked.Header.Get("Content-Type"); typ != "application/json" {
			t.Errorf("content type: got %q", typ)
		}
		sent, err := f.ReadRequest(asked.Body)
		if err != nil || sent.Model != "own" || !sent.Stream || sent.System != request().System || len(sent.Messages) != 1 {
			t.Errorf("sent %s (%v)", asked.Body, err)
		}
	})
	test("A2 the model of the request wins", func(t *testing.T) {
		server := Serve(t, Stream(stream))
		r := request()
		r.Model = "other"
		if _, err := m.New(server.URL, key, 0, 0).Ask(t.Context(), r, nil); err != nil {
			t.Error(err)
		}
		if sent, err := f.ReadRequest(server.Asked()[0].Body); err != nil || sent.Model != "other" {
			t.Errorf("got model %q (%v), want other", sent.Model, err)
		}
	})
	test("A2 slow bytes", func(t *testing.T) {
		_, h, got, err := ask(t, 0, Slow(stream))
		same(t, h, got, err, answer(3))
	})
	test("A2 a turn of 100 calls", func(t *testing.T) {
		long, err := f.WriteStream(answer(100))
		if err != nil {
			t.Fatal(err)
		}
		_, h, got, err := ask(t, 0, Stream(long))
		same(t, h, got, err, answer(100))
	})
	test("A2 the first call is told before the answer is written", func(t *testing.T) { m.early(t, stream) })
	test("A2 an answer that is not streamed", func(t *testing.T) {
		for _, typ := range []string{"application/json", "text/plain", "text/event-stream"} {
			_, h, got, err := ask(t, 0, Refuse(http.StatusOK, "\n"+string(whole), "Content-Type", typ))
			same(t, h, got, err, answer(3))
		}
	})
	test("A2 a stream by another name", func(t *testing.T) {
		_, h, got, err := ask(t, 0, Refuse(http.StatusOK, string(stream), "Content-Type", "application/octet-stream"))
		same(t, h, got, err, answer(3))
	})
	test("A2 a page instead of an answer", func(t *testing.T) {
		server, _, _, err := ask(t, 2, Refuse(http.StatusOK, "<html>log in</html>", "Content-Type", "text/html"))
		if err == nil || !strings.Contains(err.Error(), "text/html") || len(server.Asked()) != 1 {
			t.Errorf("got %v after %d requests", err, len(server.Asked()))
		}
	})
	test("A2 many at once", func(t *testing.T) {
		server := Serve(t, Stream(stream))
		model := m.New(server.URL, key, 0, 0)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				h := new(heard)
				got, err := model.Ask(t.Context(), request(), h.told)
				same(t, h, got, err, answer(3))
			})
		}
		all.Wait()
	})

	test("A2 cut anywhere, never a half call, and not asked again", func(t *testing.T) { m.cuts(t, stream) })
	test("A2 cut before anything is asked again", func(t *testing.T) {
		server, h, got, err := ask(t, 1, Drop, Stream(stream))
		same(t, h, got, err, answer(3))
		again(t, server, 2)
	})
	test("A2 nobody there", func(t *testing.T) {
		_, err := m.New("http://user:abcdefghijkl@127.0.0.1:1", key, 0, 0).Ask(t.Context(), request(), nil)
		if err == nil || strings.Contains(err.Error(), "abcdefghijkl") {
			t.Errorf("got %v", err)
		}
	})
	test("A2 malformed events", func(t *testing.T) {
		at := strings.Index(string(stream), "call_1")
		at = strings.LastIndex(string(stream[:at]), "\n\n") + 2
		server, h, got, err := ask(t, 2, Stream([]byte(string(stream[:at])+"data: {\"type\":\n\n"+string(stream[at:]))))
		if err == nil || len(server.Asked()) != 1 {
			t.Errorf("got %v after %d requests", err, len(server.Asked()))
		}
		part(t, h, got, answer(3))
	})
	test("A2 an error in the stream", func(t *testing.T) {
		at := strings.Index(string(stream), "call_1")
		at = strings.LastIndex(string(stream[:at]), "\n\n") + 2
		server, h, got, err := ask(t, 2, Stream([]byte(string(stream[:at])+m.Broken+"\n\n")))
		said, ok := errors.AsType[*provider.Error](err)
		if !ok || !strings.Contains(strings.ToLower(said.Text), "overloaded") || len(server.Asked()) != 1 {
			t.Errorf("got %v after %d requests", err, len(server.Asked()))
		}
		part(t, h, got, answer(3))
	})

	test("A2 429 is asked again after as long as is wished", func(t *testing.T) {
		begun := time.Now()
		server, h, got, err := ask(t, 2, Refuse(http.StatusTooManyRequests, m.Refusal("slow down"), "Retry-After", "1"), Stream(stream))
		same(t, h, got, err, answer(3))
		if again(t, server, 2); time.Since(begun) < time.Second {
			t.Errorf("asked again after %v, want a second", time.Since(begun))
		}
	})
	test("A2 500 and 529, then fine", func(t *testing.T) {
		server, h, got, err := ask(t, 2, Refuse(http.StatusInternalServerError, "", "Retry-After-Ms", "1"), Refuse(529, m.Refusal("busy"), "Retry-After-Ms", "1"), Stream(stream))
		same(t, h, got, err, answer(3))
		again(t, server, 3)
	})
	test("A2 refused to the end", func(t *testing.T) { m.refused(t) })
	test("A2 a key is in no error", func(t *testing.T) {
		for _, body := range []string{m.Refusal("the key " + key + " is unknown"), "the key " + key + " is unknown", `{"error":"the key ` + key + ` is unknown"}`} {
			server, _, _, err := ask(t, 2, Refuse(http.StatusUnauthorized, body))
			said, ok := errors.AsType[*provider.Error](err)
			if !ok || said.Status != http.StatusUnauthorized || said.Again || !strings.Contains(said.Text, "[secret] is unknown") || len(server.Asked()) != 1 {
				t.Errorf("got %#v after %d requests", said, len(server.Asked()))
			}
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, said)} {
				if strings.Contains(text, key) {
					t.Errorf("the key is in %s", text)
				}
			}
		}
	})
	test("A2 a key goes to no other host", func(t *testing.T) {
		other := Serve(t, Stream(stream))
		_, _, _, err := ask(t, 0, Refuse(http.StatusTemporaryRedirect, "", "Location", other.URL+m.Path))
		if err == nil || len(other.Asked()) != 0 {
			t.Errorf("got %v, and the other host %d requests", err, len(other.Asked()))
		}
	})

	test("A2 a server that sends nothing more is given up", func(t *testing.T) { m.silent(t, stream) })
	test("A2 a server that sends nothing at all is asked again", func(t *testing.T) {
		server, h := Serve(t, hang(nil), Stream(stream)), new(heard)
		got, err := m.New(server.URL, key, 1, idle).Ask(t.Context(), request(), h.told)
		same(t, h, got, err, answer(3))
		again(t, server, 2)
	})

	test("A1 an agent: a call runs while the model talks, and its result is sent", func(t *testing.T) { m.loop(t, stream, false) })
	test("A2 an agent: a stream that breaks after calls started is not asked again", func(t *testing.T) { m.loop(t, stream, true) })

	test("A2 the end of the context in the middle of a stream", func(t *testing.T) { m.ended(t, stream) })
	test("A2 the end of the context while it waits to ask again", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
			Refuse(http.StatusTooManyRequests, "{}", "Retry-After", "60")(w, r)
			stop()
		}, Stream(stream))
		if _, err := m.New(server.URL, key, 2, 0).Ask(ctx, request(), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context ended", err)
		}
		again(t, server, 1)
	})
}
