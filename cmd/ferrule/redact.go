package main

import (
	"context"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/internal/config"
)

// keyFinder finds keys and tokens. Its rules take most of a second to load.
type keyFinder interface {
	redact.Scanner
	// Start loads them in the background.
	Start() (wait func() error)
}

// redact has keys and personal data taken out of content, as the configuration says.
func (p *program) redact(h *host, o hosting) {
	c, g := h.config.Content, h.rt.Guard
	if o.asks {
		return
	}
	g.Personal = personalOf(c.Personal)
	switch {
	case c.KeysStay || p.keys == nil:
	case o.serves:
		early := &early{keyFinder: p.keys}
		g.Keys = early
		h.atEnd(early.end)
	default: // one call: they are loaded if its content wants them
		g.Keys = p.keys
	}
}

// early loads the rules when the first text is looked at, which is the arguments of
// the first call: they are there, or nearly so, when it returns. A text that holds no
// word of a rule does not wait for them; every other one does.
type early struct {
	keyFinder

	once sync.Once
	wait func() error // nil: nothing was looked at
}

// Scan finds keys and tokens in a text.
func (e *early) Scan(text string) ([]redact.Span, error) {
	e.once.Do(func() { e.wait = e.Start() })
	return e.keyFinder.Scan(text)
}

// end waits until nothing is loaded any more.
func (e *early) end(context.Context) error {
	if e.once.Do(func() {}); e.wait != nil {
		_ = e.wait() // who looked at a text was told
	}
	return nil
}

// personalOf are kinds of personal data, in the words of the configuration.
func personalOf(words []string) (all redact.Personal) {
	for _, w := range words {
		all |= map[string]redact.Personal{
			"e-mail": redact.Email, "phone": redact.Phone, "card": redact.Card, "iban": redact.IBAN, "ssn": redact.SSN, "ip": redact.IP,
		}[w]
	}
	return all
}

// redactedText says what is taken out of content.
func redactedText(c *config.Config) string {
	text := "keys are taken out"
	if c.Content.KeysStay {
		text = "keys stay"
	}
	if list := c.Content.Personal; len(list) > 0 {
		text += "; personal data: " + strings.Join(list, ", ")
	}
	return text
}
