package ferrule

import (
	"slices"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is what the guard does to a result: in phase 10 it is looked through,
// and what must not reach the model is taken out; behind phase 11 what strangers
// wrote is marked as theirs. What Ferrule, hooks and the host say of a call is not
// touched.

// spoke reports whether content of a result is the tool's: of a wrapper that answers
// instead of it, too, which may have kept what it said.
func (c *call) spoke() bool { return c.entry != nil && (c.begun || c.settled) && c.req != nil }

// cleaned looks through the first n blocks of a result, which are the tool's, and
// its error.
func (c *call) cleaned(res tool.Result, n int) tool.Result {
	g := c.turn.set.guard
	if s := c.sensitivity(); !c.settled && !g.Accepts(guard.Model, s) { // the journal has none of those
		return withheldFrom(res, s, n)
	}
	all := res.Content
	res.Content = all[:n]
	report, err := c.lookThrough(&res)
	if err != nil { // a rule of the host's panicked: nobody has looked at it
		return c.unsafe("the scan failed: " + err.Error())
	}
	if len(report.Findings) > 0 {
		c.emitBy(audit.Found, "guard", report.String())
	}
	if report.Unsafe {
		return c.unsafe(report.String())
	}
	if n < len(all) {
		res.Content = append(slices.Clip(res.Content), all[n:]...)
	}
	if report.How != guard.Pass && report.How != guard.Flag || len(report.Findings) > 0 {
		kept := report
		c.report = &kept
	}
	return res
}

// lookThrough has the guard clean a result in its place.
func (c *call) lookThrough(res *tool.Result) (report guard.Report, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = thrown(r)
		}
	}()
	*res, report = c.turn.set.guard.Clean(c.req, c.believed(res), *res)
	return report, nil
}

// unsafe stands in the place of a result that must not be given to the model.
func (c *call) unsafe(why string) tool.Result {
	c.emitBy(audit.Blocked, "guard", why)
	return tool.Result{Err: guard.Unsafe(why)}
}

// sensitivity is that of a result: of a page, that of what it is a page of.
func (c *call) sensitivity() tool.Sensitivity {
	if c.origin != nil {
		return c.origin.Sensitivity
	}
	return c.entry.tool.OutputSensitivity
}

// withheldFrom is a result without its content, which the model does not accept.
func withheldFrom(res tool.Result, s tool.Sensitivity, n int) tool.Result {
	instead := guard.Withheld(s)
	if n > 0 {
		res.Content = append([]tool.Content{tool.Text(instead)}, res.Content[n:]...)
	}
	if e := res.Err; e.Foreign() {
		res.Err = &tool.Error{Kind: e.Kind, Text: instead, Detail: e.Detail, RetryAfter: e.RetryAfter, Cause: e.Cause}
	}
	return res
}

// dressed is a result with what strangers wrote in wrappers, and what was found
// beside what has none. It is put on last, and taken off by undressed.
func (c *call) dressed(res tool.Result) tool.Result {
	if c.report == nil || c.undressed != nil {
		return res
	}
	bare := res
	c.undressed = &bare
	w := c.turn.set.guard.Wrapping(c.req, &res, c.report)
	note := c.report.Note()
	n := len(res.Content) - c.own(res.Content)
	res.Content = slices.Clone(res.Content)
	for i := range res.Content[:n] {
		b := &res.Content[i]
		switch {
		case b.Type != tool.TextContent || w == nil:
			continue
		case i == 0 && c.excerpt != nil:
			b.Text = w.Text(c.excerpt.shown()) + c.excerpt.where()
		default:
			b.Text = w.Text(b.Text)
		}
		note = "" // the wrapper says it
	}
	if e := res.Err; e.Foreign() && w != nil {
		wrapped := *e
		switch {
		case c.errorCut != nil:
			wrapped.Text = w.Text(c.errorCut.shown()) + c.errorCut.where()
		case n > 0 && e.Text == tool.TextOf(bare.Content[:n]): // it only repeats them
			wrapped.Text = tool.TextOf(res.Content[:n])
		default:
			wrapped.Text = w.Text(e.Text)
		}
		res.Err, note = &wrapped, ""
	}
	if note != "" {
		res.Content = slices.Insert(res.Content, n, tool.Text(note))
	}
	return res
}

// own is how many blocks at the end of content are not the tool's. In an excerpt
// they stand among the tool's.
func (c *call) own(content []tool.Content) (n int) {
	if c.excerpt == nil && !c.settled { // what the journal had has none of this call
		n += len(c.beside)
	}
	if c.entry.pages && c.origin != nil { // it says where the page stands
		n++
	}
	if c.told != "" {
		n++
	}
	return min(n, len(content))
}

// bare takes off what dressed has put on, for who cuts the result.
func (c *call) bare(res tool.Result) tool.Result {
	if c.undressed != nil {
		res, c.undressed = *c.undressed, nil
	}
	return res
}

// strainer takes out of a stream what must not be in it.
type strainer interface {
	Write(piece []byte) []byte
	Close() []byte
}

// strain is what of a stream of a stranger can be passed on by now. The mutex of the
// outflow is held.
func (c *call) strain(l *lease, i int, text string) string {
	if !c.strange() {
		return text
	}
	if l.strains == nil {
		l.strains = new([2]strainer)
	}
	s := &l.strains[i]
	if *s == nil {
		if made := c.turn.set.guard.Stream(l.req, c.entry.source.Trust); made != nil {
			*s = made
		} else {
			return text
		}
	}
	return string((*s).Write([]byte(text)))
}

// strainAll is what is left of it at its end.
func (c *call) strainAll(l *lease, i int, text string) string {
	text = c.strain(l, i, text)
	if l.strains != nil && l.strains[i] != nil {
		text += string(l.strains[i].Close())
		l.strains[i] = nil
	}
	return text
}

// cleanUpdate takes out of what a stranger says by the way what must not be there.
func (c *call) cleanUpdate(u *tool.Update) {
	if c.strange() {
		c.turn.set.guard.CleanUpdate(c.req, c.entry.source.Trust, u)
	}
}

// strange reports whether what a call says while it runs is a stranger's.
func (c *call) strange() bool { return c.entry != nil && c.entry.source.Trust.Untrusted() }
