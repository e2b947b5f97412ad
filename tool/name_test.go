package tool_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestCheckSource(t *testing.T) {
	for source, want := range map[string]string{
		"github": "", "a_b": "", "_a_": "", "a.b-c": "", strings.Repeat("s", 128): "",
		"":         "", // the program's own tools
		"a__b":     `source: name "a__b": got __, want it without: it divides source and tool`,
		"__":       `source: name "__": got __, want it without: it divides source and tool`,
		"a b":      `source: name "a b": got ' ', want letters, digits, _ . and -`,
		"a/b":      `source: name "a/b": got '/', want letters, digits, _ . and -`,
		"quelle1é": `source: name "quelle1é": got 'é', want letters, digits, _ . and -`,
	} {
		t.Run("T6 source "+strings.ReplaceAll(source, "/", "slash"), func(t *testing.T) {
			got := ""
			if err := (tool.Source{Name: source}).Check(); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestWireName has hashes in full: who changes them renames tools in every
// transcript, rule and pin there is.
func TestWireName(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name         string
		source, tool string
		most         int
		want         string
	}{
		{"T6 an own tool keeps its name", "", "read_file", 64, "read_file"},
		{"T6 an own tool may have two underscores", "", "a__b", 64, "a__b"},
		{"T6 another source stands in front", "github", "create_issue", 64, "github__create_issue"},
		{"T6 the same for MCP clients", "github", "create_issue", 50, "github__create_issue"},
		{"T6 underscores of the name stay", "github", "_a__b_", 64, "github___a__b_"},
		{"T6 64 characters fit", "", x(64), 64, x(64)},
		{"T6 65 do not", "", x(65), 64, x(52) + "_xtf7ojwisig"},
		{"T6 50 characters fit for MCP clients", "s", x(47), 50, "s__" + x(47)},
		{"T6 51 do not", "s", x(48), 50, "s__" + x(35) + "_xgchfvllwgj"},
		{"T6 a replaced character", "", "fs.read", 64, "fs_read_x52wv23xoqm"},
		{"T6 a replaced character of the source", "a.b", "c", 64, "a_b__c_xrn2fxnhmig"},
		{"T6 a source that ends in an underscore", "a_", "b", 64, "a___b_xuadwni3y3s"},
		{"T6 a name that looks hashed", "a", "b_xaaaaaaaaaa", 64, "a__b_xaaaaaaaaaa_xvhqmqxkpv4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := wireName(tt.source, tt.tool, tt.most); got != tt.want {
				t.Errorf("WireName(%q, %q, %d) = %q, want %q", tt.source, tt.tool, tt.most, got, tt.want)
			}
		})
	}
}

// named is a tool of some source.
type named struct{ source, name string }

func (n named) valid() bool {
	name := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	return n.source != "" && tool.Source{Name: n.source}.Check() == nil && name.MatchString(n.name)
}

// wireName is the name for models (64) or for MCP clients (50).
func wireName(source, name string, most int) string {
	if most == 50 {
		return tool.MCPName(source, name)
	}
	return tool.WireName(source, name)
}

// anyNamed draws names that are alike: of few letters, with underscores and
// dots everywhere, some of them long, some as if they were hashed.
func anyNamed() *rapid.Generator[named] {
	return rapid.Custom(func(t *rapid.T) named {
		part := rapid.OneOf(
			rapid.StringMatching(`[ab_.-]{1,4}`),
			rapid.StringMatching(`[a-zA-Z0-9_.-]{1,20}`),
			rapid.StringMatching(`[ab_.]{0,3}_x[a2]{10}`),
			rapid.StringMatching(`a{30,60}[ab_.]{1,4}`),
		)
		return named{part.Draw(t, "source"), part.Draw(t, "name")}
	}).Filter(named.valid)
}

// like draws a tool that somebody might make to be taken for n.
func like(n named, most int) *rapid.Generator[named] {
	return rapid.Custom(func(t *rapid.T) named {
		switch rapid.IntRange(0, 6).Draw(t, "trick") {
		case 0: // the wire name itself, divided at another place
			wire := wireName(n.source, n.name, most)
			if at := rapid.IntRange(0, len(wire)).Draw(t, "at"); at+2 <= len(wire) {
				return named{strings.TrimSuffix(wire[:at], "__"), strings.TrimPrefix(wire[at:], "__")}
			}
		case 1: // a replaced character written out
			return named{strings.ReplaceAll(n.source, ".", "_"), strings.ReplaceAll(n.name, ".", "_")}
		case 2: // an underscore moved from the name to the source
			return named{n.source + "_", strings.TrimPrefix(n.name, "_")}
		case 3: // and back
			return named{strings.TrimSuffix(n.source, "_"), "_" + n.name}
		case 4: // a difference beyond the cut
			return named{n.source, n.name + rapid.StringMatching(`[ab._]{1,3}`).Draw(t, "more")}
		case 5: // the hash, or one like it, as part of the name
			wire := wireName(n.source, n.name, most)
			return named{n.source, n.name + wire[max(0, len(wire)-12):]}
		case 6: // another character replaced
			return named{n.source, strings.ReplaceAll(n.name, "_", ".")}
		}
		return n
	})
}

func TestWireNameProperties(t *testing.T) {
	for _, most := range []int{64, 50} {
		form := regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, most))
		t.Run(fmt.Sprintf("T6 letters, digits, _ and -, at most %d", most), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := anyNamed().Draw(t, "tool")
				for _, source := range []string{n.source, ""} {
					wire := wireName(source, n.name, most)
					if !form.MatchString(wire) {
						t.Fatalf("%q of %q is %q", n.name, source, wire)
					}
					if again := wireName(source, n.name, most); again != wire {
						t.Fatalf("%q of %q is %q, then %q", n.name, source, wire, again)
					}
				}
			})
		})
		t.Run(fmt.Sprintf("T6 two tools never share a name of %d", most), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a := anyNamed().Draw(t, "one")
				b := rapid.OneOf(like(a, most), like(a, most), anyNamed()).Draw(t, "other")
				if b.valid() && a != b && wireName(a.source, a.name, most) == wireName(b.source, b.name, most) {
					t.Fatalf("%+v and %+v are both %q", a, b, wireName(a.source, a.name, most))
				}
			})
		})
	}
	t.Run("T6 every short name is told apart", func(t *testing.T) {
		parts := []string{""}
		var all []string
		for range 4 {
			var longer []string
			for _, p := range parts {
				longer = append(longer, p+"a", p+"_", p+".")
			}
			parts, all = longer, append(all, longer...)
		}
		seen := map[string]named{}
		for _, source := range all {
			for _, name := range all {
				n := named{source, name}
				if !n.valid() {
					continue
				}
				wire := wireName(source, name, 64)
				if other, ok := seen[wire]; ok {
					t.Fatalf("%+v and %+v are both %q", other, n, wire)
				}
				seen[wire] = n
			}
		}
	})
	t.Run("T6 the way back: what has no hash divides at the first __", func(t *testing.T) {
		hashed := regexp.MustCompile(`_x[a-z2-7]{10}$`)
		rapid.Check(t, func(t *rapid.T) {
			n := anyNamed().Draw(t, "tool")
			wire := wireName(n.source, n.name, 64)
			if hashed.MatchString(wire) {
				if wire == n.source+"__"+n.name {
					t.Fatalf("%+v is %q and could be taken for a hashed name", n, wire)
				}
				return
			}
			source, name, _ := strings.Cut(wire, "__")
			if source != n.source || name != n.name {
				t.Fatalf("%+v is %q and comes back as %q of %q", n, wire, name, source)
			}
		})
	})
	t.Run("T6 a plain name of a plain source is not touched", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			source := rapid.StringMatching(`[a-zA-Z0-9-]{1,16}`).Draw(t, "source")
			name := rapid.StringMatching(`[a-wyzA-Z0-9-]{1,30}`).Draw(t, "name")
			if got := wireName(source, name, 64); got != source+"__"+name {
				t.Fatalf("%q of %q is %q", name, source, got)
			}
		})
	})
}

func TestOwnName(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		source, tool, wire, want string
	}{
		{"T6 an own tool", "", "db.drop", tool.WireName("", "db.drop"), "db.drop"},
		{"T6 of a source", "box", "db.drop", tool.WireName("box", "db.drop"), "box__db.drop"},
		{"T6 of a source that models do not see", "box", "db.drop", tool.WireName("", "db.drop"), "db.drop"},
		{"T6 a plain name", "box", "read", "box__read", "box__read"},
		{"T6 a plain name without its source", "box", "read", "read", "read"},
		{"T6 of a bare source, with a name that needs its own prefix", "box", "a__read", "box__a__read", "box__a__read"},
		{"T6 another name for models", "box", "db.drop", "drop", "drop"},
		{"T6 a source that ends in _", "box_", "read", tool.WireName("box_", "read"), "box___read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := tool.Request{Name: tt.wire, Source: tool.Source{Name: tt.source}, Tool: &tool.Info{Name: tt.tool}}
			if got := q.OwnName(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if got := (&tool.Request{Name: "x"}).OwnName(); got != "x" {
		t.Errorf("T6 no tool: got %s, want the name that was called", got)
	}
}
