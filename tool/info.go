package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/schema"
)

// Clone copies a tool's data, so that a change of one is none of the other.
func (i Info) Clone() Info {
	i.Input, i.Output = slices.Clone(i.Input), slices.Clone(i.Output)
	i.Aliases, i.Tags, i.Secrets = slices.Clone(i.Aliases), slices.Clone(i.Tags), slices.Clone(i.Secrets)
	i.Claims = i.Claims.clone()
	i.Examples = slices.Clone(i.Examples)
	for n, e := range i.Examples {
		i.Examples[n] = Example{slices.Clone(e.Input), slices.Clone(e.Output)}
	}
	return i
}

// check refuses a definition that cannot mean what it says.
func (i *Info) check() error {
	if err := checkName(i.Name); err != nil {
		return err
	}
	if strings.TrimSpace(i.Description) == "" {
		return errors.New("no description: a model chooses by it")
	}
	if !utf8.ValidString(i.Description) {
		return errors.New("the description is not valid UTF-8")
	}
	if err := i.Claims.Check(); err != nil {
		return err
	}
	for _, a := range i.Aliases {
		if err := checkName(a); err != nil {
			return fmt.Errorf("alias: %w", err)
		}
		if a == i.Name {
			return fmt.Errorf("alias %q is the name itself", a)
		}
	}
	switch {
	case i.Timeout < 0 && i.Timeout != Unlimited:
		return fmt.Errorf("timeout: got %s, want more than 0, 0 for %s, or Unlimited", i.Timeout, defaultTimeout)
	case 0 < i.Timeout && i.Timeout < time.Millisecond:
		return fmt.Errorf("timeout: got %s, want a time.Duration such as 30*time.Second", i.Timeout)
	case i.Deferred && i.AlwaysLoad:
		return errors.New("deferred and always loaded at once")
	case !i.Approval.known():
		return fmt.Errorf("approval: got %q, want %q, %q or unset", i.Approval, AskAlways, AskNever)
	}
	if err := i.checkTexts(); err != nil {
		return err
	}
	if err := errors.Join(
		oneOf("isolation", i.Isolation, "process namespace container"),
		oneOf("memory", i.Memory, "pure no-memory memory-aware untrusted"),
		oneOf("sanitize", i.Sanitize, "pass flag strip wrap strip+wrap"),
	); err != nil {
		return err
	}
	if i.AtOnce < 0 {
		return fmt.Errorf("at once: got %d, want 0 for no cap, or more", i.AtOnce)
	}
	if worst := max(i.InputSensitivity, i.OutputSensitivity); worst > Secret {
		return fmt.Errorf("sensitivity: got %d, want Internal, Public or Secret", worst)
	}
	return i.Limit.check()
}

// checkTexts looks at what models and people read beside the description.
func (i *Info) checkTexts() error {
	for what, list := range map[string][]string{"tag": i.Tags, "secret": i.Secrets, "alias": i.Aliases} {
		for n, s := range list {
			if s == "" || strings.TrimSpace(s) != s || !printable(s) {
				return fmt.Errorf("%s %q: want a word", what, s)
			}
			if slices.Contains(list[:n], s) {
				return fmt.Errorf("%s %q: given twice", what, s)
			}
		}
	}
	for _, s := range []string{i.Model, i.AskReason, i.RejectText} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%q: want valid UTF-8", s)
		}
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.C, r) })
}

// defaultTimeout bounds a run whose tool sets no time.
const defaultTimeout = 60 * time.Second

// RunTime is how long one run may take; ok is false when it has no limit.
func (i *Info) RunTime() (d time.Duration, ok bool) {
	switch i.Timeout {
	case 0:
		return defaultTimeout, true
	case Unlimited:
		return 0, false
	}
	return i.Timeout, true
}

// compile readies the schemas.
func (t *Tool) compile() (err error) {
	if len(t.Input) == 0 {
		return errors.New("no input schema: a tool without arguments says {\"type\":\"object\",\"additionalProperties\":false}")
	}
	if err := wantsObject(t.Input); err != nil {
		return err
	}
	if t.input, err = compiled(t.input, t.Input, schema.Options{Arguments: true, Open: t.Open}, t.opened == t.Open); err != nil {
		return fmt.Errorf("input %w", err)
	}
	t.opened = t.Open
	if t.reader != nil && !t.Open {
		t.read = t.reader(t.Input)
	}
	had := t.output
	if t.output = nil; len(t.Output) > 0 {
		if t.output, err = compiled(had, t.Output, schema.Options{}, true); err != nil {
			return fmt.Errorf("output %w", err)
		}
	}
	return nil
}

// compiled is a schema, which is not compiled again where it was, the same way. It
// is another one all the same: what was admitted by a tool before it was checked is
// not admitted by the one after.
func compiled(had *schema.Schema, text json.RawMessage, o schema.Options, same bool) (*schema.Schema, error) {
	if had != nil && same && bytes.Equal(had.Source(), text) {
		again := *had
		return &again, nil
	}
	return schema.Compile(text, o)
}

// wantsObject refuses a schema that no arguments could fit: a model always
// sends an object.
func wantsObject(input json.RawMessage) error {
	var root map[string]any // a struct would take Type for type
	if err := json.Unmarshal(input, &root); err != nil {
		if schema.Valid(string(input)) == nil {
			return fmt.Errorf("input schema: got %.20s, want an object", input)
		}
		return nil //nolint:nilerr // not JSON: the compiler says it better
	}
	switch typ := root["type"].(type) {
	case string:
		if typ != "object" {
			return fmt.Errorf("input schema: got type %q at the root, want \"object\"", typ)
		}
	case []any:
		if !slices.Contains(typ, any("object")) {
			return fmt.Errorf("input schema: got type %v at the root, want \"object\"", typ)
		}
	}
	return nil
}

func (t *Tool) checkExample(e Example) error {
	if _, err := t.Admit(e.Input); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if e.Output == nil {
		return nil
	}
	if err := t.CheckOutput(e.Output); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// Limit bounds what one result puts into the model's context. Where both are
// set the smaller wins; the zero value is the default of both.
type Limit struct {
	Chars  int // characters; 0: 64,000; Unlimited must be said
	Tokens int // 0: 16,384; Unlimited must be said
	// Cut is what happens to a result that is too long: middle (beginning and
	// end stay), head, tail, offload (kept whole, with a preview for the model)
	// or summarize (by a function of the host); "": offload where there is a
	// store, else middle. What cannot be done is middle, too.
	Cut string
}

// Unlimited is how a tool says that its runs or its results have no limit.
const Unlimited = -1

func (l Limit) check() error {
	if l.Chars < Unlimited || l.Tokens < Unlimited {
		return fmt.Errorf("limit: got %d characters and %d tokens, want at least 0, or Unlimited", l.Chars, l.Tokens)
	}
	return oneOf("limit: cut", l.Cut, "offload middle head tail summarize")
}

// oneOf wants a word of a closed set, or none.
func oneOf(what, got, words string) error {
	if got == "" || slices.Contains(strings.Fields(words), got) {
		return nil
	}
	return fmt.Errorf("%s: got %q, want one of %s, or unset", what, got, strings.ReplaceAll(words, " ", ", "))
}

// Sensitivity says where a text may be shown.
type Sensitivity uint8

// Each place (model, log, audit, exporter, store, page) says which it accepts.
const (
	Internal Sensitivity = iota
	Public
	Secret
)

// String is the word used in configuration and records.
func (s Sensitivity) String() string {
	if s > Secret {
		s = Secret
	}
	return sensitivityWords()[s]
}

// MarshalText writes the word.
func (s Sensitivity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Sensitivity) UnmarshalText(text []byte) (err error) {
	if *s, err = fromWord[Sensitivity](sensitivityWords(), string(text)); err != nil {
		*s = Secret
	}
	return err
}

func sensitivityWords() []string { return []string{"internal", "public", "secret"} }

// Approval says when a tool wants a person to be asked.
type Approval string

// Unset is silent; a predicate is Tool.AskIf.
const (
	AskAlways Approval = "always"
	AskNever  Approval = "never" // an allow for built-in and own tools, silence for others
)

func (a Approval) known() bool { return a == "" || a == AskAlways || a == AskNever }
