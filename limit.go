package ferrule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// What a result may put into the model's context where its tool says nothing,
// and what is shown of one that is kept elsewhere.
const (
	defaultChars  = 64_000
	defaultTokens = 16_384
	bytesPerToken = 4  // an estimate
	farTooLong    = 16 // bytes for each token
	previewChars  = 4_000
)

// What becomes of content that is too long: tool.Limit.Cut.
const (
	cutOffload   = "offload"
	cutMiddle    = "middle"
	cutHead      = "head"
	cutTail      = "tail"
	cutSummarize = "summarize"
)

// limit is phase 11: of a result that is too long the model gets a part. An
// error and the content beside it share one room. Pictures, sounds and links
// pass.
func (c *call) limit(res tool.Result) tool.Result {
	if c.entry == nil {
		return res
	}
	m := c.turn.set.meter(c.entry.tool.Limit)
	if m.roomy(&res) {
		return res
	}
	return c.cutTo(res, m, c.strategy(&res))
}

// tighten cuts a result, which may have been cut already, to fewer characters.
func (c *call) tighten(res tool.Result, chars int) tool.Result {
	m := c.turn.set.meter(c.entry.tool.Limit)
	m.chars = chars
	if c.excerpt == nil && c.errorCut == nil {
		how := c.strategy(&res)
		if c.keepable() {
			how = cutOffload
		}
		return c.cutTo(res, m, how)
	}
	half := chars
	if c.excerpt != nil {
		half = max(chars/2, chars-c.excerpt.first-c.excerpt.last)
	}
	if c.errorChars(&res) > half {
		x := c.errorCut
		if x == nil {
			x = excerptOf([]*tool.Content{{Type: tool.TextContent, Text: res.Err.Text}}, cutMiddle, room{half, -1})
		}
		res.Err = c.withCut(res.Err, m.within(x, half))
	}
	if left := max(chars-c.errorChars(&res), 0); c.excerpt != nil {
		c.excerpt = m.within(c.excerpt, left)
		res.Content = append(withExcerpt(nil, c.excerpt), res.Content[1:]...)
	} else if m.chars = left; sum(res.Content, count) > left {
		failure := res.Err
		res.Err = nil
		res = c.cutTo(res, m, c.strategy(&res))
		res.Err = failure
	}
	return res
}

// withCut is an error with an excerpt for its text.
func (c *call) withCut(e *tool.Error, x *excerpt) *tool.Error {
	cut := *e
	cut.Text = x.text()
	c.errorCut = x
	return &cut
}

// cutTo cuts a result.
func (c *call) cutTo(res tool.Result, m meter, how string) tool.Result {
	var said string
	if how == cutOffload && m.surely(&res) {
		_, preview := m.most(previewChars).cut(&res, how)
		if said = c.kept(&res, preview); said == "" {
			return res
		}
	}
	failure, content := m.cut(&res, how)
	if failure != nil {
		c.emitBy(audit.Cut, "", fmt.Sprintf("%d characters of an error", failure.total))
		res.Err = c.withCut(res.Err, failure)
	}
	if content == nil {
		return res
	}
	if how == cutOffload && said == "" {
		if said = c.kept(&res, m.within(content, previewChars)); said == "" {
			return res
		}
	}
	said = fmt.Sprintf("%d characters", content.total) + said
	if how == cutSummarize {
		summary, err := c.summary(res.Content)
		if err == nil {
			content = m.within(content.summarized(summary), m.chars)
		} else {
			said += ", not summarized: " + err.Error()
		}
	}
	if content.summary && c.keepable() {
		if err := c.offload(content, &res); err != nil {
			said += ", not kept: " + err.Error()
		}
	}
	c.emitBy(audit.Cut, "", said)
	c.excerpt = content
	res.Content = withExcerpt(res.Content, content)
	return res
}

// kept keeps the content of a result elsewhere and puts a preview in its place;
// why says why it does not.
func (c *call) kept(res *tool.Result, preview *excerpt) (why string) {
	if err := c.offload(preview, res); err != nil {
		return ", not kept: " + err.Error()
	}
	c.emitBy(audit.Cut, "", fmt.Sprintf("%d characters, kept as %s", preview.total, preview.handle))
	c.excerpt = preview
	res.Content = withExcerpt(res.Content, preview)
	return ""
}

// strategy is what becomes of content of this call that is too long.
func (c *call) strategy(res *tool.Result) string {
	switch how := c.entry.tool.Limit.Cut; how {
	case "", cutOffload:
		if c.keepable() {
			return cutOffload
		}
	case cutSummarize:
		if c.turn.set.summarize != nil && res.Err == nil {
			return cutSummarize
		}
	case cutHead, cutTail:
		return how
	}
	return cutMiddle
}

// summary is what the host makes of content that is too long.
func (c *call) summary(content []tool.Content) (string, error) {
	var parts []string
	for _, b := range countedIn(content) {
		parts = append(parts, part(b, 0, size(b)))
	}
	text, request := strings.Join(parts, "\n"), c.shown()
	summary, err := bounded(context.WithoutCancel(c.turn.ctx), otherTime, func(ctx context.Context) (string, error) {
		return c.turn.set.summarize(ctx, request, text)
	})
	if err == nil && strings.TrimSpace(summary) == "" {
		err = errors.New("got an empty summary")
	}
	return valid(summary), err
}

// meter says how much room texts take in a model's context. -1: no limit.
type meter struct {
	chars, tokens int
	count         func(string) int // nil: tokens are estimated by length
}

func (s *settings) meter(l tool.Limit) meter {
	m := meter{l.Chars, l.Tokens, s.countTokens}
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

// tokensIn is how many tokens there are in texts that are more than sure to have
// room. A counter that fails has found one in each byte.
func (m meter) tokensIn(texts []string) int {
	n := 0
	for _, text := range texts {
		if text == "" {
			continue
		}
		exact, err := bounded(context.Background(), otherTime, func(context.Context) (int, error) { return m.count(text), nil })
		if err != nil || exact < 0 {
			exact = len(text)
		}
		n += exact
	}
	return n
}

// surely reports that a result is too long whatever its tokens are, so that they
// need not be counted. An error beside it is another matter: they share a room.
func (m meter) surely(res *tool.Result) bool {
	return res.Err == nil && m.chars >= 0 && sum(res.Content, count) > m.chars
}

// cut is what has room of an error and of the content beside it; nil: all of it.
func (m meter) cut(res *tool.Result, how string) (failure, content *excerpt) {
	texts := countedIn(res.Content)
	most := m.sure()
	if m.count != nil && m.tokens >= 0 {
		most = min(m.tokens, math.MaxInt/farTooLong) * farTooLong // more is not counted
	}
	m.reduce(most, func(bytes int) (left []string) {
		failure, content = divide(res, texts, how, room{m.chars, bytes})
		switch {
		case failure != nil:
			left = append(left, failure.begin, failure.end)
		case res.Err != nil:
			left = append(left, res.Err.Text)
		}
		if content != nil {
			return append(left, content.begin, content.end)
		}
		for _, b := range texts {
			left = append(left, part(b, 0, size(b)))
		}
		return left
	})
	return failure, content
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
	m.reduce(m.sure(), func(bytes int) []string {
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
		left := leave(bytes)
		shown := 0
		for _, text := range left {
			shown += len(text)
		}
		if shown <= m.sure() {
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

// divide is what has room of an error and of the content beside it.
func divide(res *tool.Result, texts []*tool.Content, how string, r room) (failure, content *excerpt) {
	chars, bytes := sum(res.Content, count), sum(res.Content, size)
	if res.Err != nil {
		newline := min(bytes, 1) // between error and content
		own := []*tool.Content{{Type: tool.TextContent, Text: res.Err.Text}}
		errChars, errBytes := count(own[0]), size(own[0])
		if left := r.beside(chars+newline, bytes+newline); !left.fits(errChars, errBytes) {
			failure = excerptOf(own, cutMiddle, left)
			errChars, errBytes = failure.first+failure.last, len(failure.begin)+len(failure.end)
		}
		r = r.less(errChars+newline, errBytes+newline)
	}
	if !r.fits(chars, bytes) {
		content = excerptOf(texts, how, r)
	}
	return failure, content
}
