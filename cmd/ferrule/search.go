package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/search/endpoint"
	"github.com/ferrule-dev/ferrule/search/vectors"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

func (p *program) searchCommand() *cobra.Command {
	limit, builtin := 10, false
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find tools by words and meaning, with why each was found",
		Long: `Find tools as an agent does that has tool_search: by words and by meaning, the best
first. Servers of the configuration are connected to; no tool runs. What is looked
through is what a client of ` + "`ferrule up`" + ` gets: the program's own tools beside servers
only with --builtin, or where ferrule.yaml has the key tools.

SCORE orders the tools of one search: how much of the words a tool has, beside the one
that has the most, how many of them, and how near its meaning is. WHY is each word with
the weightiest place it was found in: the name, the description, the name of an argument,
what is said about arguments, a tag, the source, what is said about the source, an
example; and how near the meaning is (1 is the same). Near copies stand beside the one
that is shown.

select:NAME,NAME shows the tools of these names, all of them, whatever --limit says.
--json has fit, how sure it is that the first tool serves, from 0 to 1, and fits.

The exit status is 1 where no tool is found or none seems to fit, and where a name after
select: is none.`,
		Example: `  ferrule search open a ticket
  ferrule search "select:fs_read" --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return errors.New("got no words, want WORDS")
			}
			return nil
		},
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usage("--limit: got %d, want 1 or more", limit)
			}
			names, exact := strings.CutPrefix(strings.TrimSpace(strings.Join(args, " ")), "select:")
			q := sought{text: strings.Join(args, " "), limit: limit}
			if exact {
				switch q.names = namesIn(names); {
				case len(q.names) == 0:
					return usage("select: got no name, want names with commas between")
				case len(q.names) > maxSelected:
					return usage("select: got %d names, want at most %d", len(q.names), maxSelected)
				}
			}
			return p.with(cmd.Context(), hosting{looks: true, servers: true, waits: true, serves: true, builtin: builtin}, func(h *host) error {
				return p.search(cmd.Context(), h, q)
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "how many to show, a `NUMBER`")
	cmd.Flags().BoolVar(&builtin, "builtin", false, "look also through the program's own tools beside those of servers")
	p.jsonFlag(cmd)
	return cmd
}

// maxSelected is how many names an index looks up at once.
const maxSelected = 1_000

// sought is what a search is for: words, or the tools of these names.
type sought struct {
	text  string
	names []string // nil: words
	limit int
}

// namesIn are names with commas between, each once.
func namesIn(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// embedderOf is what tells searches what is meant; nil: nothing does.
func embedderOf(c *config.Config, v *secret.Vault) *search.Embedder {
	if c.Search.Words {
		return nil
	}
	e := c.Search.Endpoint
	if e == nil {
		return vectors.Embedder()
	}
	model := endpoint.Endpoint{URL: e.URL, Model: e.Model, Dimensions: e.Dimensions, Wait: e.Wait}
	if e.Key != "" {
		model.Key = func(ctx context.Context) (string, error) { return valueFor(ctx, v, searchUses, e.Key) }
	}
	return model.Embedder()
}

// faultText is why an embedder did not answer, without secrets.
func faultText(v *secret.Vault, err error) string {
	text, _ := v.Scrub(err.Error())
	return terminal.Visible(text)
}

// maxNearest is how many tools are shown where none seems to fit.
const maxNearest = 3

func (p *program) search(ctx context.Context, h *host, q sought) error {
	view := h.session(newSession(), "").View(ctx)
	if q.names != nil {
		for i, name := range q.names { // another name of a tool will do
			if t, ok := h.rt.Find(name); ok {
				q.names[i] = t.Name
			}
		}
		q.names = namesIn(strings.Join(q.names, ","))
		q.text, q.limit = "select:"+strings.Join(q.names, ","), len(q.names)
	}
	looked := p.busy("looking through the tools")
	answer := view.Search(ctx, q.text, q.limit)
	looked()
	fits := len(answer.Hits) > 0 && answer.Fit >= search.Fits
	if !fits {
		answer.Hits = answer.Hits[:min(len(answer.Hits), maxNearest)]
	}
	list := foundIn(answer)
	for i := range list {
		list[i].Why = cmp.Or(list[i].Why, "by its name") // after select: there is no other reason
	}
	missing := make([]absent, len(answer.Missing))
	for i, name := range answer.Missing {
		missing[i] = absent{name, p.whyMissing(ctx, h, view, name)}
	}
	fault := ""
	if answer.Fault != nil {
		fault = faultText(h.rt.Secrets, answer.Fault)
	}
	var done error
	if !fits || len(missing) > 0 {
		done = &status{statusFailed, nil}
	}
	if p.json {
		return cmp.Or(p.printJSON(struct {
			Tools   []foundTool `json:"tools"`
			Missing []absent    `json:"missing,omitempty"`
			Fit     float64     `json:"fit"`
			Fits    bool        `json:"fits"`
			Fault   string      `json:"fault,omitempty"`
		}{list, missing, answer.Fit, fits, fault}), done)
	}
	if fault != "" {
		p.complain("ferrule: found by words alone: " + fault)
	}
	for _, m := range missing {
		p.complain("ferrule: " + m.Why)
	}
	switch {
	case len(list) > 0 && !fits:
		p.printf("no tool seems to fit; the nearest:\n")
	case len(list) == 0 && len(missing) == 0:
		return &status{statusFailed, errors.New(nothingFound(wordsOf(view), q.text))}
	}
	if len(list) > 0 {
		p.printFound(list)
	}
	return done
}

// whyMissing says why a search does not find a tool by its name, and what is near.
func (p *program) whyMissing(ctx context.Context, h *host, v *ferrule.View, name string) string {
	for _, a := range h.absent {
		if a.Name == name {
			return name + " is not offered: " + a.Why
		}
	}
	if _, ok := h.rt.Find(name); ok {
		return name + " is not offered to clients, or not by a search: `ferrule tools " + name + "` says more"
	}
	for _, group := range p.toolGroups(ctx, h.config, "") {
		if slices.Contains(group.tools, name) {
			return name + " is one of the program's own tools, which clients do not get beside servers: --builtin"
		}
	}
	if err := v.Plan(ctx, tool.Call{Name: name})[0].Err; err != nil {
		return err.Text
	}
	return "Tool not found: " + name
}

// wordsOf are the words of a view's tools: those of their names, then those that their
// descriptions begin with.
func wordsOf(v *ferrule.View) (words []string) {
	var told []string
	add := func(list *[]string, text string) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) }) {
			*list = append(*list, word)
		}
	}
	for t := range v.Offered() {
		add(&words, t.Name)
		add(&told, terminal.Brief(t.Info.Description, 60))
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(append(words, told...), func(word string) bool {
		had := seen[word]
		seen[word] = true
		return had
	})
}

// nothingFound says what may be done where no tool has the words; known are those of
// the tools.
func nothingFound(known []string, text string) string {
	if len(known) == 0 {
		return "there are no tools"
	}
	words, mended := strings.Fields(text), false
	for i, word := range words[:min(len(words), 20)] {
		if near := nearest(word, known); len(word) > 3 && !slices.Contains(known, strings.ToLower(word)) && len(near) > 0 {
			words[i], mended = near[0], true
		}
	}
	if mended {
		return fmt.Sprintf("no tool has these words: did you mean %q?", strings.Join(words, " "))
	}
	return "no tool has these words: try others, or fewer; `ferrule tools` lists what there is"
}
