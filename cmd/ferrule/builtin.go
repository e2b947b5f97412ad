package main

import (
	"context"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/tool"
)

// absent is a tool that is not offered, and why.
type absent struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// tools are those that come with the program, as the configuration wants them.
// state is where they keep what outlives a process. end is called when nothing
// runs any more.
func (p *program) tools(_ context.Context, c *config.Config, state string) (list []*tool.Tool, missing []absent, end func() error, err error) {
	_ = state
	for _, group := range config.Groups() {
		if !c.Tools.Has(group) {
			missing = append(missing, absent{group, "tools." + group + " is false in the configuration"})
		}
	}
	return list, missing, nil, nil
}
