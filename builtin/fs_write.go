package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/undo"
)

type fsWriteIn struct {
	Path    string `json:"path" jsonschema:"description=file to write: below the workspace or absolute within it"`
	Content string `json:"content" jsonschema:"description=all that the file will hold"`
	Parents bool   `json:"parents,omitempty" jsonschema:"description=make folders of the path that are not there"`
}

func (s *fsSet) writeTool() (*tool.Tool, error) {
	return fsWriter(s, "fs_write", true,
		func(in fsWriteIn) (string, bool) { return in.Path, in.Parents }, nil,
		func(ctx context.Context, in fsWriteIn) (string, error) {
			p, err := s.file(in.Path)
			if err != nil {
				return "", err
			}
			_, err = s.plan(ctx, p, []byte(in.Content), "", in.Parents)
			switch {
			case errors.Is(err, fsSame()):
				return fmt.Sprintf("%s stays as it is.", p), nil
			case err != nil:
				return "", s.fail(p, err)
			}
			was, there, err := s.content(ctx, p)
			switch {
			case ctx.Err() != nil:
				return "", context.Cause(ctx)
			case err != nil: // too large, or it can be replaced but not read
				return fmt.Sprintf("%s: all of it is replaced by %s; what it holds now cannot be shown.", p, fsCount(fsLineCount(in.Content), "line")), nil
			}
			return fsDiff(p, was, []byte(in.Content), there), nil
		}, s.write)
}

func (s *fsSet) write(ctx context.Context, in fsWriteIn) (tool.Result, error) {
	p, err := s.file(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	there, err := s.change(ctx, p, []byte(in.Content), "", in.Parents)
	if errors.Is(err, fsSame()) {
		return fsSaid("%s holds exactly that already: nothing was written.", p)
	}
	if err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	what := "Created"
	if there {
		what = "Replaced"
	}
	return fsSaid("%s %s: %s.", what, p, fsCount(fsLineCount(in.Content), "line"))
}

func fsSaid(format string, args ...any) (tool.Result, error) {
	return tool.Result{Content: []tool.Content{tool.Text(fmt.Sprintf(format, args...))}}, nil
}

func fsCount(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func fsLineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// content is what a file holds now, for a preview.
func (s *fsSet) content(ctx context.Context, p fsPlace) (text []byte, there bool, err error) {
	f, _, err := s.open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	text, err = fsReadAll(inside.Until(ctx, f))
	return text, true, err
}

// fsSame says that a file needs no change.
func fsSame() error { return fsOff("nothing to change") }

// fsPlan is what changing a file takes, once nothing is known to stand in the way.
type fsPlan struct {
	guard   fsGuard
	lacking []string // folders to make
	keep    inside.Keep
}

// plan looks at all that a change depends on, and changes nothing: a preview asks
// it, too, so that it does not promise what would fail.
func (s *fsSet) plan(ctx context.Context, p fsPlace, content []byte, expect string, parents bool) (plan fsPlan, err error) {
	if err = s.named(p, true); err != nil {
		return plan, err
	}
	plan.guard = s.guard(true)
	if plan.lacking, err = s.lacking(p, plan.guard, parents); err == nil && len(plan.lacking) == 0 {
		plan.keep, err = s.mayReplace(ctx, p, plan.guard, content, expect)
	}
	return plan, err
}

// change gives a file new content. Where expect is not "", it is the digest of
// what the file must still hold. It reports whether there was a file.
func (s *fsSet) change(ctx context.Context, p fsPlace, content []byte, expect string, parents bool) (there bool, err error) {
	plan, err := s.plan(ctx, p, content, expect, parents)
	if err != nil {
		return false, err
	}
	step, err := s.begin(ctx, p, content, plan.lacking, expect)
	if err != nil {
		return false, err
	}
	err = s.put(ctx, p, plan, content)
	if step != nil {
		err = step.End(ctx, err)
	}
	return plan.keep.Like, err
}

// makes is what writing a file brings into being or changes: the file, or the
// outermost folder that has to be made for it. Another call may depend on such a
// folder as much as on the file.
func (s *fsSet) makes(p fsPlace, parents bool) fsPlace {
	made := p
	for at := p.below(p.dir()); parents && at.rel != "."; at = at.below(at.dir()) {
		if _, err := os.Lstat(filepath.Join(at.root.real, filepath.FromSlash(at.rel))); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = at
	}
	return made
}

// lacking are the folders of a path that are not there.
func (s *fsSet) lacking(p fsPlace, g fsGuard, parents bool) ([]string, error) {
	var list []string
	for dir := p.dir(); ; dir = path.Dir(dir) {
		at, err := s.folder(p.below(dir), g)
		if err == nil {
			at.Close()
			slices.Reverse(list)
			return list, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == "." {
			return nil, err
		}
		if !parents {
			return nil, fsOff(fmt.Sprintf("The folder %s is not there. Set parents to make it, or mend the path.", p.below(p.dir())))
		}
		list = append(list, dir)
	}
}

// mayReplace looks at what is there under the name, and says what is kept of it.
func (s *fsSet) mayReplace(ctx context.Context, p fsPlace, g fsGuard, content []byte, expect string) (keep inside.Keep, err error) {
	at, err := s.folder(p.below(p.dir()), g)
	if err != nil {
		return keep, err
	}
	defer at.Close()
	f, info, err := inside.File(at, p.base())
	if errors.Is(err, fs.ErrNotExist) && expect == "" {
		return keep, nil
	}
	if errors.Is(err, fs.ErrPermission) && expect == "" { // it can be replaced without being read
		if info, err = at.Lstat(p.base()); err == nil {
			err = inside.Regular(info)
		}
	}
	if err != nil {
		return keep, fsWhole(p, err)
	}
	if f != nil {
		defer f.Close()
	}
	if err := g.see(p.String(), info); err != nil {
		return keep, err
	}
	if err := fsSpelled(at, p.rel, info); err != nil {
		return keep, err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return keep, fsOff(fmt.Sprintf("%s is write-protected (mode %04o).", p, info.Mode().Perm()))
	}
	if f != nil && info.Size() == int64(len(content)) && fsHolds(ctx, f, content) {
		return keep, fsSame()
	}
	if err := s.mayCopy(p, f, info); err != nil {
		return keep, err
	}
	return inside.KeepOf(f, info)
}

// mayCopy refuses a file of which no copy could be kept, where copies are; f is
// nil where it cannot be read.
func (s *fsSet) mayCopy(p fsPlace, f *os.File, info fs.FileInfo) error {
	switch {
	case s.undo == nil:
	case f == nil:
		return fsOff(fmt.Sprintf("%s cannot be read, so no copy of it can be kept by which the change could be undone.", p))
	case info.Size() > s.undo.Keep().File:
		return fsOff(fmt.Sprintf("%s has %d bytes; copies by which a change can be undone are kept of files up to %d.", p, info.Size(), s.undo.Keep().File))
	}
	return nil
}

func fsHolds(ctx context.Context, f *os.File, content []byte) bool {
	digest, n, err := inside.DigestOf(ctx, f)
	return err == nil && n == int64(len(content)) && digest == inside.Digest(content)
}

// begin keeps a copy, before anything is changed. It makes sure that the file
// still holds what an edit was made from.
func (s *fsSet) begin(ctx context.Context, p fsPlace, content []byte, lacking []string, expect string) (*undo.Step, error) {
	moved := fsOff(fmt.Sprintf("%s was changed by somebody else meanwhile. Read it again.", p))
	if s.undo == nil {
		if expect == "" {
			return nil, nil
		}
		now, _, err := s.content(ctx, p)
		if err == nil && inside.Digest(now) != expect {
			err = moved
		}
		return nil, err
	}
	r := tool.From(ctx).Request()
	c := undo.Change{Root: p.root.real, Name: p.rel, Left: content, Folders: lacking, Call: r.ID, Session: r.Caller.Session, Principal: r.Caller.Principal}
	if r.Tool != nil {
		c.Tool = r.Tool.Name
	}
	step, err := s.undo.Begin(ctx, c)
	if err != nil && ctx.Err() == nil {
		// About the copy, not about the file: what the system says of one must not be
		// read as if it were about the other.
		text := fmt.Sprintf("%s: no copy of it could be kept by which the change could be undone. Nothing was changed.", p)
		if errors.Is(err, syscall.ENOSPC) {
			text = fmt.Sprintf("%s: the disk is full. Nothing was changed.", p)
		}
		err = &tool.Error{Kind: tool.Failed, Text: text, Detail: fmt.Sprintf("%s: %v", p.path(), err), Cause: err}
	}
	if err != nil {
		return nil, err
	}
	if expect != "" && step.Was().Digest != expect {
		return nil, step.End(ctx, moved)
	}
	return step, nil
}

// put writes the file. Folders that it made are taken away where it fails.
func (s *fsSet) put(ctx context.Context, p fsPlace, plan fsPlan, content []byte) (err error) {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	top, err := inside.Open(p.root.real)
	if err != nil {
		return err
	}
	defer top.Close()
	var made []string
	defer func() {
		if err != nil {
			fsUnmake(top, made)
		}
	}()
	if len(plan.lacking) > 0 {
		if made, err = inside.MakeFolders(top, p.dir(), plan.guard.part); err != nil {
			return err
		}
	}
	at, err := inside.Folder(top, p.dir(), plan.guard.part)
	if err != nil {
		return err
	}
	defer at.Close()
	return inside.Replace(at, p.base(), bytes.NewReader(content), plan.keep)
}

func fsUnmake(top *os.Root, made []string) {
	for _, name := range slices.Backward(made) {
		if at, err := inside.Folder(top, path.Dir(name), nil); err == nil {
			_ = at.Remove(path.Base(name)) // not where somebody has put something into it
			at.Close()
		}
	}
}
