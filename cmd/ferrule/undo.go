package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/undo"
)

// undoing are the flags of undo.
type undoing struct {
	session          string
	last, dry, force bool
}

func (p *program) undoCommand() *cobra.Command {
	var f undoing
	cmd := &cobra.Command{
		Use:        "undo [ID…]",
		SuggestFor: []string{"revert", "restore"},
		Short:      "List what tools changed in files, and put it back",
		Long: `Without an ID, list the changes that tools made to files, newest first. With one or
more, put these files back as they were before. --last is the newest change that was
not undone, --session all of one session, the newest first.

A file that somebody has changed since is left as it is, and named; --force puts it
back all the same. What was put back can itself be undone.`,
		Example: `  ferrule undo
  ferrule undo --last
  ferrule undo --session call-37aztlpx --dry-run`,
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			return p.undo(cmd, &f, args)
		}),
		ValidArgsFunction: p.completeChanges,
	}
	cmd.Flags().BoolVar(&f.last, "last", false, "put back the newest change that was not undone")
	cmd.Flags().StringVar(&f.session, "session", "", "put back all changes of a `SESSION`")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "change nothing, and show what would change")
	cmd.Flags().BoolVar(&f.force, "force", false, "put back also files that were changed since: these changes are lost")
	p.jsonFlag(cmd)
	return cmd
}

// undoDir is where copies of files are kept, below the state directory.
const undoDir = "undo"

// history is what was changed; nil: nothing ever was.
func (p *program) history(ctx context.Context) (*undo.History, error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	return p.historyOf(ctx, c)
}

// historyOf is history, as a configuration has it.
func (p *program) historyOf(ctx context.Context, c *config.Config) (*undo.History, error) {
	if err := store.Closed(p.homeOf(c)); err != nil {
		return nil, homeError(err)
	}
	dir := filepath.Join(p.homeOf(c), undoDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return undo.Open(ctx, dir)
}

// changes are those that came to pass, newest first.
func (p *program) changes(ctx context.Context) (*undo.History, []undo.Entry, error) {
	defer p.busy("looking for changes")()
	h, err := p.history(ctx)
	if h == nil || err != nil {
		return nil, nil, err
	}
	list, err := changesOf(ctx, h)
	return h, list, err
}

// changesOf are those of a history that came to pass, newest first.
func changesOf(ctx context.Context, h *undo.History) ([]undo.Entry, error) {
	list, err := h.List(ctx)
	return slices.DeleteFunc(list, func(e undo.Entry) bool { return e.Outcome == undo.Failed }), err
}

func (p *program) undo(cmd *cobra.Command, f *undoing, ids []string) error {
	if err := one(cmd, "last", "session"); err != nil {
		return err
	}
	chosen := f.last || f.session != ""
	switch {
	case chosen && len(ids) > 0:
		return usage("got %q and --last or --session, want one of them", ids[0])
	case len(ids) == 0 && !chosen && (f.dry || f.force):
		return usage("--dry-run and --force say how something is put back: say what, by its ID, --last or --session")
	}
	h, list, err := p.changes(cmd.Context())
	if err != nil {
		return err
	}
	if len(ids) == 0 && !chosen {
		return p.listChanges(list)
	}
	list, err = chooseChanges(list, f, ids)
	if err != nil {
		return err
	}
	return p.restore(cmd.Context(), h, list, f)
}

// chooseChanges are the changes to be undone.
func chooseChanges(list []undo.Entry, f *undoing, ids []string) (chosen []undo.Entry, err error) {
	for _, id := range ids {
		e, err := byPrefix(list, id, "undo", sure, func(e undo.Entry) string { return e.ID })
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, e)
	}
	if len(ids) > 0 {
		return chosen, nil
	}
	for _, e := range list {
		if e.UndoneBy == "" && e.Of == "" && (f.last || e.Session == f.session) {
			if chosen = append(chosen, e); f.last {
				return chosen, nil
			}
		}
	}
	if len(chosen) == 0 && f.session != "" {
		return nil, fmt.Errorf("undo: nothing of the session %q is left to undo: `ferrule undo` lists what there is", f.session)
	}
	if len(chosen) == 0 {
		return nil, errors.New("undo: nothing is left to undo")
	}
	return chosen, nil
}

// change is an entry, for programs.
type change struct {
	undo.Entry
	Path string `json:"path"`
	What string `json:"what"`
}

func (p *program) listChanges(list []undo.Entry) error {
	if p.json {
		all := []change{}
		for _, e := range list {
			all = append(all, change{e, e.Path(), e.What()})
		}
		return p.printJSON(all)
	}
	if len(list) == 0 {
		p.printf("no tool has changed a file\n")
		return nil
	}
	rows := [][]string{{"ID", "WHEN", "WHAT", "FILE", "TOOL", "SESSION"}}
	for _, e := range list {
		what, tool := e.What(), e.Tool
		if e.Of != "" {
			tool = "undo of " + e.Of
		}
		switch {
		case e.UndoneBy != "":
			what += " (undone)"
		case e.Of != "":
			what += " (undo)"
		}
		rows = append(rows, []string{e.ID, terminal.Ago(e.At, p.now()), what, p.short(e.Path()), tool, e.Session})
	}
	p.printTable(rows)
	return nil
}

// undone is what became of a change that was to be undone, for programs.
type undone struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	What  string `json:"what"` // of the file now: removed, changed, created; "": nothing
	By    string `json:"by,omitempty"`
	Diff  string `json:"diff,omitempty"`
	Force bool   `json:"force,omitempty"` // it was changed since: it takes --force
	Error string `json:"error,omitempty"`
}

// restore undoes changes one after another. What cannot be undone does not keep
// the others from it.
func (p *program) restore(ctx context.Context, h *undo.History, list []undo.Entry, f *undoing) error {
	all := []undone{}
	failed := 0
	var back []reversal
	for i, e := range list {
		if err := ctx.Err(); err != nil {
			p.complain(fmt.Sprintf("ferrule: %d of %d were undone: `ferrule undo` lists the others", len(back), len(list)))
			return errors.Join(err, p.recordUndone(context.WithoutCancel(ctx), back))
		}
		u := undone{ID: e.ID, Path: e.Path()}
		if f.dry {
			now, err := asItIs(h, e.Path(), list[:i])
			if err == nil {
				u.Diff, u.What, err = restoreDiff(h, e, now)
			}
			if err != nil {
				u.Diff = fmt.Sprintf("%s: %s\n", e.Path(), err)
			}
			u.Force = !f.force && u.What != "" && e.Left.Digest != now.digest
		} else if by, err := h.Restore(ctx, e.ID, f.force); err == nil {
			u.By, u.What = by.ID, by.What()
			back = append(back, reversal{e, by})
		} else if !errors.Is(err, undo.ErrAsItWas) {
			u.Error = whyNot(err)
			failed++
		}
		all = append(all, u)
		if !p.json {
			p.printUndone(u, f.dry)
		}
	}
	if err := p.recordUndone(ctx, back); err != nil {
		return err
	}
	if p.json {
		if err := p.printJSON(all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("undo: %d of %d could not be undone", failed, len(list))
	}
	return nil
}

// reversal is a change, and the one that has undone it.
type reversal struct{ change, by undo.Entry }

// recordUndone puts on the record what was put back.
func (p *program) recordUndone(ctx context.Context, all []reversal) error {
	if len(all) == 0 {
		return nil
	}
	return p.withRecord(ctx, func(s *store.Store) error {
		return p.noteUndone(s, all...)
	})
}

// noteUndone puts on the record that somebody put files back.
func (p *program) noteUndone(log audit.Log, all ...reversal) error {
	for _, b := range all {
		e := b.change
		text := fmt.Sprintf("undo of %s by undo %s, which %s %s", e.ID, b.by.ID, b.by.What(), e.Path())
		if e.Call != "" {
			text += ", as it was before call " + e.Call
		}
		if _, err := log.Append(audit.Event{Kind: audit.Governed, Time: p.now(), Session: e.Session, Name: e.Tool, By: p.user(), Text: text}); err != nil {
			return fmt.Errorf("undo: it is done, but not on the record: %w", err)
		}
	}
	return nil
}

// whyNot is why a file is left as it is, and what to do about it.
func whyNot(err error) string {
	changed, ok := errors.AsType[*undo.ChangedError](err)
	switch {
	case !ok:
		return err.Error()
	case changed.By.ID != "":
		return fmt.Sprintf("%s has changed it since: undo %s first, or --force puts it back all the same", cmp.Or(changed.By.Tool, "undo"), changed.By.ID)
	}
	return "somebody has changed it since: --force puts it back all the same, which can be undone too"
}

func (p *program) printUndone(u undone, dry bool) {
	name := terminal.Visible(p.short(u.Path))
	switch {
	case u.Error != "":
		p.complain(fmt.Sprintf("%s: left as it is: %s", name, u.Error))
	case dry:
		p.printf("%s", u.Diff)
		if u.Force {
			p.printf("note: %s has changed since, so this takes --force\n", name)
		}
	case u.What == "":
		p.printf("%s: is as it was\n", name)
	default:
		p.printf("%s: %s, as it was before %s\n", name, map[string]string{"created": "put back", "changed": "put back", "removed": "removed"}[u.What], u.ID)
	}
}

// mostDiff is how much of a file is read for a diff: more nobody reads.
const mostDiff = 4 << 20

// content is a file, or what was in it: as much of it as a diff shows.
type content struct {
	digest string // "": there is no file
	size   int64
	text   string
}

// asItIs is a file as it will be when changes before have been undone: as it is
// now, or as it was before the last of them.
func asItIs(h *undo.History, path string, before []undo.Entry) (content, error) {
	for _, e := range slices.Backward(before) {
		if e.Path() == path {
			return contentOf(h, e.Was)
		}
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{}, err
	}
	if !info.Mode().IsRegular() { // a link leads elsewhere, and to open a pipe could take forever
		return content{}, errors.New("it is no file any more, and is left as it is")
	}
	f, err := os.Open(path)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	var text strings.Builder
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(&text, sum), io.LimitReader(f, mostDiff+1))
	rest, more := io.Copy(sum, f)
	return content{hex.EncodeToString(sum.Sum(nil)), n + rest, text.String()}, errors.Join(err, more)
}

// contentOf is what was kept of a file.
func contentOf(h *undo.History, s undo.State) (content, error) {
	if !s.There() {
		return content{}, nil
	}
	r, err := h.Content(s)
	if err != nil {
		return content{}, err
	}
	text, err := io.ReadAll(io.LimitReader(r, mostDiff+1))
	return content{s.Digest, s.Size, string(text)}, errors.Join(err, r.Close())
}

// restoreDiff is what undoing a change would do to its file.
func restoreDiff(h *undo.History, e undo.Entry, now content) (diff, what string, err error) {
	was, err := contentOf(h, e.Was)
	if err != nil {
		return "", "", err
	}
	from, to := e.Path(), e.Path()
	switch {
	case now.digest == was.digest:
		return fmt.Sprintf("%s: is as it was\n", e.Path()), "", nil
	case now.digest == "":
		from, what = "/dev/null", "created"
	case was.digest == "":
		to, what = "/dev/null", "removed"
	default:
		what = "changed"
	}
	if now.size > mostDiff || was.size > mostDiff || strings.ContainsRune(now.text+was.text, 0) {
		return fmt.Sprintf("%s: %d bytes would become %d bytes\n", e.Path(), now.size, was.size), what, nil
	}
	if text := udiff.Unified(from, to, now.text, was.text); text != "" {
		return text, what, nil
	}
	return fmt.Sprintf("%s: would be %s\n", e.Path(), what), what, nil // of nothing to nothing
}

func (p *program) completeChanges(cmd *cobra.Command, _ []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	_, list, err := p.changes(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, e := range list {
		if e.UndoneBy == "" {
			ids = append(ids, e.ID+"\t"+e.What()+" "+terminal.Visible(p.short(e.Path())))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
