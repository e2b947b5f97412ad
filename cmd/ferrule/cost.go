package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// costs is what definitions take of every prompt, in tokens, about.
type costs struct {
	Tokens   int          `json:"tokens"`
	Deferred int          `json:"deferred_tokens"` // with tool_search in their place
	Auto     string       `json:"auto"`            // what auto would do: full or deferred
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
func costsOf(v *ferrule.View, o ferrule.DeferOptions) (c costs) {
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
	for _, tokens := range v.Defer(o).Costs() {
		c.Deferred += tokens
	}
	c.Auto = "full"
	if v.Auto(0, o) != v {
		c.Auto = "deferred"
	}
	return c
}

// share is a part of a whole, in words: what is there is not 0 %, and what is not all
// is not 100 %.
func share(n, whole int) string {
	switch percent := 100 * float64(n) / float64(max(whole, 1)); {
	case n > 0 && percent < 1:
		return "less than 1 %"
	case n < whole && percent > 99:
		return "more than 99 %"
	default:
		return fmt.Sprintf("%.0f %%", percent)
	}
}

// grouped is a number with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// printCosts prints a bar for each server, then the tools, then what deferral saves.
func (p *program) printCosts(ctx context.Context, h *host) error {
	c := costsOf(h.session(newSession(), "").View(ctx), ferrule.DeferOptions{Names: h.config.Listen.Names})
	if p.json {
		return p.printJSON(c)
	}
	if len(c.Tools) == 0 {
		p.printf("there are no tools: nothing is in any prompt\n")
		return nil
	}
	const widest = 30
	rows := [][]string{{"SERVER", "TOOLS", "TOKENS", "SHARE", ""}}
	for _, s := range c.Servers {
		bar := strings.Repeat("█", max(1, widest*s.Tokens/max(c.Tokens, 1)))
		rows = append(rows, []string{cmp.Or(s.Source, "own"), strconv.Itoa(s.Tools), grouped(s.Tokens), share(s.Tokens, c.Tokens), bar})
	}
	p.printTable(rows)
	p.printf("\n")
	rows = [][]string{{"TOOL", "TOKENS", "SHARE"}}
	for _, t := range c.Tools {
		rows = append(rows, []string{t.Name, grouped(t.Tokens), share(t.Tokens, c.Tokens)})
	}
	p.printTable(rows)
	p.printf("\n")
	p.printText(c.summary())
	return nil
}

// summary says what is in every prompt, and what would be if tools were deferred.
func (c *costs) summary() string {
	noun := "tokens"
	if c.Tokens == 1 {
		noun = "token"
	}
	text := fmt.Sprintf("about %s %s in every prompt; deferred, with tool_search in their place, %s", grouped(c.Tokens), noun, grouped(c.Deferred))
	if saved := c.Tokens - c.Deferred; saved > 0 {
		text += ": " + share(saved, c.Tokens) + " less"
	}
	if c.Auto == "deferred" {
		return text + "\nauto would defer them: they take more than a tenth of a context of 200,000 tokens"
	}
	return text + "\nauto lists them all: they take no more than a tenth of a context of 200,000 tokens"
}

// printText prints lines, which on a terminal go on below where they are too long.
func (p *program) printText(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		parts := []string{line}
		if terminal.Is(p.stdout) {
			parts = slices.Collect(wrap(line, max(p.width(), 20)))
		}
		for _, part := range parts {
			p.printf("%s\n", strings.TrimRight(part, " "))
		}
	}
}
