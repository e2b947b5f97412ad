package ferrule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

// claimsFrom reads claims as the tables below write them: nothing, parallel,
// read-only, or what is touched ("/a !/b table:x" reads file:/a and table:x and
// writes file:/b; "-" touches nothing), with a leading + where the call may also
// overlap others.
func claimsFrom(text string) tool.Claims {
	switch text {
	case "nothing":
		return tool.Claims{}
	case "parallel":
		return tool.Claims{Parallel: true}
	case "read-only":
		return tool.Claims{ReadOnly: true}
	}
	text, overlaps := strings.CutPrefix(text, "+")
	c := tool.Claims{Parallel: overlaps, Touches: []tool.Access{}}
	for word := range strings.FieldsSeq(strings.TrimPrefix(text, "-")) {
		name, write := strings.CutPrefix(word, "!")
		if strings.HasPrefix(name, "/") {
			name = "file:" + name
		}
		c.Touches = append(c.Touches, tool.Access{Resource: name, Write: write})
	}
	return c
}

// claimsText is the other way round.
func claimsText(c tool.Claims) string {
	if c.Touches == nil {
		switch {
		case c.ReadOnly:
			return "read-only"
		case c.Parallel:
			return "parallel"
		}
		return "nothing"
	}
	words := []string{"-"}
	if c.Overlaps() {
		words[0] = "+"
	}
	for _, a := range c.Touches {
		mark := ""
		if a.Write {
			mark = "!"
		}
		words = append(words, mark+a.Resource)
	}
	return strings.Join(words, " ")
}

func TestConflict(t *testing.T) {
	t.Parallel()
	t.Run("D1 two calls conflict unless both say what they touch and no write meets, or both are parallel where one does not say", func(t *testing.T) {
		for _, tt := range []struct {
			a, b string
			want bool
		}{
			{"nothing", "nothing", true},
			{"nothing", "parallel", true},
			{"nothing", "read-only", true},
			{"nothing", "-", true}, // even what touches nothing: the other may touch everything
			{"nothing", "+ /a", true},
			{"parallel", "parallel", false},
			{"parallel", "read-only", false},
			{"read-only", "read-only", false},
			{"parallel", "+!/a", false},
			{"parallel", "!/a", true},
			{"parallel", "/a", true},
			{"parallel", "-", true},
			{"read-only", "!/a", true},
			{"-", "-", false},
			{"-", "!/a", false},
			{"/a", "/a", false},
			{"/a", "!/a", true},
			{"!/a", "!/a", true},
			{"+!/a", "+!/a", true}, // parallel does not excuse a write that meets
			{"!/a", "!/b", false},
			{"!/a", "!/ab", false},
			{"!/a", "/a/b", true},
			{"/a", "!/a/b", true},
			{"!/a/b", "/a", true},
			{"!/", "/a", true},
			{"!file:", "/", true},
			{"!/c:", "/c:/a", true},
			{"!/c", "/c:", false},
			{"!table:x", "table:x/1", true},
			{"!table:x", "!/x", false},
			{"/a !/b", "/a /c", false},
			{"/a !/b", "!/c /b/d", true},
		} {
			a, b := claimsFrom(tt.a), claimsFrom(tt.b)
			if conflict(a, b) != tt.want || conflict(b, a) != tt.want {
				t.Errorf("conflict(%q, %q) = %v, the other way %v, want %v", tt.a, tt.b, conflict(a, b), conflict(b, a), tt.want)
			}
		}
	})
}

// drawClaims draws claims over few resources, so that they often meet: one
// above another, one whose name begins another's, drives, other kinds.
func drawClaims() *rapid.Generator[tool.Claims] {
	resources := []string{
		"file:", "file:/", "file:/a", "file:/a/b", "file:/a/b/c", "file:/ab", "file:/c:", "file:/c:/a",
		"table:", "table:x", "table:x/1", "table:/x", "file-2:/a",
	}
	return rapid.Custom(func(t *rapid.T) tool.Claims {
		var c tool.Claims
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return c
		case 1, 2:
			c.Parallel = true
			return c
		case 3:
			c.ReadOnly = true
			return c
		case 4:
			c.ReadOnly = true
		case 5, 6:
			c.Parallel = true
		}
		c.Touches = []tool.Access{}
		for range rapid.IntRange(0, 3).Draw(t, "touches") {
			c.Touches = append(c.Touches, tool.Access{
				Resource: rapid.SampledFrom(resources).Draw(t, "resource"),
				Write:    !c.ReadOnly && rapid.Bool().Draw(t, "write"),
			})
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		return c
	})
}

// drawNear draws claims that often meet some others, and seldom all.
func drawNear() *rapid.Generator[tool.Claims] {
	return rapid.Map(rapid.SampledFrom([]string{"!/a", "!/b", "!/c", "!/d", "!/a !/b", "!/b !/c", "/a !/c", "+!/a", "+ /b"}), claimsFrom)
}

// board is a schedule and calls on it, moved by hand.
type board struct {
	schedule
	all  []*call
	told map[*call]bool // the schedule has said that it is ready
	ran  map[*call]bool // it has begun since it got its place
}

func newBoard() *board {
	return &board{told: make(map[*call]bool), ran: make(map[*call]bool)}
}

func (b *board) add(c tool.Claims) *call {
	n := &call{index: len(b.all), planned: c}
	b.plan(n, b.all)
	b.all = append(b.all, n)
	b.told[n] = n.step.waits == 0
	return n
}

// over ends a call: one that ran, or one that is stopped before it could.
func (b *board) over(c *call) []*call {
	c.state = over
	return b.tell(b.end(c, nil))
}

func (b *board) tell(ready []*call) []*call {
	for _, r := range ready {
		b.told[r] = true
	}
	return ready
}

// move gives a running call other claims.
func (b *board) move(c *call, claims tool.Claims) {
	c.state = queued
	b.ran[c] = false
	b.told[c] = false
	b.tell(b.schedule.move(c, claims, b.all))
}

// startable are the calls that may start now.
func (b *board) startable() []*call {
	return b.which(func(c *call) bool { return c.state == queued && b.told[c] && c.step.waits == 0 })
}

func (b *board) in(s state) []*call { return b.which(func(c *call) bool { return c.state == s }) }

func (b *board) which(f func(*call) bool) (some []*call) {
	for _, c := range b.all {
		if f(c) {
			some = append(some, c)
		}
	}
	return some
}

// drain lets everything that can run do so, one by one, and gives the calls that
// are left over.
func (b *board) drain() []*call {
	for _, c := range b.in(running) {
		b.over(c)
	}
	for _, c := range b.in(waiting) {
		c.state = queued
		b.told[c] = b.told[c] || c.step.waits == 0
	}
	for {
		can := b.startable()
		if len(can) == 0 {
			return b.which(func(c *call) bool { return c.state != over || !c.step.over })
		}
		b.over(can[0])
	}
}

func (b *board) String() string {
	var s strings.Builder
	for _, c := range b.all {
		fmt.Fprintf(&s, "\n%d %s: state %d, waits for %d, ended %v", c.index, claimsText(c.planned), c.state, c.step.waits, c.step.ended)
	}
	return s.String()
}

// pairwise says slowly what a board should: it looks at every pair. A call is
// behind it once it has ended and so has all that it had to wait for.
type pairwise struct{ *board }

func (p pairwise) behind(c *call) bool { return c.step.ended && p.ready(c) }

func (p pairwise) ready(c *call) bool {
	for _, e := range p.all[:c.index] {
		if conflict(e.planned, c.planned) && !p.behind(e) {
			return false
		}
	}
	return true
}

// agrees compares all calls that have not ended.
func (p pairwise) agrees(t *rapid.T, plain bool) {
	for _, c := range p.all {
		if c.step.ended {
			continue
		}
		want := p.ready(c)
		if plain { // D1 word for word: nothing was stopped before its time
			want = !slices.ContainsFunc(p.all[:c.index], func(e *call) bool { return !e.step.ended && conflict(e.planned, c.planned) })
		}
		if got := c.step.waits == 0; got != want {
			t.Fatalf("call %d is ready: %v, want %v%s", c.index, got, want, p)
		}
		if p.told[c] != want {
			t.Fatalf("call %d was said to be ready: %v, want %v%s", c.index, p.told[c], want, p)
		}
	}
}

// playPlan adds calls and ends them, in any order, and compares after each step.
// With stops, calls also end before they were ready.
func playPlan(t *rapid.T, stops bool) {
	b := newBoard()
	see := pairwise{b}
	for range rapid.IntRange(10, 40).Draw(t, "steps") {
		var can []*call
		if stops {
			can = b.which(func(c *call) bool { return c.state != over })
		} else {
			can = b.startable()
		}
		if len(can) == 0 || rapid.IntRange(0, 2).Draw(t, "add") > 0 {
			b.add(drawClaims().Draw(t, "claims"))
		} else {
			c := rapid.SampledFrom(can).Draw(t, "ends")
			for _, r := range b.over(c) {
				if r.step.ended || r == c {
					t.Fatalf("call %d has ended and is said to be ready%s", r.index, b)
				}
			}
		}
		see.agrees(t, !stops)
	}
	if left := b.drain(); len(left) > 0 {
		t.Fatalf("%d calls never end%s", len(left), b)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	t.Run("D1 a call is ready exactly when every earlier call that it conflicts with has ended, whatever order they end in", func(t *testing.T) {
		check(t, 200, func(t *rapid.T) { playPlan(t, false) })
	})
	t.Run("D1 a call that was stopped before it was ready still keeps apart what stands on its two sides", func(t *testing.T) {
		check(t, 200, func(t *rapid.T) { playPlan(t, true) })
		b := newBoard()
		first, between, last := b.add(claimsFrom("!/a")), b.add(claimsFrom("!/a !/b")), b.add(claimsFrom("!/b"))
		b.over(between)
		if last.step.waits == 0 {
			t.Error("the call behind the stopped one is ready while the one before it has not ended")
		}
		if ready := b.over(first); !slices.Equal(ready, []*call{last}) {
			t.Errorf("the end of the first call makes %d calls ready, want the last one", len(ready))
		}
	})
}

// playMoves also starts calls, gives running ones other claims and, where asked
// for, stops some before they begin and lets others wait for a person.
func playMoves(t *rapid.T, stops, asks bool) {
	b := newBoard()
	draw := func(what string, list []*call) *call {
		if len(list) == 0 {
			return nil
		}
		return rapid.SampledFrom(list).Draw(t, what)
	}
	claims := drawNear()
	if rapid.Bool().Draw(t, "any claims") {
		claims = drawClaims()
	}
	for _, own := range []string{"!/a", "!/b", "!/c", "!/d"} {
		b.begins(t, b.add(claimsFrom(own)))
	}
	for range rapid.IntRange(10, 60).Draw(t, "steps") {
		do := rapid.SampledFrom([]string{"add", "add", "start", "start", "start", "end", "move", "move", "stop", "ask", "answer"}).Draw(t, "do")
		switch do {
		case "add":
			b.add(claims.Draw(t, "claims"))
		case "start":
			if c := draw("starts", b.startable()); c != nil {
				b.begins(t, c)
			}
		case "end":
			if c := draw("ends", b.in(running)); c != nil {
				b.over(c)
			}
		case "move":
			if c := draw("moves", b.in(running)); c != nil {
				b.move(c, claims.Draw(t, "claims"))
			}
		case "stop":
			if c := draw("stops", slices.Concat(b.in(queued), b.in(waiting))); c != nil && stops {
				b.over(c)
			}
		case "ask":
			if c := draw("asks", b.in(running)); c != nil && asks {
				c.state = waiting
			}
		case "answer":
			if c := draw("answered", b.in(waiting)); c != nil {
				c.state = queued
				b.told[c] = b.told[c] || c.step.waits == 0
			}
		}
	}
	if left := b.drain(); len(left) > 0 {
		t.Fatalf("%d calls never end%s", len(left), b)
	}
}

// begins starts a call, if that is right.
func (b *board) begins(t *rapid.T, c *call) {
	for _, o := range b.all {
		if o == c || o.step.ended || !conflict(o.planned, c.planned) {
			continue
		}
		if o.state == running {
			t.Fatalf("calls %d and %d conflict and run at once%s", o.index, c.index, b)
		}
		if o.index < c.index && !b.ran[c] {
			t.Fatalf("call %d begins before %d, which is earlier and conflicts%s", c.index, o.index, b)
		}
	}
	c.state = running
	b.ran[c] = true
}

func TestMove(t *testing.T) {
	t.Parallel()
	t.Run("L2 calls that get other claims while under way: none hangs, conflicting ones never run at once, earlier ones go first unless the later runs", func(t *testing.T) {
		check(t, 250, func(t *rapid.T) { playMoves(t, false, false) })
	})
	t.Run("L2 the same where calls are stopped before they begin", func(t *testing.T) {
		check(t, 250, func(t *rapid.T) { playMoves(t, true, false) })
	})
	t.Run("L2 the same where calls wait for a person", func(t *testing.T) {
		check(t, 250, func(t *rapid.T) { playMoves(t, false, true) })
	})
	t.Run("L2 the same where calls wait for a person, and some are stopped before they begin or while they wait", func(t *testing.T) {
		check(t, 250, func(t *rapid.T) { playMoves(t, true, true) })
	})
	t.Run("L2 a moved call waits for a later one that runs, and goes before one that does not", func(t *testing.T) {
		b := newBoard()
		moves, runs, rests := b.add(claimsFrom("!/a")), b.add(claimsFrom("!/b")), b.add(claimsFrom("/b"))
		moves.state, runs.state = running, running
		b.move(moves, claimsFrom("!/b"))
		if got := b.startable(); len(got) > 0 {
			t.Errorf("%d calls are ready while the later one runs", len(got))
		}
		b.over(runs)
		if got := b.startable(); !slices.Equal(got, []*call{moves}) {
			t.Errorf("then %d calls are ready, want the moved one alone%s", len(got), b)
		}
		b.over(moves)
		if got := b.startable(); !slices.Equal(got, []*call{rests}) {
			t.Errorf("last %d calls are ready, want the third%s", len(got), b)
		}
	})
	t.Run("L2 calls that arrive after a move wait for what they conflict with", func(t *testing.T) {
		b := newBoard()
		moves := b.add(claimsFrom("!/a"))
		moves.state = running
		b.move(moves, claimsFrom("!/b"))
		if one, other := b.add(claimsFrom("/b")), b.add(claimsFrom("/a")); one.step.waits == 0 || other.step.waits > 0 {
			t.Errorf("a reader of the new resource waits for %d calls, one of the old resource for %d, want 1 and 0", one.step.waits, other.step.waits)
		}
	})
	// The first call moved behind the second, was stopped there, and the second
	// moves away: nobody is left who would say that the first is out of the way.
	t.Run("L2 a call that was stopped behind a later one does not hold others for ever when that one moves", func(t *testing.T) {
		b := newBoard()
		first, second := b.add(claimsFrom("!/a")), b.add(claimsFrom("!/b"))
		first.state, second.state = running, running
		b.move(first, claimsFrom("!/b !/c"))
		third := b.add(claimsFrom("!/c")) // behind the first
		b.over(first)
		b.move(second, claimsFrom("!/d"))
		if left := b.drain(); len(left) > 0 {
			t.Errorf("%d calls never end, the third waits for %d%s", len(left), third.step.waits, b)
		}
	})
	// The first call waits for the third, which ran when the first moved. The
	// third asks a person; now the second moves between them.
	t.Run("L2 a later call that others wait for and that asks a person is not put behind them", func(t *testing.T) {
		b := newBoard()
		first, second, third := b.add(claimsFrom("!/a")), b.add(claimsFrom("!/b")), b.add(claimsFrom("!/c"))
		first.state, second.state, third.state = running, running, running
		b.move(first, claimsFrom("!/c"))
		third.state = waiting
		b.move(second, claimsFrom("!/c"))
		if left := b.drain(); len(left) > 0 {
			t.Errorf("%d calls wait for each other in a ring%s", len(left), b)
		}
	})
}

// edges counts who waits for whom in a plan of which nothing has ended.
func (b *board) edges() (n int) {
	seen := make(map[*step]bool)
	var todo []*step
	for _, c := range b.all {
		todo = append(todo, &c.step)
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		n += len(s.next)
		todo = append(todo, s.next...)
	}
	return n
}

func TestPlanIsLinear(t *testing.T) {
	t.Parallel()
	const n = 6_000
	half := func(i int, first, then string) string {
		if i < n/2 {
			return first
		}
		return then
	}
	deep := func(i int) string { return strings.Repeat("/a", i%20+1) }
	for _, tt := range []struct {
		name string
		of   func(i int) string
	}{
		{"all alone", func(int) string { return "nothing" }},
		{"parallel and alone by turns", func(i int) string { return []string{"parallel", "nothing"}[i%2] }},
		{"many parallel, then many that touch and are not", func(i int) string { return half(i, "parallel", fmt.Sprintf("!/%d", i)) }},
		{"parallel, and touching, by turns", func(i int) string { return []string{"parallel", "-"}[i%2] }},
		{"all read everything, then all write a file each", func(i int) string { return half(i, "/", fmt.Sprintf("!/%d", i)) }},
		{"all write a file each, then all read everything", func(i int) string { return half(i, fmt.Sprintf("!/%d", i), "/") }},
		{"a file written, everything read, by turns", func(i int) string { return []string{fmt.Sprintf("!/%d", i), "/"}[i%2] }},
		{"a file read, everything written, by turns", func(i int) string { return []string{fmt.Sprintf("/%d", i), "!/"}[i%2] }},
		{"all read a file each, then all write everything", func(i int) string { return half(i, fmt.Sprintf("/%d", i), "!/") }},
		{"all write one file", func(int) string { return "!/a" }},
		{"one file written, one file read, by turns", func(i int) string { return []string{"!/a", "/a"}[i%2] }},
		{"one deep path, written ever deeper", func(i int) string { return "!" + deep(i) }},
		{"one deep path, written ever higher", func(i int) string { return "!" + deep(n-i) }},
		{"one deep path, written deep and read high by turns", func(i int) string { return []string{"!" + deep(19), deep(i / 2)}[i%2] }},
		{"one deep path, read deep and written high by turns", func(i int) string { return []string{deep(19), "!" + deep(i/2)}[i%2] }},
		{"ten files each", func(i int) string {
			return strings.Repeat(fmt.Sprintf("/%d /%d ", i%7, i), 4) + fmt.Sprintf("!/%d !/x/%d", i%11, i)
		}},
		{"all read a file each, then one names everything again and again", func(i int) string {
			if i < n-1 {
				return fmt.Sprintf("/%d", i)
			}
			return strings.Repeat("!/ ", 50)
		}},
	} {
		t.Run("D1 planning costs the same for each call: "+tt.name, func(t *testing.T) {
			b := newBoard()
			size := 0 // what is said: calls, and the parts of what they touch
			for i := range n {
				c := claimsFrom(tt.of(i))
				size++
				for _, a := range c.Touches {
					size += 1 + strings.Count(a.Resource, "/")
				}
				b.add(c)
			}
			if got, want := b.edges(), 4*size; got > want {
				t.Errorf("%d calls of size %d have %d edges, want at most %d", n, size, got, want)
			}
		})
	}
}

func TestWorkersOfATurn(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("D8 a turn has at most as many workers as its cap: %d", limit), func(t *testing.T) {
			var turn *Turn
			most := 0
			made, err := tool.New(tool.Info{Name: "counts", Description: "Counts the workers of its turn.", Claims: tool.Claims{ReadOnly: true, Local: true}},
				func(context.Context, struct{}) (string, error) {
					turn.mu.Lock()
					defer turn.mu.Unlock()
					most = max(most, turn.workers)
					return "", nil
				})
			if err != nil {
				t.Fatal(err)
			}
			rt := &Runtime{Limit: limit}
			if err := rt.Add(made); err != nil {
				t.Fatal(err)
			}
			turn = rt.Session(tool.Caller{}).View(t.Context()).Begin(t.Context(), TurnOptions{})
			turn.Add(slices.Repeat([]tool.Call{{Name: "counts"}}, 200)...)
			turn.Wait()
			if most > limit {
				t.Errorf("got %d workers for %d calls at once", most, limit)
			}
		})
	}
}
