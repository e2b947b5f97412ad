package tooltest

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

func (j *journal) keyRuns() {
	j.begins(keyed("a", 0), 1)
	if got := j.refused(keyed("b", 1), durable.ErrBegun, "a"); !got.Live {
		j.Errorf("got %+v, want one that is live", got)
	}
	j.has(turnOf(keyed("b", 1)), "a running")
}

func (j *journal) keyDone() {
	j.begins(keyed("a", 0), 1)
	j.ends(durable.Ending{ID: "a", Result: sent()})
	if got := j.refused(keyed("b", 1), durable.ErrBegun, "a"); !sameResult(got.Result, sent()) {
		j.Errorf("got %+v, want the result", got)
	}
	j.has(turnOf(keyed("b", 1)), "a done", "b done")
	got := j.refused(keyed("c", 1), durable.ErrBegun, "b") // at its place, where it is now
	if got.State != durable.Done || got.Failed || !sameResult(got.Result, sent()) {
		j.Errorf("got %+v, want the result at its place too", got)
	}
	j.refused(keyed("d", 2), durable.ErrBegun, "a")
}

func (j *journal) keys() {
	for i, change := range []func(*durable.Record){
		func(*durable.Record) {},
		func(r *durable.Record) { r.Place.Tenant = "acme" },
		func(r *durable.Record) { r.Place.Principal = "bob" },
		func(r *durable.Record) { r.Source = "mail" },
		func(r *durable.Record) { r.Tool = "receive" },
		func(r *durable.Record) { r.Key = "Key" },
		func(r *durable.Record) { r.Key = "" },
	} {
		r := keyed(fmt.Sprint("call", i), i)
		change(&r)
		j.begins(r, 1)
		r.ID, r.Place.Session = "again", "another"
		if r.Key != "" {
			j.refused(r, durable.ErrBegun, fmt.Sprint("call", i))
		}
	}
}

func (j *journal) anotherKey() {
	j.begins(keyed("a", 0), 1)
	other := keyed("b", 1)
	other.Digest = "another"
	j.refused(other, durable.ErrAnother, "a")
	j.ends(durable.Ending{ID: "a", Result: sent()})
	j.refused(other, durable.ErrAnother, "a")
	j.has(turnOf(other), "a done")
}

func (j *journal) keyFailed() {
	j.begins(keyed("a", 0), 1)
	j.ends(durable.Ending{ID: "a", Result: &tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "no"}}, Failed: true})
	other := keyed("b", 1)
	other.Digest = "another"
	j.begins(other, 1)
	j.refused(keyed("c", 0), durable.ErrBegun, "a") // its place is not
	j.ends(durable.Ending{ID: "b", Undone: true})
	j.begins(keyed("d", 2), 1)
}

func (j *journal) keyAgain() {
	for i, tt := range []struct {
		repeats bool
		key     string
		runs    bool
	}{{false, "key", true}, {false, "other", false}, {false, "", false}, {true, "other", true}, {true, "", true}} {
		was := keyed(fmt.Sprint("was ", i), i)
		was.Key, was.Repeats = fmt.Sprint("key", i), tt.repeats
		j.begins(was, 1)
		is := keyed(fmt.Sprint("is ", i), i)
		is.Repeats = tt.repeats
		if is.Key = tt.key; tt.key == "key" {
			is.Key = was.Key
		}
		j.Journal = j.again()
		if tt.runs {
			j.begins(is, 2)
		} else {
			j.refused(is, durable.ErrBegun, was.ID)
		}
	}
}

func (j *journal) keyLeftBehind() {
	j.begins(keyed("a", 0), 1)
	j.Journal = j.again()
	other := keyed("b", 1)
	other.Digest = "another" // which is no hit, since it has no key any more
	j.begins(other, 1)
	j.refused(keyed("c", 0), durable.ErrAnother, "b")
	j.ends(durable.Ending{ID: "b", Undone: true})
	j.begins(keyed("d", 0), 2)
	j.refused(keyed("e", 2), durable.ErrBegun, "d")
}

func (j *journal) doneSince() {
	j.begins(keyed("a", 0), 1)
	j.Journal = j.again()
	j.begins(keyed("b", 1), 1)
	j.refused(keyed("c", 0), durable.ErrBegun, "b")
	j.has(turnOf(keyed("", 0)), "a left", "b running")
	j.ends(durable.Ending{ID: "b", Result: sent()})
	j.refused(keyed("c", 0), durable.ErrBegun, "b")
	j.has(turnOf(keyed("", 0)), "c done", "b done")
	if got := j.refused(keyed("d", 0), durable.ErrBegun, "c"); !sameResult(got.Result, sent()) {
		j.Errorf("got %+v, want the result", got)
	}
}
