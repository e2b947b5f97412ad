package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// Restore puts a file back as it was before a change: what was created is
// removed, with the folders that were made for it where they are empty now. Where
// the file is no longer what the change left, that is a [*ChangedError] unless
// force is set. The restoring is an entry itself, by which it can be undone.
func (h *History) Restore(ctx context.Context, id string, force bool) (Entry, error) {
	unlock, err := h.lock(ctx, false)
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	list, err := h.read()
	if err != nil {
		return Entry{}, err
	}
	i := slices.IndexFunc(list, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, fmt.Errorf("undo: %q: %w", id, ErrUnknown)
	}
	e := list[i]
	p, err := openPlace(e.Root, e.Name)
	if err != nil {
		return Entry{}, fmt.Errorf("undo: %w", err)
	}
	defer p.close()
	is, err := now(ctx, p)
	switch {
	case err != nil:
		return Entry{}, fmt.Errorf("undo: %s: %w", e.Path(), err)
	case is.Digest == e.Was.Digest:
		return Entry{}, fmt.Errorf("undo: %s: %w", e.Path(), ErrAsItWas)
	case is.Digest != e.Left.Digest && !force:
		return Entry{}, &ChangedError{Path: e.Path(), By: later(list[i+1:], e, is)}
	}
	return h.restore(ctx, e, p, is)
}

// later is the last change of a file that an entry does not know of. One that did
// not leave the file as it is has been changed since itself, so it is not named.
func later(list []Entry, e Entry, is State) Entry {
	for _, o := range slices.Backward(list) {
		if o.Root == e.Root && o.Name == e.Name && o.Outcome != Failed && o.UndoneBy == "" && o.Left.Digest == is.Digest {
			return o
		}
	}
	return Entry{}
}

// restore does it, as long as the file is what was seen. The lock is held alone.
func (h *History) restore(ctx context.Context, e Entry, p place, seen State) (Entry, error) {
	is, err := h.copyOf(ctx, p)
	if err != nil {
		return Entry{}, fmt.Errorf("undo: keeping a copy of %s as it is: %w", e.Path(), err)
	}
	if is.Digest != seen.Digest {
		return Entry{}, &ChangedError{Path: e.Path()} // since the look at it
	}
	var content *os.File
	if e.Was.There() {
		if content, err = h.verified(ctx, e.Was); err != nil {
			return Entry{}, fmt.Errorf("undo: %s: %w", e.Path(), err)
		}
		defer content.Close()
	}
	back := Entry{Root: e.Root, Name: e.Name, Tool: "undo", Session: e.Session, Principal: e.Principal, Was: is, Left: e.Was, Of: e.ID}
	step, err := h.begin(back)
	if err != nil {
		return Entry{}, err
	}
	if content == nil {
		err = remove(e, p)
	} else {
		var made []string
		made, err = put(e, content)
		step.entry.Folders = made
	}
	end := line{ID: step.entry.ID, Outcome: Done, Folders: step.entry.Folders}
	if err != nil {
		end.Outcome = Failed
	}
	step.entry.Outcome = end.Outcome
	if err2 := h.append(end); err == nil && err2 != nil {
		err = fmt.Errorf("it was restored, but not recorded so: %w", err2)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("undo: %s: %w", e.Path(), err)
	}
	return step.entry, nil
}

// put writes a file as it was. Folders that are gone are made.
func put(e Entry, content *os.File) (made []string, err error) {
	top, err := inside.Open(e.Root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	if made, err = inside.MakeFolders(top, path.Dir(e.Name), nil); err != nil {
		return made, err
	}
	p, err := openPlace(e.Root, e.Name)
	if err != nil {
		return made, err
	}
	defer p.close()
	if p.at == nil {
		return made, fs.ErrNotExist
	}
	keep := inside.Keep{Like: true, Mode: e.Was.Mode}
	if f, _, err := inside.File(p.at, p.base); err == nil { // of what is not there they are lost
		keep.Attributes, err = inside.AttributesOf(f)
		f.Close()
		if err != nil {
			return made, err
		}
	}
	if os.Geteuid() == 0 { // others cannot give files away
		keep.Owner = &inside.Owner{UID: e.Was.UID, GID: e.Was.GID}
	}
	return made, inside.Replace(p.at, p.base, content, keep)
}

// remove takes a file away that the change created, and the folders that were
// made for it, innermost first, as long as they are empty.
func remove(e Entry, p place) error {
	if p.at == nil {
		return nil
	}
	if err := p.at.Remove(p.base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := inside.Sync(p.at); err != nil {
		return err
	}
	top, err := inside.Open(e.Root)
	if err != nil {
		return err
	}
	defer top.Close()
	for _, folder := range slices.Backward(e.Folders) {
		at, err := inside.Folder(top, path.Dir(folder), nil)
		if err != nil {
			return nil // somebody has made something else of it
		}
		err = removeFolder(at, path.Base(folder))
		at.Close()
		if err != nil {
			return nil // not empty
		}
	}
	return nil
}

func removeFolder(at *os.Root, name string) error {
	info, err := at.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return inside.ErrSpecial
	}
	return at.Remove(name)
}
