package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Values is where a host keeps memory that is no folder: a table, say. Its methods
// are safe for concurrent use.
type Values interface {
	// All are all values by key. What is returned is not changed by anybody.
	All(context.Context) (map[string][]byte, error)
	// Put gives a key a value; nil removes it, if it is there. The value is not
	// changed afterwards.
	Put(ctx context.Context, key string, value []byte) error
}

// Map is a region of values by key. The zero value is empty and works.
type Map struct {
	// Values keep them; nil: the Map does, as long as the process lives.
	Values Values
	// Bytes is how much keys and values may be together. 0: 64 MiB.
	Bytes int64

	own table
}

var _ Store = (*Map)(nil)

// maxBytes is how much a region may hold unless it says.
const maxBytes = 64 << 20

// LimitError says that a region holds more than is guarded.
type LimitError struct {
	What string // bytes, entries or levels
	Most int64
}

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Most, e.What) }

func (m *Map) values() Values {
	if m.Values != nil {
		return m.Values
	}
	return &m.own
}

// all are all values, within the limit.
func (m *Map) all(ctx context.Context) (map[string][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := m.values().All(ctx)
	if err != nil {
		return nil, err
	}
	most, size := m.most(), int64(0)
	for key, value := range all {
		size += int64(len(key) + len(value))
	}
	if size > most {
		return nil, &LimitError{"bytes", most}
	}
	return all, nil
}

func (m *Map) most() int64 {
	if m.Bytes > 0 {
		return m.Bytes
	}
	return maxBytes
}

// Hash is made of all keys and values.
func (m *Map) Hash(ctx context.Context) (string, error) {
	all, err := m.all(ctx)
	if err != nil {
		return "", err
	}
	return hashOf(all), nil
}

func hashOf(all map[string][]byte) string {
	sum := sha256.New()
	var n [8]byte
	for _, key := range slices.Sorted(maps.Keys(all)) {
		for _, part := range [][]byte{[]byte(key), all[key]} {
			sum.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(part)))) // so that no two maps look alike
			sum.Write(part)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Snapshot keeps all values.
func (m *Map) Snapshot(ctx context.Context) (Snapshot, error) {
	all, err := m.all(ctx)
	if err != nil {
		return nil, err
	}
	kept := make(map[string][]byte, len(all))
	for key, value := range all {
		kept[key] = append([]byte{}, value...) // whatever All promised
	}
	return &mapSnapshot{m, kept, hashOf(kept)}, nil
}

// Read is for [Store].
func (m *Map) Read(ctx context.Context, key string) ([]byte, error) {
	all, err := m.values().All(ctx)
	if err != nil {
		return nil, err
	}
	value, ok := all[key]
	if !ok {
		return nil, fmt.Errorf("%q: %w", key, ErrNotFound)
	}
	return append([]byte{}, value...), nil
}

// Write is for [Store].
func (m *Map) Write(ctx context.Context, key string, value []byte) error {
	all, err := m.all(ctx)
	if err != nil {
		return err
	}
	size := int64(len(key) + len(value))
	for k, v := range all {
		if k != key {
			size += int64(len(k) + len(v))
		}
	}
	if size > m.most() {
		return &LimitError{"bytes", m.most()}
	}
	return m.values().Put(ctx, key, append([]byte{}, value...)) // an empty value is one
}

// Delete is for [Store].
func (m *Map) Delete(ctx context.Context, key string) error { return m.values().Put(ctx, key, nil) }

// Keys is for [Store].
func (m *Map) Keys(ctx context.Context) ([]string, error) {
	all, err := m.all(ctx)
	return slices.Sorted(maps.Keys(all)), err
}

// mapSnapshot is what a map held.
type mapSnapshot struct {
	of   *Map
	all  map[string][]byte
	hash string
}

func (s *mapSnapshot) Hash() string { return s.hash }

// Changed does not mind how much it is now: it is only looked through.
func (s *mapSnapshot) Changed(ctx context.Context) (names []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now, err := s.of.values().All(ctx)
	if err != nil {
		return nil, err
	}
	for key, value := range now {
		if was, ok := s.all[key]; !ok || !bytes.Equal(was, value) {
			names = append(names, key)
		}
	}
	for key := range s.all {
		if _, ok := now[key]; !ok {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (s *mapSnapshot) Restore(ctx context.Context) error {
	names, err := s.Changed(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, key := range names {
		var value []byte
		if was, ok := s.all[key]; ok {
			value = append([]byte{}, was...)
		}
		errs = append(errs, s.of.values().Put(ctx, key, value))
	}
	return errors.Join(errs...)
}

func (s *mapSnapshot) Light() bool  { return true }
func (s *mapSnapshot) Close() error { return nil }

// table is a map of this process. It is copied when it is changed, which is rare.
type table struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (t *table) All(context.Context) (map[string][]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all, nil
}

func (t *table) Put(ctx context.Context, key string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	all := maps.Clone(t.all)
	if all == nil {
		all = make(map[string][]byte)
	}
	if value == nil {
		delete(all, key)
	} else {
		all[key] = value
	}
	t.all = all
	return nil
}
