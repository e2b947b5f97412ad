package mcptool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// console is a client over stdio.
type console struct {
	*hall
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	stop context.CancelCauseFunc
	err  chan error
}

func openConsole(t *testing.T) *console {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &console{hall: newHall(), t: t, in: inW, out: bufio.NewReader(outR), stop: stop, err: make(chan error, 1)}
	go func() {
		c.err <- serveStdio(ctx, inR, outW, tool.Caller{Principal: "me"}, c.join, nil)
		_ = outW.Close()
	}()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return c
}

func (c *console) say(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *console) hear() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

func TestStdio(t *testing.T) {
	t.Run("M2 a conversation", func(t *testing.T) {
		c := openConsole(t)
		conversation := []struct{ say, want string }{
			{rpc(0, "initialize", `{"protocolVersion":"2025-11-25"}`), `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`},
			{"\n \r", ``},
			{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
			{rpc(`"a"`, "who", `{}`) + "\r", `{"jsonrpc":"2.0","id":"a","result":{"principal":"me","name":""}}`},
			{`{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`},
			{"\xff", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not UTF-8"}}`},
			{rpc(1, "panic", `{}`), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`},
			{rpc(2, "fault", `{"code":-32601}`), `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`},
			{"[" + rpc(1, "who", `{}`) + "]", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not part of version 2025-11-25"}}`},
			{rpc(3, "ask", `{}`), `{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`},
		}
		for _, line := range conversation {
			c.say(line.say)
			if line.want == "" {
				continue
			}
			if got := c.hear(); got != line.want {
				t.Errorf("%s: got %s, want %s", line.say, got, line.want)
			}
		}
		// What was sent before comes before: the notification was taken first.
		c.say(`{"jsonrpc":"2.0","id":"q","result":{"b":1}}`)
		if got, want := c.hear(), `{"jsonrpc":"2.0","id":3,"result":{}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		_ = c.in.Close()
		if err := soonFrom(t, c.err, "the end"); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		soonFrom(t, c.room(0).gone, "leave")
	})
	t.Run("M2 batches where the version has them", func(t *testing.T) {
		c := openConsole(t)
		c.say(rpc(0, "initialize", `{"protocolVersion":"2025-03-26"}`))
		c.hear()
		c.say("[" + rpc(1, "talk", `{}`) + `,{"jsonrpc":"2.0","method":"notifications/x"},` + rpc(2, "echo", `{"a":2}`) + "," + rpc(3, "silent", `{}`) + "]")
		for n := range 2 {
			if got, want := c.hear(), fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%d}}`, n+1); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		close(c.let)
		c.hear()
		c.hear()
		got := c.hear()
		if !strings.HasPrefix(got, "[{") || !strings.HasSuffix(got, "}]") || strings.Count(got, `"id":`) != 2 {
			t.Errorf("got %s, want two answers together", got)
		}
		c.say(`[{"jsonrpc":"2.0","method":"notifications/x"}]`, "["+rpc(4, "silent", `{}`)+"]", rpc(5, "echo", `{}`))
		if got, want := c.hear(), `{"jsonrpc":"2.0","id":5,"result":{}}`; got != want {
			t.Errorf("got %s, want %s: nothing was to be answered", got, want)
		}
	})
	t.Run("M2 requests run side by side, and answers are taken though all slots are full", func(t *testing.T) {
		c := openConsole(t)
		for i := range stdioAtOnce - 1 {
			c.say(rpc(i, "wait", `{}`))
			soonFrom(t, c.started, "a request")
		}
		c.say(rpc(`"asks"`, "ask", `{}`))
		c.hear()
		c.say(rpc(`"last"`, "who", `{}`), `{"jsonrpc":"2.0","id":"q","result":{"b":1}}`)
		if got := c.hear(); !strings.Contains(got, `"asks"`) {
			t.Errorf("got %s, want the answer to what asked", got)
		}
		if got := c.hear(); !strings.Contains(got, `"last"`) {
			t.Errorf("got %s, want the one that waited", got)
		}
		close(c.let)
		for range stdioAtOnce - 1 {
			c.hear()
		}
	})
	t.Run("M2 too many requests are refused", func(t *testing.T) {
		c := openConsole(t)
		for i := range stdioMost {
			c.say(rpc(i, "wait", `{}`))
		}
		c.say(rpc(`"more"`, "who", `{}`))
		if got := c.hear(); !strings.Contains(got, `"id":"more","error":`) {
			t.Errorf("got %s, want a fault", got)
		}
		c.stop(errors.New("enough"))
		go func() { _, _ = io.Copy(io.Discard, c.out) }()
		_ = soonFrom(t, c.err, "the end")
	})
	t.Run("M2 at the end of the input requests are finished", func(t *testing.T) {
		c := openConsole(t)
		c.say(rpc(1, "wait", `{}`))
		soonFrom(t, c.started, "the request")
		_ = c.in.Close()
		close(c.let)
		if got, want := c.hear(), `{"jsonrpc":"2.0","id":1,"result":{}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err := soonFrom(t, c.err, "the end"); err != nil {
			t.Errorf("got %v, want nil", err)
		}
	})
	t.Run("M2 when the context ends requests are stopped, though the input does not end", func(t *testing.T) {
		c := openConsole(t)
		c.say(rpc(1, "wait", `{}`))
		soonFrom(t, c.started, "the request")
		why := errors.New("enough")
		c.stop(why)
		if got, want := c.hear(), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err := soonFrom(t, c.err, "the end"); !errors.Is(err, why) {
			t.Errorf("got %v, want %v", err, why)
		}
		soonFrom(t, c.room(0).gone, "leave")
	})
	t.Run("M2 a client that does not read is left", func(t *testing.T) {
		c := openConsole(t)
		c.say(rpc(1, "talk", `{}`), rpc(2, "talk", `{}`))
		start := time.Now()
		c.stop(errors.New("enough"))
		_ = soonFrom(t, c.err, "the end")
		if d := time.Since(start); d > 4*stdioStop {
			t.Errorf("it took %v", d)
		}
	})
	t.Run("M2 an output that fails ends it", func(t *testing.T) {
		h := newHall()
		inR, inW := io.Pipe()
		defer func() { _ = inW.Close() }()
		why := errors.New("broken")
		err := make(chan error, 1)
		go func() {
			err <- serveStdio(t.Context(), inR, failingWriter{why}, tool.Caller{}, h.join, nil)
		}()
		if _, err := io.WriteString(inW, rpc(1, "who", `{}`)+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := soonFrom(t, err, "the end"); !errors.Is(got, why) {
			t.Errorf("got %v, want %v", got, why)
		}
	})
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestLinesOfClients(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\nb\n", "a|b|EOF"},
		{"a\r\n\n  \nb", "a|b|EOF"},
		{"", "EOF"},
		{strings.Repeat("x", 100) + "\n", strings.Repeat("x", 100) + "|EOF"},
		{strings.Repeat("x", 101) + "\na\n", "long|a|EOF"},
		{strings.Repeat("x", 1<<20) + "\na\n" + strings.Repeat("y", 1<<18), "long|a|long|EOF"},
	}
	for _, tt := range tests {
		t.Run("M2 lines", func(t *testing.T) {
			l := newLines(strings.NewReader(tt.in), 101)
			var got []string
			for {
				line, err := l.next()
				if errors.Is(err, errLong) {
					line = []byte("long")
				} else if err != nil {
					got = append(got, err.Error())
					break
				}
				got = append(got, string(line))
			}
			if got := strings.Join(got, "|"); got != tt.want {
				t.Errorf("got %.200q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever a client says, each line that comes back is a message, and reading
// goes on.
func FuzzStdioLines(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, `[{"jsonrpc":"2.0","id":1,"method":"echo"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}` + "\n" + `[{"jsonrpc":"2.0","id":1,"method":"echo"},{}]`,
		`{"jsonrpc":"2.0","id":null,"result":{}}`, "\x00\n\xff\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h := newHall()
		close(h.let)
		var out bytes.Buffer
		join := func(j joining) (room, error) { return &politeRoom{push: j.push}, nil }
		last := "\n" + rpc(`"last"`, "end", `{}`) + "\n"
		err := serveStdio(t.Context(), io.MultiReader(bytes.NewReader(in), strings.NewReader(last)), &out, tool.Caller{}, join, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(out.String()) {
			ms, _, _, fault := readMessages([]byte(line))
			if fault != nil {
				t.Fatalf("%q: %v", line, fault)
			}
			for _, m := range ms {
				found = found || string(m.id) == `"last"`
			}
		}
		if !found {
			t.Fatalf("the last request was not answered: %q", out.String())
		}
	})
}

// politeRoom answers everything at once.
type politeRoom struct {
	hallRoom
	push stream
}

func (r *politeRoom) handle(_ context.Context, m message, to stream) {
	if m.isRequest() {
		if m.method == "initialize" {
			r.mu.Lock()
			r.agreed = textMember(m.params, "protocolVersion")
			r.mu.Unlock()
		}
		_ = to.send(message{id: m.id, result: []byte(`{}`)})
	}
}

func (r *politeRoom) leave() {}

func (r *politeRoom) listen(stream) (stop func()) { return func() {} }
