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
		Use:   "undo [ID…]",
		Short: "List what tools changed in files, and put it back",
		Long: `Without an ID, list the changes that tools made to files, newest first. With one or
more, put these files back as they were before. --last is the newest change that was
not undone, --session all of one session, the newest first.

A file that somebody has changed since is left as it is, and named; --force puts it
back all the same. What was put back can itself be undone.`,
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			return p.undo(cmd, &f, args)
		}),
		ValidArgsFunction: p.completeChanges,
	}
	cmd.Flags().BoolVar(&f.last, "last", false, "the newest change that was not undone")
	cmd.Flags().StringVar(&f.session, "session", "", "all changes of a session")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "change nothing, and show what would change")
	cmd.Flags().BoolVar(&f.force, "force", false, "also files that were changed since, whose changes are lost")
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
	if err := store.Closed(p.homeOf(c)); err != nil {
		return nil, err
	}
	dir := filepath.Join(p.homeOf(c), undoDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return undo.Open(ctx, dir)
}

// changes are those that came to pass, newest first.
func (p *program) changes(ctx context.Context) (*undo.History, []undo.Entry, error) {
	h, err := p.history(ctx)
	if h == nil || err != nil {
		return nil, nil, err
	}
	list, err := h.List(ctx)
	return h, slices.DeleteFunc(list, func(e undo.Entry) bool { return e.Outcome == undo.Failed }), err
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
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := undone{ID: e.ID, Path: e.Path()}
		if f.dry {
			u.Diff, u.What = restoreDiff(h, e)
			// Of several changes of a file the later ones are undone before.
			earlier := slices.ContainsFunc(all, func(o undone) bool { return o.Path == u.Path })
			u.Force = !f.force && !earlier && u.What != "" && e.Left.Digest != digestOf(u.Path)
		} else if by, err := h.Restore(ctx, e.ID, f.force); err == nil {
			u.By, u.What = by.ID, by.What()
		} else if !errors.Is(err, undo.ErrAsItWas) {
			u.Error = whyNot(err)
			failed++
		}
		all = append(all, u)
		if !p.json {
			p.printUndone(u, f.dry)
		}
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

// digestOf is the digest of a file as it is now; "": there is none.
func digestOf(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// restoreDiff is what undoing a change would do to its file, as it is now.
func restoreDiff(h *undo.History, e undo.Entry) (diff, what string) {
	const most = 4 << 20 // what nobody reads as a diff
	now, err := os.ReadFile(e.Path())
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s: %s\n", e.Path(), err), ""
	}
	var was []byte
	if e.Was.There() {
		r, err := h.Content(e.Was)
		if err == nil {
			was, err = io.ReadAll(io.LimitReader(r, most+1))
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return fmt.Sprintf("%s: %s\n", e.Path(), err), ""
		}
	}
	from, to := e.Path(), e.Path()
	switch {
	case !there && !e.Was.There():
		return fmt.Sprintf("%s: is as it was\n", e.Path()), ""
	case !there:
		from, what = "/dev/null", "created"
	case !e.Was.There():
		to, what = "/dev/null", "removed"
	default:
		what = "changed"
	}
	if len(now) > most || len(was) > most || strings.ContainsRune(string(now)+string(was), 0) {
		return fmt.Sprintf("%s: %d bytes would become %d bytes\n", e.Path(), len(now), e.Was.Size), what
	}
	if text := udiff.Unified(from, to, string(now), string(was)); text != "" {
		return text, what
	}
	return fmt.Sprintf("%s: would be %s\n", e.Path(), what), what
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
