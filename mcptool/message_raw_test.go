package mcptool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMember(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw, key, want string
		ok             bool
	}{
		{`{"a":1,"b": {"c" : 2} }`, "b", `{"c" : 2}`, true},
		{`{"a":1}`, "c", "", false},
		{`{"x":{"a":1}}`, "a", "", false},
		{`{"\u0061":1}`, "a", "1", true},
		{`{"a":1,"a":2}`, "a", "2", true}, // as others read it
		{`{"":null}`, "", "null", true},
		{`[1]`, "a", "", false},
		{``, "a", "", false},
	}
	for _, tt := range tests {
		if got, ok := member(json.RawMessage(tt.raw), tt.key); string(got) != tt.want || ok != tt.ok {
			t.Errorf("member(%s, %s) = %s, %v, want %s, %v", tt.raw, tt.key, got, ok, tt.want, tt.ok)
		}
	}
}

func TestSetMembers(t *testing.T) {
	t.Parallel()
	set := func(key, value string) pair { return pair{key, json.RawMessage(value)} }
	remove := func(key string) pair { return pair{key, nil} }
	tests := []struct {
		raw   string
		pairs []pair
		want  string
	}{
		{`{"a":1, "b" : 2 ,"c":3}`, []pair{set("b", "9")}, `{"a":1, "b" : 9 ,"c":3}`},
		{`{"a":1, "b" : 2 ,"c":3}`, []pair{remove("b")}, `{"a":1,"c":3}`},
		{`{"a":1,"b":2}`, []pair{remove("a")}, `{"b":2}`},
		{`{"a":1,"b":2}`, []pair{remove("b")}, `{"a":1}`},
		{`{"a":1}`, []pair{remove("a"), set("b", "2")}, `{"b":2}`},
		{`{"a":1}`, []pair{remove("x")}, `{"a":1}`},
		{` {"a":1} `, []pair{set("b", `"x"`), set("c", "[]")}, ` {"a":1,"b":"x","c":[]} `},
		{`{}`, []pair{set(`"`, "1")}, `{"\"":1}`},
		{`{"a":1,"b":2,"a":3}`, []pair{set("a", "0")}, `{"a":0,"b":2}`},
		{`{"a":1,"b":2,"a":3}`, []pair{remove("a")}, `{"b":2}`},
		{`{"b":{"a":1},"x":1e2}`, []pair{set("a", "2")}, `{"b":{"a":1},"x":1e2,"a":2}`},
		{``, []pair{set("a", "1")}, `{"a":1}`},
		{`null`, []pair{set("a", "1")}, `{"a":1}`},
		{`[1]`, []pair{set("a", "1")}, `[1]`},
		{`{"a"`, []pair{set("a", "1")}, `{"a"`},
	}
	for _, tt := range tests {
		before := strings.Clone(tt.raw)
		if got := setMembers(json.RawMessage(tt.raw), tt.pairs...); string(got) != tt.want {
			t.Errorf("setMembers(%s, %s) = %s, want %s", tt.raw, tt.pairs, got, tt.want)
		}
		if tt.raw != before {
			t.Errorf("setMembers changed %s", before)
		}
	}
}

func TestSetMeta(t *testing.T) {
	t.Parallel()
	one := pair{"k", json.RawMessage("1")}
	tests := []struct {
		raw  string
		pair pair
		want string
	}{
		{``, one, `{"_meta":{"k":1}}`},
		{`{"a":2}`, one, `{"a":2,"_meta":{"k":1}}`},
		{`{"_meta":{"x":0},"a":2}`, one, `{"_meta":{"x":0,"k":1},"a":2}`},
		{`{"_meta":5}`, one, `{"_meta":{"k":1}}`},
		{`{"a":2}`, pair{"k", nil}, `{"a":2}`},
		{`{"_meta":{"k":1}}`, pair{"k", nil}, `{"_meta":{}}`},
	}
	for _, tt := range tests {
		got := setMeta(json.RawMessage(tt.raw), tt.pair)
		if string(got) != tt.want {
			t.Errorf("setMeta(%s, %s) = %s, want %s", tt.raw, tt.pair, got, tt.want)
		}
		if value, _ := metaMember(got, "k"); !bytes.Equal(value, tt.pair.value) {
			t.Errorf("metaMember(%s) = %s, want %s", got, value, tt.pair.value)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é\u2028😀<>&", strings.Repeat("x", 100)} {
		raw := quote(text)
		var want string
		if err := json.Unmarshal(raw, &want); err != nil || want != text {
			t.Errorf("quote(%q) = %s, which is %q, %v", text, raw, want, err)
		}
		if got, ok := unquote(raw); !ok || got != text {
			t.Errorf("unquote(%s) = %q, %v, want %q", raw, got, ok, text)
		}
	}
	if got := quote("a\xffb"); string(got) != "\"a\uFFFDb\"" {
		t.Errorf("got %s, want what is not UTF-8 replaced", got)
	}
	for _, raw := range []string{``, `1`, `"a`, `"a"b`, `"\x"`} {
		if got, ok := unquote(json.RawMessage(raw)); ok {
			t.Errorf("unquote(%s) = %q, want none", raw, got)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é":               "plain é",
		"\x1b[2Jgone\a":         "\uFFFD[2Jgone\uFFFD",
		"a\xffb":                "ab",
		strings.Repeat("é", 50): strings.Repeat("é", 40) + "…",
	} {
		if got := short(text); got != want {
			t.Errorf("short(%q) = %q, want %q", text, got, want)
		}
	}
}

// A set of members changes these and nothing else, as encoding/json reads it.
func FuzzSetMembers(f *testing.F) {
	f.Add([]byte(`{"a":1, "b" : {"a":[]} }`), "a", `"x"`, "c")
	f.Add([]byte(`{"a":1,"\u0061":2}`), "a", ``, "b")
	f.Add([]byte("{ \n}"), "", `1`, "")
	f.Add([]byte(`null`), "k", `{}`, "x")
	f.Fuzz(func(t *testing.T, raw []byte, key, value, other string) {
		if !json.Valid(raw) || !utf8.Valid(raw) || !utf8.ValidString(key) || !utf8.ValidString(other) || key == other {
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil {
			return // no object
		}
		if want == nil {
			want = make(map[string]json.RawMessage)
		}
		p := pair{key, nil}
		delete(want, other)
		delete(want, key)
		if json.Valid([]byte(value)) {
			p.value = json.RawMessage(value)
			want[key] = bytes.TrimSpace([]byte(value))
		}
		got := setMembers(raw, p, pair{other, nil})
		var members map[string]json.RawMessage
		if err := json.Unmarshal(got, &members); err != nil {
			t.Fatalf("%q became %q: %v", raw, got, err)
		}
		if !reflect.DeepEqual(members, want) {
			t.Fatalf("%q became %q, want %q", raw, got, fmt.Sprint(want))
		}
		if found, ok := member(got, key); ok != (p.value != nil) || ok && !bytes.Equal(found, bytes.TrimSpace(p.value)) {
			t.Fatalf("%q became %q, where %q is %q, %v", raw, got, key, found, ok)
		}
		if _, ok := member(got, other); ok {
			t.Fatalf("%q became %q, which has %q", raw, got, other)
		}
	})
}
