package mcptool

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinkUnheard(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"on and on"}}`
	t.Run("L4 a server that goes on with a call that was given up is ended", func(t *testing.T) {
		told := make(chan string, 1)
		p := newPeer(t, listener{faulty: func(text string) { told <- text }})
		gone := p.ask(t.Context(), methodCall, `{"_meta":{"progressToken":"mine"}}`, nil)
		id := p.hear().id
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		p.wantAnswer(gone, `{}`)
		other := p.ask(t.Context(), methodCall, `{}`, nil) // which hears nothing of it
		p.hear()
		for range maxUnheard + 1 {
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, id)
		}
		if got := <-other; !errors.Is(got.err, errUnheard) || !strings.Contains(got.err.Error(), "more than 5000 messages within 10s, the last notifications/progress") {
			t.Errorf("got %v, want why it was ended", got.err)
		}
		if text := <-told; !strings.Contains(text, "nobody waits for") {
			t.Errorf("the fault is %q, want the cause", text)
		}
	})
	for name, first := range map[string]string{"nothing": "", "a subscription": methodListen} {
		t.Run("L4 so is one that talks where "+name+" is under way", func(t *testing.T) {
			p := newPeer(t, listener{})
			if first != "" {
				p.ask(t.Context(), first, `{}`, nil)
				p.hear()
			}
			for range maxUnheard + 1 {
				p.say(note)
			}
			<-p.link.ended()
			if err := p.link.why(); !errors.Is(err, errUnheard) {
				t.Errorf("got %v, want %v", err, errUnheard)
			}
		})
	}
	t.Run("M1 one that talks while it is called, or slowly, is heard", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			heard := record{}
			p := newPeer(t, *heard.listener())
			a := p.ask(t.Context(), methodCall, `{}`, nil)
			id := p.hear().id
			for range 2 * maxUnheard {
				p.say(note)
			}
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
			p.wantAnswer(a, `{}`)
			for range 3 {
				for range maxUnheard {
					p.say(note)
				}
				time.Sleep(faultTime + time.Second)
			}
			synctest.Wait()
			if err := p.link.why(); err != nil || len(heard.lines) != 5*maxUnheard {
				t.Errorf("got %v after %d messages, want all", err, len(heard.lines))
			}
		})
	})
	t.Run("L4 over HTTP a stream that never ends is left, and calls go on", func(t *testing.T) {
		s := newWebServer(t)
		flood := func(w http.ResponseWriter, r *http.Request) {
			webStream(w)(strings.Repeat("data: "+note+"\n\n", maxUnheard+1))
			<-r.Context().Done()
		}
		s.get = flood
		s.post = func(w http.ResponseWriter, r *http.Request, m message) {
			if m.method == methodListen {
				flood(w, r)
				return
			}
			webJSON(w, 200, message{id: m.id, result: []byte(`{}`)})
		}
		told := make(chan string, 2)
		l := s.dial(oldEra, listener{faulty: func(text string) { told <- text }})
		if text := <-told; !strings.Contains(text, "nobody waits for") {
			t.Errorf("the fault is %q, want the cause", text)
		}
		if _, err := l.do(t.Context(), methodCall, nil, nil); err != nil {
			t.Errorf("got %v, want the answer", err)
		}
		l = s.dial(newEra, listener{})
		if _, err := l.do(t.Context(), methodListen, nil, nil); !errors.Is(err, errUnheard) {
			t.Errorf("got %v, want %v", err, errUnheard)
		}
		if _, err := l.do(t.Context(), methodCall, nil, nil); err != nil {
			t.Errorf("got %v, want the answer", err)
		}
	})
}
