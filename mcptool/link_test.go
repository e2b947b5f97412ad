package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// peer is the other end of a link, which says and hears lines.
type peer struct {
	t     *testing.T
	link  *pipeLink
	heard *lines
	out   *io.PipeWriter
	in    *io.PipeReader
	asks  sync.WaitGroup
}

func newPeer(t *testing.T, hears listener) *peer {
	fromLink, toPeer := io.Pipe()
	fromPeer, toLink := io.Pipe()
	p := &peer{t: t, heard: newLines(fromLink, maxLine), out: toLink, in: fromLink}
	p.link = newPipeLink(t.Context(), fromPeer, toPeer, hears, nil, func() {
		closePipes(toPeer, fromPeer)
	})
	t.Cleanup(func() {
		p.link.close()
		p.asks.Wait()
	})
	return p
}

// speaks ends the handshake without one.
func (p *peer) speaks(e era) *peer {
	version := oldVersion
	if e == newEra {
		version = newVersion
	}
	p.link.greeted(&greeting{era: e, version: version}, introduction{info: json.RawMessage(`{"name":"me"}`)})
	return p
}

func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.out, format+"\n", args...); err != nil {
		p.t.Errorf("say: %v", err)
	}
}

func (p *peer) hear() message {
	p.t.Helper()
	line, err := p.heard.next()
	if err != nil {
		p.t.Fatalf("hear: %v", err)
	}
	m, err := parseMessage(line)
	if err != nil {
		p.t.Fatalf("heard %s: %v", line, err)
	}
	return m
}

// ask has the link do a request on a goroutine.
func (p *peer) ask(ctx context.Context, method, params string, hears *listener) <-chan answer {
	came := make(chan answer, 1)
	p.asks.Go(func() {
		result, err := p.link.do(ctx, method, json.RawMessage(params), hears)
		came <- answer{result, err}
	})
	return came
}

func (p *peer) wantAnswer(came <-chan answer, want string) {
	p.t.Helper()
	if a := <-came; a.err != nil || string(a.result) != want {
		p.t.Errorf("got %s, %v, want %s", a.result, a.err, want)
	}
}

// record keeps what a listener hears.
type record struct{ lines []string }

func (r *record) listener() *listener {
	return &listener{notified: func(method string, params json.RawMessage) { r.lines = append(r.lines, method+" "+string(params)) }}
}

func TestLinkRequests(t *testing.T) {
	t.Parallel()
	t.Run("M1 answers in another order find who asked", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", `{}`, nil)
		first := p.hear()
		b := p.ask(t.Context(), "b", `{}`, nil)
		second := p.hear()
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"of":"b"}}`, second.id)
		p.wantAnswer(b, `{"of":"b"}`)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"of":"a"}}`, first.id)
		p.wantAnswer(a, `{"of":"a"}`)
	})
	t.Run("a fault is what the server said", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", ``, nil)
		p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-5,"message":"no","data":{"x":1}}}`, p.hear().id)
		got := <-a
		var f *Fault
		if !errors.As(got.err, &f) || f.Code != -5 || f.Message != "no" || string(f.Data) != `{"x":1}` {
			t.Errorf("got %v", got.err)
		}
	})
	t.Run("M1 each request of the new era carries what it must, and what it has stays", func(t *testing.T) {
		p := newPeer(t, listener{}).speaks(newEra)
		p.ask(t.Context(), "a", `{"name":"x"}`, nil)
		want := `{"name":"x","_meta":{"` + metaVersion + `":"` + newVersion + `","` + metaClientInfo + `":{"name":"me"},"` + metaCapabilities + `":{}}}`
		if got := p.hear(); string(got.params) != want {
			t.Errorf("got %s, want %s", got.params, want)
		}
		whole := `{"_meta":{"` + metaCapabilities + `":{"roots":{}},"` + metaClientInfo + `":{"name":"you"},"` + metaVersion + `":"` + newVersion + `"}}`
		p.ask(t.Context(), "b", whole, nil)
		if got := p.hear(); string(got.params) != whole {
			t.Errorf("got %s, want %s", got.params, whole)
		}
	})
	t.Run("the old era adds nothing", func(t *testing.T) {
		p := newPeer(t, listener{}).speaks(oldEra)
		p.ask(t.Context(), "a", `{"name":"x"}`, nil)
		if got := p.hear(); string(got.params) != `{"name":"x"}` {
			t.Errorf("got %s", got.params)
		}
	})
	t.Run("an answer that is faulty ends the request", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", ``, nil)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":"text"}`, p.hear().id)
		if got := <-a; got.err == nil || !strings.Contains(got.err.Error(), "result: got a string, want an object") {
			t.Errorf("got %v", got.err)
		}
	})
	t.Run("an answer that is not UTF-8 is mended", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", ``, nil)
		p.say("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"x\":\"\xff\"}}", p.hear().id)
		p.wantAnswer(a, "{\"x\":\"\uFFFD\"}")
	})
	t.Run("a batch is its messages", func(t *testing.T) {
		var r record
		p := newPeer(t, *r.listener())
		a := p.ask(t.Context(), "a", ``, nil)
		p.say(`[{"jsonrpc":"2.0","method":"n","params":{}}, {"jsonrpc":"2.0","id":%s,"result":{}}]`, p.hear().id)
		p.wantAnswer(a, `{}`)
		if got := strings.Join(r.lines, "|"); got != "n {}" {
			t.Errorf("got %q", got)
		}
	})
}

func TestLinkNotifications(t *testing.T) {
	t.Parallel()
	t.Run("M1 progress goes to its own request, with the token of who asked", func(t *testing.T) {
		var all, one, two record
		p := newPeer(t, *all.listener())
		// Two callers may have chosen the same token.
		a := p.ask(t.Context(), "a", `{"_meta":{"progressToken":"t"}}`, one.listener())
		first := p.hear()
		b := p.ask(t.Context(), "b", `{"_meta":{"progressToken":"t"}}`, two.listener())
		second := p.hear()
		tokenA, _ := metaMember(first.params, "progressToken")
		tokenB, _ := metaMember(second.params, "progressToken")
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2}}`, tokenB)
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, tokenA)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, first.id)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, second.id)
		p.wantAnswer(a, `{}`)
		p.wantAnswer(b, `{}`)
		if want := []string{`notifications/progress {"progressToken":"t","progress":1}`}; !slices.Equal(one.lines, want) {
			t.Errorf("got %q, want %q", one.lines, want)
		}
		if want := []string{`notifications/progress {"progressToken":"t","progress":2}`}; !slices.Equal(two.lines, want) {
			t.Errorf("got %q, want %q", two.lines, want)
		}
		if len(all.lines) > 0 {
			t.Errorf("got %q, want nothing", all.lines)
		}
	})
	t.Run("progress that is late is dropped, and that of nothing is a fault", func(t *testing.T) {
		var all record
		p := newPeer(t, *all.listener())
		a := p.ask(t.Context(), "a", `{"_meta":{"progressToken":"t"}}`, nil)
		id := p.hear().id
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		p.wantAnswer(a, `{}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, id)
		p.say(`{"jsonrpc":"2.0","method":"end"}`)
		p.say(``)
		if n := p.link.faults.count.Load(); n != 0 {
			t.Errorf("got %d faults, want none", n)
		}
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
		p.say(``)
		if n := p.link.faults.count.Load(); n != 1 {
			t.Errorf("got %d faults, want 1", n)
		}
		if got := strings.Join(all.lines, "|"); got != "end " {
			t.Errorf("got %q, want only the end", got)
		}
	})
	t.Run("the rest is heard in order, before the answer that follows", func(t *testing.T) {
		var all record
		p := newPeer(t, *all.listener())
		a := p.ask(t.Context(), "a", ``, &listener{})
		id := p.hear().id
		var want []string
		for i := range 50 {
			p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, i)
			want = append(want, fmt.Sprintf(`notifications/message {"data":%d}`, i))
		}
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		p.wantAnswer(a, `{}`)
		if !slices.Equal(all.lines, want) {
			t.Errorf("got %q", all.lines)
		}
	})
	t.Run("what belongs to a subscription is heard by who subscribed", func(t *testing.T) {
		var all, own record
		p := newPeer(t, *all.listener()).speaks(newEra)
		a := p.ask(t.Context(), "subscriptions/listen", ``, own.listener())
		id := p.hear().id
		p.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{%q:%s}}}`, metaSubscription, id)
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"bye"}}`, id)
		if got := <-a; got.err == nil || !strings.Contains(got.err.Error(), "bye") {
			t.Errorf("got %v, want that the server ended it", got.err)
		}
		if len(own.lines) != 1 || len(all.lines) != 0 {
			t.Errorf("got %q and %q, want one for who subscribed", own.lines, all.lines)
		}
	})
}

func TestLinkCancel(t *testing.T) {
	t.Parallel()
	gone := errors.New("the client has gone")
	for _, e := range []era{oldEra, newEra} {
		t.Run(fmt.Sprintf("M1 the server is told that nobody waits (era %d)", e), func(t *testing.T) {
			p := newPeer(t, listener{}).speaks(e)
			ctx, cancel := context.WithCancelCause(t.Context())
			a := p.ask(ctx, "a", ``, nil)
			id := p.hear().id
			cancel(gone)
			if got := <-a; !errors.Is(got.err, gone) || errors.Is(got.err, errUnsent) {
				t.Errorf("got %v, want that the client has gone", got.err)
			}
			m := p.hear()
			if want := fmt.Sprintf(`{"requestId":%s,"reason":"it is no longer wanted"}`, id); m.method != notificationCancelled || string(m.params) != want {
				t.Errorf("got %s %s, want %s", m.method, m.params, want)
			}
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
			p.say(``)
			if n := p.link.faults.count.Load(); n != 0 {
				t.Errorf("an answer that came too late is a fault: %s", &p.link.faults)
			}
		})
	}
	t.Run("initialize is not cancelled", func(t *testing.T) {
		p := newPeer(t, listener{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		a := p.ask(ctx, methodInitialize, ``, nil)
		p.hear()
		cancel()
		<-a
		p.ask(t.Context(), "next", ``, nil)
		if got := p.hear(); got.method != "next" {
			t.Errorf("got %s, want next", got.method)
		}
	})
}

func TestLinkUnsent(t *testing.T) {
	t.Parallel()
	gone := errors.New("the client has gone")
	t.Run("M6 what waits behind a server that does not read was not sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, listener{})
			ctx, cancel := context.WithCancelCause(t.Context())
			first := p.ask(ctx, "a", ``, nil)
			synctest.Wait() // half of it may be with the server
			second := p.ask(ctx, "b", ``, nil)
			synctest.Wait()
			cancel(gone)
			if got := <-first; !errors.Is(got.err, gone) || errors.Is(got.err, errUnsent) {
				t.Errorf("got %v, want that the client has gone", got.err)
			}
			if got := <-second; !errors.Is(got.err, gone) || !errors.Is(got.err, errUnsent) {
				t.Errorf("got %v, want that it was not sent", got.err)
			}
			// What was taken back does not come later.
			if got := p.hear(); got.method != "a" {
				t.Errorf("got %s, want a", got.method)
			}
			if got := p.hear(); got.method != notificationCancelled {
				t.Errorf("got %s, want that a is cancelled, and no b", got.method)
			}
		})
	})
	t.Run("nobody waits for room longer than its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, listener{})
			for range maxQueued + 1 {
				if err := p.link.notify(t.Context(), "n", nil); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := p.link.notify(ctx, "n", nil); !errors.Is(err, errUnsent) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want that it was not sent in time", err)
			}
		})
	})
	t.Run("M6 what was sent when the connection broke may have run", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", ``, nil)
		p.hear()
		closePipes(p.out)
		if got := <-a; got.err == nil || errors.Is(got.err, errUnsent) {
			t.Errorf("got %v, want an error that does not say it was not sent", got.err)
		}
		<-p.link.ended()
		if err := p.link.why(); err == nil || err.Error() != "the server closed the connection" {
			t.Errorf("got %v", err)
		}
		if _, err := p.link.do(t.Context(), "b", nil, nil); !errors.Is(err, errUnsent) {
			t.Errorf("got %v, want that it was not sent", err)
		}
	})
	t.Run("M6 what could not be written at all was not sent", func(t *testing.T) {
		p := newPeer(t, listener{})
		closePipes(p.in)
		if _, err := p.link.do(t.Context(), "a", nil, nil); !errors.Is(err, errUnsent) {
			t.Errorf("got %v, want that it was not sent", err)
		}
	})
	t.Run("close ends what waits", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", ``, nil)
		p.hear()
		p.link.close()
		if got := <-a; !errors.Is(got.err, errClosed) {
			t.Errorf("got %v, want %v", got.err, errClosed)
		}
	})
}
