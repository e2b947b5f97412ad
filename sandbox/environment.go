package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prepare makes the private folders and the environment, once.
func (b *Box) prepare(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.env != nil {
		return nil
	}
	if b.closed {
		return errClosed // nobody would remove what is made now
	}
	if b.config.State == "" {
		// Not in /tmp if that can be avoided: see mounts.temporary.
		dir, err := os.MkdirTemp("/var/tmp", "ferrule-sandbox-")
		if err != nil {
			dir, err = os.MkdirTemp("", "ferrule-sandbox-")
		}
		if err != nil {
			return fmt.Errorf("sandbox: state: %w", err)
		}
		b.config.State, b.own = dir, true
	}
	actual, err := makeState(b.config.State, b.config.Workspace)
	if err != nil {
		return fmt.Errorf("sandbox: state: %w", err)
	}
	b.config.State = actual
	b.env = b.environment(ctx)
	return nil
}

// environment is all that a command finds in its environment.
func (b *Box) environment(ctx context.Context) []string {
	in := func(name string) string { return filepath.Join(b.config.State, name) }
	env := []string{
		"HOME=" + in("home"),
		"TMPDIR=" + in("tmp"),
		"XDG_CACHE_HOME=" + in("cache"),
		"XDG_CONFIG_HOME=" + in("config"),
		"XDG_DATA_HOME=" + in("data"),
		"XDG_STATE_HOME=" + in("data"),
		"GOCACHE=" + in("cache/go-build"),
		"GOPATH=" + in("home/go"),
		"GOTOOLCHAIN=local",
		"npm_config_cache=" + in("cache/npm"),
		"npm_config_update_notifier=false",
		"PIP_CACHE_DIR=" + in("cache/pip"),
		"PIP_DISABLE_PIP_VERSION_CHECK=1",
	}
	if cache := moduleCache(); b.config.Network == Open {
		// The user's module cache stays as it is: it is a proxy, from which
		// modules are copied, and new ones go to a cache of the sandbox.
		env = append(env, "GOMODCACHE="+in("cache/go-mod"), "GOFLAGS=-modcacherw",
			"GOPROXY=file://"+filepath.ToSlash(filepath.Join(cache, "cache", "download"))+",https://proxy.golang.org,direct")
	} else {
		env = append(env, "GOMODCACHE="+cache, "GOPROXY=off")
	}
	for _, key := range passedOn() {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "LC_") {
			env = append(env, entry)
		}
	}
	env = append(env, managers()...)
	return merged(append(env, identity(ctx)...), b.config.Env)
}

// passedOn are the variables that commands have as this process has them, besides
// those that begin with LC_ and the places of toolchains. They hold no secrets.
func passedOn() []string {
	return []string{"PATH", "LANG", "LANGUAGE", "TERM", "TZ", "SystemRoot", "ComSpec", "PATHEXT"}
}

// merged is the environment with more of it, where the last word counts.
func merged(env, more []string) []string {
	if len(more) == 0 {
		return env
	}
	all := slices.Concat(env, more)
	seen := make(map[string]bool, len(all))
	kept := make([]string, 0, len(all))
	for _, entry := range slices.Backward(all) {
		key, _, _ := strings.Cut(entry, "=")
		if !seen[key] {
			seen[key] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// identityTime is how long git may take to say who the user is.
const identityTime = 5 * time.Second

// identity is the name under which the user commits, of all that stands in the
// user's git configuration: there may be programs and passwords in the rest.
//
// It is asked for once and kept: the end of the first command's context is not to
// take the name from all later ones.
func identity(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), identityTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "config", "--global", "-z", "--get-regexp", `^user\.(name|email)$`).Output()
	if err != nil {
		return nil
	}
	var env []string
	n := 0
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if key, value, ok := strings.Cut(entry, "\n"); ok {
			i := strconv.Itoa(n)
			env = append(env, "GIT_CONFIG_KEY_"+i+"="+key, "GIT_CONFIG_VALUE_"+i+"="+value)
			n++
		}
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// moduleCache is the user's cache of Go modules, found without running go: by the
// environment, by what `go env -w` wrote, or where it is by default.
func moduleCache() string {
	home, _ := os.UserHomeDir() // without a home there is no cache in it
	settings := map[string]string{}
	if dir, err := os.UserConfigDir(); err == nil {
		text, _ := os.ReadFile(filepath.Join(dir, "go", "env")) // mostly there is none
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				settings[key] = value
			}
		}
	}
	setting := func(key string) string {
		if value := os.Getenv(key); value != "" {
			return value
		}
		return settings[key]
	}
	if dir := setting("GOMODCACHE"); dir != "" {
		return dir
	}
	if list := filepath.SplitList(setting("GOPATH")); len(list) > 0 {
		return filepath.Join(list[0], "pkg", "mod")
	}
	return filepath.Join(home, "go", "pkg", "mod")
}

// places are the variables that say where toolchains are, each with the folder of
// the user's home where its programs would look without it, if there is one.
func places() map[string]string {
	return map[string]string{
		"JAVA_HOME": "", "PYENV_ROOT": ".pyenv", "RUSTUP_HOME": ".rustup", "RBENV_ROOT": ".rbenv", "NVM_DIR": ".nvm",
		"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf",
	}
}

// managers tells programs that choose a version of a toolchain where their
// versions are: HOME is not the user's, where they would look.
func managers() []string {
	home, _ := os.UserHomeDir() // without a home there is nothing in it
	var env []string
	for key, dir := range places() {
		path := os.Getenv(key)
		if path == "" && home != "" && dir != "" {
			path = filepath.Join(home, dir)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() { //nolint:gosec // the user's own environment
			env = append(env, key+"="+path)
		}
	}
	slices.Sort(env)
	return env
}
