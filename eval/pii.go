package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/guard/redact"
)

// piiRow is a text with what is personal in it, places counted in characters.
type piiRow struct {
	ID    string    `json:"id"`
	Text  string    `json:"text"`
	Spans []piiSpan `json:"spans"`
}

type piiSpan struct {
	Type  string `json:"type"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// piiFigure is what is measured of one kind, and what must hold.
type piiFigure struct {
	Kind          string  `json:"kind"`
	Labelled      int     `json:"labelled"`
	Found         int     `json:"found"`
	Recall        float64 `json:"recall"`
	Reported      int     `json:"reported"`
	Right         int     `json:"right"`
	Precision     float64 `json:"precision"`
	WantRecall    float64 `json:"want_recall"`
	WantPrecision float64 `json:"want_precision,omitempty"`
	OK            bool    `json:"ok"`
}

// piiKinds are the names of labels, and the figures wanted.
func piiKinds() map[string]*piiFigure {
	email := &piiFigure{Kind: "email", WantRecall: 99, WantPrecision: 97}
	card := &piiFigure{Kind: "card", WantRecall: 99, WantPrecision: 97}
	ssn := &piiFigure{Kind: "ssn", WantRecall: 99, WantPrecision: 97}
	ip := &piiFigure{Kind: "ip", WantRecall: 99, WantPrecision: 97}
	iban := &piiFigure{Kind: "iban", WantRecall: 95, WantPrecision: 95}
	phone := &piiFigure{Kind: "phone", WantRecall: 50, WantPrecision: 95}
	return map[string]*piiFigure{
		"EMAIL_ADDRESS": email, "EMAIL": email,
		"CREDIT_CARD": card, "CREDIT_CARD_NUMBER": card,
		"US_SSN": ssn, "SSN": ssn, "US_ITIN": ssn,
		"IP_ADDRESS": ip,
		"IBAN_CODE":  iban, "IBAN": iban,
		"PHONE_NUMBER": phone, "US_PHONE_NUMBER": phone,
	}
}

// pii measures the detectors of personal data. A labelled span is found where
// reported spans of its kind cover at least half of it; a reported span is right
// where at least half of it lies in labelled spans of its kind. With the kinds that
// have no rows nothing is asked for.
func pii(out *json.Encoder, files []string) error {
	rows, err := readLines[piiRow](files[0])
	if err != nil {
		return err
	}
	byLabel := piiKinds()
	byKind := make(map[string]*piiFigure)
	for _, f := range byLabel {
		byKind[f.Kind] = f
	}
	not := make(map[string]int) // labels that nothing looks for
	for _, row := range rows {
		labelled, err := inBytes(row)
		if err != nil {
			return err
		}
		reported := redact.AllPersonal.Spans(row.Text)
		var ofKind []redact.Span
		for _, l := range labelled {
			f := byLabel[l.Kind]
			if f == nil {
				not[l.Kind]++
				continue
			}
			l.Kind = f.Kind
			ofKind = append(ofKind, l)
			f.Labelled++
			if covered(l, reported) {
				f.Found++
			}
		}
		for _, s := range reported {
			f := byKind[s.Kind]
			f.Reported++
			if covered(s, ofKind) {
				f.Right++
			} else if err := out.Encode(map[string]any{"row": row.ID, "false_alarm": s.Kind, "text": row.Text[s.Start:s.End]}); err != nil {
				return err
			}
		}
	}
	var missed []string
	labels := 0
	for _, kind := range []string{"email", "card", "ssn", "ip", "iban", "phone"} {
		f := byKind[kind]
		f.Recall, f.Precision = percent(f.Found, f.Labelled), percent(f.Right, f.Reported)
		f.OK = f.Labelled == 0 || f.Recall >= f.WantRecall && f.Precision >= f.WantPrecision
		if labels += f.Labelled; !f.OK {
			missed = append(missed, fmt.Sprintf("%s (recall %.1f %%, precision %.1f %%)", kind, f.Recall, f.Precision))
		}
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	if err := out.Encode(map[string]any{
		"program": "pii", "rows": len(rows), "labelled": labels, "missed": missed, "not_covered": not,
		"note": "names and places have no form to be known by: they are not covered, nor is what else stands in not_covered",
	}); err != nil {
		return err
	}
	switch {
	case labels == 0:
		return errors.New("got no span of a kind that is looked for, want some")
	case missed != nil:
		return fmt.Errorf("%w: %s", errMissed, strings.Join(missed, ", "))
	}
	return nil
}

// covered reports whether spans of the same kind cover at least half of one.
func covered(s redact.Span, by []redact.Span) bool {
	n := 0
	for _, b := range by {
		if b.Kind == s.Kind {
			n += max(0, min(s.End, b.End)-max(s.Start, b.Start))
		}
	}
	return 2*n >= s.End-s.Start
}

// inBytes are the labelled spans, with places in bytes; kinds are as labelled.
func inBytes(row piiRow) ([]redact.Span, error) {
	at := make([]int, 0, len(row.Text)+1)
	for i := range row.Text {
		at = append(at, i)
	}
	at = append(at, len(row.Text))
	var spans []redact.Span
	for _, s := range row.Spans {
		if s.Start < 0 || s.Start >= s.End || s.End >= len(at) {
			return nil, fmt.Errorf("row %s: got the span %d to %d, want one within %d characters", row.ID, s.Start, s.End, utf8.RuneCountInString(row.Text))
		}
		spans = append(spans, redact.Span{Start: at[s.Start], End: at[s.End], Kind: s.Type})
	}
	return spans, nil
}

func percent(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}
