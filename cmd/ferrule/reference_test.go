package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestReference compares docs/commands.md with what the commands say of themselves:
//
//	go test ./cmd/ferrule -run TestReference -update
func TestReference(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "docs", "commands.md")
	got := reference()
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("Y4 docs/commands.md has every command and flag", func(t *testing.T) {
		want, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), got) {
			t.Errorf("%s is not what the commands say of themselves: go test ./cmd/ferrule -run TestReference -update", page)
		}
	})
}

// reference is the page.
func reference() []byte {
	p := &program{dir: ".", now: time.Now}
	root := p.root()
	var b bytes.Buffer
	b.WriteString(`# Reference: commands

Every command with its flags, as ` + "`ferrule COMMAND --help`" + ` has them. This page is generated: ` + "`go test ./cmd/ferrule -run TestReference -update`" + `
writes it. [program.md](program.md) says what the commands do together, [exit-codes.md](exit-codes.md) how they end.

| command | |
|---|---|
`)
	var all []*cobra.Command
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" {
				continue
			}
			all = append(all, sub)
			if sub.Name() != "completion" { // whose texts are the library's
				collect(sub)
			}
		}
	}
	collect(root)
	for _, c := range all {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
	}
	b.WriteString("\nEvery command has these flags:\n\n")
	flagTable(&b, root.PersistentFlags())
	for _, c := range all {
		entry(&b, c)
	}
	return b.Bytes()
}

// entry is what the page has of one command.
func entry(b *bytes.Buffer, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	if c.Runnable() {
		fmt.Fprintf(b, "`%s`\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	}
	if c.Long == "" || c.Name() == "completion" {
		fmt.Fprintf(b, "%s.\n", c.Short)
	} else {
		fmt.Fprintf(b, "%s\n", prose(c.Long))
	}
	if c.HasExample() {
		fmt.Fprintf(b, "\n```sh shown\n%s\n```\n", unindented(c.Example))
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() {
		b.WriteString("\n")
		flagTable(b, c.LocalNonPersistentFlags())
	}
}

// prose is a help text as a page has it: what is indented stays as it stands.
func prose(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if strings.HasPrefix(part, " ") {
			fmt.Fprintf(&b, "```text\n%s\n```", part)
			continue
		}
		for i, piece := range strings.Split(part, "`") {
			if i%2 == 1 {
				b.WriteString("`" + piece + "`")
				continue
			}
			b.WriteString(strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(piece))
		}
	}
	return b.String()
}

// unindented is a text without the white space that its first line begins with.
func unindented(text string) string {
	text = strings.Trim(text, "\n")
	lead := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return strings.TrimRight(strings.ReplaceAll("\n"+text, "\n"+lead, "\n")[1:], " \n")
}

func flagTable(b *bytes.Buffer, flags *pflag.FlagSet) {
	b.WriteString("| flag | |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, about := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" {
			name += " " + kind
		}
		switch f.DefValue {
		case "", "false", "0", "[]", "0s":
		default:
			about += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(about, "|", `\|`))
	})
}
