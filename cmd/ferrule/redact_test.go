package main

import (
	"regexp"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/leaks"
	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/internal/config"
)

// formKeys finds keys of one form, of nobody: the rules of the program take their time
// to load.
type formKeys struct{ started func() }

var keyForm = regexp.MustCompile(`AKIA0{12}[0-9]{4}`)

func (formKeys) Scan(text string) (found []redact.Span, err error) {
	for _, m := range keyForm.FindAllStringIndex(text, -1) {
		found = append(found, redact.Span{Start: m[0], End: m[1], Kind: "aws-key"})
	}
	return found, nil
}

func (k formKeys) Start() func() error {
	if k.started != nil {
		k.started()
	}
	return func() error { return nil }
}

func TestRedact(t *testing.T) {
	t.Parallel()
	t.Run("G5 the program takes keys out", func(t *testing.T) {
		t.Parallel()
		if _, ok := newProgram(helper).keys.(*leaks.Scanner); !ok {
			t.Error("the program finds no keys")
		}
	})
	t.Run("G5 who serves loads the rules with the first text, once", func(t *testing.T) {
		t.Parallel()
		n := 0
		e := &early{keyFinder: formKeys{started: func() { n++ }}}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { _, _ = e.Scan("x") })
		}
		wg.Wait()
		if err := e.end(t.Context()); err != nil || n != 1 {
			t.Errorf("got %v, started %d times", err, n)
		}
		idle := &early{keyFinder: formKeys{started: func() { n++ }}}
		if err := idle.end(t.Context()); err != nil || n != 1 {
			t.Errorf("got %v: nothing was looked at, and the rules are loaded", err)
		}
	})
	t.Run("G5 personal data in the words of the configuration", func(t *testing.T) {
		t.Parallel()
		if got := personalOf([]string{"e-mail", "phone", "card", "iban", "ssn", "ip"}); got != redact.AllPersonal {
			t.Errorf("got %b", got)
		}
		var c config.Config
		c.Content.KeysStay, c.Content.Personal = true, []string{"ip"}
		if got := redactedText(&c); got != "keys stay; personal data: ip" {
			t.Errorf("got %q", got)
		}
	})
}
