package ferrule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// scrubber takes values out of what leaves, and remembers whose they were: those
// that tools were given, and what looks like a key. Each of the two may be nil.
type scrubber struct {
	vault  *secret.Vault
	keys   *redact.Redactor
	found  []string // names of secrets, and placeholders
	failed error    // why something could not be looked through for keys
}

func (s *scrubber) note(names []string) {
	for _, name := range names {
		if !slices.Contains(s.found, name) {
			s.found = append(s.found, name)
		}
	}
}

func (s *scrubber) text(text *string) (changed bool) {
	if clean, found := s.vault.Scrub(*text); len(found) > 0 {
		*text, changed = clean, true
		s.note(found)
	}
	return s.redact(text) || changed
}

// content is the same blocks where nothing is in them.
func (s *scrubber) content(blocks []tool.Content) []tool.Content {
	own := false
	for i := range blocks {
		b := blocks[i]
		if !s.block(&b) {
			continue
		}
		if !own {
			blocks, own = slices.Clone(blocks), true
		}
		blocks[i] = b
	}
	return blocks
}

// block scrubs a block, and reports whether it is another now. An image or a sound
// with a value in it is withheld as a whole.
func (s *scrubber) block(b *tool.Content) (changed bool) {
	for _, text := range []*string{&b.Text, &b.Name, &b.URI, &b.MediaType} {
		changed = s.text(text) || changed
	}
	if clean, found := s.vault.ScrubJSON(b.JSON); len(found) > 0 {
		b.JSON, changed = clean, true
		s.note(found)
	}
	changed = s.redactBytes(b) || changed
	if found := s.vault.Within(b.Data); len(found) > 0 {
		s.note(found)
		*b = tool.Text(fmt.Sprintf("[%s withheld: it held %s]", b.Type, strings.Join(found, ", ")))
		s.text(&b.Text)
		return true
	}
	return changed
}

func (s *scrubber) result(res tool.Result) tool.Result {
	res.Content = s.content(res.Content)
	if res.Err != nil {
		e := *res.Err
		s.text(&e.Text)
		s.text(&e.Detail)
		e.Cause = s.cause(e.Cause)
		res.Err = &e
	}
	return res
}

// maxCauses is how many errors are looked at for one.
const maxCauses = 64

// cause is an error whose text, and that of each error in it, holds no value: err
// itself, or one in its place that says the same without them. With it, errors.Is
// finds all that it would find with err, and errors.As only a [tool.Outcome].
func (s *scrubber) cause(err error) error {
	if err == nil {
		return nil
	}
	looked := 0
	clean, failure := safely(func() (bool, error) { return s.clean(err, &looked), nil }) // its methods may panic
	if clean && failure == nil {
		return err
	}
	c := &cleanedError{text: "an error that cannot be shown"}
	if text, failure := safely(func() (string, error) { return err.Error(), nil }); failure == nil {
		s.text(&text)
		c.text = text
	}
	c.is = func(target error) bool {
		is, _ := safely(func() (bool, error) { return errors.Is(err, target), nil })
		return is
	}
	_, _ = safely(func() (bool, error) {
		o := (*tool.Outcome)(nil)
		if errors.As(err, &o) && o != nil {
			kept := *o
			kept.Err = errors.New(c.text)
			s.text(&kept.Suspend)
			c.outcome = &kept
		}
		return true, nil
	})
	return c
}

// clean reports whether no value can be read in an error and those in it.
func (s *scrubber) clean(err error, looked *int) bool {
	if *looked++; *looked > maxCauses {
		return false
	}
	texts := []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)}
	switch e := err.(type) { //nolint:errorlint // those in it are looked at below
	case *tool.Error:
		if e != nil {
			texts = append(texts, e.Text, e.Detail)
		}
	case *tool.Outcome:
		if e != nil {
			texts = append(texts, e.Suspend)
		}
	}
	for _, text := range texts {
		if s.text(&text) {
			return false
		}
	}
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		return inner == nil || s.clean(inner, looked)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner != nil && !s.clean(inner, looked) {
				return false
			}
		}
	}
	return true
}

// cleanedError stands for an error that held a value. The error itself is only in
// a function: nothing that prints fields comes to it.
type cleanedError struct {
	text    string
	is      func(error) bool
	outcome *tool.Outcome
}

func (e *cleanedError) Error() string { return e.text }

// Is finds what the error was.
func (e *cleanedError) Is(target error) bool { return e.is(target) }

// As finds what the tool asked for beside it.
func (e *cleanedError) As(target any) bool {
	if o, ok := target.(**tool.Outcome); ok && e.outcome != nil {
		*o = e.outcome
		return true
	}
	return false
}
