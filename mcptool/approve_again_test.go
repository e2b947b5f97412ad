package mcptool

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// wantsAccount is a tool that wants to know something before it does anything.
func wantsAccount(o **office) func(*tool.Tool) {
	return func(d *tool.Tool) {
		d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			if text, ok := tool.From(ctx).Answer(); ok {
				(*o).ran.Add(1)
				return tool.Result{Content: []tool.Content{tool.Text("paid from '" + text + "'")}}, nil
			}
			return tool.Result{}, &tool.Outcome{Suspend: "From which account?"}
		}
	}
}

// A call that was given back goes through when it is made again: by its own answer,
// once.
func TestApprovalAgain(t *testing.T) {
	t.Parallel()
	// pay makes the call and wants this in the result.
	pay := func(k *talker, want string) string {
		k.t.Helper()
		got := callText(k.must("tools/call", payAda))
		if !strings.Contains(got, want) {
			k.t.Errorf("got %q, want %q", got, want)
		}
		return got
	}
	yes := policy.Answer{Allow: true, By: "page"}
	in := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, test)
		})
	}
	in("M5 the answer is found after a restart, and by a process for each call", func(t *testing.T) {
		inbox := new(policy.Memory)
		var id string
		for i, want := range []string{"Call again", "paid ada", "Call again", "Call again"} {
			o := newOfficeWith(t, inbox)
			k := meet(t, o.g, oldEra, mute)
			pay(k, want)
			o.wantRan(map[string]int64{"paid ada": 1}[want])
			k.c.leave()
			if err := o.g.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			switch i {
			case 0:
				id = o.open().ID
				o.answer(id, yes)
			case 2:
				if id = o.open().ID; id == "" {
					t.Error("the question has no id")
				}
			case 3:
				if got := o.open().ID; got != id {
					t.Errorf("asked anew: got the question %s, want %s still", got, id)
				}
			}
		}
	})
	in("M5 of equal calls side by side one goes on by one answer, whichever question it was given to", func(t *testing.T) {
		for _, apart := range []time.Duration{0, time.Second} {
			o := newOffice(t)
			k := meet(t, o.g, oldEra, mute)
			var calling sync.WaitGroup
			told := make([]string, 2)
			for i := range told {
				calling.Go(func() {
					time.Sleep(time.Duration(i) * apart)
					told[i] = pay(k, "Call again")
				})
			}
			calling.Wait()
			all := open(t, o.inbox)
			if apart > 0 && len(all) != 1 {
				t.Errorf("got %d questions, want one", len(all))
			}
			for i, q := range all {
				o.answer(q.ID, yes)
				pay(k, "paid ada")
				o.wantRan(int64(i + 1))
			}
			for _, text := range told {
				if _, id, _ := strings.Cut(text, "approvals allow "); !strings.Contains(ids(all), id) || id == "" {
					t.Errorf("the client was told %q, want one of the questions %s", text, ids(all))
				}
			}
			pay(k, "Call again")
			o.wantRan(int64(len(all)))
		}
	})
	in("M5 of equal calls that wait one goes on by one answer, and the other is asked for anew", func(t *testing.T) {
		o := newOffice(t)
		k := meet(t, o.g, oldEra, mute)
		var calling sync.WaitGroup
		told := make(chan string, 2)
		for range 2 {
			calling.Go(func() {
				told <- callText(k.must("tools/call", payAda))
			})
			synctest.Wait()
		}
		id := o.open().ID
		o.answer(id, yes)
		if got := <-told; got != "paid ada" {
			t.Errorf("got %q, want it to run", got)
		}
		synctest.Wait()
		o.wantRan(1)
		if again := o.open().ID; again == id {
			t.Error("the question that was answered waits")
		}
		if got := <-told; !strings.Contains(got, "Call again") {
			t.Errorf("the other: got %q", got)
		}
		calling.Wait()
		o.wantRan(1)
	})
	in("M5 who cancels takes the question back from nobody else", func(t *testing.T) {
		o := newOffice(t)
		k := meet(t, o.g, oldEra, mute)
		ctx, cancel := context.WithCancel(t.Context())
		var calling sync.WaitGroup
		calling.Go(func() { k.do(ctx, "tools/call", payAda) })
		synctest.Wait()
		calling.Go(func() { pay(k, "paid ada") })
		synctest.Wait()
		id := o.open().ID
		cancel()
		synctest.Wait()
		if got := o.open().ID; got != id {
			t.Errorf("asked anew: got the question %s, want %s still", got, id)
		}
		o.answer(id, yes)
		calling.Wait()
		o.wantRan(1)
	})
	in("M5 the last one who cancels takes it back", func(t *testing.T) {
		o := newOffice(t)
		var calling sync.WaitGroup
		var cancels []context.CancelFunc
		for range 2 { // of two sessions
			k := meet(t, o.g, oldEra, mute)
			ctx, cancel := context.WithCancel(t.Context())
			cancels = append(cancels, cancel)
			calling.Go(func() { k.do(ctx, "tools/call", payAda) })
			synctest.Wait()
		}
		for i, cancel := range cancels {
			if n := len(open(t, o.inbox)); n != 1 {
				t.Errorf("got %d questions when %d had cancelled, want one", n, i)
			}
			cancel()
			synctest.Wait()
		}
		calling.Wait()
		if n := len(open(t, o.inbox)); n != 0 {
			t.Errorf("got %d questions, want none: nobody waits", n)
		}
	})
	in("M5 who cancels leaves the question to a session that was told to call again", func(t *testing.T) {
		o := newOffice(t)
		k := meet(t, o.g, oldEra, mute)
		pay(k, "Call again")
		id := o.open().ID
		ctx, cancel := context.WithCancel(t.Context())
		var calling sync.WaitGroup
		other := meet(t, o.g, oldEra, mute)
		calling.Go(func() { other.do(ctx, "tools/call", payAda) })
		synctest.Wait()
		cancel()
		calling.Wait()
		o.answer(id, yes)
		pay(k, "paid ada")
		o.wantRan(1)
	})
	in("M5 a rule of one session leaves the question of another", func(t *testing.T) {
		o := newOffice(t)
		k, other := meet(t, o.g, oldEra, mute), meet(t, o.g, oldEra, mute)
		pay(k, "Call again")
		q := o.open()
		o.answer(q.ID, yes)
		g, _ := q.Grant(policy.Answer{Allow: true, Rule: q.Offers[0]}, time.Now())
		g.Caller.Session = other.c.caller.Session
		if _, err := o.inbox.Grant(t.Context(), g); err != nil || g.Caller.Session == "" {
			t.Fatal(err)
		}
		pay(other, "paid ada") // by its rule
		pay(k, "paid ada")     // by the answer
		o.wantRan(2)
	})
	in("M5 a yes that became a rule leaves nothing behind", func(t *testing.T) {
		for _, used := range []bool{true, false} { // the rule
			o := newOffice(t)
			k := meet(t, o.g, oldEra, mute)
			pay(k, "Call again")
			q := o.open()
			o.answer(q.ID, policy.Answer{Allow: true, By: "page", Rule: q.Offers[0]})
			ran := int64(0)
			if used {
				pay(k, "paid ada")
				ran = 1
			}
			o.wantRan(ran)
			grants, err := o.inbox.Grants(t.Context(), q.Caller)
			if err != nil || len(grants) != 1 {
				t.Fatalf("got the rules %v, %v, want one", grants, err)
			}
			if err := o.inbox.Revoke(t.Context(), grants[0].ID); err != nil {
				t.Fatal(err)
			}
			pay(k, "Call again")
			o.wantRan(ran)
		}
	})
	in("M5 a yes that is made to last while a call waits counts for that call, too", func(t *testing.T) {
		o := newOffice(t)
		pay(meet(t, o.g, oldEra, mute), "Call again")
		q := o.open()
		other := meet(t, o.g, oldEra, mute) // a session that the rule is not for
		var calling sync.WaitGroup
		calling.Go(func() { pay(other, "paid ada") })
		time.Sleep(time.Second)
		o.answer(q.ID, policy.Answer{Allow: true, By: "page", Rule: q.Offers[0]})
		calling.Wait()
		o.wantRan(1)
	})
	in("M5 a call that a rule allows meanwhile is asked for no more", func(t *testing.T) {
		o := newOffice(t)
		k := meet(t, o.g, oldEra, mute)
		pay(k, "Call again")
		q := o.open()
		g, _ := q.Grant(policy.Answer{Allow: true, Rule: q.Offers[0]}, time.Now())
		if _, err := o.inbox.Grant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		pay(k, "paid ada")
		if all := open(t, o.inbox); len(all) > 0 {
			t.Errorf("got the questions %s, want none", ids(all))
		}
		o.wantRan(1)
	})
	in("M5 a yes to a call is no answer to what its tool wants to know", func(t *testing.T) {
		var o *office
		o = newOffice(t, wantsAccount(&o))
		k := meet(t, o.g, oldEra, mute)
		pay(k, "Call again")
		q := o.open()
		o.answer(q.ID, policy.Answer{Allow: true, By: "page", Rule: q.Offers[0]})
		pay(k, "Call again")
		if got := o.open(); got.Wants != "From which account?" {
			t.Errorf("got %+v, want what the tool wants to know", got)
		}
		o.wantRan(0)
	})
	in("M5 a tool that wants to know something gets the answer when it is called again", func(t *testing.T) {
		var o *office
		o = newOffice(t, wantsAccount(&o))
		k := meet(t, o.g, oldEra, mute)
		for range 2 {
			before := o.ran.Load()
			if got := pay(k, "Call again"); !strings.HasSuffix(got, "approvals allow "+o.open().ID) {
				t.Errorf("got %q, want the command that allows %s", got, o.open().ID)
			}
			o.answer(o.open().ID, yes)
			if got := pay(k, "Call again"); !strings.Contains(got, o.open().ID+" --text") {
				t.Errorf("got %q, want the command that answers %s", got, o.open().ID)
			}
			pay(k, "Call again")
			o.wantRan(before)
			o.answer(o.open().ID, policy.Answer{Allow: true, By: "page", Text: "savings"})
			pay(k, "paid from 'savings'")
			o.wantRan(before + 1)
		}
	})
	in("M5 what a tool wanted to know may be refused", func(t *testing.T) {
		var o *office
		o = newOffice(t, wantsAccount(&o))
		k := meet(t, o.g, oldEra, mute)
		pay(k, "Call again")
		o.answer(o.open().ID, yes)
		pay(k, "Call again")
		o.answer(o.open().ID, policy.Answer{By: "page", Message: "none of yours"})
		pay(k, "none of yours")
		pay(k, "Call again")
		if got := o.open(); got.Wants != "" {
			t.Errorf("got %+v, want the call to be asked for anew", got)
		}
		o.wantRan(0)
	})
}

// ids are the ids of questions.
func ids(all []policy.Question) string {
	var texts []string
	for _, q := range all {
		texts = append(texts, q.ID)
	}
	return strings.Join(texts, " ")
}

func TestGatewayEnds(t *testing.T) {
	t.Parallel()
	t.Run("P6 the end of the gateway takes no question back: who waits is told to call again, at once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			o := newOfficeWith(t, inbox)
			k := meet(t, o.g, oldEra, mute)
			told := make(chan string, 1)
			go func() { told <- callText(k.must("tools/call", payAda)) }()
			synctest.Wait()
			began := time.Now()
			if err := o.g.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if got := <-told; !strings.Contains(got, "Call again") || time.Since(began) > time.Second {
				t.Errorf("got %q after %s, want to be told at once", got, time.Since(began))
			}
			o.answer(o.open().ID, policy.Answer{Allow: true})
			next := newOfficeWith(t, inbox)
			if got := callText(meet(t, next.g, oldEra, mute).must("tools/call", payAda)); got != "paid ada" {
				t.Errorf("got %q, want what was allowed meanwhile", got)
			}
		})
	})
	t.Run("D6 a person stops a call of a client, whatever its tool says", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			rt := allowing()
			id := ""
			wait, err := tool.New(tool.Info{Name: "wait", Description: "Wait.", Cooperative: true}, func(ctx context.Context, _ struct{}) (string, error) {
				id = tool.From(ctx).Request().ID
				<-ctx.Done()
				return "", ctx.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := rt.Add(wait); err != nil {
				t.Fatal(err)
			}
			g := gatewayOf(t, rt, nil)
			k := meet(t, g, oldEra)
			told := make(chan string, 1)
			go func() { told <- callText(k.must("tools/call", `{"name":"wait"}`)) }()
			synctest.Wait()
			if g.Stop("another") || !g.Stop(id) {
				t.Error("want the one that runs to be stopped, and no other")
			}
			if got := <-told; !strings.Contains(got, "a person stopped this call") || g.Stop(id) {
				t.Errorf("got %q", got)
			}
		})
	})
}
