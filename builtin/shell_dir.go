package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// shellRoots are the folders of a workspace without symlinks.
func shellRoots(folders []string) ([]string, error) {
	roots := make([]string, len(folders))
	for i, f := range folders {
		if !filepath.IsAbs(f) {
			return nil, fmt.Errorf("workspace: got %q, want an absolute path", f)
		}
		target, err := filepath.EvalSymlinks(f)
		if err != nil {
			return nil, fmt.Errorf("workspace: %w", err)
		}
		if info, err := os.Stat(target); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("workspace: got %q, want a folder", f)
		}
		roots[i] = target
	}
	return roots, nil
}

// shellBelow reports whether a path is one of the folders or lies below one. Both
// are clean and absolute.
func shellBelow(path string, folders []string) bool {
	for _, f := range folders {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(f, string(filepath.Separator))); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			return true
		}
	}
	return false
}

// dir is the folder that a call runs in, without symlinks and within the
// workspace. That it stays so until the command runs nobody can say: the sandbox
// sees to it that nothing is gained by changing it.
func (h *shellHost) dir(given string) (string, error) {
	if given == "" {
		return h.roots[0], nil
	}
	dir := given
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(h.roots[0], dir)
	}
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		if dir = filepath.Clean(dir); !shellBelow(dir, h.roots) {
			return "", h.outside(given)
		}
		return "", fmt.Errorf("dir: got %q, want a folder that exists", given)
	}
	if !shellBelow(target, h.roots) {
		return "", h.outside(given)
	}
	if info, err := os.Stat(target); err != nil || !info.IsDir() {
		return "", fmt.Errorf("dir: got %q, want a folder", given)
	}
	return target, nil
}

// outside refuses a folder, and says what would have to be configured. Where a link
// leads to is not told.
func (h *shellHost) outside(given string) error {
	return fmt.Errorf("dir: got %q, which is outside the workspace (%s). That is workspace in ferrule.yaml", given, strings.Join(h.roots, ", "))
}

// validate refuses, before anybody is asked, what would not be run.
func (h *shellHost) validate(_ context.Context, in shellInput) (json.RawMessage, error) {
	_, err := h.dir(in.Dir)
	switch {
	case err != nil:
	case strings.TrimSpace(in.Command) == "":
		err = fmt.Errorf("command: got nothing, want a command line")
	case len(in.Command) > shellLine:
		err = fmt.Errorf("command: got %d bytes, want at most %d: write a script to a file and run that", len(in.Command), shellLine)
	case strings.ContainsRune(in.Command, 0):
		err = fmt.Errorf("command: got the character NUL, want text")
	case time.Duration(in.Timeout) > h.Longest/time.Second:
		err = fmt.Errorf("timeout: got %d, want at most %d seconds: for more there is background", in.Timeout, h.Longest/time.Second)
	}
	if err != nil {
		return nil, &tool.Error{Kind: tool.InvalidValue, Text: err.Error()}
	}
	return nil, nil
}
