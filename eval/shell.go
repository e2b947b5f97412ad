package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/shell"
)

// shellRow is a command of which somebody said what it does.
type shellRow struct {
	Command string `json:"command"`
	Label   string `json:"label"`
	Kind    string `json:"label_kind"` // author, or begins with weak:
	Source  string `json:"source"`
}

// group is where a command is from, without which page of it.
func (r shellRow) group() string {
	g, _, _ := strings.Cut(r.Source, "/")
	return g
}

// changes reports whether the command is said to change something or reach
// something.
func (r shellRow) changes() bool { return r.Label == "mutating" || r.Label == "network-or-exec" }

// shellShare is how many commands are judged ReadOnly.
type shellShare struct {
	Total    int     `json:"total"`
	ReadOnly int     `json:"read_only"`
	Share    float64 `json:"share"`
}

// shellFloors are the shares of weakly labelled read-only commands that must be
// recognised, by where they are from.
func shellFloors() map[string]float64 { return map[string]float64{"nl2bash": 0.85, "tldr": 0.25} }

// shellCommands judges commands. What an author says changes something must
// never be ReadOnly; enough of what seems to read must be.
func shellCommands(out *json.Encoder, files []string) error {
	rows, err := readLines[shellRow](files[0])
	if err != nil {
		return err
	}
	reviewed := shellReviewed()
	shares := make(map[string]*shellShare)
	var took []time.Duration
	wrong, review, known := 0, 0, 0
	for i, r := range rows {
		if r.Command == "" || r.Label == "" || r.Kind == "" {
			return fmt.Errorf("%s: row %d: got no command, label or label_kind, want all", files[0], i+1)
		}
		start := time.Now()
		j := shell.Judge(r.Command)
		took = append(took, time.Since(start))
		kind := "author"
		if r.Kind != "author" {
			kind = "weak"
		}
		for _, name := range []string{kind + " " + r.Label, kind + " " + r.Label + " " + r.group()} {
			s := shares[name]
			if s == nil {
				s = new(shellShare)
				shares[name] = s
			}
			s.Total++
			if j.ReadOnly {
				s.ReadOnly++
			}
		}
		if !j.ReadOnly || !r.changes() && r.Label != "not-known-safe" {
			continue
		}
		row := map[string]any{"command": r.Command, "label": r.Label, "label_kind": r.Kind, "source": r.Source}
		switch reason, ok := reviewed[commandDigest(r.Command)]; {
		case kind == "author" && r.changes():
			wrong++
			row["outcome"] = "wrong"
		case ok:
			known++
			row["outcome"], row["reason"] = "reviewed", reason
		default:
			review++
			row["outcome"] = "review"
		}
		if err := out.Encode(row); err != nil {
			return err
		}
	}
	slices.Sort(took)
	var missed []string
	for group, floor := range shellFloors() {
		s := shares["weak read-only "+group]
		if s != nil && float64(s.ReadOnly) < floor*float64(s.Total) {
			missed = append(missed, fmt.Sprintf("%s: %d of %d", group, s.ReadOnly, s.Total))
		}
	}
	slices.Sort(missed)
	for _, s := range shares {
		s.Share = float64(s.ReadOnly*1000/s.Total) / 1000
	}
	summary := map[string]any{
		"program": "shell", "total": len(rows), "wrong": wrong, "review": review, "reviewed": known,
		"shares": shares, "missed": missed,
		"p50_us": float64(took[len(took)/2].Nanoseconds()/100) / 10, "p90_us": float64(took[len(took)*9/10].Nanoseconds()/100) / 10,
	}
	if err := out.Encode(summary); err != nil {
		return err
	}
	switch {
	case wrong > 0:
		return fmt.Errorf("%w: %d commands that change something are judged ReadOnly", errMissed, wrong)
	case len(missed) > 0:
		return fmt.Errorf("%w: too few commands that only read are known: %s", errMissed, strings.Join(missed, ", "))
	}
	return nil
}
