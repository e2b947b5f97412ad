package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule"
)

// costs is what definitions take of every prompt, in tokens, about.
type costs struct {
	Tokens   int          `json:"tokens"`
	Deferred int          `json:"deferred_tokens"` // with tool_search in their place
	Servers  []serverCost `json:"servers"`
	Tools    []toolCost   `json:"tools"`
}

type serverCost struct {
	Source string `json:"source"` // "": the program's own
	Tools  int    `json:"tools"`
	Tokens int    `json:"tokens"`
}

type toolCost struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Tokens int    `json:"tokens"`
}

// costsOf counts what a view offers, the dearest first.
func costsOf(v *ferrule.View) (c costs) {
	c.Servers, c.Tools = []serverCost{}, []toolCost{}
	for t, tokens := range v.Costs() {
		one := toolCost{t.Name, t.Source.Name, tokens}
		c.Tools = append(c.Tools, one)
		i := slices.IndexFunc(c.Servers, func(s serverCost) bool { return s.Source == one.Source })
		if i < 0 {
			i = len(c.Servers)
			c.Servers = append(c.Servers, serverCost{Source: one.Source})
		}
		c.Servers[i].Tools++
		c.Servers[i].Tokens += one.Tokens
		c.Tokens += one.Tokens
	}
	slices.SortStableFunc(c.Servers, func(a, b serverCost) int { return cmp.Compare(b.Tokens, a.Tokens) })
	slices.SortStableFunc(c.Tools, func(a, b toolCost) int { return cmp.Compare(b.Tokens, a.Tokens) })
	for _, tokens := range v.Defer(ferrule.DeferOptions{}).Costs() {
		c.Deferred += tokens
	}
	return c
}

// printCosts prints a bar for each server, then the tools, then what deferral saves.
func (p *program) printCosts(ctx context.Context, h *host) error {
	c := costsOf(h.session(newSession(), "").View(ctx))
	if p.json {
		return p.printJSON(c)
	}
	share := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(max(c.Tokens, 1))) }
	const widest = 30
	rows := [][]string{{"SERVER", "TOOLS", "TOKENS", "SHARE", ""}}
	for _, s := range c.Servers {
		bar := strings.Repeat("█", max(1, widest*s.Tokens/max(c.Servers[0].Tokens, 1)))
		rows = append(rows, []string{cmp.Or(s.Source, "own"), strconv.Itoa(s.Tools), strconv.Itoa(s.Tokens), share(s.Tokens), bar})
	}
	p.printTable(rows)
	p.printf("\n")
	rows = [][]string{{"TOOL", "TOKENS", "SHARE"}}
	for _, t := range c.Tools {
		rows = append(rows, []string{t.Name, strconv.Itoa(t.Tokens), share(t.Tokens)})
	}
	p.printTable(rows)
	p.printf("\nabout %s in every prompt; deferred, with tool_search in their place, %d", plural(int64(c.Tokens), "token", "tokens"), c.Deferred)
	if saved := c.Tokens - c.Deferred; saved > 0 {
		p.printf(": %s less", share(saved))
	}
	p.printf("\n")
	return nil
}
