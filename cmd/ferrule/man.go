package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: `Write a manual page for each command into a folder, which is made: ferrule.1,
ferrule-up.1 and so on. Releases have them already.`,
		Example: `  ferrule man ~/.local/share/man/man1`,
		Args:    exactly("DIR"),
		RunE:    p.do(func(cmd *cobra.Command, args []string) error { return p.writeManual(cmd.Root(), p.path(args[0])) }),
	}
}

// writeManual writes a page for each command that is shown. It has the date of the
// version, not of today: the same program writes the same pages.
func (p *program) writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // for everyone, as manual pages are
		return fmt.Errorf("man: %w", err)
	}
	v, n := thisVersion(), 0
	var write func(cmd *cobra.Command) error
	write = func(cmd *cobra.Command) error {
		n++
		name := filepath.Join(dir, pageName(cmd)+".1")
		if err := os.WriteFile(name, []byte(manualPage(cmd, v)), 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("man: %w", err)
		}
		for _, sub := range shownCommands(cmd) {
			if err := write(sub); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(root); err != nil {
		return err
	}
	p.printf("wrote %s to %s\n", plural(int64(n), "page", "pages"), dir)
	return nil
}

// shownCommands are those below a command that have a page.
func shownCommands(cmd *cobra.Command) (list []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			list = append(list, sub)
		}
	}
	return list
}

// pageName is ferrule-approvals-allow of `ferrule approvals allow`.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// roff writes a manual page: man(7).
type roff struct{ strings.Builder }

// manualPage is the page of a command.
func manualPage(cmd *cobra.Command, v version) string {
	var r roff
	date, _, _ := strings.Cut(v.Date, "T")
	fmt.Fprintf(&r, ".TH %q 1 %q %q %q\n", plain(strings.ToUpper(pageName(cmd))), plain(date), plain("ferrule "+v.Version), "Ferrule")
	r.section("NAME")
	fmt.Fprintf(&r, "%s \\- %s\n", plain(pageName(cmd)), plain(cmd.Short))
	r.section("SYNOPSIS")
	r.line(`\fB` + plain(cmd.CommandPath()) + `\fR` + plain(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())))
	r.section("DESCRIPTION")
	if long := strings.TrimSpace(cmd.Long); long != "" {
		r.text(long)
	} else {
		r.text(cmd.Short + ".")
	}
	if subs := shownCommands(cmd); len(subs) > 0 {
		r.section("COMMANDS")
		for _, sub := range subs {
			r.item(`\fB`+plain(pageName(sub))+`\fR(1)`, sub.Short)
		}
	}
	r.flags("OPTIONS", cmd.NonInheritedFlags())
	r.flags("GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		r.section("EXAMPLES")
		r.literal(strings.Split(strings.Trim(cmd.Example, "\n"), "\n"))
	}
	if !cmd.HasParent() {
		r.section("EXIT STATUS")
		for _, s := range []struct {
			code int
			text string
		}{
			{statusDone, "it is done"},
			{statusFailed, "it failed"},
			{statusUsage, "wrong usage or configuration"},
			{statusDenied, "a call was denied or rejected"},
			{statusToolFailed, "a tool returned an error"},
			{statusInterrupted, "it was interrupted"},
		} {
			r.item(fmt.Sprintf(`\fB%d\fR`, s.code), s.text)
		}
	}
	r.section("SEE ALSO")
	if cmd.HasParent() {
		r.line(`\fB` + plain(pageName(cmd.Parent())) + `\fR(1)`)
	} else {
		r.line(plain("https://github.com/ferrule-dev/ferrule, with all of the documentation below docs"))
	}
	return r.String()
}

func (r *roff) section(name string) { fmt.Fprintf(r, ".SH %q\n", name) }

// line writes text that is escaped already as a line that is no request.
func (r *roff) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	r.WriteString(text + "\n")
}

// item writes a term, escaped already, and what it is.
func (r *roff) item(term, text string) {
	r.WriteString(".TP\n")
	r.line(term)
	r.line(code(text))
}

// text writes paragraphs. Lines that are indented stay as they are.
func (r *roff) text(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		if i > 0 {
			r.WriteString(".PP\n")
		}
		if strings.HasPrefix(lines[0], " ") || strings.HasPrefix(lines[0], "\t") {
			r.literal(lines)
			continue
		}
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" {
				r.line(code(line))
			}
		}
	}
}

// literal writes lines as they are.
func (r *roff) literal(lines []string) {
	r.WriteString(".nf\n.RS 4\n")
	for _, line := range lines {
		r.line(plain(strings.TrimSpace(line)))
	}
	r.WriteString(".RE\n.fi\n")
}

// flags writes a section about flags, if there are some.
func (r *roff) flags(title string, set *pflag.FlagSet) {
	first := true
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if first {
			r.section(title)
			first = false
		}
		term := plain("--" + f.Name)
		if f.Shorthand != "" {
			term = plain("-"+f.Shorthand) + ", " + term
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != strings.ToUpper(value) { // the name of a type, or words that are code
			value, usage = "", f.Usage
			if f.Value.Type() != "bool" && f.NoOptDefVal == "" {
				value = "VALUE"
			}
		}
		term = `\fB` + term + `\fR`
		if value != "" {
			term += ` \fI` + plain(value) + `\fR`
		}
		switch f.DefValue {
		case "", "0", "0s", "false", "[]":
		default:
			if !strings.Contains(usage, "(default") {
				usage += " (default " + f.DefValue + ")"
			}
		}
		r.item(term, usage)
	})
}

// plain escapes text. What roff has no letter for is named by its number.
func plain(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '\'':
			b.WriteString(`\(aq`) // else it is a curly one, which no shell knows
		case c == '`':
			b.WriteString(`\(ga`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '~':
			b.WriteString(`\(ti`)
		case c == '"':
			b.WriteString(`\(dq`)
		case c == '…':
			b.WriteString("...")
		case c == '\t':
			b.WriteString("    ")
		case c > 126:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// code escapes text, and sets what stands between backquotes in bold.
func code(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return plain(text) // one is alone
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 1 {
			part = `\fB` + plain(part) + `\fR`
		} else {
			part = plain(part)
		}
		b.WriteString(part)
	}
	return b.String()
}
