package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// Journal checks a journal of calls. Each call of open gives one that is empty,
// and takes care of closing it. again ends who has it, as a crash would, and
// gives what the next one finds.
func Journal(t *testing.T, open func(t *testing.T) (j durable.Journal, again func() durable.Journal)) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(j *journal)
	}{
		{"J1 a record comes back as it was put", (*journal).comesBack},
		{"J1 a place has one call", (*journal).place},
		{"J1 a place is one of a tenant, principal, session, turn and index", (*journal).places},
		{"J1 another call at a place is an error, never a hit", (*journal).anotherPlace},
		{"J1 a key joins the call that runs", (*journal).keyRuns},
		{"J1 a key gives the recorded success, which is kept at its place too", (*journal).keyDone},
		{"J1 a key is one of a tenant, principal, source and tool", (*journal).keys},
		{"J1 another call under a key is an error, never a hit", (*journal).anotherKey},
		{"J1 a key that failed is free", (*journal).keyFailed},
		{"J1 every result comes back equal", (*journal).results},
		{"J1 a result that is not kept is done", (*journal).notKept},
		{"J1 of many at once one runs", (*journal).many},
		{"J1 wait: until it ended, is taken back, or its context ends", (*journal).waits},
		{"J2 open: of a turn, of a session, of everybody", (*journal).opens},
		{"J2 what was left behind runs again only if both may", (*journal).leftBehind},
		{"J2 what was left behind with a key runs again with that key, or if it does no harm", (*journal).keyAgain},
		{"J2 what was left behind no longer has its key", (*journal).keyLeftBehind},
		{"J2 what was left behind, and another did since, is done", (*journal).doneSince},
		{"J2 done stays done", (*journal).doneStays},
		{"J2 who was taken for gone cannot end it", (*journal).stale},
		{"J4 a context that ended: an error and no trace", (*journal).noTrace},
		{"L7 what is taken back begins anew", (*journal).takenBack},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, again := open(t)
			tt.test(&journal{T: t, Journal: j, again: again})
		})
	}
}

// journal is a journal under test.
type journal struct {
	*testing.T
	durable.Journal
	again func() durable.Journal
}

// record is one of a turn. Its digests are those of its tool.
func record(id string, index int) durable.Record {
	return durable.Record{
		Place: durable.Place{Principal: "ada", Session: "s", Turn: 1, Index: index}, ID: id, CallID: "toolu_" + id,
		Tool: "send", Given: "given", Digest: "digest", Input: `{"to":"<eve>"}`, Began: time.Date(2026, 5, 1, 12, 0, index, 7, time.UTC),
	}
}

// keyed is one with a key.
func keyed(id string, index int) durable.Record {
	r := record(id, index)
	r.Key, r.Repeats = "key", true
	return r
}

func (j *journal) begins(r durable.Record, attempt int) durable.Record {
	j.Helper()
	got, err := j.Begin(j.Context(), r)
	if err != nil {
		j.Fatalf("Begin of %s: %v", r.ID, err)
	}
	want := r
	want.State, want.Attempt, want.Live = durable.Running, attempt, true
	if !sameRecord(got, want) {
		j.Errorf("Begin of %s: got\n%+v, want\n%+v", r.ID, got, want)
	}
	return got
}

// refused wants a record not to begin, and gives the one that is there.
func (j *journal) refused(r durable.Record, why durable.Refusal, there string) durable.Record {
	j.Helper()
	got, err := j.Begin(j.Context(), r)
	if !errors.Is(err, why) {
		j.Fatalf("Begin of %s: got %v, want %v", r.ID, err, why)
	}
	if got.ID != there {
		j.Errorf("Begin of %s: got the record of %q with the refusal, want that of %q", r.ID, got.ID, there)
	}
	return got
}

// sent is what calls say here.
func sent() *tool.Result { return &tool.Result{Content: []tool.Content{tool.Text("sent")}} }

// sameResult and sameRecord compare what was kept with what was given.
func sameResult(a, b *tool.Result) bool {
	if a == nil || b == nil || a.Err == nil || b.Err == nil {
		return a == b || a != nil && b != nil && a.Err == b.Err && sameContent(a, b)
	}
	return *a.Err == *b.Err && sameContent(a, b)
}

func sameContent(a, b *tool.Result) bool {
	return a.ID == b.ID && a.CallID == b.CallID && reflect.DeepEqual(a.Content, b.Content) && reflect.DeepEqual(a.Trust, b.Trust) && reflect.DeepEqual(a.Origin, b.Origin)
}

func sameRecord(a, b durable.Record) bool {
	same := sameResult(a.Result, b.Result)
	a.Result, b.Result = nil, nil
	return same && a == b
}

func (j *journal) ends(e durable.Ending) {
	j.Helper()
	if e.Attempt == 0 {
		e.Attempt = 1
	}
	if err := j.End(j.Context(), e); err != nil {
		j.Fatalf("End of %s: %v", e.ID, err)
	}
}

// has wants what is open at a place: ids and states.
func (j *journal) has(of durable.Place, want ...string) {
	j.Helper()
	list, err := j.Open(j.Context(), of)
	if err != nil {
		j.Fatalf("Open: %v", err)
	}
	var got []string
	for _, r := range list {
		word := string(r.State)
		if r.State == durable.Running && !r.Live {
			word = "left"
		}
		got = append(got, r.ID+" "+word)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		j.Errorf("Open of %+v: got %q, want %q", of, got, want)
	}
}

func turnOf(r durable.Record) durable.Place {
	p := r.Place
	p.Index = 0
	return p
}

func (j *journal) comesBack() {
	r := keyed("a", 3)
	r.Place.Tenant, r.Source = "acme", "mail"
	want := j.begins(r, 1)
	list, err := j.Open(j.Context(), turnOf(r))
	if err != nil || len(list) != 1 || !sameRecord(list[0], want) {
		j.Errorf("Open: got %+v, %v, want %+v", list, err, want)
	}
	before := time.Now().Add(-time.Hour)
	res := &tool.Result{ID: "a", CallID: "toolu_a", Err: &tool.Error{Kind: tool.Failed, Text: "no"}}
	j.ends(durable.Ending{ID: "a", Result: res, Failed: true, Fatal: true, Sync: true})
	list, err = j.Open(j.Context(), turnOf(r))
	if err != nil || len(list) != 1 {
		j.Fatalf("Open: got %+v, %v", list, err)
	}
	if got := list[0].Ended; got.Before(before) || got.After(time.Now().Add(time.Hour)) {
		j.Errorf("got it to have ended at %s", got)
	}
	want.State, want.Live, want.Ended, want.Result, want.Failed, want.Fatal = durable.Done, false, list[0].Ended, res, true, true
	if !sameRecord(list[0], want) {
		j.Errorf("Open: got\n%+v, want\n%+v", list[0], want)
	}
}

func (j *journal) place() {
	r := record("a", 0)
	j.begins(r, 1)
	second := r
	second.ID = "b"
	if got := j.refused(second, durable.ErrBegun, "a"); got.State != durable.Running || !got.Live {
		j.Errorf("got %+v, want one that is running and live", got)
	}
	j.ends(durable.Ending{ID: "a", Result: sent()})
	if got := j.refused(second, durable.ErrBegun, "a"); got.State != durable.Done || !sameResult(got.Result, sent()) {
		j.Errorf("got %+v, want one that is done, with its result", got)
	}
	for _, e := range []durable.Ending{{ID: "a", Attempt: 1}, {ID: "a", Attempt: 2}, {ID: "b", Attempt: 1}, {ID: "a", Attempt: 1, Undone: true}} {
		if err := j.End(j.Context(), e); !errors.Is(err, durable.ErrStale) {
			j.Errorf("End %+v: got %v, want %v", e, err, durable.ErrStale)
		}
	}
	j.has(turnOf(r), "a done")
}

func (j *journal) places() {
	places := []durable.Place{
		{Principal: "ada", Session: "s", Turn: 1},
		{Principal: "ada", Session: "s", Turn: 1, Index: 1},
		{Principal: "ada", Session: "s", Turn: 2},
		{Principal: "ada", Session: "t", Turn: 1},
		{Principal: "bob", Session: "s", Turn: 1},
		{Tenant: "acme", Principal: "ada", Session: "s", Turn: 1},
	}
	for i, p := range places {
		r := record(fmt.Sprint("call", i), 0)
		r.Place = p
		j.begins(r, 1)
	}
	for i, p := range places {
		r := record("again", 0)
		r.Place = p
		j.refused(r, durable.ErrBegun, fmt.Sprint("call", i))
	}
}

func (j *journal) anotherPlace() {
	j.begins(record("a", 0), 1)
	other := record("b", 0)
	other.Given = "another"
	j.refused(other, durable.ErrAnother, "a")
	j.ends(durable.Ending{ID: "a", Result: sent()})
	j.refused(other, durable.ErrAnother, "a")
	j.has(turnOf(other), "a done")
}

func (j *journal) results() {
	trust := tool.Web
	for i, want := range []tool.Result{
		{},
		{ID: "a", CallID: "b", Content: []tool.Content{tool.Text("one\x00"), tool.Text(""), tool.Text("<two> & \u2028 \U0001F642")}},
		{Content: []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"b": 1.0, "a":"<é>",  "n":12345678901234567890}`)}}},
		{Content: []tool.Content{{Type: tool.ImageContent, Data: []byte{0, 255, 10, 13}, MediaType: "image/png", Name: "a", Width: 3, Height: 4}}},
		{Content: []tool.Content{{Type: tool.LinkContent, URI: "https://a/?b&c", Text: "title"}}},
		{Err: &tool.Error{Kind: tool.Timeout, Text: "for the model", Detail: "for the operator", RetryAfter: 1500 * time.Millisecond}},
		{Trust: &trust, Origin: &tool.Origin{Source: "web", Tool: "fetch", Sensitivity: tool.Secret}, Content: []tool.Content{tool.Text("x")}},
		{Content: []tool.Content{{Type: tool.AudioContent, Data: make([]byte, 1<<20), MediaType: "audio/wav"}}},
	} {
		id := fmt.Sprint("call", i)
		j.begins(record(id, i), 1)
		j.ends(durable.Ending{ID: id, Result: &want, Failed: want.Err != nil})
		if got, err := j.Wait(j.Context(), id); err != nil || !sameResult(got.Result, &want) {
			j.Errorf("%d: got %+v, %v, want %+v", i, got.Result, err, want)
		}
	}
	r := record("cause", 100)
	j.begins(r, 1)
	j.ends(durable.Ending{ID: r.ID, Failed: true, Result: &tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "no", Cause: errors.New("why")}}})
	if got, err := j.Wait(j.Context(), r.ID); err != nil || got.Result.Err == nil || got.Result.Err.Cause != nil {
		j.Errorf("got %+v, %v, want an error without its cause", got, err)
	}
}

func (j *journal) notKept() {
	j.begins(keyed("a", 0), 1)
	j.ends(durable.Ending{ID: "a"})
	for i, index := range []int{0, 1, 1} {
		there := []string{"a", "a", "again1"}[i]
		if got := j.refused(keyed(fmt.Sprint("again", i), index), durable.ErrBegun, there); got.State != durable.Done || got.Result != nil || got.Failed {
			j.Errorf("got %+v, want it to be done, without a result", got)
		}
	}
}

func (j *journal) many() {
	for round := range 5 {
		var wait sync.WaitGroup
		var mu sync.Mutex
		ran := make(map[string]int)
		for i := range 16 {
			wait.Go(func() {
				r := keyed(fmt.Sprintf("call %d %d", round, i), round*100+i/2) // two of each place
				r.Key = fmt.Sprint("key", round)
				for {
					had, err := j.Begin(j.Context(), r)
					switch {
					case err == nil:
						mu.Lock()
						ran[r.Key]++
						mu.Unlock()
						j.ends(durable.Ending{ID: r.ID, Result: sent()})
						return
					case !errors.Is(err, durable.ErrBegun):
						j.Errorf("Begin: %v", err)
						return
					case had.State == durable.Done:
						if !sameResult(had.Result, sent()) {
							j.Errorf("got %+v, want the result", had)
						}
						return
					}
					if got, err := j.Wait(j.Context(), had.ID); err != nil || got.State != durable.Done {
						j.Errorf("Wait: got %+v, %v", got, err)
						return
					}
				}
			})
		}
		wait.Wait()
		if n := ran[fmt.Sprint("key", round)]; n != 1 {
			j.Errorf("round %d: it ran %d times, want 1", round, n)
		}
	}
}

func (j *journal) waits() {
	if _, err := j.Wait(j.Context(), "nobody"); !errors.Is(err, durable.ErrNotFound) {
		j.Errorf("nobody: got %v, want %v", err, durable.ErrNotFound)
	}
	for i, e := range []durable.Ending{{Result: sent()}, {Undone: true}} {
		e.ID = fmt.Sprint("call", i)
		j.begins(record(e.ID, i), 1)
		type waited struct {
			durable.Record
			err error
		}
		done := make(chan waited, 3)
		for range 3 {
			go func() {
				r, err := j.Wait(j.Context(), e.ID)
				done <- waited{r, err}
			}()
		}
		ctx, cancel := context.WithCancel(j.Context())
		cancel()
		if _, err := j.Wait(ctx, e.ID); !errors.Is(err, context.Canceled) {
			j.Errorf("got %v, want %v", err, context.Canceled)
		}
		if len(done) > 0 {
			j.Error("wait returned before it ended")
		}
		j.ends(e)
		for range 3 {
			switch got := <-done; {
			case e.Undone && !errors.Is(got.err, durable.ErrNotFound):
				j.Errorf("taken back: got %v, want %v", got.err, durable.ErrNotFound)
			case !e.Undone && (got.err != nil || got.State != durable.Done || !sameResult(got.Result, e.Result)):
				j.Errorf("got %+v, want it to be done", got)
			}
		}
	}
}
