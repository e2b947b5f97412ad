package modeltest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/provider"
)

// early holds back all of a stream from the third call on until the first was told.
func (m Model) early(t *testing.T, stream []byte) {
	held := bytes.Index(stream, []byte("call_2"))
	first := make(chan struct{})
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream[:held]) // see Stream
		flush(w)
		select {
		case <-first:
		case <-r.Context().Done():
			return
		}
		_, _ = w.Write(stream[held:]) // see Stream
	})
	h := new(heard)
	got, err := m.New(server.URL, key, 0, 0).Ask(t.Context(), request(), func(d provider.Delta) {
		if h.told(d); d.Kind == provider.DeltaCall && len(h.calls) == 1 {
			close(first)
		}
	})
	same(t, h, got, err, answer(3))
}

// cuts breaks a stream off at every 64th byte, in two ways.
func (m Model) cuts(t *testing.T, stream []byte) {
	for at := 0; at < len(stream); at += 64 {
		for name, cut := range map[string]http.HandlerFunc{"cut": Cut(stream, at), "end": End(stream, at)} {
			server, h := Serve(t, cut), new(heard)
			got, err := m.New(server.URL, key, 2, 0).Ask(t.Context(), request(), h.told)
			// All that counts may have come, though not the last byte.
			if err == nil && len(got.Calls()) != 3 {
				t.Errorf("%s at %d of %d: got %d calls and no error", name, at, len(stream), len(got.Calls()))
			}
			part(t, h, got, answer(3))
			again(t, server, 1)
		}
	}
}

// refused is what comes of refusals that do not pass.
func (m Model) refused(t *testing.T) {
	for _, tt := range []struct {
		status  int
		header  []string
		asked   int
		again   bool
		after   time.Duration
		retries int
	}{
		{status: http.StatusBadRequest, asked: 1, retries: 2},
		{status: http.StatusForbidden, asked: 1, retries: 2},
		{status: http.StatusNotFound, asked: 1, retries: 2},
		{status: http.StatusTooManyRequests, header: []string{"Retry-After-Ms", "1"}, asked: 3, again: true, after: time.Millisecond, retries: 2},
		{status: http.StatusTooManyRequests, header: []string{"Retry-After", "7"}, asked: 1, again: true, after: 7 * time.Second},
		{status: http.StatusServiceUnavailable, header: []string{"Retry-After-Ms", "1"}, asked: 2, again: true, after: time.Millisecond, retries: 1},
	} {
		server := Serve(t, Refuse(tt.status, m.Refusal("not so"), tt.header...))
		_, err := m.New(server.URL, key, tt.retries, 0).Ask(t.Context(), request(), func(d provider.Delta) { t.Errorf("told %v", d) })
		said, ok := errors.AsType[*provider.Error](err)
		if !ok || said.Status != tt.status || said.Text != "not so" || said.Again != tt.again || said.After != tt.after {
			t.Errorf("%d: got %#v (%v), want again %v after %v", tt.status, said, err, tt.again, tt.after)
		}
		again(t, server, tt.asked)
	}
}

// ended ends the context when the first call was told and nothing more comes.
func (m Model) ended(t *testing.T, stream []byte) {
	held, gone := bytes.Index(stream, []byte("call_2")), make(chan struct{})
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		hang(stream[:held])(w, r)
	})
	ctx, stop := context.WithCancelCause(t.Context())
	spoke, h := errors.New("a person spoke"), new(heard)
	got, err := m.New(server.URL, key, 2, 0).Ask(ctx, request(), func(d provider.Delta) {
		if h.told(d); d.Kind == provider.DeltaCall {
			stop(spoke)
		}
	})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, spoke) {
		t.Errorf("got %v, want that the context ended and why", err)
	}
	if part(t, h, got, answer(3)); len(h.calls) == 0 {
		t.Error("the call that was whole is not told")
	}
	<-gone
	again(t, server, 1)
}

// idle is how long a server may be silent here; others that work may be slow for long.
const idle = time.Second

// silent is a server that says nothing more behind the first call. One that sends a byte
// now and then is heard to the end.
func (m Model) silent(t *testing.T, stream []byte) {
	beginning, _, _ := bytes.Cut(stream, []byte("call_2"))
	server, h := Serve(t, hang(beginning)), new(heard)
	got, err := m.New(server.URL, key, 2, idle).Ask(t.Context(), request(), h.told)
	if err == nil || !strings.Contains(err.Error(), "got nothing for 1s") || !strings.Contains(err.Error(), "Model.Idle") {
		t.Errorf("got %v, want how long nothing came and what to do", err)
	}
	if part(t, h, got, answer(3)); len(h.calls) == 0 {
		t.Error("the call that was whole is not told")
	}
	again(t, server, 1)

	server, h = Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for begun := time.Now(); time.Since(begun) < 2*idle && r.Context().Err() == nil; {
			_, _ = w.Write([]byte(": ping\n\n")) // see Stream
			flush(w)
			time.Sleep(idle / 50)
		}
		_, _ = w.Write(stream) // see Stream
	}), new(heard)
	got, err = m.New(server.URL, key, 0, idle).Ask(t.Context(), request(), h.told)
	same(t, h, got, err, answer(3))
}

// again holds against each other what was asked: so often, and each time the same.
func again(t *testing.T, s *Server, want int) {
	t.Helper()
	all := s.Asked()
	if len(all) != want {
		t.Errorf("asked %d times, want %d", len(all), want)
	}
	for _, a := range all {
		if len(a.Body) == 0 || !bytes.Equal(a.Body, all[0].Body) {
			t.Errorf("asked with %q, and with %q", all[0].Body, a.Body)
		}
	}
}

// same reports where an answer, and what was told of it, is not what the model said.
func same(t *testing.T, h *heard, got provider.Answer, err error, want provider.Answer) {
	t.Helper()
	if err != nil {
		t.Errorf("got %v", err)
	}
	if got.Stop != want.Stop || got.Usage != want.Usage {
		t.Errorf("got stop %q, usage %+v, want %q, %+v", got.Stop, got.Usage, want.Stop, want.Usage)
	}
	if part(t, h, got, want); got.Text() != want.Text() || len(got.Calls()) != len(want.Calls()) || len(h.calls) != len(want.Calls()) {
		t.Errorf("got %q and %d calls, told %d, want %q and %d", got.Text(), len(got.Calls()), len(h.calls), want.Text(), len(want.Calls()))
	}
}

// part reports where an answer, and what was told of it, is not the beginning of what
// the model said: text may be cut, a call may not.
func part(t *testing.T, h *heard, got, want provider.Answer) {
	t.Helper()
	if text := h.text.String(); got.Text() != text || len(text) > len(want.Text()) || want.Text()[:len(text)] != text {
		t.Errorf("got %q, told %q, want the beginning of %q", got.Text(), text, want.Text())
	}
	if len(h.calls) != len(got.Calls()) {
		t.Errorf("got %d calls, told %d", len(got.Calls()), len(h.calls))
	}
	for i, c := range h.calls {
		w := want.Calls()[i]
		if c.ID != w.ID || c.Name != w.Name || !bytes.Equal(c.Input, w.Input) || !bytes.Equal(got.Calls()[i].Input, w.Input) {
			t.Errorf("call %d: told %s %s %s, want %s %s %s", i, c.ID, c.Name, c.Input, w.ID, w.Name, w.Input)
		}
	}
}
