package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// Piece is a part of a result. The zero value: nothing is kept of it.
type Piece struct {
	Text string `json:"text"`
	At   int64  `json:"at"`             // where it begins, in bytes
	Next int64  `json:"next,omitempty"` // where the next one does; 0: there is none
	Size int64  `json:"bytes"`          // of the whole
}

// PieceOf is the part of a text that begins at a place, so many bytes long at most.
func PieceOf(text string, at int64, most int) Piece {
	return PieceIn(text[min(at, int64(len(text))):], at, most, int64(len(text)))
}

// PieceIn is the same of a text of that size, of which only the rest from there on is
// given, or one byte more than is wanted. No character is cut in two.
func PieceIn(rest string, at int64, most int, size int64) (p Piece) {
	p.Size = size
	if len(rest) > most {
		end := most
		for end > 0 && most-end < utf8.UTFMax && !utf8.RuneStart(rest[end]) {
			end--
		}
		rest = rest[:end]
	}
	p.Text, p.At = rest, at
	if next := at + int64(len(rest)); next < p.Size {
		p.Next = next
	}
	return p
}

// How much of a result is shown on the page of its call, and on pages of its own.
const (
	firstPiece = 8 << 10
	wholePiece = mostShown
)

// results are those of calls of this process that ended last, as the models got them:
// the record has only their beginning.
type results struct {
	texts map[string]string // by Ferrule's id
	order []string
	bytes int
}

// Bounds of what is held: one result, and all of them, in bytes. Each counts for its
// text and for what it takes to find it.
const (
	mostResult  = 1 << 20
	mostResults = 8 << 20
	toFind      = 256
)

func (r *results) keep(id string, result *tool.Result) {
	if result == nil || id == "" {
		return
	}
	text := result.String()
	if len(text) > mostResult {
		return
	}
	if r.texts == nil {
		r.texts = make(map[string]string)
	}
	if had, ok := r.texts[id]; ok {
		r.bytes -= len(had) + toFind
	} else {
		id = strings.Clone(id)
		r.order = append(r.order, id)
	}
	r.texts[id] = strings.Clone(text)
	for r.bytes += len(text) + toFind; r.bytes > mostResults; {
		r.bytes -= len(r.texts[r.order[0]]) + toFind
		delete(r.texts, r.order[0])
		r.order = r.order[1:]
	}
}

// piece is a part of the result of a call: of what is kept of it, or else of what this
// process still has.
func (c *Console) piece(ctx context.Context, call *Call, lines []Line, at int64, most int) (p Piece, err error) {
	if w := c.withheld(call.Tool); w.results != "" || !call.Over() || call.Ended.IsZero() || call.Kind != "" && w.args != "" {
		return Piece{}, nil // what is shown of it says so
	}
	if c.Result != nil {
		if p, err = c.Result(ctx, lines, at, most); err != nil || p.Size > 0 {
			return p, err
		}
	}
	c.feed.mu.Lock()
	text := c.feed.results.texts[call.ID]
	c.feed.mu.Unlock()
	return PieceOf(text, at, most), nil
}

// resultPage is a part of a result, on a page of its own.
type resultPage struct {
	Call *Call `json:"call"`
	Piece
	Before int64 `json:"-"` // where the part before it begins
}

// From and To are which bytes it has, for people.
func (p *resultPage) From() string { return grouping(int(p.At) + 1) }

// To is the last of its bytes.
func (p *resultPage) To() string { return grouping(int(p.At) + len(p.Text)) }

// Of is how many there are.
func (p *resultPage) Of() string { return grouping(int(p.Size)) }

func (c *Console) resultPage(r *http.Request) (*resultPage, error) {
	one, err := c.lived(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var at int64
	if text := r.URL.Query().Get("at"); text != "" {
		if at, err = strconv.ParseInt(text, 10, 64); err != nil || at < 0 {
			return nil, mistaken(fmt.Sprintf("at: got %q, want a number of bytes, from 0", text))
		}
	}
	p, err := c.piece(r.Context(), one.Call, one.Lines, at, wholePiece)
	switch {
	case err != nil:
		return nil, err
	case p.Size == 0:
		return nil, missing("the whole result is not kept any more, or never was: the page of the call has its beginning")
	case at >= p.Size:
		return nil, mistaken(fmt.Sprintf("at: got %d, want less than %d, which is all of it", at, p.Size))
	}
	return &resultPage{one.Call, p, max(0, at-wholePiece)}, nil
}
