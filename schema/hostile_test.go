package schema_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/hostile"
	"github.com/ferrule-dev/ferrule/schema"
)

func TestHostileSchemas(t *testing.T) {
	for _, h := range hostile.Schemas() {
		for _, o := range []schema.Options{{}, {Arguments: true}, {Draft7: true, Arguments: true}} {
			if o.Draft7 && strings.Contains(h.Name, "dynamic") {
				continue // draft 7 does not know the keyword
			}
			name := "S6 refused: " + h.Name
			if o.Arguments {
				name += ", for arguments"
			}
			if o.Draft7 {
				name += ", draft 7"
			}
			t.Run(name, func(t *testing.T) {
				_, err := schema.Compile(h.Text, o)
				if err == nil || !strings.Contains(err.Error(), h.Want) {
					t.Errorf("got error %.200v, want one that says %q", err, h.Want)
				}
			})
		}
	}
}

func TestNothingIsFetched(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	host := "http://" + l.Addr().String() + "/schema.json"
	for _, tt := range []struct{ name, text string }{
		{"a host", `{"$ref":"` + host + `"}`},
		{"a host in a part", `{"properties":{"a":{"items":{"$ref":"` + host + `#/x"}}}}`},
		{"a host by $id", `{"$id":"` + host + `","$ref":"other.json"}`},
		{"a host by $schema", `{"$schema":"` + host + `"}`},
		{"a host by $dynamicRef", `{"$dynamicRef":"` + host + `#x"}`},
		{"a host in a definition nobody uses", `{"$defs":{"a":{"$schema":"` + host + `","$id":"http://x.invalid/"}},"$ref":"http://x.invalid/"}`},
		{"a file", `{"$ref":"file://` + filepath.ToSlash(secret) + `"}`},
		{"a file by path", `{"$ref":"` + filepath.ToSlash(secret) + `"}`},
		{"a relative name", `{"$ref":"secret.json"}`},
	} {
		t.Run("S6 not followed: "+tt.name, func(t *testing.T) {
			for _, o := range []schema.Options{{}, {Arguments: true}, {Draft7: true}} {
				if o.Draft7 && strings.Contains(tt.text, "dynamicRef") {
					continue
				}
				if _, err := schema.Compile([]byte(tt.text), o); err == nil {
					t.Errorf("%+v: compiled, want a refusal", o)
				}
			}
		})
	}
	// Connections are accepted in the order they were made: if the first is
	// ours, nobody else came.
	mine, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mine.Close() }()
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if first.RemoteAddr().String() != mine.LocalAddr().String() {
		t.Errorf("S6: %s connected to the host of a reference", first.RemoteAddr())
	}
}

func TestRecursionIsBounded(t *testing.T) {
	// Each level of the value is looked at twice by each level above it.
	s, err := schema.Compile([]byte(`{"$defs":{"n":{"anyOf":[{"properties":{"c":{"$ref":"#/$defs/n"},"a":{"const":1}}},{"properties":{"c":{"$ref":"#/$defs/n"},"b":{"const":1}}}]}},"$ref":"#/$defs/n"}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	nested := func(n int, leaf string) string {
		return strings.Repeat(`{"c":`, n) + leaf + strings.Repeat(`}`, n)
	}
	t.Run("S6 a recursive schema takes a value of ordinary depth", func(t *testing.T) {
		if err := s.Check(nested(12, `{"a":1,"b":1}`)); err != nil {
			t.Error(err)
		}
	})
	t.Run("S6 a value so deep that checking would take for ever is refused", func(t *testing.T) {
		err := s.Check(nested(64, `{"a":2,"b":2}`))
		if err == nil || !strings.Contains(err.Error(), "nested") {
			t.Errorf("got %v, want a refusal that says how deep", err)
		}
	})
	t.Run("S6 a tree of conditions may be as deep as people write them", func(t *testing.T) {
		filter := compile(t, `{"properties":{"f":{"$ref":"#/$defs/e"}},"$defs":{"e":{"oneOf":[
			{"type":"object","properties":{"op":{"const":"and"},"args":{"type":"array","items":{"$ref":"#/$defs/e"}}},"required":["op","args"]},
			{"type":"object","properties":{"op":{"const":"or"},"args":{"type":"array","items":{"$ref":"#/$defs/e"}}},"required":["op","args"]},
			{"type":"object","properties":{"op":{"const":"not"},"args":{"type":"array","items":{"$ref":"#/$defs/e"}}},"required":["op","args"]},
			{"type":"string"}]}}}`, schema.Options{Arguments: true})
		text := `"x"`
		for range 8 {
			text = `{"op":"or","args":[` + text + `]}`
		}
		if err := filter.Check(`{"f":` + text + `}`); err != nil {
			t.Error(err)
		}
	})
	t.Run("S6 a plain recursive schema takes any depth", func(t *testing.T) {
		tree, err := schema.Compile([]byte(`{"type":"object","properties":{"v":{"type":"integer"},"left":{"$ref":"#"},"right":{"$ref":"#"}}}`), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		deep := strings.Repeat(`{"left":`, 1000) + `{"v":1}` + strings.Repeat(`}`, 1000)
		if err := tree.Check(deep); err != nil {
			t.Error(err)
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, h := range hostile.Schemas() {
		if len(h.Text) < 4096 {
			f.Add(string(h.Text), `{"a":[1,"x",null]}`)
		}
	}
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"pattern":"("}}}`, `{"a":""}`)
	f.Add(`{"$id":"http://a/b","$defs":{"c":{"$id":"d","$anchor":"e"}},"$ref":"d#e"}`, `1`)
	f.Fuzz(func(t *testing.T, text, value string) {
		for _, o := range []schema.Options{{}, {Arguments: true}, {Draft7: true, Arguments: true, Open: true}} {
			if s, err := schema.Compile([]byte(text), o); err == nil {
				_ = s.Check(value) // no panic, and an end
			}
		}
	})
}
