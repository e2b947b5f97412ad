package mcptool

import (
	"context"
	"sync"

	"github.com/ferrule-dev/ferrule/policy"
)

// waiters are the requests of a gateway that wait for a person, by question: equal
// calls share one, whichever session they are of. The zero value knows of none. All
// methods are safe for concurrent use.
type waiters struct {
	mu  sync.Mutex
	all map[string]*waiting
}

type waiting struct {
	requests int
	left     bool // who has put the question does not want it any more
}

func (w *waiters) enter(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[string]*waiting)
	}
	if w.all[id] == nil {
		w.all[id] = &waiting{}
	}
	w.all[id].requests++
}

func (w *waiters) leave(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all[id].requests--; w.all[id].requests == 0 {
		delete(w.all, id)
	}
}

// unwanted reports whether nobody wants an answer once one that waits is gone; own:
// its session has put the question. One that another session has put is that one's,
// which may have been told to call again.
func (w *waiters) unwanted(id string, own bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.all[id]
	of.left = of.left || own
	return of.left && of.requests == 1
}

// takeBack takes back the question of a request that has ended, unless others want its
// answer.
func (d *dialogue) takeBack(inbox policy.Inbox, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), inboxTime)
	defer cancel()
	q, err := inbox.Find(ctx, id)
	if err != nil || !d.client.gate.house.waiters.unwanted(id, q.Caller.Session == d.client.caller.Session) {
		return err
	}
	return inbox.Answer(ctx, id, policy.Answer{Withdrawn: true})
}
