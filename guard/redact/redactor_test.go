package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"G5 a key", "use key-abcdef12345 here", "use [SECRET:test-key:1] here"},
		{"G5 the same value has the same placeholder", "key-abcdef12345 key-other1234567 key-abcdef12345", "[SECRET:test-key:1] [SECRET:test-key:2] [SECRET:test-key:1]"},
		{"G5 kinds are counted apart", "key-abcdef12345 and pass=hunter2hunter2", "[SECRET:test-key:1] and pass=[SECRET:pass:1]"},
		{"G5 a value is found again without its surroundings", "pass=hunter2hunter2\nit is hunter2hunter2.", "pass=[SECRET:pass:1]\nit is [SECRET:pass:1]."},
		{"G5 also before them", "it is hunter2hunter2.\npass=hunter2hunter2\n", "it is [SECRET:pass:1].\npass=[SECRET:pass:1]\n"},
		{"G5 a private key is one value", "a\n" + pem() + "\nb\n", "a\n[SECRET:private-key:1]\nb\n"},
		{"G5 a private key that is cut off", "a\n" + pem()[:200] + "\nthe end of it\n", "a\n[SECRET:private-key:1]\nthe end of it\n"},
		{"a private key that is only spoken of", "begin it with -----BEGIN PRIVATE KEY----- and then\nthe key\n", "begin it with -----BEGIN PRIVATE KEY----- and then\nthe key\n"},
		{"personal data", "mail ann@example.org or call 212-555-0100", "mail [PERSONAL:email:1] or call [PERSONAL:phone:1]"},
		{"spans that overlap are one, and a secret if one of them is", "key-ann@example.org key-x12345678@example.org", "[PERSONAL:email:1] [SECRET:test-key:1]"},
		{"a foreign placeholder is never given out", "[SECRET:test-key:1] [SECRET:other:7] key-abcdef12345", "[SECRET:test-key:1] [SECRET:other:7] [SECRET:test-key:8]"},
		{"nothing", "nothing to see", "nothing to see"},
		{"empty", "", ""},
		{"JSON stays JSON", `{"a":"pass=hunter2hunter2","b":"key-abcdef12345"}`, `{"a":"pass=[SECRET:pass:1]","b":"[SECRET:test-key:1]"}`},
		{"JSON: an escaped value is found", `{"a":"k\u0065y-abc\/def12345\n"}`, `{"a":"[SECRET:test-key:1]\n"}`},
		{"JSON: a number becomes a string", `{"card":4111111111111111,"n":1}`, `{"card":"[PERSONAL:card:1]","n":1}`},
		{"JSON: a private key in a string", `{"key":` + string(appendQuoted(nil, pem()+"\n")) + `}`, `{"key":"[SECRET:private-key:1]\n"}`},
		{"JSON: what is no value stays", `["pass=",true,null,"key-"]`, `["pass=",true,null,"key-"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := session(AllPersonal)
			got := redacted(t, r, tt.text)
			if got != tt.want {
				t.Errorf("Redact(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if again := redacted(t, r, got); again != got {
				t.Errorf("Redact(%q) = %q, want no change", got, again)
			}
		})
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	_, found, err := session(Email).Redact("key-abcdef12345 a@example.org key-abcdef12345")
	want := []Found{{"test-key", false, "[SECRET:test-key:1]"}, {"email", true, "[PERSONAL:email:1]"}}
	if err != nil || fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("got %v, %v, want %v", found, err, want)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	r := session(AllPersonal)
	for _, text := range []string{
		"pass=hunter2hunter2\n[SECRET:pass:9] and ann@example.org", pem(),
		`{"a":"key-abc\/def12345","card":4111111111111111,"key-abcdef12345":[1,"x"]}`,
	} {
		clean := redacted(t, r, text)
		if clean == text {
			t.Errorf("Redact(%q): got no change", text)
		}
		var got string
		if json.Valid([]byte(text)) {
			raw, err := r.RestoreJSON(json.RawMessage(clean))
			if err != nil {
				t.Fatal(err)
			}
			got, text = string(raw), strings.ReplaceAll(text, `\/`, `/`)
		} else {
			var err error
			if got, err = r.Restore(clean); err != nil {
				t.Fatal(err)
			}
		}
		if got != text {
			t.Errorf("restored %q is %q, want %q", clean, got, text)
		}
	}
	t.Run("G5 placeholders of the session are known, others are not", func(t *testing.T) {
		t.Parallel()
		s := session(0)
		redacted(t, s, "key-abcdef12345")
		for text, want := range map[string]string{
			"[SECRET:test-key:1]":                              "[[SECRET:test-key:1]]",
			`{"a":"\u005bSECRET:test-key:1]"}`:                 "[[SECRET:test-key:1]]",
			"[SECRET:test-key:1][SECRET:test-key:1]":           "[[SECRET:test-key:1]]",
			"[SECRET:test-key:2] [SECRET:pass:1] [SECRET:x]":   "[]",
			"[SECRET:test-key:01] [secret:test-key:1] [SECRET": "[]",
		} {
			if got := fmt.Sprint(s.Placeholders(text)); got != want {
				t.Errorf("Placeholders(%q) = %s, want %s", text, got, want)
			}
		}
		if got, err := session(0).Restore("[SECRET:test-key:1]"); got != "[SECRET:test-key:1]" || err != nil {
			t.Errorf("of another session: got %q, %v", got, err)
		}
	})
	t.Run("a value goes back into JSON escaped", func(t *testing.T) {
		t.Parallel()
		s := session(0)
		p := redacted(t, s, `pass=hunter2"hunter2`)
		got, err := s.RestoreJSON(json.RawMessage(`{"a":"` + p + `"}`))
		if want := `{"a":"pass=hunter2\"hunter2"}`; string(got) != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()
	r := New(Options{Secrets: tokens{}, Values: 1})
	got := redacted(t, r, "key-abcdef12345 key-other1234567 key-third1234567")
	if want := "[SECRET:test-key:1] [SECRET:test-key] [SECRET:test-key]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if again := redacted(t, r, got); again != got {
		t.Errorf("again: got %q, want no change", again)
	}
	if _, err := r.Restore(got); !errors.Is(err, ErrNotKept) {
		t.Errorf("Restore: got %v, want %v", err, ErrNotKept)
	}
}

func TestFailsClosed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		r    *Redactor
		want error
	}{
		"G5 no redactor":           {nil, ErrNoScanner},
		"G5 zero":                  {new(Redactor), ErrNoScanner},
		"G5 no scanner":            {New(Options{Personal: AllPersonal}), ErrNoScanner},
		"G5 it cannot finish":      {New(Options{Secrets: broken{}}), errBroken},
		"G5 none finds no secrets": {New(Options{Secrets: None{}}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _, err := tt.r.Redact("text")
			raw, _, err2 := tt.r.RedactJSON(json.RawMessage(`"text"`))
			s := tt.r.Stream()
			first, err3 := s.Write("text\n")
			rest, err4 := s.Flush()
			for _, err := range []error{err, err2, err3, err4} {
				if !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
			}
			if got := text + string(raw) + first + rest; tt.want != nil && got != "" {
				t.Errorf("got the text %q with an error", got)
			}
		})
	}
}

func TestKeysStay(t *testing.T) {
	t.Parallel()
	t.Run("G5 who wants personal data out only keeps private keys", func(t *testing.T) {
		t.Parallel()
		r := New(Options{Secrets: None{}, Personal: Email})
		const want = "\n[PERSONAL:email:1]\n"
		if got, _, err := r.Redact(pem() + "\nann@example.org\n"); err != nil || got != pem()+want {
			t.Errorf("got %q, %v, want the key and %q", got, err, want)
		}
	})
}

func TestHidden(t *testing.T) {
	t.Parallel()
	r := session(0)
	redacted(t, r, "key-abcdef12345")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", slog.Any("r", r))
	raw, err := json.Marshal(struct{ R *Redactor }{r})
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q %x", r, r, r, r, r, r) + fmt.Sprintf("%v %+v %#v", *r, *r, struct{ r *Redactor }{r}) + log.String() + string(raw)
	all += fmt.Sprintf("%+v %#v", r.book, r.book)
	if strings.Contains(all, "abcdef12345") {
		t.Errorf("K2 got a value in %s", all)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	r := session(AllPersonal)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				text := fmt.Sprintf("key-abcdef%05d a%d@example.org", j, (i+j)%7)
				clean, _, err := r.Redact(text)
				if err != nil {
					t.Error(err)
				}
				if back, err := r.Restore(clean); back != text || err != nil {
					t.Errorf("got %q, %v, want %q", back, err, text)
				}
			}
		})
	}
	wg.Wait()
}

func TestAllocated(t *testing.T) {
	r := session(AllPersonal)
	text := strings.Repeat("It was a bright cold day in April, at 12:30 on 2024-05-01, and 3.5 of 100 clocks struck.\n", 100)
	if n := testing.AllocsPerRun(10, func() {
		if _, _, err := r.Redact(text); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("got %v allocations where nothing is found, want 0", n)
	}
}
