package ferrule

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// countTime is how long tokens are counted at most.
const countTime = 10 * time.Second

// meter says how much room texts take in a model's context. -1: no limit.
type meter struct {
	chars, tokens int
	count         func(string) int // nil: tokens are estimated by length
	deaf          *atomic.Bool     // the counter did not return once; nil: nobody remembers it
}

// meter is that of the call's own limits.
func (c *call) meter() meter {
	m := c.turn.set.meter(c.entry.tool.Limit)
	m.deaf = &c.turn.deaf
	return m
}

func (s *settings) meter(l tool.Limit) meter {
	m := meter{chars: l.Chars, tokens: l.Tokens, count: s.countTokens}
	if m.chars == 0 {
		m.chars = defaultChars
	}
	if m.tokens == 0 {
		m.tokens = defaultTokens
	}
	return m
}

// sure is how many bytes never have more tokens than the limit: each token has a
// byte at least.
func (m meter) sure() int {
	switch {
	case m.tokens < 0:
		return math.MaxInt
	case m.count == nil:
		return m.estimate()
	}
	return m.tokens
}

// estimate is how many bytes have about as many tokens as the limit.
func (m meter) estimate() int { return min(m.tokens, math.MaxInt/bytesPerToken) * bytesPerToken }

// roomy reports, without counting anything, that a result is short enough. There
// are never more characters than bytes.
func (m meter) roomy(res *tool.Result) bool {
	n := sum(res.Content, size)
	if res.Err != nil {
		n += len(res.Err.Text) + min(n, 1)
	}
	return (m.chars < 0 || n <= m.chars) && n <= m.sure()
}

// tokensIn is how many tokens there are in texts that stand one below another. A
// counter that fails has found one in each byte.
func (m meter) tokensIn(texts []string) int {
	text := strings.Join(texts, "\n")
	if m.deaf != nil && m.deaf.Load() {
		return len(text)
	}
	n, err := bounded(context.Background(), countTime, func(context.Context) (int, error) { return m.count(text), nil })
	if errors.Is(err, errTookTooLong) && m.deaf != nil {
		m.deaf.Store(true)
	}
	if err != nil || n < 0 {
		return len(text)
	}
	return n
}

// surely reports that a result is too long whatever its tokens are, so that they
// need not be counted. An error beside it is another matter: they share a room.
func (m meter) surely(res *tool.Result) bool {
	return res.Err == nil && m.chars >= 0 && sum(res.Content, count) > m.chars
}

// cut is what has room of an error, if there is one, and of the content beside
// it; nil: all of it.
func (m meter) cut(failure, content *side) (short, shown *excerpt) {
	m.reduce(m.begin(), func(bytes int) (left []string) {
		short, shown = divide(failure, content, room{m.chars, bytes})
		if failure != nil {
			left = failure.left(short)
		}
		return append(left, content.left(shown)...)
	})
	return short, shown
}

// begin is how many bytes are tried first: what is sure to have room, or, where
// tokens are counted, what is not sure to have none.
func (m meter) begin() int {
	if m.count == nil || m.tokens < 0 {
		return m.sure()
	}
	return min(m.tokens, math.MaxInt/farTooLong) * farTooLong
}

// most is a meter for at most so many characters.
func (m meter) most(chars int) meter {
	if m.chars < 0 || m.chars > chars && chars >= 0 {
		m.chars = chars
	}
	return m
}

// within is what of an excerpt has room in so many characters.
func (m meter) within(x *excerpt, chars int) (smaller *excerpt) {
	m = m.most(chars)
	m.reduce(m.begin(), func(bytes int) []string {
		smaller = x.within(room{m.chars, bytes})
		return []string{smaller.begin, smaller.end}
	})
	return smaller
}

// reduce looks for a number of bytes that leaves no more tokens of a text than
// the limit. What is left is counted only where its length does not say enough,
// and a few times at most.
func (m meter) reduce(bytes int, leave func(bytes int) (left []string)) {
	const tries = 6
	for range tries {
		left := slices.DeleteFunc(leave(bytes), func(text string) bool { return text == "" })
		shown := max(len(left)-1, 0) // a newline between each two
		for _, text := range left {
			shown += len(text)
		}
		if m.count == nil || shown <= m.sure() {
			return
		}
		n := m.tokensIn(left)
		if n <= m.tokens {
			return
		}
		bytes = max(m.tokens, int(float64(min(bytes, shown))*float64(m.tokens)/float64(n)*0.97))
	}
	leave(m.tokens)
}

// side is an error or the content beside it, which share a room.
type side struct {
	cut   *excerpt // it was cut before; nil: it was not
	texts []*tool.Content
	how   string
}

// size is how many characters and bytes it has.
func (s *side) size() (chars, bytes int) {
	if s.cut != nil {
		return s.cut.first + s.cut.last, len(s.cut.begin) + len(s.cut.end)
	}
	for i, b := range s.texts {
		chars, bytes = chars+count(b)+min(i, 1), bytes+size(b)+min(i, 1)
	}
	return chars, bytes
}

// within is what of it has room; nil: all of it, and it was not cut before.
func (s *side) within(r room) *excerpt {
	if s.cut != nil {
		return s.cut.within(r)
	}
	if r.fits(s.size()) {
		return nil
	}
	return excerptOf(s.texts, s.how, r)
}

// left are the texts of it that are shown.
func (s *side) left(x *excerpt) (texts []string) {
	if x != nil {
		return []string{x.begin, x.end}
	}
	for _, b := range s.texts {
		texts = append(texts, part(b, 0, size(b)))
	}
	return texts
}

// divide is what has room of an error and of the content beside it.
func divide(failure, content *side, r room) (short, shown *excerpt) {
	if failure != nil {
		chars, bytes := content.size()
		newline := min(bytes, 1) // between the two
		short = failure.within(r.beside(chars+newline, bytes+newline))
		if chars, bytes = failure.size(); short != nil {
			chars, bytes = short.first+short.last, len(short.begin)+len(short.end)
		}
		r = r.less(chars+newline, bytes+newline)
	}
	return short, content.within(r)
}
