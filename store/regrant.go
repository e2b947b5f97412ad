package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

// Regrant takes grants back, by id, and keeps others, all of it or nothing; what was
// not there, or is there already, is left as it is. Who did it, and why, is on the
// record, where there is one, for each.
func (s *Store) Regrant(ctx context.Context, revoke []string, give []policy.Grant, by, reason string) error {
	return s.recorded(ctx, "regrant", func(ctx context.Context, p *pen) ([]audit.Event, error) {
		var all []audit.Event
		note := func(e audit.Event) error {
			events, err := s.governed(ctx, p, e)
			all = append(all, events...)
			return err
		}
		for _, id := range revoke {
			g, err := p.revoke(ctx, id)
			if errors.Is(err, policy.ErrNoGrant) {
				continue
			}
			if err == nil {
				err = note(ruled("revoked", g, by, reason))
			}
			if err != nil {
				return nil, err
			}
		}
		for _, g := range give {
			g.ID = g.Name()
			fresh, err := keep(ctx, p, g, s.now())
			if err == nil && fresh {
				err = note(ruled("made", g, by, reason))
			}
			if err != nil {
				return nil, err
			}
		}
		return all, nil
	})
}

// revoke takes a grant out, and says what it was.
func (p *pen) revoke(ctx context.Context, id string) (policy.Grant, error) {
	var body string
	err := p.row(ctx, `SELECT body FROM grants WHERE id = ?`, []any{id}, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return policy.Grant{}, policy.ErrNoGrant
	}
	if err != nil {
		return policy.Grant{}, err
	}
	g, err := unsealGrant(id, body)
	if err != nil { // it can be taken back all the same
		g = policy.Grant{ID: id}
	}
	_, err = p.exec(ctx, `DELETE FROM grants WHERE id = ?`, id)
	return g, err
}
