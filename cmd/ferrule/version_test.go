package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	set := func(pairs ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct {
		name string
		info debug.BuildInfo
		want string // before what Go and the system are
	}{
		{"go install of a version", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "ferrule v1.2.3"},
		{"go build without git", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "ferrule (devel)"},
		{"go build in a clone", debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.20260131100000-0123456789ab"}, Settings: set("vcs.revision", commit, "vcs.time", "2026-01-31T10:00:00Z", "vcs.modified", "false")}, "ferrule v1.2.4-0.20260131100000-0123456789ab, commit 0123456789ab of 2026-01-31T10:00:00Z"},
		{"files were changed", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3+dirty"}, Settings: set("vcs.revision", commit, "vcs.modified", "true")}, "ferrule v1.2.3+dirty, commit 0123456789ab with changes"},
		{"nothing is known", debug.BuildInfo{}, "ferrule (unknown)"},
	} {
		t.Run("Y4 "+tt.name, func(t *testing.T) {
			t.Parallel()
			if got := versionOf(&tt.info).String(); !strings.HasPrefix(got, tt.want+", go1.") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("Y4 --version says the same as version", func(t *testing.T) {
		t.Parallel()
		word, _, _ := try(t.Context(), t.TempDir(), "version")
		if flag, stderr, code := try(t.Context(), t.TempDir(), "--version"); code != 0 || flag != word {
			t.Errorf("got %d, %q and %q, want %q", code, flag, stderr, word)
		}
	})
}
