package provider

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// eventList reads all events as name=data.
func eventList(r io.Reader) ([]string, error) {
	var got []string
	err := events(r, func(name string, data []byte) error {
		got = append(got, name+"="+string(data))
		return nil
	})
	return got, err
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
		err        error
	}{
		{"one", "data: {}\n\n", []string{"={}"}, nil},
		{"named", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []string{"a=1", "b=2"}, nil},
		{"the name is of one event", "event: a\ndata: 1\n\ndata: 2\n\n", []string{"a=1", "=2"}, nil},
		{"no space", "event:a\ndata:1\n\n", []string{"a=1"}, nil},
		{"one space belongs to the field", "data:  1\n\n", []string{"= 1"}, nil},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []string{"a=1", "=2"}, nil},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", []string{"a=1", "=2"}, nil},
		{"mixed", "event: a\rdata: 1\n\r\ndata: 2\r\n\n", []string{"a=1", "=2"}, nil},
		{"comments", ": keep alive\n\n:\ndata: 1\n: x\n\n", []string{"=1"}, nil},
		{"many lines", "data: {\ndata: }\ndata\n\n", []string{"={\n}\n"}, nil},
		{"other fields", "id: 7\nretry: 10\nnonsense\ndata: 1\n\n", []string{"=1"}, nil},
		{"a mark in front", "\uFEFFdata: 1\n\n", []string{"=1"}, nil},
		{"no data", "event: ping\n\ndata: 1\n\n", []string{"=1"}, nil},
		{"nothing", "", nil, nil},
		{"short", "\n", nil, nil},
		{"no empty line, whole", "data: {\"a\":1}\n", []string{`={"a":1}`}, nil},
		{"no end of line, whole", "data: {\"a\":1}", []string{`={"a":1}`}, nil},
		{"no empty line, the end mark", "data: [DONE]\n", []string{"=[DONE]"}, nil},
		{"no empty line, half", "data: 1\n\ndata: {\"a\":", []string{"=1"}, io.ErrUnexpectedEOF},
		{"half a name", "data: 1\n\neve", []string{"=1"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{
				"at once":       strings.NewReader(tt.text),
				"byte by byte":  iotest.OneByteReader(strings.NewReader(tt.text)),
				"data with EOF": iotest.DataErrReader(strings.NewReader(tt.text)),
			} {
				got, err := eventList(r)
				if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
					t.Errorf("%s: %q reads %q, %v, want %q, %v", name, tt.text, got, err, tt.want, tt.err)
				}
			}
		})
	}
}

func TestEventsEnd(t *testing.T) {
	t.Parallel()
	t.Run("a reader's error, behind what came", func(t *testing.T) {
		t.Parallel()
		broken := errors.New("broken")
		got, err := eventList(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken)))
		if !slices.Equal(got, []string{"=1"}) || !errors.Is(err, broken) {
			t.Errorf("got %q, %v, want the first event and %v", got, err, broken)
		}
	})
	t.Run("the last event is the last", func(t *testing.T) {
		t.Parallel()
		n := 0
		err := events(strings.NewReader("data: 1\n\ndata: 2\n\n"), func(string, []byte) error { n++; return io.EOF })
		if n != 1 || err != nil {
			t.Errorf("got %d events, %v, want 1, nil", n, err)
		}
	})
	t.Run("an error of each", func(t *testing.T) {
		t.Parallel()
		bad := errors.New("bad")
		if err := events(strings.NewReader("data: 1"), func(string, []byte) error { return bad }); !errors.Is(err, bad) {
			t.Errorf("got %v, want %v", err, bad)
		}
	})
	t.Run("a line without end", func(t *testing.T) {
		t.Parallel()
		if _, err := eventList(io.LimitReader(endless{}, 2*maxEvent)); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v, want an error about the size", err)
		}
	})
	t.Run("data without end", func(t *testing.T) {
		t.Parallel()
		line := "data: " + strings.Repeat("x", 1<<20) + "\n"
		if _, err := eventList(strings.NewReader(strings.Repeat(line, 17))); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v, want an error about the size", err)
		}
	})
}

// endless is a body of the letter x.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// However the bytes are cut into chunks, and whatever they are, the events are the
// same.
func TestStreamWithoutEnd(t *testing.T) {
	t.Parallel()
	comment := ":" + strings.Repeat("x", 1<<20) + "\n"
	text := sse(`{}`) + strings.Repeat(comment, maxStream>>20)
	_, err := Chat{}.Stream(strings.NewReader(text), nil)
	if err == nil || !strings.Contains(err.Error(), "stream: got more than") {
		t.Errorf("got %v, want that the stream is too long", err)
	}
}

// Streams of a few megabytes are read in time that grows with their bytes: what looked
// at all earlier calls for each call took minutes.
func TestStreamOfManyCalls(t *testing.T) {
	t.Parallel()
	var late strings.Builder
	late.WriteString(`{"type":"response.completed","response":{"id":"r","output":[`)
	for i := range 30_000 {
		if i > 0 {
			late.WriteByte(',')
		}
		fmt.Fprintf(&late, `{"type":"function_call","call_id":"c%d","name":"f","arguments":"{}"}`, i)
	}
	late.WriteString("]}}")
	var chat strings.Builder
	piece := func(index int, arguments string) {
		fmt.Fprintf(&chat, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"%s"}}]}}]}`+"\n\n", index, index, arguments)
	}
	piece(0, "{"+strings.Repeat("1,", 1<<20)+"}")
	for i := range 10_000 {
		piece(i+1, "{}")
	}
	chat.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n")
	for _, tt := range []struct {
		name   string
		format Format
		text   string
		calls  int
	}{
		{"A2 all at the end", Responses{}, sse(late.String()), 30_000},
		{"A2 behind one that is no JSON", Chat{}, chat.String(), 10_001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			a, err := tt.format.Stream(strings.NewReader(tt.text), nil)
			if err != nil || len(a.Calls()) != tt.calls {
				t.Fatalf("got %d calls, %v, want %d", len(a.Calls()), err, tt.calls)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("%d bytes took %v, want less than a minute", len(tt.text), took)
			}
		})
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("event: a\r\ndata: {}\r\n\r\n", 3)
	f.Add("\uFEFFdata: 1\rdata: 2\n\n:x\n", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		want, wantErr := eventList(strings.NewReader(text))
		got, err := eventList(&chunks{[]byte(text), 1 + int(uint(size)%7)})
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("in chunks of %d: %q, %v, want %q, %v", size, got, err, want, wantErr)
		}
	})
}

// chunks is a reader of at most size bytes at once.
type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
