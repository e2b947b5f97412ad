package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Bounds of a list.
const (
	maxItems     = 10_000
	maxPages     = 1_000
	maxListBytes = 64 << 20
)

// How often a list is asked for anew of a server that says for how long it is good.
const (
	shortestTTL = 5 * time.Second
	longestTTL  = time.Hour
)

// pages is a list, all pages.
type pages struct {
	items []json.RawMessage
	ttl   time.Duration // 0: not said
	left  string        // why there may be more; "": that is all
}

// listAll asks for all pages of a list. A list that is too long ends early: what
// there is can be used, and left says so.
func listAll(ctx context.Context, l link, method string) (*pages, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, fmt.Errorf("%s took longer than %s", method, listTime))
	defer cancel()
	var (
		p      = &pages{}
		of     = listMethods()[method].member
		params json.RawMessage
		size   int
		seen   = make(map[string]bool) // cursors
	)
	for n := 1; ; n++ {
		result, err := l.do(ctx, method, params, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		raw, _ := member(result, of)
		page, ok := items(raw)
		if !ok {
			return nil, fmt.Errorf("%s: got %s for %q, want an array", method, kindName(kindOf(raw)), of)
		}
		if n == 1 {
			p.ttl = ttlOf(result)
		}
		for _, item := range page {
			if size += len(item); len(p.items) >= maxItems || size > maxListBytes {
				p.left = fmt.Sprintf("the rest was left out: got more than %d items or %d MiB, want less", maxItems, maxListBytes>>20)
				return p, nil
			}
			p.items = append(p.items, item)
		}
		cursor := textMember(result, "nextCursor")
		switch {
		case cursor == "":
			return p, nil
		case seen[cursor]:
			p.left = "the rest was left out: the server gave the same cursor twice"
			return p, nil
		case n >= maxPages:
			p.left = fmt.Sprintf("the rest was left out: got more than %d pages", maxPages)
			return p, nil
		}
		seen[cursor] = true
		params = setMembers(nil, pair{"cursor", quote(cursor)})
	}
}

// ttlOf is for how long a server says that a list is good, within bounds; 0: it
// does not say.
func ttlOf(result json.RawMessage) time.Duration {
	raw, _ := member(result, "ttlMs")
	var ms float64
	if json.Unmarshal(raw, &ms) != nil || ms <= 0 {
		return 0
	}
	ms = min(ms, float64(longestTTL.Milliseconds()))
	return max(time.Duration(ms)*time.Millisecond, shortestTTL)
}
