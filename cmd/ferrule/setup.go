package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func (p *program) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented ferrule.yaml to begin with",
		Args:  exactly(),
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
	return cmd
}

// version is what the program is made of.
type version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func thisVersion() version {
	v := version{Version: "(unknown)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	return v
}

func (p *program) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print which version this is",
		Args:  exactly(),
		RunE: p.do(func(*cobra.Command, []string) error {
			v := thisVersion()
			if p.json {
				return p.printJSON(v)
			}
			p.printf("ferrule %s, %s, %s\n", v.Version, v.Go, v.System)
			return nil
		}),
	}
	p.jsonFlag(cmd)
	return cmd
}
