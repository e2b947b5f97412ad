package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// entry is a line of a transcript: the calls of a turn before it runs, and its
// results after.
type entry struct {
	Turn    int       `json:"turn"` // its number
	At      int       `json:"at"`   // which turn of the script it is
	Calls   []string  `json:"calls,omitempty"`
	Results []outcome `json:"results,omitempty"`
	// Left is what a process was told of the calls of the turn that it goes on
	// with, and Life which process.
	Left map[string]durable.Fate `json:"left,omitempty"`
	Life int                     `json:"life,omitempty"`
}

// outcome is a result as a transcript keeps it.
type outcome struct {
	ID     string    `json:"id"`
	CallID string    `json:"call_id"`
	Kind   tool.Kind `json:"kind,omitempty"` // "": it went well
	Text   string    `json:"text"`
	Detail string    `json:"detail,omitempty"`
}

// transcript is what a careful host keeps by itself.
type transcript struct{ file *os.File }

// openTranscript reads what is there. A last line that was cut off is no line.
func openTranscript(path string) (transcript, []entry, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return transcript{}, nil, err
	}
	all, whole, err := readTranscript(path)
	if err == nil {
		err = f.Truncate(int64(whole))
	}
	return transcript{f}, all, err
}

func readTranscript(path string) (all []entry, whole int, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, 0, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		all = append(all, e)
		whole += len(line)
	}
	return all, whole, nil
}

func (t transcript) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := t.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return t.file.Sync()
}

// host runs a script from where the transcript ends. It writes down the calls of
// a turn before they run, and gives them again to a turn of the same number when
// it finds them without results.
func host(ctx context.Context, rt *ferrule.Runtime, o orders) error {
	turns := script(o.Seed, o.Calls)
	view := rt.Session(session()).View(ctx)
	book, had, err := openTranscript(o.file(transcriptFile))
	if err != nil {
		return err
	}
	defer book.file.Close()
	next, number := 0, 0
	if len(had) > 0 {
		last := had[len(had)-1]
		next = last.At + 1
		if last.Results == nil {
			next, number = last.At, last.Turn
			if err := book.left(ctx, rt, entry{Turn: number, At: next, Life: o.Life}); err != nil {
				return err
			}
		}
	}
	for at := next; at < len(turns); at++ {
		turn := view.Begin(ctx, ferrule.TurnOptions{Number: number})
		if number == 0 {
			e := entry{Turn: turn.Number(), At: at}
			for _, s := range turns[at] {
				e.Calls = append(e.Calls, s.ID)
			}
			if err := book.add(e); err != nil {
				return err
			}
		}
		number = 0
		var calls []tool.Call
		for _, s := range turns[at] {
			calls = append(calls, s.call())
		}
		half := len(calls) / 2 // a model may still talk
		turn.Add(calls[:half]...)
		turn.Add(calls[half:]...)
		if err := book.add(entry{Turn: turn.Number(), At: at, Results: outcomes(turn.Wait())}); err != nil {
			return err
		}
	}
	return nil
}

// left writes down what is known of the calls of a turn.
func (t transcript) left(ctx context.Context, rt *ferrule.Runtime, e entry) error {
	of := session()
	all, err := rt.Resume(ctx, durable.Place{Principal: of.Principal, Session: of.Session, Turn: e.Turn})
	if err != nil {
		return err
	}
	e.Left = make(map[string]durable.Fate)
	for _, l := range all {
		e.Left[l.CallID], _ = l.Fate()
	}
	return t.add(e)
}

func outcomes(results []tool.Result) []outcome {
	all := make([]outcome, 0, len(results))
	for _, r := range results {
		o := outcome{ID: r.ID, CallID: r.CallID, Text: r.String()}
		if r.Err != nil {
			o.Kind, o.Detail = r.Err.Kind, r.Err.Detail
		}
		all = append(all, o)
	}
	return all
}
