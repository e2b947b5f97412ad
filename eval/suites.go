package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
)

type suiteGroup struct {
	Draft, File, Description string
	Optional                 bool
	Schema                   json.RawMessage
	Tests                    []suiteTest
}

type suiteTest struct {
	Description string
	Data        json.RawMessage
	Valid       bool
}

type tally struct {
	Pass int `json:"pass"`
	Fail int `json:"fail"`
}

// schemaSuite runs the official JSON Schema suite. Required tests must all
// pass; optional ones are counted.
func schemaSuite(out *json.Encoder, files []string) error {
	groups, err := readLines[suiteGroup](files[0])
	if err != nil {
		return err
	}
	remotes, err := readLines[struct {
		URI    string
		Schema json.RawMessage
	}](files[1])
	if err != nil {
		return err
	}
	documents := map[string]json.RawMessage{}
	for _, r := range remotes {
		documents[r.URI] = r.Schema
	}

	required, optional := map[string]*tally{}, map[string]*tally{}
	var fast, total int
	for _, g := range groups {
		counts := required
		if g.Optional {
			counts = optional
		}
		if counts[g.Draft] == nil {
			counts[g.Draft] = &tally{}
		}
		s, compileErr := schema.Compile(g.Schema, schema.Options{Draft7: g.Draft == "draft7", Documents: documents})
		if !g.Optional {
			total++
			if compileErr == nil && s.Fast() {
				fast++
			}
		}
		for _, t := range g.Tests {
			err := compileErr
			if err == nil {
				err = s.Check(string(t.Data))
			}
			if compileErr == nil && (err == nil) == t.Valid {
				counts[g.Draft].Pass++
				continue
			}
			counts[g.Draft].Fail++
			row := map[string]any{"draft": g.Draft, "file": g.File, "optional": g.Optional, "group": g.Description, "test": t.Description, "want_valid": t.Valid}
			if err != nil {
				row["error"] = err.Error()
			}
			if err := out.Encode(row); err != nil {
				return err
			}
		}
	}

	tests, failed := 0, 0
	summary := map[string]any{
		"program": "schema-suite", "optional": optional,
		"fast_groups": fast, "groups": total, "fast_share": share(fast, total),
	}
	for draft, c := range required {
		summary[draft] = c
		tests, failed = tests+c.Pass+c.Fail, failed+c.Fail
	}
	if err := out.Encode(summary); err != nil {
		return err
	}
	if tests == 0 {
		return fmt.Errorf("no required test: %w", errMissed)
	}
	if failed > 0 || 10*fast < 3*total {
		return fmt.Errorf("%d required tests failed, the fast engine serves %d of %d groups, want 0 and 30 %%: %w", failed, fast, total, errMissed)
	}
	return nil
}

// jsonSuite runs the JSON parsing suite twice: as plain JSON, and as the
// arguments of a call, which are stricter on duplicate keys and read blank
// text as {}. Any other difference is one too many.
func jsonSuite(out *json.Encoder, files []string) error {
	rows, err := readLines[struct{ Name, Expect, Base64 string }](files[0])
	if err != nil {
		return err
	}
	plain := map[string]int{}
	var wrong, panics, unexplained int
	differ := []string{}
	for _, r := range rows {
		text, err := base64.StdEncoding.DecodeString(r.Base64)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		asPlain, err1 := caught(func() error { return schema.Valid(string(text)) })
		var read string
		asArguments, err2 := caught(func() (err error) { read, err = schema.Arguments(string(text)); return err })
		if err1 != nil || err2 != nil {
			panics++
			if err := out.Encode(map[string]any{"name": r.Name, "panic": fmt.Sprint(err1, err2)}); err != nil {
				return err
			}
			continue
		}
		verdict := map[bool]string{true: "accept", false: "reject"}[asPlain == nil]
		if r.Expect != "either" {
			plain[verdict]++
			if verdict != r.Expect {
				wrong++
				if err := out.Encode(map[string]any{"name": r.Name, "want": r.Expect, "got": verdict, "error": fmt.Sprint(asPlain)}); err != nil {
					return err
				}
			}
		}
		if (asPlain == nil) != (asArguments == nil) {
			differ = append(differ, r.Name)
			why := difference(string(text), read, asArguments)
			if why == "" {
				unexplained++
			}
			if err := out.Encode(map[string]any{"name": r.Name, "plain": verdict, "arguments": fmt.Sprint(asArguments), "why": why}); err != nil {
				return err
			}
		}
	}
	slices.Sort(differ)
	if err := out.Encode(map[string]any{
		"program": "json-suite", "accepted": plain["accept"], "rejected": plain["reject"], "wrong": wrong, "panics": panics,
		"arguments_differ": differ, "unexplained": unexplained,
	}); err != nil {
		return err
	}
	if wrong+panics+unexplained > 0 {
		return fmt.Errorf("%d wrong verdicts, %d panics, %d differences for no reason, want 0, 0 and 0: %w", wrong, panics, unexplained, errMissed)
	}
	return nil
}

// difference says why a text is arguments and no JSON, or the other way round:
// read is what the arguments were read as, err why they were refused. There are
// two reasons; "" is none of them.
func difference(text, read string, err error) string {
	syntax := (*schema.SyntaxError)(nil)
	switch {
	case err == nil && strings.Trim(text, " \t\r\n") == "" && read == "{}":
		return "blank"
	case errors.As(err, &syntax) && strings.HasPrefix(syntax.Reason, "duplicate key "):
		return "duplicate key"
	}
	return ""
}

// caught runs f and reports a panic apart from its result.
func caught(f func() error) (result, panicked error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Errorf("panic: %v", r)
		}
	}()
	return f(), nil
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(1000*n/of) / 10
}
