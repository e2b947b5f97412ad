package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/leak"
	"github.com/ferrule-dev/ferrule/secret"
)

func TestValuePrintsNothing(t *testing.T) {
	t.Parallel()
	const text = "hunter2hunter2"
	v := secret.NewValue([]byte(text))
	holder := struct {
		Shown  secret.Value
		hidden secret.Value
		at     *secret.Value
	}{v, v, &v}
	bare := struct{ S string }{text} // what is printed where nobody takes care
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d", "%t", "%p", "%T"} {
		t.Run("K2 "+verb, func(t *testing.T) {
			t.Parallel()
			for _, what := range []any{v, &v, holder, &holder, []secret.Value{v}, map[string]secret.Value{"a": v}, secret.Value{}} {
				if got := fmt.Sprintf(verb, what); leak.Way(got, text) != "" {
					t.Errorf("%s of %T: %s", verb, what, got)
				}
			}
			if verb == "%v" && leak.Way(fmt.Sprintf(verb, bare), text) == "" {
				t.Error("the test would not see a leak")
			}
		})
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"json": func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(holder) },
		"xml":  func(b *bytes.Buffer) error { return xml.NewEncoder(b).Encode(holder.Shown) },
		"text": func(b *bytes.Buffer) error { m, err := v.MarshalText(); b.Write(m); return err },
		"slog text": func(b *bytes.Buffer) error {
			slog.New(slog.NewTextHandler(b, nil)).Info("x", slog.Any("a", v), slog.Any("b", holder))
			return nil
		},
		"slog json": func(b *bytes.Buffer) error {
			slog.New(slog.NewJSONHandler(b, nil)).Info("x", slog.Any("a", v), slog.Any("b", holder))
			return nil
		},
		"print": func(b *bytes.Buffer) error { fmt.Fprint(b, v, v.String(), v.GoString()); return nil },
	} {
		t.Run("K2 "+name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if leak.Way(b.String(), text) != "" || !strings.Contains(b.String(), "[secret]") {
				t.Errorf("wrote %s", b.String())
			}
		})
	}
	t.Run("K2 gob", func(t *testing.T) {
		t.Parallel()
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(v); err == nil || leak.Way(b.String(), text) != "" {
			t.Errorf("wrote %q, %v", b.String(), err)
		}
	})
	t.Run("K2 what is used is a copy that is wiped", func(t *testing.T) {
		t.Parallel()
		var kept []byte
		for range 2 {
			err := v.Use(func(b []byte) error {
				if string(b) != text {
					t.Errorf("got %q, want the value", b)
				}
				kept = b
				return nil
			})
			if err != nil || strings.Trim(string(kept), "\x00") != "" {
				t.Errorf("got %q afterwards, %v", kept, err)
			}
		}
	})
}
