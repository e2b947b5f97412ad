package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
)

// Blobs keeps texts in files below a directory, and in the store which there are
// and whose: what is not listed there is not found, and what a file says of
// itself must be what is listed. [Store.Blobs] opens one.
type Blobs struct {
	store *Store
	files *durable.Dir
}

var _ durable.Blobs = (*Blobs)(nil)

// Blobs opens a directory for texts, and makes it if there is none. It is the
// store's: what another one has put there is not found.
func (s *Store) Blobs(dir string) (*Blobs, error) {
	files, err := durable.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	return &Blobs{s, files}, nil
}

// Close ends the use of the directory, not of the store.
func (b *Blobs) Close() error { return b.files.Close() }

// listed is what is kept of a text beside the text.
type listed struct {
	Note durable.Note `json:"note"`
	Size int64        `json:"size"`
}

// Put keeps a text. It is on the disk, and listed, when Put returns. A file that
// could not be listed is found by nobody, and swept in its time.
func (b *Blobs) Put(ctx context.Context, owner string, n durable.Note, parts ...string) (string, error) {
	handle, err := b.files.Put(ctx, owner, n, parts...)
	if err != nil {
		return "", err
	}
	of := listed{Note: n}
	for _, p := range parts {
		of.Size += int64(len(p))
	}
	body, err := seal(blobName(owner, handle), of)
	if err != nil {
		return "", fmt.Errorf("blobs: put: %w", err)
	}
	err = b.store.write(ctx, "put "+handle, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO blobs (owner, handle, put, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (owner, handle) DO UPDATE SET put = max(put, excluded.put)`, owner, handle, writeTime(b.store.now()), body)
		return err
	})
	if err != nil {
		return "", err
	}
	return handle, nil
}

// blobName is what a row is sealed with.
func blobName(owner, handle string) string { return handle + " of " + owner }

// Open gives a text that is listed.
func (b *Blobs) Open(ctx context.Context, owner, handle string) (*durable.Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("blobs: open: %w", err)
	}
	var of listed
	err := b.store.read(ctx, "open", func(db *sql.DB) error {
		var body string
		if err := db.QueryRowContext(ctx, `SELECT body FROM blobs WHERE owner = ? AND handle = ?`, owner, handle).Scan(&body); err != nil {
			return err
		}
		return unseal(blobName(owner, handle), body, &of)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, durable.ErrNotFound
	case err != nil:
		return nil, err
	}
	blob, err := b.files.Open(ctx, owner, handle)
	if err != nil {
		return nil, err
	}
	if blob.Note != of.Note || blob.Size != of.Size {
		_ = blob.Close()
		return nil, fmt.Errorf("blobs: open %s: the file is damaged: got %d bytes of %s, want %d of %s", handle, blob.Size, blob.Note.Tool, of.Size, of.Note.Tool)
	}
	return blob, nil
}

// Holds reports whether there is anything of an owner.
func (b *Blobs) Holds(ctx context.Context, owner string) (holds bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("blobs: holds: %w", err)
	}
	err = b.store.read(ctx, "holds", func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM blobs WHERE owner = ?)`, owner).Scan(&holds)
	})
	return holds, err
}

// Sweep removes what was last put before that time, and files that are not
// listed and as old.
func (b *Blobs) Sweep(ctx context.Context, before time.Time) (removed int, err error) {
	err = b.store.write(ctx, "sweep", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM blobs WHERE put < ?`, writeTime(before))
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		removed = int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	_, err = b.files.Sweep(ctx, before)
	return removed, err
}
