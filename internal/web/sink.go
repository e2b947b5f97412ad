package web

import (
	"context"

	"github.com/ferrule-dev/ferrule/audit"
)

// withheld is what stands in the place of the arguments and the results of a tool.
type withheld struct{ args, results string }

// withheld is what the pages are not given of a tool.
func (c *Console) withheld(tool string) (w withheld) {
	if c.Withheld != nil {
		w.args, w.results = c.Withheld(tool)
	}
	return w
}

// read gives lines of the record as the pages may show them: the record may be given
// more. Everything that is shown of it, looked for in it and exported goes through here.
func (c *Console) read(ctx context.Context, f Filter) ([]Line, error) {
	lines, err := c.Lines(ctx, f)
	if c.Withheld == nil {
		return lines, err
	}
	known := make(map[string]withheld)
	for i := range lines {
		l := &lines[i]
		w, ok := known[l.Tool]
		if !ok {
			w = c.withheld(l.Tool)
			known[l.Tool] = w
		}
		w.from(&l.Entry)
	}
	return lines, err
}

// from takes out of a line what is not to be shown. The text of an error may quote the
// arguments, too.
func (w withheld) from(e *audit.Entry) {
	if w.args != "" && e.Args != "" {
		e.Args = w.args
	}
	if e.Result == nil || w.results == "" && (w.args == "" || !e.Result.IsError) {
		return
	}
	shown := *e.Result // others may have it
	for _, text := range []*string{&shown.Preview, &shown.Text, &shown.Detail} {
		if *text != "" && w.results != "" {
			*text = w.results
		} else if *text != "" {
			*text = w.args
		}
	}
	e.Result = &shown
}
