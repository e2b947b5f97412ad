package ferrule

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// defaultTurnChars is how many characters the results of a turn have together
// where the host says nothing.
const defaultTurnChars = 200_000

// leastCut is how many characters are never cut by a budget: what is said about
// that would be as long.
const leastCut = 200

// share is one result's part of a turn's budget.
type share struct {
	c     *call
	res   *tool.Result
	chars int // without notices
	fixed bool
}

// balance cuts results so that they, together with those before, stay within the
// turn's budget: the largest are kept elsewhere first, then all are made equal.
// The mutex is held, and let go where something is cut.
func (t *Turn) balance(from, to int) {
	if t.set.turnChars < 0 {
		return
	}
	left := max(t.set.turnChars-t.spent, 0)
	total, longest := 0, 0 // bytes: there are never more characters
	for i := from; i < to; i++ {
		bytes := sum(t.results[i].Content, size)
		if e := t.results[i].Err; e != nil {
			bytes += len(e.Text)
		}
		total, longest = total+bytes, max(longest, bytes)
	}
	if total <= left || longest <= leastCut { // nothing is cut
		if t.streams { // else nothing comes after these
			for i := from; i < to; i++ {
				t.spent += t.calls[i].share(&t.results[i]).chars
			}
		}
		return
	}
	calls, results := slices.Clone(t.calls[from:to]), slices.Clone(t.results[from:to])
	t.handing = true
	t.mu.Unlock()
	shares := make([]share, len(calls))
	for i, c := range calls {
		shares[i] = c.share(&results[i])
	}
	spent := balance(shares, left)
	t.mu.Lock()
	t.handing = false
	t.cond.Broadcast()
	t.spent += spent
	copy(t.results[from:to], results)
}

// balance cuts results so that they have room, and is how many characters they
// have then.
func balance(shares []share, left int) (total int) {
	for _, s := range shares {
		total += s.chars
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.chars, a.chars) })
	cut := func(s *share, f func(tool.Result) tool.Result) {
		before := s.chars
		*s.res = s.c.dressed(s.c.tell(f(s.c.untell(s.c.bare(*s.res)))))
		if *s = s.c.share(s.res); s.chars < before && s.c.turn.noted() {
			e := s.c.resultEvent(audit.Cut, *s.res)
			e.By, e.Text = "budget", fmt.Sprintf("%d of %d characters are left", s.chars, before)
			s.c.emit(e)
		}
		total += s.chars - before
	}
	for i := range shares {
		s := &shares[i]
		if total <= left || s.chars <= previewChars {
			break
		}
		if !s.fixed && s.c.excerpt == nil && s.c.keepable() {
			cut(s, s.c.putAway)
		}
	}
	if total <= left {
		return total
	}
	level := levelOf(shares, left)
	for i := range shares {
		if s := &shares[i]; s.chars > level && !s.fixed {
			cut(s, func(res tool.Result) tool.Result { return s.c.tighten(res, level) })
		}
	}
	return total
}

// putAway keeps the content of a result elsewhere, if it can.
func (c *call) putAway(res tool.Result) tool.Result {
	_, content := c.sides(&res, cutOffload)
	if _, preview := c.meter().most(previewChars).cut(nil, content); preview != nil {
		_ = c.keepContent(&res, preview) // what is not kept is cut with the others
	}
	return res
}

// levelOf is how many characters each result may have so that all have room.
func levelOf(shares []share, left int) int {
	var sizes []int
	for _, s := range shares {
		if s.fixed {
			left -= s.chars
		} else {
			sizes = append(sizes, s.chars)
		}
	}
	slices.Sort(sizes)
	for i, n := range sizes {
		if each := max(left, 0) / (len(sizes) - i); n > each {
			return each
		}
		left -= n
	}
	return left
}

// share is what a result takes of the budget. Pages of kept results are outside
// of it; what an earlier turn handed out stays as it is.
func (c *call) share(res *tool.Result) share {
	plain := res
	if c.undressed != nil {
		plain = c.undressed
	}
	s := share{c: c, res: res, fixed: c.entry == nil || c.entry.pages || c.recorded != nil && !c.settled}
	switch {
	case c.entry != nil && c.entry.pages:
	case c.excerpt != nil:
		s.chars = c.excerpt.first + c.excerpt.last + c.errorChars(plain)
	default:
		s.chars = sum(c.untell(*plain).Content, count) + c.errorChars(plain)
	}
	s.fixed = s.fixed || s.chars <= leastCut
	return s
}

// errorChars is how many characters the error of a result has. Where it was cut
// the notice is not counted.
func (c *call) errorChars(res *tool.Result) int {
	switch {
	case res.Err == nil:
		return 0
	case c.errorCut != nil:
		return c.errorCut.first + c.errorCut.last
	}
	return utf8.RuneCountInString(res.Err.Text)
}
