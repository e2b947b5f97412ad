package ferrule

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// Format writes the definition of one tool for a model. It is a comparable
// value, so that what was written once can be kept.
type Format interface {
	Render(tool.Definition) ([]byte, error)
}

// JSON is the plain format: a definition as JSON.
type JSON struct {
	// NoExamples leaves those of tools out.
	NoExamples bool
}

// Render writes the definition.
func (j JSON) Render(d tool.Definition) ([]byte, error) {
	if j.NoExamples {
		d.Examples = nil
	}
	return json.Marshal(d)
}

// Definitions is what the model is offered, as a JSON array in that format. The
// bytes are kept and shared: they must not be changed. Tools that the format
// cannot write are left out, and the error names them.
func (v *View) Definitions(f Format) (json.RawMessage, error) {
	if f == nil {
		return nil, errors.New("definitions: got no format")
	}
	kept := &v.tools.kept
	if v.loaded != nil {
		kept = &v.loaded.kept
	}
	return kept.in(f, func() ([]byte, error) { return renderAll(f, v.tools, v.loaded.entries()) })
}

func renderAll(f Format, tools *toolset, loaded []*entry) (json.RawMessage, error) {
	var errs []error
	text := []byte{'['}
	add := func(e *entry) {
		b, err := e.render(f)
		if err != nil {
			errs = append(errs, fmt.Errorf("definition of %s: %w", e.wire, err))
			return
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, b...)
	}
	for _, e := range tools.offered {
		add(e)
	}
	for _, e := range loaded {
		add(e)
	}
	return append(text, ']'), errors.Join(errs...)
}

// render writes one definition, once for each format.
func (e *entry) render(f Format) (json.RawMessage, error) {
	return e.rendered.in(f, func() ([]byte, error) {
		text, err := safely(func() ([]byte, error) { return f.Render(e.definition()) })
		if err == nil && !json.Valid(text) {
			return nil, fmt.Errorf("got %.40q of the format, want JSON", text)
		}
		return slices.Clone(text), err // the format may use its buffer again
	})
}

// definition is what a model is shown of a tool: of one that strangers describe,
// only what can be seen.
func (e *entry) definition() tool.Definition {
	d := e.tool.Definition(e.wire)
	d.Description = e.guard.ShownText(e.source, e.tool.Name, d.Description)
	d.Input = e.guard.Shown(e.source, e.tool.Name, d.Input)
	return d
}

// renderings are definitions as they were written once, in the formats that were
// wanted last.
type renderings struct {
	mu   sync.Mutex
	list []rendering
}

type rendering struct {
	format Format
	text   json.RawMessage
	err    error
}

// maxFormats is how many are kept. A host has few, unless it makes one anew each
// time.
const maxFormats = 4

// in is what was written in a format; else it is written now. Formats that
// cannot be compared could not be found again.
func (r *renderings) in(f Format, write func() ([]byte, error)) (json.RawMessage, error) {
	if !comparableFormat(f) {
		return write()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if k := &r.list[i]; k.format == f {
			return k.text, k.err
		}
	}
	text, err := write()
	text = slices.Clip(text) // who appends to it gets a copy
	if len(r.list) == maxFormats {
		r.list = slices.Delete(r.list, 0, 1)
	}
	r.list = append(r.list, rendering{f, text, err})
	return text, err
}

// comparableFormat reports whether a format can be found again: its type, and
// what it holds, can be compared.
func comparableFormat(f Format) bool {
	if _, plain := f.(JSON); plain {
		return true
	}
	v := reflect.ValueOf(f)
	return v.IsValid() && v.Type().Size() == 0 && v.Type().Comparable() || v.Comparable() // most hold nothing
}
