package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
)

func (p *program) pinsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pins",
		Short: "Show what the tools of MCP servers were accepted as, and accept changes",
		Long: `Show how the tools of MCP servers stand to what was accepted of them. A tool that has
changed, or that hides something, is not offered until it is accepted; one that is new to a
known server is asked for. docs/mcp.md says more.`,
		Example: `  ferrule pins
  ferrule pins diff github`,
		Args: known,
		RunE: p.do(func(*cobra.Command, []string) error { return p.listPins("") }),
	}
	p.jsonFlag(cmd)
	show := &cobra.Command{
		Use:     "show SERVER",
		Short:   "Show all tools of a server, and how they stand",
		Example: `  ferrule pins show github`,
		Args:    exactly("SERVER"),
		RunE:    p.do(func(_ *cobra.Command, args []string) error { return p.listPins(args[0]) }),
	}
	p.jsonFlag(show)
	cmd.AddCommand(show, p.pinsDiffCommand(), p.pinsAcceptCommand(), p.pinsRejectCommand(), p.pinsForgetCommand())
	return cmd
}

// pinsOf are those of the state directory.
func (p *program) pinsOf(c *config.Config) *mcptool.Pins {
	return &mcptool.Pins{Dir: filepath.Join(p.homeOf(c), pinsDir)}
}

// reached is how a server is reached that the configuration names, as far as that says
// which server it is.
func reached(c *config.Config, s config.Server) mcptool.Server {
	return mcptool.Server{Name: s.Name, Command: s.Command, Dir: cmp.Or(s.Dir, filepath.FromSlash(c.Workspace)), WrittenEnv: s.Env, URL: s.URL}
}

// knownPins is what is known of each server: as the configuration has it reached, or,
// where it was never reached so, or is not there, as it was last reached. A file that
// cannot be read is an error, beside what could be.
func (p *program) knownPins() (*mcptool.Pins, []mcptool.Pinned, error) {
	c, err := p.load()
	if err != nil {
		return nil, nil, err
	}
	pins := p.pinsOf(c)
	all, err := pins.All() // those of a server are beside each other, the last used first
	all = slices.CompactFunc(all, func(a, b mcptool.Pinned) bool { return a.Server == b.Server })
	for i := range all {
		at := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == all[i].Server })
		if at < 0 {
			continue
		}
		if now, wrong := pins.As(reached(c, c.Servers[at])); wrong == nil && !now.First.IsZero() {
			all[i] = now
		}
	}
	return pins, all, err
}

// noPins is that nothing is known of a server.
func noPins(all []mcptool.Pinned, server string) error {
	var names []string
	for i := range all {
		names = append(names, all[i].Server)
	}
	return fmt.Errorf("pins: nothing is known of a server %q%s", server, orList(nearest(server, names), "want one that `ferrule pins` lists"))
}

// pinnedOf is what is known of a server.
func (p *program) pinnedOf(server string) (*mcptool.Pins, mcptool.Pinned, error) {
	pins, all, err := p.knownPins()
	i := slices.IndexFunc(all, func(s mcptool.Pinned) bool { return s.Server == server })
	switch {
	case i >= 0:
		if err != nil {
			p.complain("ferrule: " + err.Error())
		}
		return pins, all[i], nil
	case err != nil:
		return pins, mcptool.Pinned{}, err
	}
	return pins, mcptool.Pinned{}, noPins(all, server)
}

// pinRow is one tool, for programs.
type pinRow struct {
	Server   string    `json:"server"`
	Tool     string    `json:"tool"`
	State    string    `json:"state"`
	Digest   string    `json:"digest"`
	Since    time.Time `json:"since"`
	By       string    `json:"by,omitempty"`
	Why      string    `json:"why,omitempty"`
	Rejected string    `json:"rejected,omitempty"`
	RenameOf string    `json:"rename_of,omitempty"`
	Findings []string  `json:"findings,omitempty"`
	Content  []remark  `json:"content,omitempty"` // what reads like an attempt to steer a model
}

func pinRowOf(server string, t *mcptool.Pin, found []remark) pinRow {
	return pinRow{server, t.Tool, string(t.State), t.Digest, t.Since, t.By, t.Why, t.Rejected, t.RenameOf, t.Findings, found}
}

// listPins lists those of all servers, or of one.
func (p *program) listPins(only string) error {
	_, all, err := p.knownPins()
	if err != nil && len(all) == 0 {
		return err
	}
	if err != nil {
		p.complain("ferrule: " + err.Error())
	}
	all = slices.DeleteFunc(all, func(s mcptool.Pinned) bool { return only != "" && only != s.Server })
	look, err := p.finder()
	if err != nil {
		return err
	}
	rows := []pinRow{}
	found := make(map[string][]remark)
	for _, s := range all {
		found[s.Server] = remarksOf(look, &s)
		for i := range s.Tools {
			rows = append(rows, pinRowOf(s.Server, &s.Tools[i], slices.DeleteFunc(slices.Clone(found[s.Server]), func(r remark) bool { return r.Tool != s.Tools[i].Tool })))
		}
	}
	switch {
	case p.json:
		return p.printJSON(rows)
	case len(all) == 0 && only != "":
		return noPins(all, only)
	case len(all) == 0:
		p.printf("nothing is pinned yet: the tools of a server are when it is first reached\n")
		return nil
	case only != "":
		p.printTable(append([][]string{{"TOOL", "STATE", "BY", "WHY"}}, pinCells(rows)...))
		p.printRemarks(only, found[only])
	default:
		p.printPinned(all)
		for _, s := range all {
			p.printRemarks(s.Server, found[s.Server])
		}
	}
	return nil
}

// printPinned prints a line for each server, and one for each tool that waits.
func (p *program) printPinned(all []mcptool.Pinned) {
	table := [][]string{{"SERVER", "TOOLS", "WAIT", "REACHED BY"}}
	var waiting []string
	for i := range all {
		s := &all[i]
		waits := s.Waiting()
		table = append(table, []string{s.Server, strconv.Itoa(len(s.Tools)), strconv.Itoa(len(waits)), mcptool.Visible(s.Identity)})
		for _, t := range waits {
			waiting = append(waiting, fmt.Sprintf("%s: %s is %s%s", s.Server, mcptool.Visible(t.Tool), t.State, prefixed(": ", t.Why)))
		}
	}
	p.printTable(table)
	if len(waiting) == 0 {
		return
	}
	p.printf("\n%s\n\nferrule pins diff SERVER shows what it is.\n", strings.Join(waiting, "\n"))
}

// pinCells are rows of tools of one server.
func pinCells(rows []pinRow) (cells [][]string) {
	for _, r := range rows {
		state := r.State
		if r.Rejected != "" {
			state += ", rejected by " + mcptool.Visible(r.Rejected)
		}
		cells = append(cells, []string{mcptool.Visible(r.Tool), state, mcptool.Visible(r.By), r.Why})
	}
	return cells
}

// chosenPins are those tools of a server that are named behind it, or all that wait.
func (p *program) chosenPins(args []string) (pins *mcptool.Pins, known mcptool.Pinned, chosen []mcptool.Pin, err error) {
	pins, known, err = p.pinnedOf(args[0])
	if err != nil || len(args) == 1 {
		return pins, known, known.Waiting(), err
	}
	for _, name := range args[1:] {
		i := slices.IndexFunc(known.Tools, func(t mcptool.Pin) bool { return t.Tool == name })
		if i < 0 {
			return pins, known, nil, fmt.Errorf("pins: server %s has no tool %q: ferrule pins show %s lists them", known.Server, name, known.Server)
		}
		chosen = append(chosen, known.Tools[i])
	}
	return pins, known, chosen, nil
}

// shownBits is how much of a digest a person is given, and gives back: the server
// chooses what is digested, so that less could be made to name two things at once.
const shownBits = 128

// shownDigest is a digest as it is shown.
func shownDigest(sum []byte) string { return hex.EncodeToString(sum[:shownBits/8]) }

// pinsAs names exactly these definitions, of a server that is reached in one way.
func pinsAs(of *mcptool.Pinned, pins []mcptool.Pin) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", of.Server, of.Identity)
	for _, t := range pins {
		fmt.Fprintf(h, "%q %q\n", t.Tool, t.Digest)
	}
	return shownDigest(h.Sum(nil))
}

// someOf wants arguments, the first of which has a name.
func someOf(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("got no arguments, want %s", name)
		}
		return nil
	}
}

func (p *program) pinsDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff SERVER [TOOL…]",
		Short: "Show what tools are now, beside what was accepted; without a TOOL all that wait",
		Example: `  ferrule pins diff github
  ferrule pins diff github create_issue`,
		Args: someOf("SERVER"),
		RunE: p.do(func(_ *cobra.Command, args []string) error {
			_, known, chosen, err := p.chosenPins(args)
			if err != nil {
				return err
			}
			if len(chosen) == 0 {
				p.printf("%s: all tools are as they were accepted\n", known.Server)
				return nil
			}
			look, err := p.finder()
			if err != nil {
				return err
			}
			for i := range chosen {
				t := &chosen[i]
				p.printf("%s: %s%s\n", mcptool.Visible(t.Tool), t.State, prefixed(": ", t.Why))
				for line := range strings.Lines(cmp.Or(t.Diff(), "as it was accepted\n")) {
					p.printf("    %s\n", strings.TrimRight(line, "\n"))
				}
				for _, r := range lookAt(look, t.Definition()) {
					p.printf("  ! %s\n", r)
				}
			}
			if !slices.ContainsFunc(chosen, func(t mcptool.Pin) bool { return t.Now != nil }) {
				return nil
			}
			p.printf("\nTo accept exactly this: ferrule pins accept %s --as %s\n", strings.Join(args, " "), pinsAs(&known, chosen))
			return nil
		}),
	}
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}
