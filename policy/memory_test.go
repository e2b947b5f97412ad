package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestMemory(t *testing.T) {
	testInbox(t, func() policy.Inbox { return new(policy.Memory) })

	t.Run("P5 a question without an id is refused: nobody could answer it", func(t *testing.T) {
		if err := new(policy.Memory).Ask(t.Context(), policy.Question{Digest: "d"}); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("P5 what has expired is no longer shown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := new(policy.Memory)
			ask(t, in, "old", time.Hour)
			ask(t, in, "new", 2*time.Hour)
			time.Sleep(time.Hour)
			if got := pending(t, in); !slices.Equal(got, []string{"new"}) {
				t.Errorf("pending: got %q, want only the one that can be answered", got)
			}
		})
	})
	t.Run("P5 a late answer hears why, for a day at least", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := new(policy.Memory)
			ask(t, in, "old", time.Hour)
			time.Sleep(24 * time.Hour)
			ask(t, in, "new", time.Hour) // makes room for itself
			if err := in.Answer(t.Context(), "old", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrExpired) {
				t.Errorf("got %v, want %v", err, policy.ErrExpired)
			}
		})
	})
	t.Run("P5 what expired long ago is forgotten, not answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := new(policy.Memory)
			ask(t, in, "old", time.Hour)
			time.Sleep(48 * time.Hour)
			ask(t, in, "new", time.Hour)
			if err := in.Answer(t.Context(), "old", policy.Answer{Allow: true}); err == nil {
				t.Error("it was answered")
			}
		})
	})
	t.Run("P5 what never expires is forgotten once its answer is used or nobody wants it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := new(policy.Memory)
			for _, id := range []string{"used", "withdrawn", "open"} {
				if err := in.Ask(t.Context(), policy.Question{ID: id}); err != nil {
					t.Fatal(err)
				}
			}
			answer(t, in, "used", "ada")
			if _, err := in.Use(t.Context(), "used", ""); err != nil {
				t.Fatal(err)
			}
			if err := in.Answer(t.Context(), "withdrawn", policy.Answer{Withdrawn: true}); err != nil {
				t.Fatal(err)
			}
			for _, after := range []struct {
				wait time.Duration
				want error
			}{{time.Hour, policy.ErrAnswered}, {24 * time.Hour, policy.ErrNotAsked}} {
				time.Sleep(after.wait)
				ask(t, in, fmt.Sprint("after ", after.wait), time.Hour) // makes room for itself
				for _, id := range []string{"used", "withdrawn"} {
					if err := in.Answer(t.Context(), id, policy.Answer{}); !errors.Is(err, after.want) {
						t.Errorf("%s, after %s: got %v, want %v", id, after.wait, err, after.want)
					}
				}
			}
			answer(t, in, "open", "ada")
		})
	})
	t.Run("P6 what is used, withdrawn or has expired is not kept whole", func(t *testing.T) {
		const many, size = 32, 1 << 20
		for name, finish := range map[string]func(in policy.Inbox, id string){
			"used": func(in policy.Inbox, id string) {
				edited := policy.Answer{Allow: true, Input: make([]byte, size)}
				if err := in.Answer(t.Context(), id, edited); err != nil {
					t.Fatal(err)
				}
				if _, err := in.Use(t.Context(), id, ""); err != nil {
					t.Fatal(err)
				}
			},
			"withdrawn": func(in policy.Inbox, id string) {
				if err := in.Answer(t.Context(), id, policy.Answer{Withdrawn: true}); err != nil {
					t.Fatal(err)
				}
			},
			"expired": func(policy.Inbox, string) { time.Sleep(2 * time.Minute) },
		} {
			t.Run("P6 "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					in := new(policy.Memory)
					before := heap()
					for i := range many {
						id := fmt.Sprint(i)
						q := policy.Question{ID: id, Input: strings.Repeat("x", size), Expires: time.Now().Add(time.Minute)}
						if err := in.Ask(t.Context(), q); err != nil {
							t.Fatal(err)
						}
						finish(in, id)
					}
					if kept := heap() - before; kept > many*size/4 {
						t.Errorf("%d questions of %d MB keep %d MB", many, size>>20, kept>>20)
					}
					runtime.KeepAlive(in)
				})
			})
		}
	})
	t.Run("P6 a question costs the same however many there are", func(t *testing.T) {
		in, start := new(policy.Memory), time.Now()
		for i := range 50_000 {
			ask(t, in, fmt.Sprint(i), time.Hour)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("50,000 questions took %s", took)
		}
	})
}

// heap is how much memory is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// ask puts a question that lasts so long. Its digest is that of its id.
func ask(t *testing.T, in policy.Inbox, id string, lasts time.Duration) {
	t.Helper()
	now := time.Now()
	q := policy.Question{ID: id, Digest: "digest of " + id, Tool: "send", Input: `{"to":"` + id + `"}`, Asked: now, Expires: now.Add(lasts)}
	if err := in.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func answer(t *testing.T, in policy.Inbox, id, by string) {
	t.Helper()
	if err := in.Answer(t.Context(), id, policy.Answer{Allow: true, By: by}); err != nil {
		t.Fatal(err)
	}
}

// pending are the ids of what waits for an answer, oldest first.
func pending(t *testing.T, in policy.Inbox) []string {
	t.Helper()
	list, err := in.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 0, len(list))
	for _, q := range list {
		ids = append(ids, q.ID)
	}
	return ids
}

// atOnce calls f from so many goroutines and counts what they got; nil counts
// too.
func atOnce(n int, f func(i int) error) map[error]int {
	var (
		mu    sync.Mutex
		count = make(map[error]int)
		start = make(chan struct{})
		all   sync.WaitGroup
	)
	for i := range n {
		all.Go(func() {
			<-start
			err := f(i)
			for _, known := range []error{policy.ErrNotAsked, policy.ErrAnswered, policy.ErrExpired, policy.ErrWaiting, policy.ErrUsed, policy.ErrChanged} {
				if errors.Is(err, known) {
					err = known
				}
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

// testInbox holds an implementation of policy.Inbox to what it promises. Each
// call of empty gives a new one.
func testInbox(t *testing.T, empty func() policy.Inbox) {
	const many = 100
	t.Run("P5 a question goes in and its answer comes out", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		if _, err := in.Use(t.Context(), "a", "digest of a"); !errors.Is(err, policy.ErrWaiting) {
			t.Errorf("before the answer: got %v, want %v", err, policy.ErrWaiting)
		}
		want := policy.Answer{Allow: true, By: "ada", Message: "m", Reason: "r", Text: "t", Input: []byte(`{"to":"b"}`)}
		if err := in.Answer(t.Context(), "a", want); err != nil {
			t.Fatal(err)
		}
		got, err := in.Use(t.Context(), "a", "digest of a")
		if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})
	t.Run("P5 a no comes out as a no", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		if err := in.Answer(t.Context(), "a", policy.Answer{Reason: "wrong place"}); err != nil {
			t.Fatal(err)
		}
		if got, err := in.Use(t.Context(), "a", "digest of a"); err != nil || got.Allow || got.Reason != "wrong place" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("P5 what was not asked is neither answered nor used", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		if err := in.Answer(t.Context(), "b", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrNotAsked) {
			t.Errorf("answer: got %v, want %v", err, policy.ErrNotAsked)
		}
		if got, err := in.Use(t.Context(), "b", "digest of b"); err == nil || got.Allow {
			t.Errorf("use: got %+v, %v", got, err)
		}
	})

	t.Run("P5 the first answer wins, the second is refused", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		answer(t, in, "a", "ada")
		if err := in.Answer(t.Context(), "a", policy.Answer{By: "bob"}); !errors.Is(err, policy.ErrAnswered) {
			t.Errorf("second answer: got %v, want %v", err, policy.ErrAnswered)
		}
		got, err := in.Use(t.Context(), "a", "digest of a")
		if err != nil || got.By != "ada" || !got.Allow {
			t.Errorf("got %+v, %v, want ada's", got, err)
		}
		if err := in.Answer(t.Context(), "a", policy.Answer{By: "bob"}); !errors.Is(err, policy.ErrAnswered) {
			t.Errorf("answer after the use: got %v, want %v", err, policy.ErrAnswered)
		}
	})
	t.Run("P5 of many answers at once one wins", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		var won string
		var mu sync.Mutex
		count := atOnce(many, func(i int) error {
			by := fmt.Sprint("person ", i)
			err := in.Answer(context.Background(), "a", policy.Answer{Allow: i%2 == 0, By: by})
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				won = by
			}
			return err
		})
		if count[nil] != 1 || count[policy.ErrAnswered] != many-1 {
			t.Errorf("got %v, want one taken and the others refused as answered", count)
		}
		if got, err := in.Use(t.Context(), "a", "digest of a"); err != nil || got.By != won {
			t.Errorf("got the answer of %q, %v, want that of %q, who was told that it counts", got.By, err, won)
		}
	})

	t.Run("P5 an answer is used once", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		answer(t, in, "a", "ada")
		if _, err := in.Use(t.Context(), "a", "digest of a"); err != nil {
			t.Fatal(err)
		}
		if got, err := in.Use(t.Context(), "a", "digest of a"); !errors.Is(err, policy.ErrUsed) || got.Allow {
			t.Errorf("second use: got %+v, %v, want %v", got, err, policy.ErrUsed)
		}
	})
	t.Run("P5 of many uses at once one has it", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		answer(t, in, "a", "ada")
		count := atOnce(many, func(int) error {
			got, err := in.Use(context.Background(), "a", "digest of a")
			if err != nil && got.Allow {
				return errors.New("refused, and allowed all the same")
			}
			return err
		})
		if count[nil] != 1 || count[policy.ErrUsed] != many-1 {
			t.Errorf("got %v, want one used and the others refused as used", count)
		}
	})
	t.Run("P5 of many answers and uses at once one is taken and one has it", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		answers := make(chan error, many)
		uses := atOnce(many, func(i int) error {
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
		if taken != 1 || uses[nil] != 1 || uses[policy.ErrUsed] != many-1 {
			t.Errorf("got %d answers taken and uses %v, want one of each", taken, uses)
		}
	})

	t.Run("P5 another digest has no answer, and takes none away", func(t *testing.T) {
		in := empty()
		ask(t, in, "a", time.Hour)
		ask(t, in, "b", time.Hour)
		answer(t, in, "a", "ada")
		for _, digest := range []string{"digest of b", "", "digest of a ", "Digest of a"} {
			if got, err := in.Use(t.Context(), "a", digest); !errors.Is(err, policy.ErrChanged) || got.Allow {
				t.Errorf("use with digest %q: got %+v, %v, want %v", digest, got, err, policy.ErrChanged)
			}
		}
		if _, err := in.Use(t.Context(), "a", "digest of a"); err != nil {
			t.Errorf("then with its own: %v", err)
		}
	})

	t.Run("P5 until it expires a question can be answered and used", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := empty()
			ask(t, in, "a", 24*time.Hour)
			time.Sleep(24*time.Hour - time.Second)
			answer(t, in, "a", "ada")
			if got, err := in.Use(t.Context(), "a", "digest of a"); err != nil || !got.Allow {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	})
	t.Run("P5 a late answer is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := empty()
			ask(t, in, "a", 24*time.Hour)
			time.Sleep(24*time.Hour + time.Second)
			if err := in.Answer(t.Context(), "a", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrExpired) {
				t.Errorf("answer: got %v, want %v", err, policy.ErrExpired)
			}
			if got, err := in.Use(t.Context(), "a", "digest of a"); !errors.Is(err, policy.ErrExpired) || got.Allow {
				t.Errorf("use: got %+v, %v, want %v", got, err, policy.ErrExpired)
			}
		})
	})
	t.Run("P5 an answer in time is of no use after the expiry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := empty()
			ask(t, in, "a", time.Hour)
			answer(t, in, "a", "ada")
			time.Sleep(time.Hour + time.Second)
			if got, err := in.Use(t.Context(), "a", "digest of a"); !errors.Is(err, policy.ErrExpired) || got.Allow {
				t.Errorf("got %+v, %v, want %v", got, err, policy.ErrExpired)
			}
		})
	})

	t.Run("P5 asking with an id that is there leaves it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := empty()
			again := func(state string) {
				t.Helper()
				q := policy.Question{ID: "a", Digest: "another", Input: `{"to":"mallory"}`, Expires: time.Now().Add(100 * time.Hour)}
				if err := in.Ask(t.Context(), q); err != nil {
					t.Errorf("%s: %v", state, err)
				}
				if _, err := in.Use(t.Context(), "a", "another"); !errors.Is(err, policy.ErrChanged) {
					t.Errorf("%s: use with the digest of the second: %v, want %v", state, err, policy.ErrChanged)
				}
			}
			ask(t, in, "a", time.Hour)
			again("open")
			list, err := in.Pending(t.Context())
			if err != nil || len(list) != 1 || list[0].Input != `{"to":"a"}` {
				t.Errorf("open: got %+v, %v, want the first", list, err)
			}
			answer(t, in, "a", "ada")
			again("answered")
			if err := in.Answer(t.Context(), "a", policy.Answer{}); !errors.Is(err, policy.ErrAnswered) {
				t.Errorf("answered: got %v, want %v", err, policy.ErrAnswered)
			}
			if _, err := in.Use(t.Context(), "a", "digest of a"); err != nil {
				t.Fatal(err)
			}
			again("used")
			if _, err := in.Use(t.Context(), "a", "digest of a"); !errors.Is(err, policy.ErrUsed) {
				t.Errorf("used: got %v, want %v", err, policy.ErrUsed)
			}
			ask(t, in, "b", time.Hour)
			time.Sleep(time.Hour + time.Second)
			ask(t, in, "b", time.Hour)
			if err := in.Answer(t.Context(), "b", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrExpired) {
				t.Errorf("expired: got %v, want %v: it must not live again", err, policy.ErrExpired)
			}
		})
	})

	t.Run("P6 what is not answered is listed, oldest first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := empty()
			if got := pending(t, in); len(got) != 0 {
				t.Errorf("empty: got %q", got)
			}
			for _, id := range []string{"z", "a", "m", "b"} {
				ask(t, in, id, 24*time.Hour)
				time.Sleep(time.Second)
			}
			if got := pending(t, in); !slices.Equal(got, []string{"z", "a", "m", "b"}) {
				t.Errorf("got %q, want z a m b", got)
			}
			answer(t, in, "a", "ada")
			if err := in.Answer(t.Context(), "z", policy.Answer{Withdrawn: true}); err != nil {
				t.Fatal(err)
			}
			ask(t, in, "c", 24*time.Hour)
			if got := pending(t, in); !slices.Equal(got, []string{"m", "b", "c"}) {
				t.Errorf("after two answers: got %q, want m b c", got)
			}
		})
	})
	t.Run("P6 the oldest is what was asked first, whenever it arrived", func(t *testing.T) {
		in, now := empty(), time.Now()
		for _, q := range []struct {
			id  string
			age time.Duration
		}{{"d", 0}, {"b", time.Minute}, {"c", time.Minute}, {"a", time.Hour}, {"e", 0}} {
			if err := in.Ask(t.Context(), policy.Question{ID: q.id, Asked: now.Add(-q.age), Expires: now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := pending(t, in); !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) {
			t.Errorf("got %q, want a b c d e", got)
		}
	})
	t.Run("P5 what goes in and comes out is shared with nobody", func(t *testing.T) {
		in := empty()
		touches := []tool.Access{{Resource: "file:/a", Write: true}}
		if err := in.Ask(t.Context(), policy.Question{ID: "a", Claims: tool.Claims{Touches: touches}}); err != nil {
			t.Fatal(err)
		}
		touches[0] = tool.Access{Resource: "file:/asked"}
		for range 2 {
			list, err := in.Pending(t.Context())
			if err != nil || len(list) != 1 || list[0].Claims.Touches[0] != (tool.Access{Resource: "file:/a", Write: true}) {
				t.Fatalf("got %+v, %v, want what was asked", list, err)
			}
			list[0].Claims.Touches[0] = tool.Access{Resource: "file:/listed"}
		}
		input := json.RawMessage(`{"to":"bob"}`)
		if err := in.Answer(t.Context(), "a", policy.Answer{Allow: true, Input: input}); err != nil {
			t.Fatal(err)
		}
		copy(input, `{"to":"eve"}`)
		if got, err := in.Use(t.Context(), "a", ""); err != nil || string(got.Input) != `{"to":"bob"}` {
			t.Errorf("got %s, %v, want what was answered", got.Input, err)
		}
	})
	t.Run("P4 what is listed is what was asked", func(t *testing.T) {
		in := empty()
		want := policy.Question{
			ID: "a", Digest: "d", Caller: policy.Asker{Principal: "ada", Session: "s"}, Turn: 3, Index: 1, Call: "c", CallID: "toolu_1",
			Tool: "send", Input: `{"to":"bob"}`, Preview: "a letter", Reason: "r", Rule: "rule 1", Note: policy.NoteEarly, Wants: "w",
			Expires: time.Now().Add(time.Hour).UTC().Round(0),
		}
		if err := in.Ask(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := in.Pending(t.Context())
		if err != nil || len(got) != 1 || fmt.Sprintf("%+v", got[0]) != fmt.Sprintf("%+v", want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	})

	t.Run("P6 a watcher hears of each answer once, until it stops", func(t *testing.T) {
		in := empty()
		for _, id := range []string{"before", "a", "b", "after", "late"} {
			ask(t, in, id, time.Hour)
		}
		answer(t, in, "before", "ada")
		var mu sync.Mutex
		var one, two []string
		heard := func(list *[]string) func(string) {
			return func(id string) {
				mu.Lock()
				defer mu.Unlock()
				*list = append(*list, id)
			}
		}
		stopOne, stopTwo := in.Watch(heard(&one)), in.Watch(heard(&two))
		ask(t, in, "c", time.Hour) // a question is no answer
		answer(t, in, "b", "ada")
		answer(t, in, "a", "ada")
		_ = in.Answer(t.Context(), "a", policy.Answer{}) // refused: not heard
		_ = in.Answer(t.Context(), "nosuch", policy.Answer{})
		if _, err := in.Use(t.Context(), "a", "digest of a"); err != nil {
			t.Fatal(err)
		}
		stopOne()
		answer(t, in, "after", "ada")
		stopTwo()
		stopTwo() // does no harm
		answer(t, in, "late", "ada")
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(one, []string{"b", "a"}) || !slices.Equal(two, []string{"b", "a", "after"}) {
			t.Errorf("got %q and %q, want [b a] and [b a after]", one, two)
		}
	})
	t.Run("P6 a watcher hears of each of many answers once", func(t *testing.T) {
		in := empty()
		for i := range many {
			ask(t, in, fmt.Sprint(i), time.Hour)
		}
		var mu sync.Mutex
		heard := make(map[string]int)
		defer in.Watch(func(id string) {
			mu.Lock()
			defer mu.Unlock()
			heard[id]++
		})()
		atOnce(3*many, func(i int) error { return in.Answer(context.Background(), fmt.Sprint(i%many), policy.Answer{}) })
		mu.Lock()
		defer mu.Unlock()
		for i := range many {
			if n := heard[fmt.Sprint(i)]; n != 1 {
				t.Errorf("question %d: heard %d times, want once", i, n)
			}
		}
	})
	t.Run("P6 a watcher may call back into the inbox", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // a deadlock is seen at once
			in := empty()
			ask(t, in, "a", time.Hour)
			ask(t, in, "b", time.Hour)
			var got []string
			var stop, inner func()
			stop = in.Watch(func(id string) {
				a, err := in.Use(t.Context(), id, "digest of "+id)
				got = append(got, fmt.Sprintf("%s by %q %v", id, a.By, err))
				if id != "a" {
					return
				}
				ask(t, in, "c", time.Hour)
				inner = in.Watch(func(id string) { got = append(got, "inner "+id) })
				got = append(got, fmt.Sprint(pending(t, in)))
				answer(t, in, "b", "the watcher")
				inner()
				stop()
			})
			answer(t, in, "a", "ada")
			answer(t, in, "c", "ada")
			// Which of two watchers hears first is nobody's promise.
			i := slices.Index(got, "inner b")
			if i < 2 {
				t.Fatalf("got %q", got)
			}
			got = slices.Delete(got, i, i+1)
			want := []string{`a by "ada" <nil>`, "[b c]", `b by "the watcher" <nil>`}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	})
	t.Run("P6 everything at once", func(t *testing.T) {
		in := empty()
		atOnce(many, func(i int) error {
			ctx, id := context.Background(), fmt.Sprint(i%10)
			defer in.Watch(func(string) {})()
			now := time.Now()
			if err := in.Ask(ctx, policy.Question{ID: id, Digest: "d", Asked: now, Expires: now.Add(time.Hour)}); err != nil {
				t.Error(err)
			}
			if _, err := in.Pending(ctx); err != nil {
				t.Error(err)
			}
			_ = in.Answer(ctx, id, policy.Answer{Allow: true})
			_, err := in.Use(ctx, id, "d")
			return err
		})
		if got := pending(t, in); len(got) != 0 {
			t.Errorf("pending: got %q, want none: each was answered", got)
		}
	})
}
