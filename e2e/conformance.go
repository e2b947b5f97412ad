package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trial is one run of a suite.
type trial struct {
	check  string
	suite  string // the group it is installed in
	args   []string
	old    bool     // the server is forced to the old era
	least  int      // checks that must pass
	missed []string // scenarios that are known to fail
}

// trials are what a gateway must come through, in front of the SDK's own
// conformance server. There is no baseline file.
func trials() []trial {
	return []trial{
		{check: "0.1.16 all", suite: "suite1", args: []string{"--suite", "all"}, least: 44},
		{check: "0.2.0-alpha.12 2025-11-25", suite: "suite2", args: []string{"--requirements", oldVersion}, least: 70},
		{check: "0.2.0-alpha.12 2026-07-28", suite: "suite2", args: []string{"--requirements", newVersion}, least: 121},
		{
			check: "0.2.0-alpha.12 2026-07-28, server of the old era", suite: "suite2", args: []string{"--requirements", newVersion},
			old: true, least: 118, missed: missedInTheOldEra(),
		},
	}
}

// missedInTheOldEra are the scenarios of 2026-07-28 in which a server of the old
// era cannot do what is tested, whoever stands in front of it: it asks by requests
// that have no key of the server's own.
func missedInTheOldEra() []string {
	return []string{"input-required-result-basic-elicitation"}
}

// conformance runs the official suites.
func conformance(ctx context.Context, w *world, s *score) error {
	for _, old := range []bool{false, true} {
		if old && w.direct {
			continue // it speaks no 2026-07-28: there is nothing to try
		}
		for run := 1; run <= w.runs; run++ {
			if err := conformanceRun(ctx, w, s, old, run); err != nil {
				return err
			}
		}
	}
	return nil
}

// conformanceRun starts a gateway and has all suites run against it once.
func conformanceRun(ctx context.Context, w *world, s *score, old bool, run int) error {
	defer w.rest()
	u := upstream{name: "everything", command: []string{w.tools.everything()}, unprefixed: true}
	if old {
		u.era = "2025"
	}
	var url string
	var err error
	if !w.direct {
		if url, err = w.gateway(ctx, full(), u); err != nil {
			return err
		}
	}
	for _, t := range trials() {
		if t.old != old {
			continue
		}
		if w.direct {
			if url, err = w.everythingOver(ctx, slices.Contains(t.args, newVersion)); err != nil {
				return err
			}
		}
		start := time.Now()
		v, err := w.suite(ctx, t.suite, append([]string{"server", "--url", url}, t.args...))
		if err != nil {
			return fmt.Errorf("%s: %w", t.check, err)
		}
		v.judge(s, fmt.Sprintf("%s, run %d", t.check, run), t.least, t.missed, time.Since(start))
	}
	return nil
}

// everythingOver starts the conformance server over HTTP. In one mode it speaks
// 2026-07-28 and keeps no sessions, in the other it has sessions and refuses it.
func (w *world) everythingOver(ctx context.Context, stateless bool) (string, error) {
	return w.overHTTP(ctx, upstream{name: "everything-server", command: []string{w.tools.everything()}}, stateless)
}

// verdict is what a run of a suite came to. What a suite does not score for the
// revision asked for is left out.
type verdict struct {
	Passed int      `json:"passed"`
	Failed int      `json:"failed"`
	Fails  []string `json:"fails,omitempty"` // scenario: check: message
	scenes []string // that failed
}

// judge says whether a run was good enough: nothing fails that is not known to.
func (v verdict) judge(s *score, check string, least int, missed []string, took time.Duration) {
	unknown := slices.DeleteFunc(slices.Clone(v.scenes), func(name string) bool { return slices.Contains(missed, name) })
	got := struct {
		verdict
		Seconds float64 `json:"seconds"`
	}{v, took.Seconds()}
	s.hold(check, v.Passed >= least && len(unknown) == 0, got, fmt.Sprintf("at least %d passed, none failed but %q", least, missed))
	for _, name := range missed {
		if slices.Contains(v.scenes, name) {
			s.miss(check+": "+name, nil, nil)
		}
	}
}

// suite runs a conformance suite. That something failed is no error.
func (w *world) suite(ctx context.Context, group string, args []string, env ...string) (verdict, error) {
	dir, err := w.folder("suite")
	if err != nil {
		return verdict{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	args = append([]string{w.tools.script(group, "@modelcontextprotocol/conformance/dist/index.js")}, args...)
	cmd := exec.Command(w.tools.node(), append(args, "-o", dir)...) //nolint:gosec,noctx // output ends it, with its group
	cmd.Dir, cmd.Env = dir, append(w.tools.environment(), env...)
	said := tail{most: 1 << 20} // a single scenario is summed up on stderr
	cmd.Stderr = &said
	out, err := output(ctx, "conformance "+strings.Join(args[1:], " "), cmd)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return verdict{}, err
	}
	v, one := readScenario(append(out, said.text...), args)
	if !one {
		var parseErr error
		if v, parseErr = readSummary(out); parseErr != nil {
			return verdict{}, errors.Join(parseErr, err)
		}
	}
	v.Fails, err = failures(dir, v.scenes)
	return v, err
}

// readSummary reads the end of what a suite prints:
//
//	✓ ping: 1 passed, 0 failed
//	…
//	Not scored for 2026-07-28: 13 scenario(s) run, 9 failing. …
//	  ✗ tasks-lifecycle (extension)
func readSummary(out []byte) (verdict, error) {
	scene := regexp.MustCompile(`^(✓|✗) (\S+): (\d+) passed, (\d+) failed`)
	unscored := regexp.MustCompile(`^  (?:✓|✗) (\S+) \(`)
	type counts struct{ passed, failed int }
	scenes := make(map[string]counts)
	var order []string
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 16<<20)
	begun := false
	for in.Scan() {
		text := in.Text()
		begun = begun || strings.HasSuffix(text, "SUMMARY ===")
		if !begun {
			continue
		}
		if m := scene.FindStringSubmatch(text); m != nil {
			passed, _ := strconv.Atoi(m[3])
			failed, _ := strconv.Atoi(m[4])
			if m[1] == "✗" {
				failed = max(failed, 1)
			}
			scenes[m[2]] = counts{passed, failed}
			order = append(order, m[2])
		} else if m := unscored.FindStringSubmatch(text); m != nil {
			delete(scenes, m[1])
		}
	}
	if err := in.Err(); err != nil {
		return verdict{}, err
	}
	if len(scenes) == 0 {
		return verdict{}, fmt.Errorf("got no summary, want one: %s", out[max(0, len(out)-2000):])
	}
	var v verdict
	for _, name := range order {
		c, scored := scenes[name]
		v.Passed += c.passed
		v.Failed += c.failed
		if scored && c.failed > 0 {
			v.scenes = append(v.scenes, name)
		}
	}
	return v, nil
}

// failures are the checks that failed, from the files that a suite has written.
func failures(dir string, scenes []string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		i := slices.IndexFunc(scenes, func(s string) bool { return strings.Contains(path, s+"-20") })
		if i < 0 {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // below our own folder
		if err != nil {
			return err
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(text, &checks); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, c := range checks {
			if c.Status == "FAILURE" {
				all = append(all, scenes[i]+": "+c.ID+": "+c.ErrorMessage)
			}
		}
		return nil
	})
	slices.Sort(all)
	return all, err
}
