package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// expiredOne is a question that has expired a minute ago.
func expiredOne(id string) policy.Question {
	q := about(id, -time.Minute)
	q.Asked = q.Asked.Add(-time.Hour)
	return q
}

func (in inbox) late() {
	in.ask(expiredOne("a"))
	in.refuse("a", policy.Answer{Allow: true}, policy.ErrExpired)
	in.useless("a", "digest of a", policy.ErrExpired)
	in.wantList("after the expiry")
}

func (in inbox) expires() {
	// An answer must be in time, so it is tried again where the machine is slow.
	for lasts := 100 * time.Millisecond; lasts < patience; lasts *= 2 {
		id := "a" + lasts.String()
		q := about(id, lasts)
		in.ask(q)
		switch err := in.Answer(in.Context(), id, policy.Answer{Allow: true}); {
		case errors.Is(err, policy.ErrExpired):
			continue
		case err != nil:
			in.Fatal(err)
		}
		<-time.After(time.Until(q.Expires))
		in.useless(id, "digest of "+id, policy.ErrExpired)
		in.wantFound(id, policy.ErrExpired)
		return
	}
	in.Fatal("no answer was in time")
}

func (in inbox) forever() {
	in.ask(policy.Question{ID: "a", Digest: "digest of a"})
	in.wantList("what never expires", "a")
	in.answer("a", policy.Answer{Allow: true, By: "ada"})
	in.use("a", "ada")
}

func (in inbox) clock() {
	q := about("a", 2*time.Hour)
	q.Asked = q.Asked.Add(time.Hour)
	in.ask(q)
	in.refuse("a", policy.Answer{Allow: true}, policy.ErrClock)
	in.useless("a", "digest of a", policy.ErrClock)
	in.wantList("after a refusal", "a")
	near := about("b", time.Hour) // clocks of two machines differ a little
	near.Asked = near.Asked.Add(2 * time.Second)
	in.ask(near)
	in.answer("b", policy.Answer{Allow: true, By: "ada"})
	in.use("b", "ada")
}

func (in inbox) checks() {
	for _, tt := range []struct {
		name   string
		change func(*policy.Question)
		bad    policy.Answer
	}{
		{"a rule that was not offered", nil, policy.Answer{Allow: true, Rule: "*"}},
		{"always, but which rule?", nil, policy.Answer{Allow: true, Always: true}},
		{"a no that lasts", nil, policy.Answer{Rule: "send"}},
		{"a rule for other arguments", nil, policy.Answer{Allow: true, Rule: "send", Input: []byte("{}")}},
		{"one key for what destroys", func(q *policy.Question) { q.Claims.Reversible = false }, policy.Answer{Allow: true, Rule: "send"}},
	} {
		q := full(in.T)
		q.ID = tt.name
		if tt.change != nil {
			tt.change(&q)
		}
		in.ask(q)
		if err := in.Answer(in.Context(), q.ID, tt.bad); err == nil || err.Error() == "" {
			in.Errorf("%s: got no error", tt.name)
		}
		in.useless(q.ID, "d", policy.ErrWaiting)
		want := policy.Answer{Allow: true, Rule: "send", Always: true, Second: true, By: "ada"}
		in.answer(q.ID, want)
		if got, err := in.Use(in.Context(), q.ID, "d"); err != nil || !reflect.DeepEqual(got, want) {
			in.Errorf("%s, then a good one: got %+v, %v", tt.name, got, err)
		}
	}
}

func (in inbox) again() {
	again := func(state string) {
		in.Helper()
		other := about("a", 100*time.Hour)
		other.Digest, other.Input = "another", `{"to":"mallory"}`
		in.ask(other)
		if _, err := in.Use(in.Context(), "a", "another"); !errors.Is(err, policy.ErrChanged) {
			in.Errorf("%s: use with the digest of the second: got %v, want %v", state, err, policy.ErrChanged)
		}
	}
	in.ask(about("a", time.Hour))
	again("open")
	if q, err := in.Find(in.Context(), "a"); err != nil || q.Input != `{"to":"a"}` {
		in.Errorf("open: got %+v, %v, want the first", q, err)
	}
	in.answer("a", policy.Answer{Allow: true, By: "ada"})
	again("answered")
	in.refuse("a", policy.Answer{}, policy.ErrAnswered)
	in.wantList("asked again after the answer")
	in.use("a", "ada")
	again("used")
	in.useless("a", "digest of a", policy.ErrUsed)
	in.ask(expiredOne("b"), about("b", time.Hour))
	in.refuse("b", policy.Answer{Allow: true}, policy.ErrExpired) // it must not live again
}

func (in inbox) withdrawn() {
	in.ask(about("a", time.Hour), about("b", time.Hour))
	in.answer("a", policy.Answer{Withdrawn: true, By: "ferrule"})
	in.wantList("after one was withdrawn", "b")
	in.wantFound("a", policy.ErrUsed)
	in.refuse("a", policy.Answer{Allow: true}, policy.ErrAnswered)
	if a, err := in.Use(in.Context(), "a", "digest of a"); a.Allow {
		in.Errorf("use: got %+v, %v", a, err)
	}
}

func (in inbox) unshared() {
	q := full(in.T)
	in.ask(q)
	q.Claims.Touches[0], q.Offers[0] = tool.Access{Resource: "file:/asked"}, "asked"
	for range 2 {
		listed, err := in.Pending(in.Context())
		if err != nil || len(listed) != 1 {
			in.Fatalf("Pending: got %+v, %v", listed, err)
		}
		found, err := in.Find(in.Context(), "a")
		if err != nil {
			in.Fatal(err)
		}
		for _, got := range []policy.Question{listed[0], found} {
			if got.Claims.Touches[0] != full(in.T).Claims.Touches[0] || got.Offers[0] != full(in.T).Offers[0] {
				in.Fatalf("got %+v, want what was asked", got)
			}
			got.Claims.Touches[0], got.Offers[0] = tool.Access{Resource: "file:/seen"}, "seen"
		}
	}
	input := json.RawMessage(`{"to":"bob"}`)
	in.answer("a", policy.Answer{Allow: true, Input: input})
	copy(input, `{"to":"eve"}`)
	if got, err := in.Use(in.Context(), "a", "d"); err != nil || string(got.Input) != `{"to":"bob"}` {
		in.Errorf("got %s, %v, want what was answered", got.Input, err)
	}
}

// wantFound looks for a question: nil wants it to be found.
func (in inbox) wantFound(id string, want error) {
	in.Helper()
	q, err := in.Find(in.Context(), id)
	if !errors.Is(err, want) || want != nil && !reflect.DeepEqual(q, policy.Question{}) || want == nil && q.ID != id {
		in.Errorf("Find(%q) = %+v, %v, want the error %v", id, q, err, want)
	}
}

func (in inbox) finds() {
	in.wantFound("open", policy.ErrNotAsked)
	for _, id := range []string{"open", "answered", "used", "rejected", "withdrawn"} {
		in.ask(about(id, time.Hour))
	}
	in.ask(expiredOne("expired"))
	in.answer("answered", policy.Answer{Allow: true})
	in.answer("used", policy.Answer{Allow: true, By: "ada"})
	in.use("used", "ada")
	in.answer("rejected", policy.Answer{By: "bob"})
	in.use("rejected", "bob")
	in.answer("withdrawn", policy.Answer{Withdrawn: true})
	for id, want := range map[string]error{
		"open": nil, "answered": nil, "used": policy.ErrUsed, "rejected": policy.ErrRejected, "withdrawn": policy.ErrUsed, "expired": policy.ErrExpired, "nosuch": policy.ErrNotAsked,
	} {
		in.wantFound(id, want)
	}
}

// plain is a question without what times carry beside the time.
func plain(q policy.Question) policy.Question {
	q.Asked, q.Expires = q.Asked.UTC().Round(0), q.Expires.UTC().Round(0)
	return q
}

func (in inbox) whole() {
	nothing, unknown := full(in.T), full(in.T)
	nothing.ID, nothing.Claims.Touches = "nothing", []tool.Access{} // claims to touch nothing
	unknown.ID, unknown.Claims.Touches = "unknown", nil             // claims nothing: everything
	all := full(in.T)
	all.ID, all.Claims.ReadOnly = "all", true
	for _, want := range []policy.Question{all, nothing, unknown, {ID: "empty"}} {
		in.ask(want)
		want = plain(want)
		found, err := in.Find(in.Context(), want.ID)
		if err != nil || !reflect.DeepEqual(plain(found), want) {
			in.Errorf("Find: got %+v, %v\nwant %+v", found, err, want)
		}
		list, err := in.Pending(in.Context())
		i := slices.IndexFunc(list, func(q policy.Question) bool { return q.ID == want.ID })
		if err != nil || i < 0 || !reflect.DeepEqual(plain(list[i]), want) {
			in.Errorf("Pending: got %+v, %v\nwant %+v among them", list, err, want)
		}
	}
}

func (in inbox) pending() {
	in.wantList("empty")
	now := time.Now()
	for _, q := range []struct {
		id  string
		age time.Duration
	}{{"d", 0}, {"b", time.Minute}, {"c", time.Minute}, {"a", time.Hour}, {"0", time.Minute}, {"e", 0}, {"f", -time.Nanosecond}} {
		in.ask(policy.Question{ID: q.id, Asked: now.Add(-q.age), Expires: now.Add(time.Hour)})
	}
	in.ask(expiredOne("over"))
	in.wantList("by the time of asking, then of arrival", "a", "b", "c", "0", "d", "e", "f")
	in.answer("c", policy.Answer{Allow: true})
	in.answer("a", policy.Answer{Withdrawn: true})
	in.wantList("after two answers", "b", "0", "d", "e", "f")
}

// ear is a watcher.
type ear struct {
	mu    sync.Mutex
	heard []string
	news  chan struct{}
}

func newEar() *ear { return &ear{news: make(chan struct{}, 1)} }

func (e *ear) hear(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, id)
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// all are the ids heard so far, each once.
func (e *ear) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(e.heard)))
}

// wait wants to hear of that many.
func (in inbox) wait(e *ear, want int) []string {
	in.Helper()
	limit := time.After(patience)
	for {
		if got := e.all(); len(got) >= want {
			return got
		}
		select {
		case <-e.news:
		case <-limit:
			in.Fatalf("heard of %q, want %d answers", e.all(), want)
		}
	}
}

func (in inbox) watched() {
	for _, id := range []string{"before", "a", "b", "taken back", "last", "late"} {
		in.ask(about(id, time.Hour))
	}
	in.answer("before", policy.Answer{})
	one, two := newEar(), newEar()
	stopOne, stopTwo := in.Watch(one.hear), in.Watch(two.hear)
	in.ask(about("c", time.Hour)) // a question is no answer
	in.answer("b", policy.Answer{Allow: true, By: "ada"})
	in.answer("a", policy.Answer{})
	in.refuse("a", policy.Answer{}, policy.ErrAnswered)
	in.refuse("nosuch", policy.Answer{}, policy.ErrNotAsked)
	in.use("b", "ada")
	in.wait(one, 2)
	stopOne()
	in.answer("taken back", policy.Answer{Withdrawn: true})
	in.answer("last", policy.Answer{})
	if got := in.wait(two, 4); !slices.Equal(got, []string{"a", "b", "last", "taken back"}) {
		in.Errorf("the one that stayed heard of %q, want a, b, last and taken back", got)
	}
	stopTwo()
	stopTwo() // does no harm
	three := newEar()
	defer in.Watch(three.hear)()
	in.answer("late", policy.Answer{})
	if got := in.wait(three, 1); !slices.Equal(got, []string{"late"}) {
		in.Errorf("the one that came late heard of %q, want late", got)
	}
	if got := one.all(); !slices.Equal(got, []string{"a", "b"}) {
		in.Errorf("the one that stopped heard of %q, want a and b", got)
	}
	if got := two.all(); len(got) != 4 {
		in.Errorf("the one that stopped later heard of %q, want 4", got)
	}
}

func (in inbox) watchedMany() {
	const each = 4
	for i := range crowd * each {
		in.ask(about(fmt.Sprint(i), time.Hour))
	}
	e := newEar()
	defer in.Watch(e.hear)()
	atOnce(func(i int) error {
		for j := range each {
			_ = in.Answer(context.Background(), fmt.Sprint(i*each+j), policy.Answer{})
			_ = in.Answer(context.Background(), fmt.Sprint(i), policy.Answer{})
		}
		return nil
	})
	in.wait(e, crowd*each)
}

func (in inbox) reentrant() {
	in.ask(about("a", time.Hour), about("b", time.Hour))
	e := newEar()
	var stop func()
	var called atomic.Bool
	ready := make(chan struct{})
	stop = in.Watch(func(id string) {
		<-ready
		if called.CompareAndSwap(false, true) {
			if _, err := in.Use(context.Background(), id, "digest of "+id); err != nil {
				in.Errorf("Use of a watcher: %v", err)
			}
			if err := in.Ask(context.Background(), about("c", time.Hour)); err != nil {
				in.Errorf("Ask of a watcher: %v", err)
			}
			in.Watch(func(string) {})()
			if err := in.Answer(context.Background(), "c", policy.Answer{}); err != nil {
				in.Errorf("Answer of a watcher: %v", err)
			}
			stop()
		}
		e.hear(id)
	})
	close(ready)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = in.Answer(context.Background(), "a", policy.Answer{By: "ada"})
	}()
	select {
	case <-done:
	case <-time.After(patience):
		in.Fatal("an answer does not return: the watcher is called under a lock")
	}
	in.wait(e, 1)
	in.wantList("after a watcher answered", "b")
}
