package tool

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
)

// Lengths of names: inside, for models, and served over MCP, where clients put
// a prefix in front.
const (
	maxName     = 128
	maxWireName = 64
	maxMCPName  = 50
)

// checkName reports what is wrong with a tool's name: it has 1 to 128 letters,
// digits, _ . or -.
func checkName(name string) error {
	if name == "" {
		return errors.New("no name")
	}
	if len(name) > maxName {
		return fmt.Errorf("name %.20q…: got %d characters, want at most %d", name, len(name), maxName)
	}
	for _, r := range name {
		if !plain(r) && r != '.' {
			return fmt.Errorf("name %q: got %q, want letters, digits, _ . and -", name, r)
		}
	}
	return nil
}

// Check reports what is wrong with a source's name: it is like a tool's,
// without __, which divides the two on the wire. The program's own tools have
// no name of a source.
func (s Source) Check() error {
	if s.Name == "" {
		return nil
	}
	if err := checkName(s.Name); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if strings.Contains(s.Name, "__") {
		return fmt.Errorf("source: name %q: got __, want it without: it divides source and tool", s.Name)
	}
	return nil
}

// WireName is what a model calls a tool: name itself where source is "", else
// source__name, in at most 64 letters, digits, _ and -. It depends on nothing
// else, whatever is loaded beside it. A name that had to be changed ends in a
// hash of what it was, and so does one that could be taken for another, so that
// two tools of outside sources never share a name.
func WireName(source, name string) string { return wireName(source, name, maxWireName) }

// MCPName is WireName for tools served over MCP: at most 50 characters.
func MCPName(source, name string) string { return wireName(source, name, maxMCPName) }

func wireName(source, name string, most int) string {
	full := name
	if source != "" {
		full = source + "__" + name
	}
	wire := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, full)
	if wire == full && len(wire) <= most && !strings.HasSuffix(source, "_") && !hashed(wire) {
		return wire
	}
	sum := sha256.Sum256([]byte(source + "\x00" + name))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:hashLen])
	return strings.TrimRight(wire[:min(len(wire), most-len(hashMark)-hashLen)], "_") + hashMark + hash
}

// OwnName is the name of the tool before WireName made one of it that models can
// use: source__name, or the name alone where models see no source in front of it.
// A request that has another name for models has that one only.
func (r *Request) OwnName() string {
	switch {
	case r.Tool == nil || r.Name == r.Tool.Name:
		return r.Name
	case r.Name == WireName("", r.Tool.Name):
		return r.Tool.Name
	case r.Name == WireName(r.Source.Name, r.Tool.Name):
		return r.Source.Name + "__" + r.Tool.Name
	}
	return r.Name
}

// A hashed name ends in _x and 10 characters: 50 bits.
const (
	hashMark = "_x"
	hashLen  = 10
)

// hashed reports whether a name looks as if it ended in a hash. Such a name
// gets a hash of its own, or it could be made to equal another's.
func hashed(wire string) bool {
	at := len(wire) - hashLen - len(hashMark)
	if at < 0 || wire[at:at+len(hashMark)] != hashMark {
		return false
	}
	return strings.Trim(wire[at+len(hashMark):], "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func plain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}
