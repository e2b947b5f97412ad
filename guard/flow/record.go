package flow

import (
	"encoding/json"
	"unicode/utf8"
)

// Bounds of what records hold of one call.
const (
	recordMany   = 32
	recordText   = 160 // bytes
	recordReason = 640 // bytes
)

// Record is the verdict as records hold it, JSON of a few KB at most; "": there is
// nothing to say. [ReadVerdict] reads it.
func (v Verdict) Record() string {
	if v.Empty() {
		return ""
	}
	v.To, v.Copied = few(v.To), few(v.Copied)
	for i, t := range v.To {
		v.To[i] = brief(t)
	}
	for i := range v.Copied {
		c := &v.Copied[i]
		c.Argument, c.Source, c.Tool, c.Call = brief(c.Argument), brief(c.Source), brief(c.Tool), brief(c.Call)
	}
	v.Refused = cut(v.Refused, recordReason)
	text, _ := json.Marshal(v) //nolint:errchkjson // texts have a JSON form
	return string(text)
}

// ReadVerdict reads what a record of a decision holds.
func ReadVerdict(text []byte) (v Verdict, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}

// Record is what was noted as records hold it, JSON; "": nothing was. [ReadNoted]
// reads it.
func (n Noted) Record() string {
	if n == (Noted{}) {
		return ""
	}
	n.Source, n.Tool = brief(n.Source), brief(n.Tool)
	text, _ := json.Marshal(n) //nolint:errchkjson // texts have a JSON form
	return string(text)
}

// ReadNoted reads what a record of an end holds.
func ReadNoted(text []byte) (n Noted, err error) {
	err = json.Unmarshal(text, &n)
	return n, err
}

// few is a copy of the first of a list.
func few[T any](all []T) []T {
	return append([]T(nil), all[:min(len(all), recordMany)]...)
}

func brief(s string) string { return cut(s, recordText) }

func cut(s string, end int) string {
	if len(s) <= end {
		return s
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
