package policy_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func TestMemory(t *testing.T) {
	tooltest.Inbox(t, func(*testing.T) policy.Inbox { return new(policy.Memory) })
	tooltest.Ledger(t, func(*testing.T) policy.Ledger { return new(policy.Memory) })

	t.Run("P5 until it expires a question can be answered and used", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := new(policy.Memory)
			ask(t, in, "a", 24*time.Hour)
			time.Sleep(24*time.Hour - time.Second)
			answer(t, in, "a", "ada")
			if got, err := in.Use(t.Context(), "a", "digest of a"); err != nil || !got.Allow {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	})
	t.Run("P5 from the moment of its expiry it can not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := new(policy.Memory)
			ask(t, in, "answered", 24*time.Hour)
			ask(t, in, "open", 24*time.Hour)
			answer(t, in, "answered", "ada")
			time.Sleep(24 * time.Hour)
			if err := in.Answer(t.Context(), "open", policy.Answer{Allow: true}); !errors.Is(err, policy.ErrExpired) {
				t.Errorf("answer: got %v, want %v", err, policy.ErrExpired)
			}
			if got, err := in.Use(t.Context(), "answered", "digest of answered"); !errors.Is(err, policy.ErrExpired) || got.Allow {
				t.Errorf("use: got %+v, %v, want %v", got, err, policy.ErrExpired)
			}
		})
	})
	t.Run("P6 a watcher hears of an answer once, before Answer returns", func(t *testing.T) {
		in := new(policy.Memory)
		var heard []string
		defer in.Watch(func(id string) { heard = append(heard, id) })()
		for _, id := range []string{"b", "a"} {
			ask(t, in, id, time.Hour)
			answer(t, in, id, "ada")
		}
		if !slices.Equal(heard, []string{"b", "a"}) {
			t.Errorf("got %q, want [b a]", heard)
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
		if took := time.Since(start); took > time.Minute { // generous: the machine may be busy, and a square of them is hours
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
