package ferrule_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// diary notes when calls of one session, which must not overlap, do what.
type diary struct {
	view  *ferrule.View
	other *ferrule.View // of another session
	began time.Time
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, what+" "+time.Since(d.began).String())
}

// inDiary is a bubble with tools that do what they are told. One is stubborn: it is
// given up where it does not stop.
func inDiary(t *testing.T, rt *ferrule.Runtime, f func(ctx context.Context, d *diary, script func(name string, run func(context.Context)))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rt.Policy = allowAll
		d := &diary{began: time.Now()}
		f(t.Context(), d, func(name string, run func(context.Context)) {
			x, err := tool.New(tool.Info{Name: name, Description: "Do it.", Cooperative: name != "stubborn", Cancel: true}, func(ctx context.Context, _ struct{}) (string, error) {
				run(ctx)
				return "", context.Cause(ctx)
			})
			if err != nil {
				t.Fatal(err)
			}
			done(t, rt.Add(x))
			d.view = rt.Session(tool.Caller{Session: "s"}).View(t.Context())
			d.other = rt.Session(tool.Caller{Session: "other"}).View(t.Context())
		})
	})
}

func (d *diary) do(ctx context.Context, wait *sync.WaitGroup, after time.Duration, name string) {
	d.doIn(ctx, d.view, wait, after, name)
}

func (d *diary) doIn(ctx context.Context, v *ferrule.View, wait *sync.WaitGroup, after time.Duration, name string) {
	wait.Go(func() {
		time.Sleep(after)
		v.DoTurn(ctx, apart, tool.Call{Name: name, Input: []byte("{}")})
	})
}

func TestAside(t *testing.T) {
	t.Parallel()
	t.Run("M2 a call that waits for its client holds up nobody, and goes on beside what has begun meanwhile", func(t *testing.T) {
		t.Parallel()
		inDiary(t, &ferrule.Runtime{}, func(ctx context.Context, d *diary, script func(string, func(context.Context))) {
			script("asks", func(ctx context.Context) {
				d.note("asks")
				back := tool.From(ctx).Aside()
				again := tool.From(ctx).Aside() // two questions at once
				time.Sleep(2 * time.Second)
				again()
				d.note("one answer")
				time.Sleep(2 * time.Second)
				back()
				d.note("goes on")
				time.Sleep(4 * time.Second)
				d.note("asks ends")
			})
			script("long", func(context.Context) { d.note("long"); time.Sleep(5 * time.Second); d.note("long ends") })
			script("last", func(context.Context) { d.note("last") })
			var wait sync.WaitGroup
			d.do(ctx, &wait, 0, "asks")
			d.do(ctx, &wait, time.Second, "long")
			d.do(ctx, &wait, 5*time.Second, "last") // behind both
			wait.Wait()
			want := []string{"asks 0s", "long 1s", "one answer 2s", "goes on 4s", "long ends 6s", "asks ends 8s", "last 8s"}
			if !slices.Equal(d.lines, want) {
				t.Errorf("got %q\nwant %q", d.lines, want)
			}
		})
	})
	t.Run("D7 one that was given up stays out", func(t *testing.T) {
		t.Parallel()
		inDiary(t, &ferrule.Runtime{}, func(ctx context.Context, d *diary, script func(string, func(context.Context))) {
			stopped, stop := context.WithCancel(ctx)
			script("asks", func(ctx context.Context) {
				back := tool.From(ctx).Aside()
				time.Sleep(20 * time.Second) // whatever its context says
				back()
				d.note("back")
			})
			script("long", func(context.Context) { time.Sleep(30 * time.Second); d.note("long ends") })
			var wait sync.WaitGroup
			d.do(stopped, &wait, 0, "asks")
			d.do(ctx, &wait, time.Second, "long")
			d.do(ctx, &wait, 25*time.Second, "long")
			time.Sleep(2 * time.Second)
			stop()
			wait.Wait()
			if want := []string{"back 20s", "long ends 31s", "long ends 1m1s"}; !slices.Equal(d.lines, want) {
				t.Errorf("got %q\nwant %q", d.lines, want)
			}
		})
	})
	t.Run("L9 one that waits for its client holds no place at a cap, and comes back over it", func(t *testing.T) {
		t.Parallel()
		inDiary(t, &ferrule.Runtime{TenantLimits: map[string]int{"": 1}}, func(ctx context.Context, d *diary, script func(string, func(context.Context))) {
			script("asks", func(ctx context.Context) {
				d.note("asks")
				back := tool.From(ctx).Aside()
				time.Sleep(4 * time.Second)
				back()
				time.Sleep(4 * time.Second)
				d.note("asks ends")
			})
			script("long", func(context.Context) { d.note("long"); time.Sleep(5 * time.Second); d.note("long ends") })
			script("last", func(context.Context) { d.note("last"); time.Sleep(time.Second) })
			var wait sync.WaitGroup
			d.do(ctx, &wait, 0, "asks")
			d.doIn(ctx, d.other, &wait, time.Second, "long")
			d.doIn(ctx, d.other, &wait, 5*time.Second, "last") // the cap has one more than it may
			d.do(ctx, &wait, 6500*time.Millisecond, "last")
			wait.Wait()
			want := []string{"asks 0s", "long 1s", "long ends 6s", "asks ends 8s", "last 8s", "last 9s"}
			if !slices.Equal(d.lines, want) {
				t.Errorf("got %q\nwant %q", d.lines, want)
			}
		})
	})
	t.Run("D7 one that was given up meanwhile has its place at a cap again, until it returns", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{TenantLimits: map[string]int{"": 2}}
		inDiary(t, rt, func(ctx context.Context, d *diary, script func(string, func(context.Context))) {
			stopped, stop := context.WithCancel(ctx)
			script("stubborn", func(ctx context.Context) {
				back := tool.From(ctx).Aside()
				time.Sleep(46 * time.Second) // whatever its context says
				again := tool.From(ctx).Aside()
				back()
				again()
				d.note("back")
			})
			script("long", func(context.Context) { d.note("long"); time.Sleep(10 * time.Second) })
			var wait sync.WaitGroup
			d.do(stopped, &wait, 0, "stubborn")
			time.Sleep(time.Second)
			stop()
			time.Sleep(39 * time.Second)
			d.doIn(ctx, d.other, &wait, 0, "long")
			d.doIn(ctx, rt.Session(tool.Caller{Session: "third"}).View(ctx), &wait, time.Second, "long")
			wait.Wait()
			if want := []string{"long 40s", "back 46s", "long 46s"}; !slices.Equal(d.lines, want) {
				t.Errorf("got %q\nwant %q", d.lines, want)
			}
		})
	})
	t.Run("C1 turns apart are no loop: their client may poll", func(t *testing.T) {
		t.Parallel()
		inDiary(t, &ferrule.Runtime{}, func(ctx context.Context, d *diary, script func(string, func(context.Context))) {
			script("poll", func(context.Context) {})
			for range 20 {
				if res := d.view.DoTurn(ctx, apart, tool.Call{Name: "poll", Input: []byte("{}")})[0]; res.Err != nil || res.String() != "(tool ran successfully with no output)" {
					t.Fatalf("got %q, %v", res, res.Err)
				}
			}
		})
	})
}
