package mcptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestLongMessageAnswers(t *testing.T) {
	const text = `{"content":[{"type":"text","text":"xxxxxxxx`
	tests := []struct {
		name, head, tail, id string
		maybe                bool
	}{
		{"the id first", `{"jsonrpc":"2.0", "id" : 7,"result":` + text, `xxx"}]}}`, `7`, true},
		{"the id last", `{"result":` + text, `xxx"}]},"jsonrpc":"2.0","id":7}`, `7`, true},
		{"the version last", `{"result":` + text, "xxx\"}]},\"id\": \"a\",\"jsonrpc\":\"2.0\"} \r\n", `"a"`, true},
		{"at both ends", `{"id":7,"result":` + text, `xxx"}]},"id":8}`, `7`, true},
		{"nowhere", `{"jsonrpc":"2.0","result":` + text, `xxx"}]}}`, ``, true},
		{"an id in the result", `{"result":` + text, `"}],"id":7}}`, ``, true},
		{"an id in a text", `{"result":` + text, `\"id\":7}`, ``, true},
		{"an id without an end", `{"result":` + text, `"}]},"id":7`, ``, true},
		{"an end without a value", `{"result":` + text, `"}]},"id":}`, ``, true},
		{"a batch", `[{"jsonrpc":"2.0","id":7,"result":` + text, `"}]}}]`, ``, true},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/message","params":` + text, `"}]},"id":7}`, ``, false},
		{"a request", `{"jsonrpc":"2.0","id":7,"method":"roots/list","params":` + text, `"}]}}`, ``, false},
		{"no message", `xxxxxxxx`, `xxx`, ``, false},
		{"nothing", ``, ``, ``, false},
	}
	for _, tt := range tests {
		t.Run("L4 "+tt.name, func(t *testing.T) {
			id, maybe := (&longMessage{head: []byte(tt.head), tail: []byte(tt.tail)}).answers()
			if string(id) != tt.id || maybe != tt.maybe {
				t.Errorf("got %s, %v, want %s, %v", id, maybe, tt.id, tt.maybe)
			}
		})
	}
}

// FuzzLongMessage: whatever is too long, what it answers is read without a fault,
// and an id is one.
func FuzzLongMessage(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":7,"result":{"a`, `"},"id":7}`)
	f.Add(`[`, `"id"`)
	f.Fuzz(func(t *testing.T, head, tail string) {
		id, _ := (&longMessage{head: []byte(head), tail: []byte(tail)}).answers()
		if s := (scanner{b: id}); id != nil && (!s.value() || !s.atEnd()) {
			t.Errorf("got %q, want a value", id)
		}
	})
}

func TestLongLines(t *testing.T) {
	t.Run("L4 of a line that is too long only the ends are kept, and the next is read", func(t *testing.T) {
		for _, size := range []int{101, lineBuffer - 2, lineBuffer + 1, 3 * lineBuffer, 300 * lineBuffer} {
			text := "<" + strings.Repeat("x", size-2) + ">"
			in := newLines(strings.NewReader(text+"\nnext\n"), 101)
			told := 0
			in.early = func(long *longMessage) {
				if told++; long.size != 0 || string(long.head[:min(len(long.head), 5)]) != "<xxxx" {
					t.Errorf("early: got %d bytes from %.9q, want that it is not known how many", long.size, long.head)
				}
			}
			_, err := in.next()
			long, ok := errors.AsType[*longMessage](err)
			if !ok || long.size != size+1 || told != 1 || len(long.head) > maxEnds || len(long.tail) > maxEnds || !strings.HasSuffix(string(long.tail), "x>\n") {
				t.Fatalf("%d: got %v, %d times early, want its size and its ends", size, err, told)
			}
			if next, err := in.next(); err != nil || string(next) != "next" {
				t.Errorf("%d: got %.20q, %v, want the next line", size, next, err)
			}
		}
	})
	t.Run("L4 a line without an end is not read for ever", func(t *testing.T) {
		in := newLines(endless{}, 100)
		in.skip = 10 * lineBuffer
		_, err := in.next()
		if long, ok := errors.AsType[*longMessage](err); !ok || !long.endless {
			t.Errorf("got %v, want that it is endless", err)
		}
	})
	t.Run("a chain is what was added", func(t *testing.T) {
		var c chain
		want := make([]byte, 0, 3<<20)
		for n := 0; len(want) < 3<<20; n += 1000 {
			part := []byte(strings.Repeat(fmt.Sprint(n%7), n))
			c.add(part)
			want = append(want, part...)
		}
		if c.size != len(want) || string(c.bytes()) != string(want) {
			t.Errorf("got %d other bytes, want %d", c.size, len(want))
		}
	})
}

// endless reads one line without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	return copy(b, strings.Repeat("x", min(len(b), 1<<20))), nil
}

func TestLongAnswers(t *testing.T) {
	const most = 1000
	long := strings.Repeat("x", 3*lineBuffer)
	wantLong := func(t *testing.T, got answer) {
		t.Helper()
		if !errors.Is(got.err, errLong) || !strings.Contains(got.err.Error(), "longer than 1000 bytes") {
			t.Errorf("got %.60q, %v, want that it is too long", got.result, got.err)
		}
	}
	for _, tt := range []struct{ name, answer string }{
		{"at the beginning", `{"jsonrpc":"2.0","id":%[1]s,"result":{"a":"%[2]s"}}`},
		{"at the end", `{"result":{"a":"%[2]s"},"jsonrpc":"2.0","id":%[1]s}`},
	} {
		t.Run("L4 an answer that is too long, with its id "+tt.name+", ends its call alone", func(t *testing.T) {
			p := newPeer(t, listener{most: most})
			a := p.ask(t.Context(), "a", `{}`, nil)
			first := p.hear()
			b := p.ask(t.Context(), "b", `{}`, nil)
			second := p.hear()
			p.say(tt.answer, first.id, long)
			wantLong(t, <-a)
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{"of":"b"}}`, second.id)
			p.wantAnswer(b, `{"of":"b"}`)
			if n := p.link.faults.count.Load(); n != 0 {
				t.Errorf("got %d faults of the connection, want that the call has it", n)
			}
		})
	}
	t.Run("L4 it ends before the server has written all of it", func(t *testing.T) {
		p := newPeer(t, listener{most: most})
		a := p.ask(t.Context(), "a", `{}`, nil)
		if _, err := fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%s,"result":{"a":"%s`, p.hear().id, long); err != nil {
			t.Fatal(err)
		}
		wantLong(t, <-a)
		p.say(`"}}`)
		b := p.ask(t.Context(), "b", `{}`, nil)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, p.hear().id)
		p.wantAnswer(b, `{}`)
	})
	t.Run("L4 one without an id is that of the only call", func(t *testing.T) {
		p := newPeer(t, listener{most: most})
		p.ask(t.Context(), methodListen, `{}`, nil)
		p.hear()
		a := p.ask(t.Context(), "a", `{}`, nil)
		p.hear()
		p.say(`{"jsonrpc":"2.0","result":{"a":"%s"}}`, long)
		wantLong(t, <-a)
	})
	t.Run("L4 one of which nobody knows whose it is is a fault of the connection", func(t *testing.T) {
		told := make(chan string, 1)
		p := newPeer(t, listener{most: most, faulty: func(text string) { told <- text }})
		p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s"}}`, long)
		if text := <-told; !strings.Contains(text, "longer than 1000 bytes") {
			t.Errorf("got %q, want that it is too long", text)
		}
	})
	t.Run("L4 a message without an end ends the connection, and what is behind it", func(t *testing.T) {
		shut := make(chan struct{})
		l := makePipeLink(t.Context(), listener{}, nil, func() { close(shut) })
		r, w := io.Pipe()
		l.run(io.MultiReader(io.LimitReader(endless{}, maxSkipped+lineBuffer), r), io.Discard)
		<-l.ended()
		if err := l.why(); err == nil || errors.Is(err, errLong) || !strings.Contains(err.Error(), "a message without an end") {
			t.Errorf("got %v, want that it has no end", err)
		}
		<-shut
		closePipes(w)
		l.done.Wait()
	})
	for name, answer := range map[string]func(w http.ResponseWriter, m message, text string){
		"that says how long it is": func(w http.ResponseWriter, m message, text string) {
			webJSON(w, 200, message{id: m.id, result: json.RawMessage(`{"a":"` + text + `"}`)})
		},
		"that does not": func(w http.ResponseWriter, m message, text string) {
			w.Header().Set("Content-Type", typeJSON)
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(message{id: m.id, result: json.RawMessage(`{"a":"` + text + `"}`)}.append(nil))
		},
		"that is an event": func(w http.ResponseWriter, m message, text string) {
			webStream(w)(webData(message{id: m.id, result: json.RawMessage(`{"a":"` + text + `"}`)}))
		},
	} {
		t.Run("L4 over HTTP an answer "+name+" ends its call alone", func(t *testing.T) {
			s := newWebServer(t)
			s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
				if m.method == "short" {
					answer(w, m, "x")
					return
				}
				answer(w, m, long)
			}
			l := s.dial(newEra, listener{most: most})
			result, err := l.do(t.Context(), "long", nil, nil)
			wantLong(t, answerOf(result, err))
			if result, err := l.do(t.Context(), "short", nil, nil); err != nil || string(result) != `{"a":"x"}` {
				t.Errorf("got %s, %v, want the answer", result, err)
			}
		})
	}
}

func answerOf(result json.RawMessage, err error) answer { return answer{result, err} }
