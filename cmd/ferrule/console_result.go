package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/internal/web"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// withheld is what stands on the pages in the place of a tool's arguments and results.
// Of a tool that is not there any more it is not known how sensitive they were: it is as
// bad as the record may hold.
func (d *door) withheld(name string) (args, results string) {
	g := d.h.rt.Guard
	if t, ok := d.h.rt.Find(name); ok {
		if s := t.Info.InputSensitivity; !g.Accepts(guard.Page, s) {
			args = guard.Withheld(s)
		}
		if s := t.Info.OutputSensitivity; !g.Accepts(guard.Page, s) {
			results = guard.Withheld(s)
		}
		return args, results
	}
	for _, s := range []tool.Sensitivity{tool.Secret, tool.Internal, tool.Public} {
		if g.Accepts(guard.Audit, s) && !g.Accepts(guard.Page, s) {
			return guard.Withheld(s), guard.Withheld(s)
		}
	}
	return "", ""
}

// result is a part of a result that is kept whole: because it was too long for the model,
// or in the journal.
func (d *door) result(ctx context.Context, lines []web.Line, at int64, most int) (web.Piece, error) {
	var ids []string
	var handle, owner string
	for i := range lines {
		switch l := &lines[i]; l.Kind { //nolint:exhaustive // the others say nothing of it
		case audit.Requested:
			ids = append(ids, l.ID)
			owner = policy.Digest(l.Tenant, cmp.Or(l.Principal, localUser), l.Session) // as the runtime names a session to a store
		case audit.Cut:
			if _, kept, ok := strings.Cut(l.Text, ", kept as "); ok {
				handle = kept
			}
		}
	}
	if handle != "" {
		if p, err := d.blob(ctx, owner, handle, at, most); !errors.Is(err, durable.ErrNotFound) {
			return p, err
		}
	}
	for _, id := range slices.Backward(ids) {
		r, err := d.h.kept.Call(ctx, id)
		if errors.Is(err, durable.ErrNotFound) || err == nil && r.Result == nil {
			continue
		}
		if err != nil {
			return web.Piece{}, err
		}
		return web.PieceOf(r.Result.String(), at, most), nil
	}
	return web.Piece{}, nil
}

// blob is a part of a long result.
func (d *door) blob(ctx context.Context, owner, handle string, at int64, most int) (web.Piece, error) {
	b, err := d.h.rt.Blobs.Open(ctx, owner, handle)
	if err != nil {
		return web.Piece{}, err
	}
	defer func() { _ = b.Close() }() // it was read only
	if s := b.Note.Sensitivity; !d.h.rt.Guard.Accepts(guard.Page, s) {
		return web.Piece{}, nil
	}
	text := make([]byte, min(int64(most)+1, max(0, b.Size-at)))
	if _, err := b.ReadAt(text, at); err != nil && !errors.Is(err, io.EOF) {
		return web.Piece{}, err
	}
	return web.PieceIn(string(text), at, most, b.Size), nil
}
