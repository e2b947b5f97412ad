package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func (p *program) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:        "init",
		SuggestFor: []string{"setup", "config"},
		Short:      "Write a commented ferrule.yaml to begin with",
		Example: `  ferrule init
  ferrule init --config rules/ferrule.yaml`,
		Args: exactly(),
		RunE: p.do(func(*cobra.Command, []string) error {
			path := filepath.Join(p.dir, config.Name)
			if p.config != "" {
				path = p.path(p.config)
			}
			switch err := config.Create(path, force); {
			case errors.Is(err, fs.ErrExist):
				return usage("init: %s is there already: --force overwrites it", path)
			case err != nil:
				return fmt.Errorf("init: %w", err)
			}
			p.printf("wrote %s\n", path)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	return confirms(cmd)
}
