package agent

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ferrule-dev/ferrule/provider"
)

// usualTurns is how many answers a run has at most.
const usualTurns = 50

var errTime = errors.New("agent: the time of the run is over")

// exceeded says which budget a run has used up; "": none.
func (b *Budget) exceeded(used Tally) string {
	tokens := used.Usage.Input + used.Usage.Output
	switch turns := cmp.Or(b.Turns, usualTurns); {
	case used.Turns >= turns && turns == 1:
		return "1 turn"
	case used.Turns >= turns:
		return fmt.Sprintf("%d turns", turns)
	case b.Tokens > 0 && tokens >= b.Tokens:
		return fmt.Sprintf("%d of %d tokens", tokens, b.Tokens)
	case b.Money > 0 && used.Money >= b.Money:
		return fmt.Sprintf("%g of %g in money", used.Money, b.Money)
	}
	return ""
}

// cost is what a request cost; 0 where nobody says.
func (b *Budget) cost(model string, u provider.Usage) (float64, error) {
	if b.Price == nil {
		return 0, nil
	}
	cost, err := guarded(func() (float64, error) { return b.Price(model, u), nil })
	if err != nil {
		return 0, fmt.Errorf("agent: Budget.Price: %w", err)
	}
	return cost, nil
}
