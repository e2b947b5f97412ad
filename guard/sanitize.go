package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/tool"
)

// Sanitizing is what is done to content on its way to the model.
type Sanitizing string

// The ways. By default what is built in passes, what is the program's own or of a
// trusted skill is flagged, what MCP servers return is wrapped, and the rest is
// stripped and wrapped.
const (
	Pass      Sanitizing = "pass"       // nobody looks at it
	Flag      Sanitizing = "flag"       // findings are told, beside it
	Strip     Sanitizing = "strip"      // findings, and text that nobody sees, are taken out
	Wrap      Sanitizing = "wrap"       // findings are told, text that nobody sees is taken out, and the rest is marked as a stranger's
	StripWrap Sanitizing = "strip+wrap" // both
)

func sanitizings() []Sanitizing { return []Sanitizing{Pass, Flag, Strip, Wrap, StripWrap} }

func (s Sanitizing) check() error {
	if s == "" || slices.Contains(sanitizings(), s) {
		return nil
	}
	return fmt.Errorf("got %q, want one of %q", s, sanitizings())
}

func (s Sanitizing) strips() bool { return s == Strip || s == StripWrap }
func (s Sanitizing) wraps() bool  { return s == Wrap || s == StripWrap }

// byTrust is the default.
func byTrust(t tool.Trust) Sanitizing {
	switch t {
	case tool.BuiltIn:
		return Pass
	case tool.Own, tool.SkillTrusted:
		return Flag
	case tool.MCP:
		return Wrap
	case tool.Inbound, tool.Web, tool.SkillUntrusted:
	}
	return StripWrap
}

// Report is what was done to a result.
type Report struct {
	How      Sanitizing
	Findings []scan.Finding // offsets are those of their own text
	// Unsafe: it must not be given to the model.
	Unsafe bool
}

// Families are what was found, each once.
func (r *Report) Families() []string {
	var all []string
	for _, f := range r.Findings {
		if !slices.Contains(all, string(f.Family)) {
			all = append(all, string(f.Family))
		}
	}
	return all
}

// maxTold is how many findings an operator is told of one result.
const maxTold = 20

// String says it to the operator.
func (r *Report) String() string {
	var parts []string
	for _, f := range r.Findings[:min(len(r.Findings), maxTold)] {
		text := fmt.Sprintf("%s (%s) at %d to %d", f.Rule, f.Family, f.Start, f.End)
		if f.Encoding != "" {
			text += " in " + f.Encoding
		}
		parts = append(parts, text)
	}
	if more := len(r.Findings) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// Clean looks through what a call returned, and takes out what is to be taken out.
// trust is how far the content is believed. What the tool has returned is not
// written to. A panic of the scanner's own rules is one of this method.
func (g *Guard) Clean(r *tool.Request, trust tool.Trust, res tool.Result) (tool.Result, Report) {
	how, closed := g.how(whose(r, res.Origin), trust)
	if how == Pass && !closed {
		return res, Report{How: how}
	}
	c := cleaner{scanner: g.scanner(), how: how}
	res.Content = c.content(res.Content)
	if e := res.Err; e.Foreign() {
		if text := c.text(e.Text); text != e.Text {
			w := *e
			w.Text = text
			res.Err = &w
		}
	}
	return res, c.report(closed)
}

// report is what was done, where findings are withheld or not.
func (c *cleaner) report(closed bool) Report {
	r := Report{How: c.how, Findings: c.found, Unsafe: closed && len(c.found) > 0}
	if c.how == Pass {
		r.How = Flag
	}
	return r
}

// Unsafe stands in the place of a result that must not be given to the model.
func Unsafe(why string) *tool.Error {
	return &tool.Error{Kind: tool.UnsafeContent, Text: "What the tool returned reads like an attempt to steer you, so it was withheld.", Detail: why, Own: true}
}

// whose is the request that counts for a result: of a page, one of the tool that it
// is a page of.
func whose(r *tool.Request, o *tool.Origin) *tool.Request {
	if o == nil {
		return r
	}
	return &tool.Request{Name: tool.WireName(o.Source, o.Tool), Source: tool.Source{Name: o.Source, Trust: r.Source.Trust}, Tool: &tool.Info{Name: o.Tool}}
}

// cleaner goes through the texts of one result.
type cleaner struct {
	scanner *scan.Scanner
	how     Sanitizing
	values  bool // of members only: their names stay
	found   []scan.Finding
	read    int       // bytes that were looked at
	by      time.Time // when there is no more time for it; zero: it is little so far
}

// A result that takes longer than this to look through, and as long again for each
// MiB of it, is one that was made to.
const patience = 2 * time.Second

// until is when to stop with a text. Most are done before it is worth a look at the
// clock.
func (c *cleaner) until(size int) time.Time {
	c.read += size
	switch {
	case c.read <= 16<<10:
		return time.Time{}
	case c.by.IsZero():
		c.by = time.Now().Add(patience)
	}
	return c.by.Add(patience * time.Duration(c.read>>10) >> 10)
}

// late reports whether there is no more time, which is a finding.
func (c *cleaner) late(size int) bool {
	if by := c.until(size); by.IsZero() || time.Now().Before(by) {
		return false
	}
	if scan.Finished(c.found) {
		c.found = append(c.found, scan.Finding{Rule: "time", Family: scan.Unfinished})
	}
	return true
}

// content is the same blocks where nothing is taken out of them.
func (c *cleaner) content(blocks []tool.Content) []tool.Content {
	own := false
	for i := range blocks {
		b := blocks[i]
		if !c.block(&b) {
			continue
		}
		if !own {
			blocks, own = slices.Clone(blocks), true
		}
		blocks[i] = b
	}
	return blocks
}

func (c *cleaner) block(b *tool.Content) (changed bool) {
	for _, text := range []*string{&b.Text, &b.Name, &b.URI} {
		if clean := c.text(*text); clean != *text {
			*text, changed = clean, true
		}
	}
	if len(b.JSON) > 0 {
		if clean, other := c.json(b.JSON); other {
			b.JSON, changed = clean, true
		}
	}
	return changed
}

// text is the text without what is taken out of it.
func (c *cleaner) text(text string) string {
	if text == "" {
		return text
	}
	b := bytesOf(text)
	found := c.scanner.ScanBy(b, c.until(len(b)))
	c.found = append(c.found, found...)
	return stringOf(text, b, c.strip(b, len(found) > 0))
}

// strip takes out of a text what is to be taken out. It is the same text where
// that is nothing.
func (c *cleaner) strip(b []byte, found bool) []byte {
	switch {
	case c.how.strips() && found:
		return c.scanner.StripBy(b, c.until(0))
	case c.how.strips() || c.how.wraps():
		return scan.StripInvisible(b)
	}
	return b
}

// bytesOf is a text to be looked at. Large results are not copied.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // it is only read
}

// stringOf is what is left of a text: the text itself where that is all of it.
func stringOf(text string, b, left []byte) string {
	if len(left) == len(b) && (len(b) == 0 || &left[0] == &b[0]) {
		return text
	}
	return string(left)
}
