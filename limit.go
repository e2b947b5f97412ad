package ferrule

import (
	"context"
	"errors"
	"fmt"
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
	m := c.meter()
	if c.entry.pages && m.chars >= 0 && m.tokens >= 0 { // what hooks say beside a page is not cut out of it
		for _, text := range c.beside {
			m.chars += len(text) + 1
			m.tokens += len(text) + 1
		}
	}
	if m.roomy(&res) {
		return res
	}
	return c.cutTo(res, m, c.strategy(&res))
}

// cutTo cuts a result, which may have been cut already.
func (c *call) cutTo(res tool.Result, m meter, how string) tool.Result {
	failure, content := c.sides(&res, how)
	var said string
	if how == cutOffload && content.cut == nil && m.surely(&res) {
		_, preview := m.most(previewChars).cut(nil, content)
		if said = c.keepContent(&res, preview); said == "" {
			return res
		}
		content.how = cutMiddle
	}
	short, shown := m.cut(failure, content)
	if short != nil && short != failure.cut {
		c.cutError(&res, short)
	}
	if shown != nil && shown != content.cut {
		c.cutContent(&res, m, content.how, shown, said)
	}
	return res
}

// cutError puts what has room of an error in its place.
func (c *call) cutError(res *tool.Result, short *excerpt) {
	if c.errorCut == nil {
		said := fmt.Sprintf("%d characters of an error", short.total)
		if c.keepable() {
			said += c.offload(short, res, res.Err.Text)
		}
		c.emitBy(audit.Cut, "", said)
	}
	e := *res.Err
	e.Text, c.errorCut = short.text(), short
	res.Err = &e
}

// cutContent puts what has room of content in its place, or what its tool wants
// to stand there. said is why it could not be kept elsewhere.
func (c *call) cutContent(res *tool.Result, m meter, how string, shown *excerpt, said string) {
	if c.excerpt != nil {
		c.excerpt = shown
		res.Content = append(withExcerpt(nil, shown), res.Content[1:]...)
		return
	}
	switch how {
	case cutOffload:
		if said = c.keepContent(res, m.within(shown, previewChars)); said == "" {
			return
		}
	case cutSummarize:
		summary, err := c.summary(res.Content)
		if err == nil {
			shown = m.within(shown.summarized(summary), m.chars)
		} else {
			said = ", not summarized: " + err.Error()
		}
		if c.keepable() {
			said += c.offload(shown, res, textsOf(res.Content)...)
		}
	}
	c.emitBy(audit.Cut, "", fmt.Sprintf("%d characters", shown.total)+said)
	c.excerpt = shown
	res.Content = withExcerpt(res.Content, shown)
}

// sides are the error and the content of a result, as they were cut before; the
// first is nil where there is no error.
func (c *call) sides(res *tool.Result, how string) (failure, content *side) {
	content = &side{cut: c.excerpt, texts: countedIn(res.Content), how: how}
	if res.Err != nil {
		failure = &side{cut: c.errorCut, texts: []*tool.Content{{Type: tool.TextContent, Text: res.Err.Text}}, how: cutMiddle}
	}
	return failure, content
}

// keepContent keeps the content of a result elsewhere and puts a preview in its
// place; else it says why not.
func (c *call) keepContent(res *tool.Result, preview *excerpt) (why string) {
	said := c.offload(preview, res, textsOf(res.Content)...)
	if preview.handle == "" {
		return said
	}
	c.emitBy(audit.Cut, "", fmt.Sprintf("%d characters", preview.total)+said)
	c.excerpt = preview
	res.Content = withExcerpt(res.Content, preview)
	return ""
}

// tighten cuts a result to fewer characters.
func (c *call) tighten(res tool.Result, chars int) tool.Result {
	return c.cutTo(res, c.meter().most(chars), c.strategy(&res))
}

// strategy is what becomes of content of this call that is too long. Secret
// content is shown to nobody else.
func (c *call) strategy(res *tool.Result) string {
	switch how := c.entry.tool.Limit.Cut; how {
	case "", cutOffload:
		if c.keepable() {
			return cutOffload
		}
	case cutSummarize:
		if _, secret := c.secret(); c.turn.set.summarize != nil && res.Err == nil && !secret {
			return cutSummarize
		}
	case cutHead, cutTail:
		return how
	}
	return cutMiddle
}

// summary is what the host makes of content that is too long.
func (c *call) summary(content []tool.Content) (string, error) {
	text, request := strings.Join(textsOf(content), ""), c.shown()
	summary, err := bounded(c.turn.ctx, otherTime, func(ctx context.Context) (string, error) {
		return c.turn.set.summarize(ctx, request, text)
	})
	if err == nil && strings.TrimSpace(summary) == "" {
		err = errors.New("got an empty summary")
	}
	return valid(summary), err
}
