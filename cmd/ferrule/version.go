package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// What the linker writes into a release: see internal/release. Where it has not, what
// Go itself knows of the build counts.
//
//nolint:gochecknoglobals // the linker can set nothing else
var releaseVersion, releaseCommit, releaseDate string

// version is what the program is made of.
type version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // "": it is not known
	Date    string `json:"date,omitempty"`   // of the commit, in UTC
	// Modified: it is not quite the commit, somebody had changed files.
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

func thisVersion() version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	v := versionOf(info)
	v.Version, v.Commit, v.Date = cmp.Or(releaseVersion, v.Version), cmp.Or(releaseCommit, v.Commit), cmp.Or(releaseDate, v.Date)
	return v
}

// versionOf is what Go knows: of `go install …@v1.2.3` the version, of `go build` in a
// clone the commit, too.
func versionOf(info *debug.BuildInfo) version {
	v := version{Version: cmp.Or(info.Main.Version, "(unknown)"), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String is all of it in one line.
func (v version) String() string {
	text := "ferrule " + v.Version
	if v.Commit != "" {
		text += ", commit " + v.Commit[:min(len(v.Commit), 12)]
		if v.Modified {
			text += " with changes"
		}
	}
	if v.Date != "" {
		text += " of " + v.Date
	}
	return fmt.Sprintf("%s, %s, %s", text, v.Go, v.System)
}

func (p *program) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print which version this is",
		Example: `  ferrule version
  ferrule version --json`,
		Args: exactly(),
		RunE: p.do(func(*cobra.Command, []string) error {
			v := thisVersion()
			if p.json {
				return p.printJSON(v)
			}
			p.printf("%s\n", v)
			return nil
		}),
	}
	p.jsonFlag(cmd)
	return cmd
}
