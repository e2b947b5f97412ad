package secret

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of a value: what is shorter could not be told from other text, what is
// longer is no secret.
const (
	minSize = 4
	maxSize = 32 << 10
)

// Entry is one secret.
type Entry struct {
	// Source is where its value is kept.
	Source Source
	// Tools may use it: names as models call them, exact or with a * at the end.
	// Empty: no tool may. A tool must also name the secret itself.
	Tools []string
}

// Vault holds secrets by name. Their values are read each time they are used, so
// that a value that was changed counts at once. A nil Vault has none. All methods
// are safe for concurrent use.
type Vault struct {
	entries map[string]Entry
	shared  *shared // with those that were made from it, or it from
}

// NewVault makes a vault of secrets by name: letters, digits, _, - and dots, at
// most 64.
func NewVault(entries map[string]Entry) (*Vault, error) {
	v := &Vault{entries: make(map[string]Entry, len(entries)), shared: newShared()}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		e := entries[name]
		if e.Source == nil {
			return nil, fmt.Errorf("secret %s: got no source, want where its value is kept", name)
		}
		for _, t := range e.Tools {
			if err := CheckTool(t); err != nil {
				return nil, fmt.Errorf("secret %s: %w", name, err)
			}
		}
		e.Tools = slices.Clone(e.Tools)
		v.entries[name] = e
	}
	return v, nil
}

// CheckName reports why a name cannot be that of a secret.
func CheckName(name string) error {
	const most = 64
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-' && r != '.'
	}
	if name == "" || len(name) > most || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("secret: got the name %.80q, want letters, digits, _, - and dots, at most %d", name, most)
	}
	return nil
}

// CheckTool reports why a text cannot stand in [Entry.Tools].
func CheckTool(pattern string) error {
	if name, _ := strings.CutSuffix(pattern, "*"); strings.Contains(name, "*") || pattern == "" || strings.TrimSpace(pattern) != pattern {
		return fmt.Errorf("tools: got %.80q, want the name of a tool, or the beginning of names with a * behind it", pattern)
	}
	return nil
}

// Names are those of all secrets, sorted.
func (v *Vault) Names() []string {
	if v == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(v.entries))
}

// Narrow gives a vault that has only these of the secrets, for the same tools.
// There is no way back to the others. Values that either gives out are kept out
// of texts by both.
func (v *Vault) Narrow(names ...string) (*Vault, error) {
	if v == nil {
		v = &Vault{shared: newShared()}
	}
	child := &Vault{entries: make(map[string]Entry, len(names)), shared: v.shared}
	for _, name := range names {
		e, err := v.entry(name)
		if err != nil {
			return nil, err
		}
		child.entries[name] = e
	}
	return child, nil
}

func (v *Vault) entry(name string) (Entry, error) {
	if err := CheckName(name); err != nil {
		return Entry{}, err
	}
	if v != nil {
		if e, ok := v.entries[name]; ok {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("secret %s: there is none of that name here", name)
}

// Hide has a value that came from elsewhere, such as a token that a server granted,
// kept out of texts as one that was given out. What is too short to be told from
// other text is not. A nil vault keeps out nothing.
func (v *Vault) Hide(name, value string) error {
	if v == nil || len(value) < minSize {
		return nil
	}
	if err := v.shared.remember(name, value); err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	return nil
}

// Check reads a secret as Use does, and says why it cannot be had. The value goes
// nowhere.
func (v *Vault) Check(ctx context.Context, name string) error {
	e, err := v.entry(name)
	if err != nil {
		return err
	}
	value, err := e.read(ctx, name)
	clear(value)
	return err
}

// Use hands the value of a secret to use, as a copy that is wiped when use has
// returned. It is refused unless the tool has named the secret, and the vault
// lets that tool have it. Before use is called, [Vault.Scrub] knows the value. An
// error of use is returned as it is; every other one names the secret, and never
// holds a value.
func (v *Vault) Use(ctx context.Context, toolName string, named []string, name string, use func(value []byte) error) error {
	e, err := v.entry(name)
	switch {
	case err != nil:
		return err
	case !slices.Contains(named, name):
		return fmt.Errorf("secret %s: refused: the tool %s does not name it among the secrets that it uses", name, toolName)
	case !slices.ContainsFunc(e.Tools, func(pattern string) bool { return covers(pattern, toolName) }):
		return fmt.Errorf("secret %s: refused: it is not for the tool %s", name, toolName)
	case use == nil:
		return fmt.Errorf("secret %s: got no function to use it in", name)
	}
	value, err := e.read(ctx, name)
	if err != nil {
		return err
	}
	defer clear(value)
	if err := v.shared.remember(name, string(value)); err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	return use(value)
}

func covers(pattern, name string) bool {
	if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, beginning)
	}
	return pattern == name
}

// read is a copy of the value, if it is one that can be kept out of texts. The
// source may keep its own.
func (e *Entry) read(ctx context.Context, name string) (value []byte, err error) {
	v, err := e.Source.Value(ctx)
	n := v.Len()
	switch {
	case err != nil:
		return nil, fmt.Errorf("secret %s: %w", name, err)
	case n == 0:
		err = errors.New("it is empty")
	case n < minSize:
		err = fmt.Errorf("got %d bytes, want %d or more: it could not be kept out of results", n, minSize)
	case n > maxSize:
		err = fmt.Errorf("got %d bytes, want at most %d", n, maxSize)
	default:
		_ = v.Use(func(b []byte) error { value = append(value, b...); return nil })
		return value, nil
	}
	return nil, fmt.Errorf("secret %s: %s: %w", name, e.Source, err)
}
