package ferrule

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// world is one random case: what is called, by which rules, and what happens
// meanwhile. It is data, so that a failing one can be made small.
type world struct {
	Turns  []worldTurn // at the same time
	Hooks  []worldHook
	Rehook bool  // a turn that goes on has other hooks
	Policy []int // what the rules say, by a hash of the call
	Person []int // what a person says, by a hash of the question
	Inbox  []int // how the inbox does what it is asked, by a hash of the question
	Watch  int   // how it is watched
	Delay  time.Duration
	Expiry time.Duration
	Stops  Siblings
	Answer bool // a function answers too
	Decide bool
	// Fallback supplies tools for names that begin with fb_.
	Fallback             bool
	PerSource, PerTenant int // caps; 0: none
	Observed             bool
	Journal              bool // there is one: what has ended does not run in it
	Mode                 policy.Mode
	Lasts                bool // the person makes each yes last
	Rates                bool
}

type worldTurn struct {
	Calls    []worldCall
	Apart    bool // in a session of its own; else in that of the first turn
	Limit    int
	HandBack bool // and it goes on until nothing waits
	Split    int  // how many calls are added later
	After    bool // its first call is added once more when it is over

	Event int // what happens at a moment: see happen
	At    time.Duration
}

type worldCall struct {
	ID, Name, Do string
	MS           int
	Path         string
	Raw          string // sent in the place of proper arguments
}

func (c worldCall) input() json.RawMessage {
	if c.Raw != "" {
		return json.RawMessage(c.Raw)
	}
	return fmt.Appendf(nil, `{"do":%q,"ms":%d,"path":%q}`, c.Do, c.MS, c.Path)
}

type worldHook struct {
	Part     string // input, around, output
	Does     string
	Security bool
}

var (
	worldTools = []string{
		"alone", "alone", "shared", "shared", "reader", "toucher", "toucher", "teller", "teller", "mover", "mover", "cancelled", "capped", "capped", "asks", "asks", "never", "careful",
		"fixes", "permits", "asksif", "keyed", "strict", "believed", "foreign__x", "foreign__x", "old_name", "deferred", "nosuch", "",
		"fb_alone", "fb_shared", "fb_capped", "fb_asks", "fb_toucher", "fb_mover", "fb_fixes", "fb_deferred", "fb_slow", "fb_fails", "fb_hangs", "fb_ignores", "fb_panics", "fb_exits", "fb_bad",
	}
	worldDoes  = []string{"ok", "ok", "ok", "ok", "fail", "panic", "sleep", "sleep", "long", "hang", "ignore", "huge", "utf8", "badjson", "image", "other", "exit", "stop", "fatal", "suspend", "suspend", "badvalue", "derive"}
	worldRaws  = append(slices.Repeat([]string{""}, 24), `{`, ` `, `{"do":1}`, `[]`, `{"do":"ok","do":"ok"}`, `{"nosuch":1}`, "\xff", `null`)
	worldPaths = []string{"file:/a", "file:/a", "file:/a", "file:/a/b", "file:/a/b", "file:/c", "file:/c", "table:x", "table:x", "table:x", slowPath, hangPath}
)

// ClaimsOf takes its time about one path, and does not return in time about
// another.
const slowPath, hangPath = "file:/slow", "file:/hang"

// few are some of a list: where few things happen, they meet more often.
func few(t *rapid.T, what string, all []string) func() string {
	some := rapid.SliceOfN(rapid.SampledFrom(all), 1, 6).Draw(t, what)
	if len(some) == 6 {
		some = all
	}
	return func() string { return rapid.SampledFrom(some).Draw(t, what[:len(what)-1]) }
}

func drawWorld(t *rapid.T) *world {
	moods := func(what string, some bool) []int {
		if !some {
			return []int{9}
		}
		return rapid.SliceOfN(rapid.IntRange(0, 9), 5, 5).Draw(t, what)
	}
	seldom := func(what string, of int) bool { return rapid.IntRange(0, of-1).Draw(t, what) == of-1 }
	w := &world{
		Delay:     time.Duration(rapid.SampledFrom([]int{0, 1, 5, 50, 5000}).Draw(t, "delay")) * time.Millisecond,
		Expiry:    rapid.SampledFrom([]time.Duration{30 * time.Second, patience}).Draw(t, "expiry"),
		Stops:     rapid.SampledFrom([]Siblings{StopAsked, StopAsked, StopNever, StopAlways}).Draw(t, "stops"),
		Answer:    seldom("answer", 4),
		Decide:    seldom("decide", 8),
		Fallback:  rapid.Bool().Draw(t, "fallback"),
		PerSource: rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "per source"),
		PerTenant: rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "per tenant"),
		Observed:  rapid.Bool().Draw(t, "observed"),
		Journal:   rapid.Bool().Draw(t, "journal"),
		Mode:      rapid.SampledFrom(append(slices.Repeat([]policy.Mode{policy.ModeAsk}, 8), policy.ModeEdit, policy.ModeRead, policy.ModeAuto, policy.ModeObserve, policy.ModeDryRun, "none")).Draw(t, "mode"),
		Lasts:     seldom("lasts", 6),
		Rates:     seldom("rates", 8),
		Policy:    moods("policy", true),
		Person:    moods("person", true),
		Inbox:     moods("inbox", seldom("moody inbox", 5)),
		Watch:     rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3, 4, 5}).Draw(t, "watch"),
		Turns:     []worldTurn{drawTurn(t, turnSizes)},
	}
	if seldom("beside", 4) {
		w.Turns = append(w.Turns, drawTurn(t, []int{1, 2, 3, 5}))
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "hooks") {
		w.Hooks = append(w.Hooks, worldHook{
			Part:     rapid.SampledFrom([]string{"input", "input", "around", "output"}).Draw(t, "part"),
			Does:     rapid.SampledFrom([]string{"nothing", "nothing", "change", "change", "break", "block", "panic", "fail", "sleep", "hang", "twice", "instead", "exit"}).Draw(t, "does"),
			Security: rapid.Bool().Draw(t, "security"),
		})
	}
	w.Rehook = len(w.Hooks) > 0 && seldom("rehook", 4)
	return w
}

// turnSizes are how many calls turns have: most have few, so that there can be
// many of them.
var turnSizes = slices.Concat([]int{0, 0, 8, 8, 13, 40}, slices.Repeat([]int{1, 2, 3}, 28), slices.Repeat([]int{2, 5}, 5))

func drawTurn(t *rapid.T, sizes []int) worldTurn {
	n := rapid.SampledFrom(sizes).Draw(t, "n")
	name, does, path := few(t, "names", worldTools), few(t, "does", worldDoes), few(t, "paths", worldPaths)
	wt := worldTurn{
		Apart:    rapid.Bool().Draw(t, "apart"),
		Limit:    rapid.SampledFrom([]int{1, 2, 3, 10, 50}).Draw(t, "limit"),
		HandBack: rapid.IntRange(0, 3).Draw(t, "hand back") == 3,
		Split:    rapid.IntRange(0, n).Draw(t, "split"),
		After:    rapid.IntRange(0, 7).Draw(t, "after") == 7,
		Event:    rapid.IntRange(0, 8).Draw(t, "event"),
		At:       time.Duration(rapid.SampledFrom([]int{0, 1, 3, 10, 100, 1000, 3000}).Draw(t, "at")) * time.Millisecond,
	}
	for range n {
		wt.Calls = append(wt.Calls, worldCall{
			ID:   rapid.SampledFrom([]string{"", "a", "a", "b", "c", "d"}).Draw(t, "id"),
			Name: name(),
			Do:   does(),
			MS:   rapid.SampledFrom([]int{0, 0, 1, 2, 10, 100}).Draw(t, "ms"),
			Path: path(),
			Raw:  rapid.SampledFrom(worldRaws).Draw(t, "raw"),
		})
	}
	return wt
}

// patience is an expiry that is never reached: whoever waits for an answer that
// has come waits for ever, and is found.
const patience = 24 * time.Hour

// pick is a choice that depends on a text alone, so that a case can be run
// again.
func pick(list []int, text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return list[int(h.Sum32())%len(list)]
}

// claims are those that a call arrives with, by the definition of its tool; none
// if it has none, or its name leads to no tool before a fallback is asked.
func (c worldCall) claims() tool.Claims {
	switch {
	case c.Raw != "":
		return tool.Claims{}
	case c.Name == "toucher" || c.Name == "teller" || c.Name == "mover":
		if c.Do == "panic" || c.Path == hangPath {
			return tool.Claims{}
		}
		return touches(worldIn{Do: c.Do, MS: c.MS, Path: c.Path})
	}
	return worldClaims[c.Name]
}
