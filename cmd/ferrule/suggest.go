package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/store"
)

// suggestion is a rule that would have said yes where people did.
type suggestion struct {
	Rule     string `json:"rule"`
	Times    int    `json:"times"`
	Destroys bool   `json:"destroys"`
	Example  string `json:"example"` // arguments that were allowed
}

// often is how many times something must have been allowed.
const often = 3

func (p *program) suggestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Propose rules from what was allowed again and again",
		Long: `Propose rules for what was allowed three times or more and never rejected, as
YAML for ferrule.yaml. Rules for what may destroy something are commented out.`,
		Example: `  ferrule rules suggest`,
		Args:    exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			return p.withRules(cmd.Context(), func(_ *config.Config, s *store.Store, _ []lasting) error {
				var said []store.Answered
				if s != nil {
					var err error
					if said, err = s.Answered(cmd.Context(), time.Time{}); err != nil {
						return err
					}
				}
				list := suggest(said)
				if p.json {
					return p.printJSON(append([]suggestion{}, list...))
				}
				p.printSuggestions(list)
				return nil
			})
		}),
	}
	p.jsonFlag(cmd)
	return cmd
}

func (p *program) printSuggestions(list []suggestion) {
	if len(list) == 0 {
		p.printf("# nothing was allowed %d times or more and never rejected\n", often)
		return
	}
	p.printf("policy:\n  allow:\n")
	for _, s := range list {
		p.printf("    # allowed %d times, such as %s\n", s.Times, brief(s.Example))
		mark := "- "
		if s.Destroys {
			p.printf("    # It may destroy something: take the # away if that is meant.\n")
			mark = "#- "
		}
		p.printf("    %s%s\n", mark, strconv.Quote(s.Rule))
	}
}

// suggest finds, for each call that was allowed, the narrowest of the rules
// offered for it that was offered for enough calls that were allowed, and for
// none that was rejected. A rule whose calls all fit a wider one of them is left
// out.
func suggest(said []store.Answered) []suggestion {
	yes := make(map[string][]int) // by rule: which of said
	no := make(map[string]bool)
	for i, a := range said {
		for _, rule := range a.Question.Offers {
			switch {
			case !a.Answer.Allow:
				no[rule] = true
			case counts(a):
				yes[rule] = append(yes[rule], i)
			}
		}
	}
	chosen := make(map[string]bool)
	for _, a := range said {
		if !counts(a) {
			continue
		}
		i := slices.IndexFunc(a.Question.Offers, func(rule string) bool { return !no[rule] && len(yes[rule]) >= often })
		if i >= 0 {
			chosen[a.Question.Offers[i]] = true
		}
	}
	var list []suggestion
	for rule := range maps.Keys(chosen) {
		if slices.ContainsFunc(slices.Collect(maps.Keys(chosen)), func(wide string) bool { return within(yes[rule], yes[wide], rule, wide) }) {
			continue
		}
		s := suggestion{Rule: rule, Times: len(yes[rule]), Example: said[yes[rule][0]].Question.Input}
		for _, i := range yes[rule] {
			s.Destroys = s.Destroys || said[i].Question.Claims.Destructive()
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Rule, b.Rule))
	})
	return list
}

// counts reports whether an answer was a yes to the call as it was shown.
func counts(a store.Answered) bool {
	return a.Answer.Allow && a.Answer.Input == nil && a.Question.Wants == "" && !a.Answer.Withdrawn
}

// within reports whether a rule has only calls that a wider one has too.
func within(narrow, wide []int, rule, other string) bool {
	return rule != other && len(narrow) < len(wide) && !slices.ContainsFunc(narrow, func(i int) bool { return !slices.Contains(wide, i) })
}
