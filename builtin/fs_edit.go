package builtin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/tool"
)

type fsEditIn struct {
	Path  string       `json:"path" jsonschema:"description=file to edit: below the workspace or absolute within it"`
	Edits []fsExchange `json:"edits" jsonschema:"description=replacements; made one after another and all or none,minItems=1,maxItems=100"`
}

type fsExchange struct {
	Old string `json:"old" jsonschema:"description=text to replace: exactly as it stands in the file and long enough to stand there once,minLength=1"`
	New string `json:"new" jsonschema:"description=text to put in its place; may be empty"`
	All bool   `json:"all,omitempty" jsonschema:"description=replace every place where old stands"`
}

func (s *fsSet) editTool() (*tool.Tool, error) {
	return fsWriter(s, "fs_edit", false,
		func(in fsEditIn) (string, bool) { return in.Path, false },
		func(in fsEditIn) error {
			for i, e := range in.Edits {
				if e.Old == e.New {
					return fmt.Errorf("edits[%d]: old and new are the same text", i)
				}
			}
			return nil
		},
		func(ctx context.Context, in fsEditIn) (string, error) {
			p, e, err := s.edited(ctx, in)
			if err != nil {
				return "", err
			}
			if _, err := s.plan(ctx, p, fsEncode(e.will, e.enc), e.digest, false); err != nil {
				return "", s.fail(p, err)
			}
			return fsDiff(p, []byte(e.was), []byte(e.will), true), nil
		},
		func(ctx context.Context, in fsEditIn) (tool.Result, error) {
			p, e, err := s.edited(ctx, in)
			if err != nil {
				return tool.Result{}, err
			}
			if _, err := s.change(ctx, p, fsEncode(e.will, e.enc), e.digest, false); err != nil {
				return tool.Result{}, s.fail(p, err)
			}
			return fsSaid("Edited %s: %s, at %s.", p, fsCount(e.places, "replacement"), fsNumbersOf("line", e.lines, e.places))
		})
}

// fsEdited is a file before and after its edits.
type fsEdited struct {
	was, will string
	enc       fsEncoding
	digest    string // of the bytes before
	places    int
	lines     []int // of the first places
}

func (s *fsSet) edited(ctx context.Context, in fsEditIn) (p fsPlace, e fsEdited, err error) {
	if p, err = s.file(in.Path); err != nil {
		return p, e, err
	}
	f, info, err := s.open(p)
	if err != nil {
		return p, e, s.fail(p, err)
	}
	defer f.Close()
	if info.Size() > fsMostText {
		return p, e, s.fail(p, fsOff(fmt.Sprintf("%s has %d bytes; files are edited up to %d.", p, info.Size(), fsMostText)))
	}
	raw, err := fsReadAll(inside.Until(ctx, f))
	if err != nil {
		return p, e, s.fail(p, err)
	}
	if e.enc = fsEncodingOf(raw); e.enc == fsBinary {
		return p, e, s.fail(p, fsOff(fsBinaryText(p, info, raw[:min(len(raw), 512)])))
	}
	e.digest = inside.Digest(raw)
	if e.was, err = fsDecode(raw, e.enc); err != nil {
		return p, e, s.fail(p, err)
	}
	if string(fsEncode(e.was, e.enc)) != string(raw) {
		return p, e, s.fail(p, fsOff(fmt.Sprintf("%s is not sound %s: editing would change more than was asked.", p, e.enc)))
	}
	if e.will, err = e.apply(in.Edits); err != nil {
		return p, e, s.fail(p, fsOff(fmt.Sprintf("%s: %v Nothing was changed.", p, err)))
	}
	return p, e, nil
}

// apply makes the edits one after another.
func (e *fsEdited) apply(edits []fsExchange) (string, error) {
	text := e.was
	// In a file of which every line ends in CRLF a line end is one, however the
	// model wrote it.
	crlf := strings.Count(text, "\r\n")
	windows := crlf > 0 && crlf == strings.Count(text, "\n")
	for i, x := range edits {
		if windows {
			x.Old, x.New = fsWindows(x.Old), fsWindows(x.New)
		}
		at := fsPlaces(text, x.Old, x.All)
		size := len(text) + len(at)*(len(x.New)-len(x.Old)) // before it is made: a short edit can ask for terabytes
		switch {
		case x.Old == x.New:
			return "", fmt.Errorf("edits[%d]: old and new are the same text.", i) //nolint:revive,staticcheck // a sentence for the model
		case len(at) == 0:
			return "", fmt.Errorf("edits[%d]: old was not found.%s", i, fsHint(text, x.Old))
		case len(at) > 1 && !x.All:
			times := strconv.Itoa(len(at))
			if len(at) == fsMostPlaces {
				times += " or more"
			}
			return "", fmt.Errorf("edits[%d]: old stands there %s times, at %s: make it longer, so that it is the only one, or set all.", i, times, fsNumbers("line", fsLinesAt(text, at))) //nolint:revive,staticcheck // a sentence for the model
		case size > fsMostText:
			return "", fmt.Errorf("edits[%d]: the file would have more than %d bytes.", i, fsMostText) //nolint:revive,staticcheck // a sentence for the model
		}
		e.places += len(at)
		e.lines = append(e.lines, fsLinesAt(text, at[:min(len(at), max(0, fsMostPlaces-len(e.lines)))])...)
		var b strings.Builder
		b.Grow(size)
		done := 0
		for _, i := range at {
			b.WriteString(text[done:i])
			b.WriteString(x.New)
			done = i + len(x.Old)
		}
		b.WriteString(text[done:])
		text = b.String()
	}
	if text == e.was {
		return "", fmt.Errorf("the edits undo each other.") //nolint:revive,staticcheck // a sentence for the model
	}
	return text, nil
}

func fsWindows(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// fsMostPlaces is how many places are looked for where one is wanted, and how
// many are remembered by their line.
const fsMostPlaces = 100

// fsPlaces are the places of a text in another: where all of them are replaced,
// one behind the other; else also those that overlap, as two ways to read an edit
// are one too many, but no more than fsMostPlaces.
func fsPlaces(text, old string, all bool) (at []int) {
	for from := 0; all || len(at) < fsMostPlaces; {
		i := strings.Index(text[from:], old)
		if i < 0 || old == "" {
			break
		}
		at = append(at, from+i)
		if from += i + 1; all {
			from += len(old) - 1
		}
	}
	return at
}

// fsLinesAt are the lines of places that are in order.
func fsLinesAt(text string, at []int) []int {
	lines := make([]int, len(at))
	line, done := 1, 0
	for i, place := range at {
		line += strings.Count(text[done:place], "\n")
		lines[i], done = line, place
	}
	return lines
}
