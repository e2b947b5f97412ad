package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// stamp is what of the commit goes into a release.
type stamp struct {
	version string
	commit  string
	seconds int64 // when it was made; every file has this time
	dirty   bool  // files differ from it
}

func (s stamp) time() time.Time { return time.Unix(s.seconds, 0).UTC() }

// stampOf asks git. A version that is given, and a time, count in the place of its own.
func stampOf(ctx context.Context, version, epoch string) (s stamp, err error) {
	if s.commit, err = git(ctx, "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	when := epoch
	if when == "" {
		if when, err = git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return s, err
		}
	}
	if s.seconds, err = strconv.ParseInt(when, 10, 64); err != nil || s.seconds < 315532800 { // 1980, where the time of zip begins
		return s, fmt.Errorf("SOURCE_DATE_EPOCH: got %q, want seconds since 1970, of 1980 or later", when)
	}
	changed, err := git(ctx, "status", "--porcelain")
	if err != nil {
		return s, err
	}
	s.dirty = changed != ""
	if version == "" {
		if version, err = git(ctx, "describe", "--tags", "--match", "v[0-9]*"); err != nil { // there is no tag yet
			version = "v0.0.0-" + s.time().Format("20060102150405") + "-" + s.commit[:12] // as Go names it
		}
	}
	if s.dirty {
		version += "-dirty"
	}
	s.version = version
	return s, s.check()
}

// check refuses a version that is none: it becomes part of names and of a command line.
func (s stamp) check() error {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+([-+.][0-9A-Za-z.+-]*)?$`).MatchString(s.version) {
		return fmt.Errorf("version: got %q, want one such as v1.2.3 or v1.2.3-rc.1", s.version)
	}
	return nil
}

func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
