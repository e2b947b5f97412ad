package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// sumsName is the file with the sums of all others.
const sumsName = "SHA256SUMS"

// target is what a program is built for.
type target struct{ system, arch string }

func (t target) String() string { return t.system + "/" + t.arch }

// program is the name of the file.
func (t target) program() string {
	if t.system == "windows" {
		return "ferrule.exe"
	}
	return "ferrule"
}

// builder builds a release from the tree in a folder.
type builder struct {
	dir     string
	stamp   stamp
	targets []target
	environ []string // of the go command, beside that of this program
	out     io.Writer
}

// goCommand is the go command, for a target. What a user has set for it, and what
// changes what is built, does not count.
func (b *builder) goCommand(ctx context.Context, t target, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.arch)
	cmd.Env = append(cmd.Env, b.environ...)
	return cmd
}

// build builds the program. The table of symbols and what debuggers read (-s -w) are
// left out: that is a quarter of the size, and traces of a crash have names and lines
// without them. What Go notes of git (-buildvcs) is, too: the stamp says it, and a
// copy without git builds the same.
func (b *builder) build(ctx context.Context, t target, to string) error {
	s := b.stamp
	link := fmt.Sprintf("-s -w -X main.releaseVersion=%s -X main.releaseCommit=%s -X main.releaseDate=%s", s.version, s.commit, s.time().Format("2006-01-02T15:04:05Z"))
	cmd := b.goCommand(ctx, t, "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", link, "-o", to, "./cmd/ferrule")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: go build: %w\n%s", t, err, out)
	}
	return nil
}

// all writes a release into a folder that is empty.
func (b *builder) all(ctx context.Context, to string) error {
	work, err := os.MkdirTemp("", "ferrule-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // it holds nothing that is kept
	built := func(t target) string { return filepath.Join(work, t.system+"-"+t.arch, t.program()) }
	here := target{runtime.GOOS, runtime.GOARCH}
	need := b.targets
	if !slices.Contains(need, here) {
		need = append([]target{here}, need...) // it writes the manual pages
	}
	for _, t := range need {
		if err := b.build(ctx, t, built(t)); err != nil {
			return err
		}
	}
	shared, err := b.shared(ctx, built(here))
	if err != nil {
		return err
	}
	for _, t := range b.targets {
		if err := b.publish(ctx, t, built(t), shared, to); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return sum(to)
}

// file is one of an archive.
type file struct {
	name string // with slashes
	text []byte
	run  bool // it is a program
}

// shared are the files that every archive has: what stands in the tree, and what the
// program writes itself.
func (b *builder) shared(ctx context.Context, program string) (files []file, err error) {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(b.dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, text: text})
	}
	man, err := os.MkdirTemp("", "ferrule-man-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(man) }() // they are read
	if _, err := say(ctx, man, program, "man", "."); err != nil {
		return nil, err
	}
	pages, err := folder(man, "man/man1")
	if err != nil {
		return nil, err
	}
	files = append(files, pages...)
	for shell, name := range map[string]string{"bash": "ferrule.bash", "zsh": "_ferrule", "fish": "ferrule.fish", "powershell": "ferrule.ps1"} {
		text, err := say(ctx, man, program, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: path.Join("completions", name), text: text})
	}
	return files, nil
}

// say runs the program and gives what it prints.
func say(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, []string{}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ferrule %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out, nil
}

// folder reads the files of a folder, as those of another.
func folder(from, as string) (files []file, err error) {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: path.Join(as, e.Name()), text: text})
	}
	return files, err
}

// publish writes the archive of a target, and beside it what it is made of.
func (b *builder) publish(ctx context.Context, t target, program string, shared []file, to string) error {
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	parts, err := b.parts(ctx, info)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("ferrule_%s_%s_%s", b.stamp.version, t.system, t.arch)
	list, err := bill(b.stamp, t, name, sha256.Sum256(text), parts)
	if err != nil {
		return err
	}
	files := slices.Concat(shared, []file{
		{name: t.program(), text: text, run: true},
		{name: "THIRD_PARTY_LICENSES", text: texts(parts)},
		{name: "ferrule.spdx.json", text: list},
	})
	if t.system == "linux" {
		units, err := folder(filepath.Join(b.dir, "packaging", "systemd"), "systemd")
		if err != nil {
			return err
		}
		files = append(files, units...)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	write, ending := tarball, ".tar.gz"
	if t.system == "windows" {
		write, ending = zipped, ".zip"
	}
	archive, err := write(name, files, b.stamp.time())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, name+".spdx.json"), list, 0o644); err != nil { //nolint:gosec // it is published
		return err
	}
	fmt.Fprintf(b.out, "%-15s program %5.1f MB, archive %5.1f MB, %d modules\n", t, megabytes(len(text)), megabytes(len(archive)), len(parts))
	return os.WriteFile(filepath.Join(to, name+ending), archive, 0o644) //nolint:gosec // as above
}

func megabytes(n int) float64 { return float64(n) / 1e6 }

// sum writes the sums of all files of a folder, as sha256sum does.
func sum(dir string) error {
	files, err := folder(dir, "")
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		digest := sha256.Sum256(f.text)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(digest[:]), f.name)
	}
	return os.WriteFile(filepath.Join(dir, sumsName), []byte(sums.String()), 0o644) //nolint:gosec // it is published
}
