package pages

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Page string
	Line int // of the fence
	Lang string
	Text string
	// Output is what a program or command must print; nil: the page does not say.
	Output *Block

	Exit  int    // sh: the status of its last command
	Shown bool   // sh: not run
	Stays bool   // sh: it runs until the page ends
	Asks  bool   // sh: it waits for a person, who allows it
	Part  bool   // yaml: only a piece of a configuration
	File  string // go: what the reader is told to save it as
}

// String is where the block is.
func (b *Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Program reports whether the block is a whole program.
func (b *Block) Program() bool {
	if b.Lang != "go" {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", b.Text, parser.PackageClauseOnly)
	return err == nil && f.Name.Name == "main"
}

// Read finds the fenced blocks of a page, in order. Its error has every fault.
func Read(page, text string) ([]*Block, error) {
	var (
		all    []*Block
		faults []error
		open   *Block
		indent string
		line   int
	)
	for whole := range strings.Lines(text) {
		line++
		at := strings.TrimRight(whole, "\r\n")
		bare := strings.TrimLeft(at, " ")
		info, fence := strings.CutPrefix(bare, "```")
		switch {
		case open == nil && fence:
			indent = at[:len(at)-len(bare)]
			open = &Block{Page: page, Line: line}
			if err := open.describe(strings.Fields(info)); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", open, err))
			}
		case open != nil && fence && info == "":
			all = append(all, open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(at, indent) + "\n"
		}
	}
	if open != nil {
		faults = append(faults, fmt.Errorf("%s: the block does not end", open))
	}
	for i, b := range all {
		if b.Lang != "output" {
			continue
		}
		if i == 0 || !all[i-1].Program() && (all[i-1].Lang != "sh" || all[i-1].Shown) {
			faults = append(faults, fmt.Errorf("%s: output of nothing: want it behind a go program or an sh block that is run", b))
			continue
		}
		all[i-1].Output = b
	}
	return all, errors.Join(faults...)
}

// describe takes what stands behind the fence.
func (b *Block) describe(words []string) error {
	const want = "go, sh, output, yaml, json, cedar, ini or text"
	if len(words) == 0 {
		return errors.New("block: got no language, want " + want)
	}
	b.Lang = words[0]
	if !slices.Contains([]string{"go", "sh", "output", "yaml", "json", "cedar", "ini", "text"}, b.Lang) {
		return fmt.Errorf("block: got the language %q, want %s", b.Lang, want)
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch b.Lang + " " + key {
		case "sh shown":
			b.Shown = true
		case "sh stays":
			b.Stays = true
		case "sh asks":
			b.Asks = true
		case "sh exit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 255 {
				return fmt.Errorf("block: got %q, want exit= and a status from 1 to 255", word)
			}
			b.Exit = n
		case "yaml part":
			b.Part = true
		case "go file":
			b.File = value
		default:
			return fmt.Errorf("block: got %q behind %s, want shown, stays, asks or exit=N behind sh, part behind yaml, file=PATH behind go", word, b.Lang)
		}
	}
	return nil
}
