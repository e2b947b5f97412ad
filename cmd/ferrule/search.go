package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/search/endpoint"
	"github.com/ferrule-dev/ferrule/search/vectors"
	"github.com/ferrule-dev/ferrule/secret"
)

func (p *program) searchCommand() *cobra.Command {
	limit := 10
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find tools by words and meaning, with why each was found",
		Long: `Find tools as an agent does that has tool_search: by words and by meaning, the best
first, with the words that were found and where, and how near the meaning is (1 is the
same). Near copies stand beside the one that is shown. select:NAME,NAME finds exact
names. Servers of the configuration are connected to; no tool runs.`,
		Example: `  ferrule search open a ticket
  ferrule search "select:fs_read" --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return fmt.Errorf("got %d arguments, want WORDS", len(args))
			}
			return nil
		},
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usage("--limit: got %d, want 1 or more", limit)
			}
			return p.with(cmd.Context(), hosting{looks: true, servers: true, waits: true}, func(h *host) error {
				return p.search(cmd.Context(), h, strings.Join(args, " "), limit)
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "how many to show")
	p.jsonFlag(cmd)
	return cmd
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

// foundTool is a tool that a search found.
type foundTool struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Score       float64  `json:"score"`
	Meaning     float64  `json:"meaning"`
	Why         string   `json:"why"`
	Alike       []string `json:"alike,omitempty"`
	Description string   `json:"description"`
}

func (p *program) search(ctx context.Context, h *host, text string, limit int) error {
	answer := h.session(newSession(), "").View(ctx).Search(ctx, text, limit)
	list := make([]foundTool, len(answer.Hits))
	for i, hit := range answer.Hits {
		d := hit.Document
		list[i] = foundTool{Name: d.ID, Source: d.Source, Score: hit.Score, Meaning: hit.Angle, Why: hit.Why(), Description: d.Description}
		for _, a := range hit.Alike {
			list[i].Alike = append(list[i].Alike, a.ID)
		}
	}
	fault := ""
	if answer.Fault != nil {
		fault = terminal.Visible(answer.Fault.Error())
	}
	fits := len(list) > 0 && answer.Fit >= search.Fits
	if p.json {
		return p.printJSON(struct {
			Tools []foundTool `json:"tools"`
			Fit   float64     `json:"fit"`
			Fits  bool        `json:"fits"`
			Fault string      `json:"fault,omitempty"`
		}{list, answer.Fit, fits, fault})
	}
	if fault != "" {
		p.complain("ferrule: what is meant did not count: " + fault)
	}
	for _, name := range answer.Missing {
		p.printf("there is no tool %s\n", terminal.Visible(name))
	}
	switch {
	case len(list) == 0 && len(answer.Missing) == 0:
		p.printf("no tool has these words\n")
	case len(list) > 0 && !fits:
		p.printf("no tool seems to fit; the nearest:\n")
	}
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"TOOL", "SCORE", "WHY", "DESCRIPTION"}}
	for _, f := range list {
		first, _, _ := strings.Cut(strings.TrimSpace(f.Description), "\n")
		why := f.Why
		if len(f.Alike) > 0 {
			why += "; much the same: " + strings.Join(f.Alike, " ")
		}
		rows = append(rows, []string{f.Name, strconv.FormatFloat(f.Score, 'f', 2, 64), strings.TrimPrefix(why, "; "), terminal.Brief(first, 60)})
	}
	p.printTable(rows)
	return nil
}
