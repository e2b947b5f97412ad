package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// Inbox checks an inbox. Each call of open gives one that is empty, and takes
// care of closing it. An inbox that several processes can use is to be tested
// with several processes too, which this does not do.
//
//	func TestInbox(t *testing.T) {
//		tooltest.Inbox(t, func(*testing.T) policy.Inbox { return new(mine.Inbox) })
//	}
func Inbox(t *testing.T, open func(t *testing.T) policy.Inbox) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(in inbox)
	}{
		{"P5 a question goes in and its answer comes out", inbox.answered},
		{"P5 a no comes out as a no", inbox.no},
		{"P5 edited arguments come out as they were written", inbox.edited},
		{"P5 what was not asked is neither answered nor used", inbox.notAsked},
		{"P5 a question without an id is refused", inbox.nameless},
		{"P5 the first answer wins", inbox.first},
		{"P5 of many answers at once one wins", inbox.firstOfMany},
		{"P5 an answer is used once", inbox.once},
		{"P5 of many uses at once one has it", inbox.onceOfMany},
		{"P5 of many answers and uses at once one is taken and one has it", inbox.race},
		{"P5 another digest has no answer, and takes none away", inbox.digests},
		{"P5 a late answer is refused", inbox.late},
		{"P5 an answer in time is of no use after the expiry", inbox.expires},
		{"P5 what never expires can be answered", inbox.forever},
		{"P5 a clock before the time of asking: refused", inbox.clock},
		{"P5 an answer that the question does not allow is refused, and the next is taken", inbox.checks},
		{"P5 asking with an id that is there leaves it", inbox.again},
		{"P5 a question that was withdrawn is over", inbox.withdrawn},
		{"P5 a yes that lasts is kept as a rule with its answer, once", inbox.lasts},
		{"P5 an answer that is refused makes no rule", inbox.lastsNot},
		{"P5 a rule that is revoked before its answer is used stays revoked", inbox.lastsNoMore},
		{"P5 of many lasting answers at once one is kept as a rule", inbox.lastsOfMany},
		{"P5 what goes in and comes out is shared with nobody", inbox.unshared},
		{"P6 find: in each state", inbox.finds},
		{"P6 who makes a call again finds its questions, and no others", inbox.madeAgain},
		{"P4 what is listed and found is what was asked", inbox.whole},
		{"P6 what is not answered is listed, oldest first", inbox.pending},
		{"P6 a watcher hears of each answer, until it stops", inbox.watched},
		{"P6 a watcher hears of each of many answers", inbox.watchedMany},
		{"P6 a watcher may use the inbox", inbox.reentrant},
		{"P6 everything at once", inbox.everything},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(inbox{t, open(t)})
		})
	}
}

// inbox is an inbox under test.
type inbox struct {
	*testing.T
	policy.Inbox
}

// crowd is how many do something at once.
const crowd = 16

// about is a question of an id. Its digest is that of the id.
func about(id string, lasts time.Duration) policy.Question {
	now := time.Now()
	return policy.Question{ID: id, Digest: "digest of " + id, Tool: "send", Input: `{"to":"` + id + `"}`, Asked: now, Expires: now.Add(lasts)}
}

func (in inbox) ask(qs ...policy.Question) {
	in.Helper()
	for _, q := range qs {
		if err := in.Ask(in.Context(), q); err != nil {
			in.Fatalf("Ask(%q): %v", q.ID, err)
		}
	}
}

func (in inbox) answer(id string, a policy.Answer) {
	in.Helper()
	if err := in.Answer(in.Context(), id, a); err != nil {
		in.Fatalf("Answer(%q): %v", id, err)
	}
}

// refuse wants an answer to be refused.
func (in inbox) refuse(id string, a policy.Answer, want error) {
	in.Helper()
	if err := in.Answer(in.Context(), id, a); !errors.Is(err, want) {
		in.Errorf("Answer(%q): got %v, want %v", id, err, want)
	}
}

// use wants the answer to have been given by somebody.
func (in inbox) use(id, by string) policy.Answer {
	in.Helper()
	a, err := in.Use(in.Context(), id, "digest of "+id)
	if err != nil || a.By != by {
		in.Errorf("Use(%q) = %+v, %v, want the answer of %q", id, a, err, by)
	}
	return a
}

// useless wants that there is no answer to be had.
func (in inbox) useless(id, digest string, want error) {
	in.Helper()
	a, err := in.Use(in.Context(), id, digest)
	if !errors.Is(err, want) {
		in.Errorf("Use(%q, %q): got %v, want %v", id, digest, err, want)
	}
	if !reflect.DeepEqual(a, policy.Answer{}) {
		in.Errorf("Use(%q, %q): got %+v with the error", id, digest, a)
	}
}

// list are the ids of what waits for an answer.
func (in inbox) list() []string {
	in.Helper()
	all, err := in.Pending(in.Context())
	if err != nil {
		in.Fatalf("Pending: %v", err)
	}
	var ids []string
	for _, q := range all {
		ids = append(ids, q.ID)
	}
	return ids
}

func (in inbox) wantList(when string, want ...string) {
	in.Helper()
	if got := in.list(); !slices.Equal(got, want) {
		in.Errorf("Pending, %s: got %q, want %q", when, got, want)
	}
}

// atOnce calls f from a crowd of goroutines and counts what they got; nil counts
// too.
func atOnce(f func(i int) error) map[error]int {
	var (
		mu    sync.Mutex
		count = make(map[error]int)
		start = make(chan struct{})
		all   sync.WaitGroup
	)
	for i := range crowd {
		all.Go(func() {
			<-start
			err := f(i)
			if r, ok := errors.AsType[policy.Refusal](err); ok {
				err = r
			}
			mu.Lock()
			defer mu.Unlock()
			count[err]++
		})
	}
	close(start)
	all.Wait()
	return count
}

func (in inbox) answered() {
	once, lasts := filled[policy.Answer](in.T), filled[policy.Answer](in.T)
	once.Withdrawn, once.Rule, once.Always = false, "", false
	lasts.Withdrawn, lasts.Rule, lasts.Input = false, "send", nil
	for i, want := range []policy.Answer{once, lasts} {
		q := full(in.T)
		q.ID = fmt.Sprint(i)
		in.ask(q)
		in.useless(q.ID, "d", policy.ErrWaiting)
		in.answer(q.ID, want)
		if got, err := in.Use(in.Context(), q.ID, "d"); err != nil || !reflect.DeepEqual(got, want) {
			in.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func (in inbox) no() {
	in.ask(about("a", time.Hour))
	in.answer("a", policy.Answer{By: "ada", Reason: "wrong place"})
	if got := in.use("a", "ada"); got.Allow || got.Reason != "wrong place" {
		in.Errorf("got %+v", got)
	}
}

func (in inbox) edited() {
	for i, input := range []json.RawMessage{nil, {}, []byte(`{}`), []byte("{ \"to\" :\t\"<b>&\u2028\" }\n"), []byte(`{"n":1e400,"n":2}`), []byte("null"), []byte("no JSON")} {
		id := fmt.Sprint(i)
		in.ask(about(id, time.Hour))
		in.answer(id, policy.Answer{Allow: true, Input: input, By: "ada"})
		if got := in.use(id, "ada").Input; string(got) != string(input) || (got == nil) != (input == nil) {
			in.Errorf("got %#v, want %#v: nil is what was shown, and nothing else is", got, input)
		}
	}
}

func (in inbox) notAsked() {
	in.ask(about("a", time.Hour))
	for _, id := range []string{"b", "A", "a ", "", "a' OR 'a'='a", "%"} {
		in.refuse(id, policy.Answer{Allow: true}, policy.ErrNotAsked)
		in.useless(id, "digest of a", policy.ErrNotAsked)
	}
	in.wantList("after answers to others", "a")
}

func (in inbox) nameless() {
	if err := in.Ask(in.Context(), policy.Question{Digest: "d"}); err == nil {
		in.Error("Ask without an id: got no error, and nobody could answer it")
	}
}

func (in inbox) first() {
	in.ask(about("a", time.Hour))
	in.answer("a", policy.Answer{Allow: true, By: "ada"})
	in.refuse("a", policy.Answer{By: "bob"}, policy.ErrAnswered)
	in.refuse("a", policy.Answer{Withdrawn: true}, policy.ErrAnswered)
	in.use("a", "ada")
	in.refuse("a", policy.Answer{By: "bob"}, policy.ErrAnswered)
}

func (in inbox) firstOfMany() {
	in.ask(about("a", time.Hour))
	won := make(chan string, crowd)
	count := atOnce(func(i int) error {
		by := fmt.Sprint("person ", i)
		err := in.Answer(context.Background(), "a", policy.Answer{Allow: i%2 == 0, By: by})
		if err == nil {
			won <- by
		}
		return err
	})
	if count[nil] != 1 || count[policy.ErrAnswered] != crowd-1 {
		in.Fatalf("got %v, want one taken and the others refused as answered", count)
	}
	in.use("a", <-won)
}

func (in inbox) once() {
	in.ask(about("a", time.Hour))
	in.answer("a", policy.Answer{Allow: true, By: "ada", Input: []byte("{}")})
	in.use("a", "ada")
	for range 2 {
		in.useless("a", "digest of a", policy.ErrUsed)
	}
}

func (in inbox) onceOfMany() {
	in.ask(about("a", time.Hour))
	in.answer("a", policy.Answer{Allow: true, By: "ada"})
	count := atOnce(func(int) error {
		got, err := in.Use(context.Background(), "a", "digest of a")
		if err != nil && got.Allow {
			return errors.New("refused, and allowed all the same")
		}
		return err
	})
	if count[nil] != 1 || count[policy.ErrUsed] != crowd-1 {
		in.Errorf("got %v, want one used and the others refused as used", count)
	}
}

func (in inbox) race() {
	in.ask(about("a", time.Hour))
	answers := make(chan error, crowd)
	uses := atOnce(func(i int) error {
		answers <- in.Answer(context.Background(), "a", policy.Answer{Allow: true, By: fmt.Sprint(i)})
		_, err := in.Use(context.Background(), "a", "digest of a")
		return err
	})
	close(answers)
	taken := 0
	for err := range answers {
		if err == nil {
			taken++
		}
	}
	if taken != 1 || uses[nil] != 1 || uses[policy.ErrUsed] != crowd-1 {
		in.Errorf("got %d answers taken and uses %v, want one of each", taken, uses)
	}
}

func (in inbox) digests() {
	in.ask(about("a", time.Hour), about("b", time.Hour))
	for _, digest := range []string{"digest of b", "", "digest of a ", "Digest of a", "digest of a\x00"} {
		in.useless("a", digest, policy.ErrChanged)
	}
	in.answer("a", policy.Answer{Allow: true, By: "ada"})
	for _, digest := range []string{"digest of b", "", "digest of a ", "Digest of a", "digest of a\x00"} {
		in.useless("a", digest, policy.ErrChanged)
	}
	in.use("a", "ada")
}

func (in inbox) everything() {
	count := atOnce(func(i int) error {
		ctx, id := context.Background(), fmt.Sprint(i%4)
		defer in.Watch(func(string) {})()
		if err := in.Ask(ctx, about(id, time.Hour)); err != nil {
			return err
		}
		if _, err := in.Pending(ctx); err != nil {
			return err
		}
		if err := in.Answer(ctx, id, policy.Answer{Allow: true}); err != nil && !errors.Is(err, policy.ErrAnswered) {
			return err
		}
		_, err := in.Use(ctx, id, "digest of "+id)
		return err
	})
	if count[nil] != 4 || count[policy.ErrUsed] != crowd-4 {
		in.Errorf("got %v, want 4 used and the others refused as used", count)
	}
	in.wantList("after each was answered")
}
