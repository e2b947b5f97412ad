package mcptool

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestHTTPSession(t *testing.T) {
	t.Run("M2 a session from its greeting to its end", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		res := s.do("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
		if body, _ := io.ReadAll(res.Body); res.StatusCode != 202 || len(body) != 0 {
			t.Errorf("a notification: got %d %q, want 202 and nothing", res.StatusCode, body)
		}
		if m := soonFrom(t, s.room(0).asked, "the notification"); m.method != "notifications/initialized" {
			t.Errorf("got %q", m.method)
		}
		got := said(streamOf(t, s.do("POST", rpc(7, "who", `{}`), "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25")).rest())
		if want := `answer 7 {"principal":"local","name":""}`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if res := s.do("DELETE", "", "Mcp-Session-Id", id); res.StatusCode != 204 {
			t.Errorf("DELETE: got %d, want 204", res.StatusCode)
		}
		soonFrom(t, s.room(0).gone, "leave")
		res = s.do("POST", rpc(8, "who", `{}`), "Mcp-Session-Id", id)
		if _, f := faultOf(t, res); res.StatusCode != 404 || f.Code != codeNoSession {
			t.Errorf("after DELETE: got %d %v, want 404", res.StatusCode, f)
		}
	})
	t.Run("M2 a greeting that fails leaves no session", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		res := s.do("POST", rpc(1, "initialize", `{"protocolVersion":"bad"}`))
		if got, want := said(streamOf(t, res).rest()), "fault 1 -32602"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		soonFrom(t, s.room(0).gone, "leave")
		if res := s.do("POST", rpc(2, "who", `{}`), "Mcp-Session-Id", res.Header.Get("Mcp-Session-Id")); res.StatusCode != 404 {
			t.Errorf("got %d, want 404", res.StatusCode)
		}
	})
	t.Run("M2 whether a person is there is the program's to say", func(t *testing.T) {
		for _, attended := range []bool{false, true} {
			s := openDoor(t, HTTP{Open: true, Attended: attended}, nil)
			s.initialize("2025-11-25")
			body := rpc(1, "who", metaParams(newVersion, ""))
			if res := s.do("POST", body, "Mcp-Protocol-Version", newVersion, "Mcp-Method", "who"); res.StatusCode != 200 {
				t.Errorf("got %d, want 200", res.StatusCode)
			}
			for i := range 2 { // of each era
				if got := s.room(i).caller.Attended; got != attended {
					t.Errorf("room %d: got %t, want %t", i, got, attended)
				}
			}
		}
	})
	t.Run("M2 a session is its principal's", func(t *testing.T) {
		s := openDoor(t, HTTP{Tokens: map[string]string{"a": "alice", "b": "bob"}}, nil)
		alice, bob := []string{"Authorization", "Bearer a"}, []string{"Authorization", "Bearer b"}
		id := s.initialize("2025-11-25", alice...)
		got := said(streamOf(t, s.do("POST", rpc(1, "who", `{}`), append(alice, "Mcp-Session-Id", id)...)).rest())
		if want := `answer 1 {"principal":"alice","name":""}`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if res := s.do(method, rpc(1, "who", `{}`), append(bob, "Mcp-Session-Id", id)...); res.StatusCode != 404 {
				t.Errorf("%s by another: got %d, want 404", method, res.StatusCode)
			}
		}
		if res := s.do("POST", rpc(2, "who", `{}`), append(alice, "Mcp-Session-Id", id)...); res.StatusCode != 200 {
			t.Errorf("after that: got %d, want 200", res.StatusCode)
		}
	})
	t.Run("M2 any version with sessions, and no other", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-06-18")
		for version, want := range map[string]int{"2025-06-18": 200, "2025-03-26": 200, "1999-01-01": 400} {
			if res := s.do("POST", rpc(1, "who", `{}`), "Mcp-Session-Id", id, "Mcp-Protocol-Version", version); res.StatusCode != want {
				t.Errorf("POST %s: got %d, want %d", version, res.StatusCode, want)
			}
			if res := s.do("DELETE", "", "Mcp-Session-Id", s.initialize("2025-06-18"), "Mcp-Protocol-Version", version); res.StatusCode != min(want+4, 400) {
				t.Errorf("DELETE %s: got %d, want %d", version, res.StatusCode, min(want+4, 400))
			}
		}
	})
	t.Run("M2 batches where the version has them", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		batch := "[" + rpc(1, "echo", `{"a":1}`) + `,{"jsonrpc":"2.0","method":"notifications/x"},` + rpc(2, "echo", `{"a":2}`) + "]"
		got := said(streamOf(t, s.do("POST", batch, "Mcp-Session-Id", s.initialize("2025-03-26"))).rest())
		if !strings.Contains(got, `answer 1 {"a":1}`) || !strings.Contains(got, `answer 2 {"a":2}`) {
			t.Errorf("got %q, want both answers", got)
		}
		if res := s.do("POST", batch, "Mcp-Session-Id", s.initialize("2025-06-18")); res.StatusCode != 400 {
			t.Errorf("2025-06-18: got %d, want 400", res.StatusCode)
		}
	})
	t.Run("M2 the client is asked on the stream of its request", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-06-18")
		e := streamOf(t, s.do("POST", rpc(1, "ask", `{}`), "Mcp-Session-Id", id))
		if event, _ := e.next(); !strings.Contains(event.data, `"id":"q","method":"elicitation/create"`) {
			t.Errorf("got %q, want a question", event.data)
		}
		if res := s.do("POST", `{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}`, "Mcp-Session-Id", id); res.StatusCode != 202 {
			t.Errorf("got %d, want 202", res.StatusCode)
		}
		if got, want := said(e.rest()), `answer 1 {"action":"accept"}`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("M2 a request that is not answered ends its stream", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		if got := streamOf(t, s.do("POST", rpc(1, "silent", `{}`), "Mcp-Session-Id", s.initialize("2025-11-25"))).rest(); len(got) != 0 {
			t.Errorf("got %v, want nothing", got)
		}
	})
}

func TestHTTPSessionEnds(t *testing.T) {
	t.Run("M2 when nobody uses it", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true, Idle: 20 * time.Millisecond}, nil)
		id := s.initialize("2025-11-25")
		soonFrom(t, s.room(0).gone, "leave")
		if res := s.do("POST", rpc(1, "who", `{}`), "Mcp-Session-Id", id); res.StatusCode != 404 {
			t.Errorf("got %d, want 404", res.StatusCode)
		}
	})
	t.Run("M2 but not while a request runs or a stream is open", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true, Idle: time.Nanosecond}, nil)
		// The session is in use from its beginning: its greeting waits for the stream.
		var id string
		s.door.mu.Lock()
		r, _ := s.hall.join(joining{})
		s.door.mu.Unlock()
		session, err := s.open(t.Context(), "local", r)
		if err != nil {
			t.Fatal(err)
		}
		id = session.id
		e := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id))
		session.done()
		session.expire() // as its timer would
		if n := s.room(0).push(hallNote(1)); n != 1 {
			t.Fatalf("%d streams listen, want 1", n)
		}
		if event, ok := e.next(); !ok || said([]doorEvent{event}) != "note 1" {
			t.Errorf("got %v, want note 1", event)
		}
	})
	t.Run("M2 the one idle for longest, when there are too many", func(t *testing.T) {
		s := openDoor(t, HTTP{Tokens: map[string]string{"a": "alice", "b": "bob"}}, func(d *door) { d.bounds.sessions = 2 })
		alice, bob := []string{"Authorization", "Bearer a"}, []string{"Authorization", "Bearer b"}
		other := s.initialize("2025-11-25", bob...)
		first := s.initialize("2025-11-25", alice...)
		second := s.initialize("2025-11-25", alice...)
		_, _ = io.Copy(io.Discard, s.do("POST", rpc(1, "who", `{}`), append(alice, "Mcp-Session-Id", first)...).Body)
		third := s.initialize("2025-11-25", alice...)
		for id, want := range map[string]int{first: 200, second: 404, third: 200} {
			if res := s.do("POST", rpc(1, "who", `{}`), append(alice, "Mcp-Session-Id", id)...); res.StatusCode != want {
				t.Errorf("got %d, want %d", res.StatusCode, want)
			}
		}
		if res := s.do("POST", rpc(1, "who", `{}`), append(bob, "Mcp-Session-Id", other)...); res.StatusCode != 200 {
			t.Errorf("another principal's: got %d, want 200", res.StatusCode)
		}
	})
	t.Run("M2 with its requests and streams", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		alone := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id))
		e := streamOf(t, s.do("POST", rpc(1, "wait", `{}`), "Mcp-Session-Id", id))
		soonFrom(t, s.started, "the request")
		if res := s.do("DELETE", "", "Mcp-Session-Id", id); res.StatusCode != 204 {
			t.Errorf("got %d, want 204", res.StatusCode)
		}
		alone.rest() // ends
		if got, want := said(e.rest()), "fault 1 -32603"; got != want {
			t.Errorf("got %q, want %q: what is stopped is answered", got, want)
		}
	})
	t.Run("M2 while a request arrives", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		body := rpc(1, "who", `{}`)
		head := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: " + id +
			"\r\nExpect: 100-continue\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} { // the body is waited for
			if line, err := in.ReadString('\n'); line != want {
				t.Fatalf("got %q (%v), want %q", line, err, want)
			}
		}
		if res := s.do("DELETE", "", "Mcp-Session-Id", id); res.StatusCode != 204 {
			t.Errorf("got %d, want 204", res.StatusCode)
		}
		soonFrom(t, s.room(0).gone, "leave")
		if _, err := io.WriteString(conn, body); err != nil {
			t.Fatal(err)
		}
		if line, err := in.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 404") {
			t.Errorf("got %q (%v), want 404", line, err)
		}
		session := &session{d: s.door}
		session.kept = kept{d: s.door}
		session.kept.end()
		session.kept.open(&track{s: session}) // is no panic
	})
	t.Run("M2 what was taken up is answered first, too", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		ctx, cancel := context.WithCancel(t.Context())
		prime, _ := streamOf(t, s.doContext(ctx, "POST", rpc(1, "wait", `{}`), "Mcp-Session-Id", id)).next()
		cancel()
		again := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", prime.id))
		if res := s.do("DELETE", "", "Mcp-Session-Id", id); res.StatusCode != 204 {
			t.Errorf("got %d, want 204", res.StatusCode)
		}
		if got, want := said(again.rest()), "fault 1 -32603"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("M2 and none begins when the gateway stops", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		e := streamOf(t, s.do("POST", rpc(1, "wait", `{}`), "Mcp-Session-Id", id))
		soonFrom(t, s.started, "the request")
		s.door.mu.Lock()
		s.closed = true // as while Close waits
		s.door.mu.Unlock()
		res := s.do("POST", rpc(2, "who", `{}`), "Mcp-Session-Id", id)
		if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("got %d, want 503 with Retry-After", res.StatusCode)
		}
		close(s.let)
		if got, want := said(e.rest()), "answer 1 {}"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestHTTPStreams(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run("M2 a broken stream is taken up without loss: "+version, func(t *testing.T) {
			s := openDoor(t, HTTP{Open: true}, nil)
			id := s.initialize(version)
			ctx, cancel := context.WithCancel(t.Context())
			e := streamOf(t, s.doContext(ctx, "POST", rpc(1, "talk", `{}`), "Mcp-Session-Id", id))
			event, _ := e.next()
			if primed := event.data == ""; primed != (version >= "2025-11-25") {
				t.Fatalf("got an event without data: %t", primed)
			} else if primed {
				event, _ = e.next()
			}
			if got := said([]doorEvent{event}); got != "note 1" {
				t.Fatalf("got %q, want note 1", got)
			}
			soonFrom(t, s.started, "the request")
			cancel() // the second note was sent and is lost with the connection
			again := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", event.id))
			close(s.let)
			all := again.rest()
			if got, want := said(all), "note 2 note 3 note 4 answer 1 {}"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			// What has ended can be had again, from any place.
			once := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", all[1].id)).rest()
			if got, want := said(once), "note 4 answer 1 {}"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if last := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", all[3].id)).rest(); len(last) != 0 {
				t.Errorf("after the last: got %q, want nothing", said(last))
			}
		})
	}
	t.Run("M2 a stream is taken up before it said anything", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		ctx, cancel := context.WithCancel(t.Context())
		prime, _ := streamOf(t, s.doContext(ctx, "POST", rpc(1, "wait", `{}`), "Mcp-Session-Id", id)).next()
		cancel()
		again := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", prime.id))
		close(s.let)
		if got, want := said(again.rest()), "answer 1 {}"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("M2 ids that name nothing", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		for _, last := range []string{"x", "0_99", "99_1", "0_-1", "_", "0_1_1", "0_9999999999999999999"} {
			res := s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", last)
			if _, f := faultOf(t, res); res.StatusCode != 400 {
				t.Errorf("%s: got %d %v, want 400", last, res.StatusCode, f)
			}
		}
	})
	t.Run("M2 events of another session cannot be had", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id, other := s.initialize("2025-11-25"), s.initialize("2025-11-25")
		all := streamOf(t, s.do("POST", rpc(1, "echo", `{"mine":1}`), "Mcp-Session-Id", id)).rest()
		if res := s.do("GET", "", "Mcp-Session-Id", other, "Last-Event-ID", all[0].id); res.StatusCode != 400 {
			t.Errorf("got %d, want 400", res.StatusCode)
		}
	})
	t.Run("M2 what is kept is bounded", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.bounds.kept = 3000 })
		id := s.initialize("2025-11-25")
		var ids []string
		for i := range 20 {
			all := streamOf(t, s.do("POST", rpc(i, "echo", `{"x":"`+strings.Repeat("x", 500)+`"}`), "Mcp-Session-Id", id)).rest()
			ids = append(ids, strings.Replace(all[0].id, "_1", "_0", 1))
		}
		if n := s.kept.Load(); n > 3000 {
			t.Errorf("%d bytes are kept, want at most 3000", n)
		}
		for i, want := range map[int]int{0: 400, 19: 200} {
			if res := s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", ids[i]); res.StatusCode != want {
				t.Errorf("stream %d: got %d, want %d", i, res.StatusCode, want)
			}
		}
		s.do("DELETE", "", "Mcp-Session-Id", id)
		soonFrom(t, s.room(0).gone, "leave")
		if n := s.kept.Load(); n != 0 {
			t.Errorf("%d bytes are kept after the session, want 0", n)
		}
	})
}

func TestHTTPListening(t *testing.T) {
	t.Run("M2 one stream for what belongs to no request", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-11-25")
		e := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id))
		s.room(0).push(hallNote(1))
		if prime, _ := e.next(); prime.data != "" {
			t.Errorf("got %q, want an event without data", prime.data)
		}
		if event, _ := e.next(); said([]doorEvent{event}) != "note 1" {
			t.Errorf("got %v, want note 1", event)
		}
		if res := s.do("GET", "", "Mcp-Session-Id", id); res.StatusCode != 409 {
			t.Errorf("a second: got %d, want 409", res.StatusCode)
		}
	})
	t.Run("M2 it is taken up without loss, also from a connection that is not known to be broken", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-06-18")
		e := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id))
		s.room(0).push(hallNote(1))
		event, _ := e.next()
		s.room(0).push(hallNote(2))
		again := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", event.id))
		e.rest() // ends
		s.room(0).push(hallNote(3))
		for _, want := range []string{"note 2", "note 3"} {
			if event, _ := again.next(); said([]doorEvent{event}) != want {
				t.Errorf("got %v, want %s", event, want)
			}
		}
	})
	t.Run("M2 a message longer than all that is kept is for who listens", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.bounds.kept = 1000 })
		id := s.initialize("2025-06-18")
		e := streamOf(t, s.do("GET", "", "Mcp-Session-Id", id))
		long := message{method: "sampling/createMessage", id: json.RawMessage(`1`), params: json.RawMessage(`{"x":"` + strings.Repeat("x", 100_000) + `"}`)}
		s.room(0).push(hallNote(1))
		s.room(0).push(long)
		for _, want := range []string{`{"n":1}`, "createMessage"} {
			if event, ok := e.next(); !ok || !strings.Contains(event.data, want) {
				t.Fatalf("got %.100q (%t), want %s", event.data, ok, want)
			}
		}
		s.room(0).push(hallNote(2)) // after which the long one was forgotten
		event, ok := e.next()
		if !ok || said([]doorEvent{event}) != "note 2" {
			t.Fatalf("got %v (%t), want note 2", event, ok)
		}
		if n := s.kept.Load(); n > 1000 {
			t.Errorf("%d bytes are kept, want at most 1000", n)
		}
		if res := s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-ID", strings.Replace(event.id, "_3", "_1", 1)); res.StatusCode != 400 {
			t.Errorf("from before the long one: got %d, want 400", res.StatusCode)
		}
	})
	t.Run("M2 it is kept for a while, and no longer", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.linger = time.Millisecond })
		id := s.initialize("2025-06-18")
		ctx, cancel := context.WithCancel(t.Context())
		streamOf(t, s.doContext(ctx, "GET", "", "Mcp-Session-Id", id))
		cancel()
		for s.room(0).push(hallNote(1)) > 0 {
			soonFrom(t, time.After(time.Millisecond), "time")
		}
	})
	t.Run("M2 signs of life", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.beat, d.prime = time.Millisecond, time.Millisecond })
		id := s.initialize("2025-06-18")
		res := s.do("POST", rpc(1, "wait", `{}`), "Mcp-Session-Id", id)
		b := make([]byte, 3*len(sign))
		if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != strings.Repeat(sign, 3) {
			t.Errorf("got %q (%v), want comments", b, err)
		}
	})
}

func TestHTTPSlowReader(t *testing.T) {
	t.Run("M2 a client that does not read holds up a request for so long only", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.write = 50 * time.Millisecond })
		id := s.initialize("2025-11-25")
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		body := rpc(1, "flood", `{}`)
		head := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: " + id +
			"\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
		if _, err := conn.Write([]byte(head)); err != nil {
			t.Fatal(err)
		}
		soonFrom(t, s.started, "the end of the flood")
	})
}
