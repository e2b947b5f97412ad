package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Claims are what a tool says about its calls. Nothing claimed means the
// worst: it writes, runs alone, destroys, reaches outside, must never run
// twice, and touches everything.
//
// Alone is within a turn: turns of one session that run at the same time are not
// ordered with each other.
type Claims struct {
	ReadOnly   bool `json:"read_only"`  // changes no lasting state; implies Parallel
	Parallel   bool `json:"parallel"`   // may overlap other parallel calls
	Reversible bool `json:"reversible"` // what it changes can be undone
	Local      bool `json:"local"`      // reaches nothing outside this machine
	Idempotent bool `json:"idempotent"` // a second run does no more than the first
	// Touches are the exact resources read and written. Nil is not claimed:
	// everything. Empty is a claim: nothing.
	Touches []Access `json:"touches"`
}

// Access is one resource that a call reads or writes. A resource is a path such
// as file:/a/b, table:orders or mcp:server; it covers what is below it. It has
// one spelling: a kind of small letters, digits and -, then a clean path without
// . .. // or a / at the end, for files absolute and with slashes (on Windows
// file:/c:/a). [Claims.Check] says what is wrong with one.
type Access struct {
	Resource string `json:"resource"`
	Write    bool   `json:"write"`
}

func (c Claims) clone() Claims {
	c.Touches = slices.Clone(c.Touches)
	return c
}

// Check refuses claims that contradict each other, or that name a resource in
// more than one way.
func (c Claims) Check() error {
	for _, a := range c.Touches {
		if err := checkResource(a.Resource); err != nil {
			return fmt.Errorf("claims: touches %w", err)
		}
		if c.ReadOnly && a.Write {
			return fmt.Errorf("claims: read-only, but writes %q", a.Resource)
		}
	}
	return nil
}

// ClaimsFor are the claims of one call: the constant ones, and those of ClaimsOf
// where there is one. A ClaimsOf that fails, panics or does not pass
// [Claims.Check] claims nothing; the error, for the operator, says why. The
// claims count either way.
func (t *Tool) ClaimsFor(a Args) (c Claims, err error) {
	if t.ClaimsOf == nil {
		return t.Claims.clone(), nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			c, err = Claims{}, fmt.Errorf("tool %q: claims by its function: %w", t.Name, err)
		}
	}()
	if c, err = t.ClaimsOf(a); err == nil {
		c = t.Claims.and(c)
		err = c.Check()
	}
	return c.clone(), err
}

// and is what holds where both do. Touches are those of the other.
func (c Claims) and(o Claims) Claims {
	return Claims{
		ReadOnly: c.ReadOnly || o.ReadOnly, Parallel: c.Parallel || o.Parallel, Reversible: c.Reversible || o.Reversible,
		Local: c.Local || o.Local, Idempotent: c.Idempotent || o.Idempotent, Touches: o.Touches,
	}
}

// Overlaps reports whether the call may run beside other parallel ones.
func (c Claims) Overlaps() bool { return c.ReadOnly || c.Parallel }

// Destructive reports whether what the call changes may be lost.
func (c Claims) Destructive() bool { return !c.ReadOnly && !c.Reversible }

// Class sums the claims up: read-only, write (any claim but that) or unsafe (no
// claim at all).
func (c Claims) Class() string {
	switch {
	case c.ReadOnly:
		return "read-only"
	case c.Parallel || c.Reversible || c.Local || c.Idempotent || c.Touches != nil:
		return "write"
	}
	return "unsafe"
}

// SideEffect says how far the effect reaches: pure, read-only, side-effecting
// (on this machine) or external-stateful.
func (c Claims) SideEffect() string {
	switch {
	case c.ReadOnly && c.Local && c.Touches != nil && len(c.Touches) == 0:
		return "pure"
	case c.ReadOnly:
		return "read-only"
	case c.Local:
		return "side-effecting"
	}
	return "external-stateful"
}

// Covers reports whether b is what a names or stands below it: file:/a covers
// file:/a/b, not file:/ab.
func (a Access) Covers(b Access) bool {
	above, below := a.Resource, b.Resource
	if !strings.HasPrefix(below, above) {
		return false
	}
	// A kind alone, such as file:, covers every resource of its kind.
	return len(above) == len(below) || strings.HasSuffix(above, "/") || strings.IndexByte(above, ':') == len(above)-1 || below[len(above)] == '/'
}

// Meets reports whether two accesses conflict: one covers the other, and one
// writes.
func (a Access) Meets(b Access) bool {
	return (a.Write || b.Write) && (a.Covers(b) || b.Covers(a))
}

// checkResource wants the one spelling of a resource, so that two names of one
// thing cannot pass each other.
func checkResource(r string) error {
	kind, path, ok := strings.Cut(r, ":")
	if !ok || kind == "" {
		return fmt.Errorf("%q: want kind:path, such as file:/a/b", r)
	}
	if strings.ContainsFunc(kind, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' }) {
		return fmt.Errorf("%q: the kind before the colon has small letters, digits and -", r)
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return unicode.Is(unicode.C, c) }) {
		return fmt.Errorf("%q: want characters that can be seen", r)
	}
	if kind == "file" && path != "" && (path[0] != '/' || strings.Contains(path, `\`)) {
		return fmt.Errorf("%q: want an absolute path with /", r)
	}
	if path == "" || path == "/" {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("%q: want a clean path, without . .. // or / at the end", r)
		}
	}
	return nil
}
