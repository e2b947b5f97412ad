package tooltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// put is what the tools of these tests are given.
type put struct {
	Name string   `json:"name"`
	Tags []string `json:"tags,omitempty"`
}

type putSpec = tool.Spec[put, string]

// watched is a directory with something in it.
func watched(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(dir, "old.txt"), []byte("old"), 0o600))
	ok(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	ok(t, os.WriteFile(filepath.Join(dir, "sub", "deep.txt"), []byte("deep"), 0o600))
	ok(t, os.Symlink("old.txt", filepath.Join(dir, "link")))
	return dir
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// faultsOf are the faults of a tool with one input. The directory must be as it
// was afterwards.
func faultsOf(t testing.TB, tr tooltest.Trial) string {
	t.Helper()
	before := written(t, tr.Dir)
	got := strings.Join(tr.Faults(t.Context()), "\n")
	if after := written(t, tr.Dir); after != before {
		t.Errorf("the directory was not put back: got\n%s\nwant\n%s", after, before)
	}
	return got
}

// written is a directory, line by line.
func written(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	ok(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		ok(t, err)
		info, err := d.Info()
		ok(t, err)
		text, _ := os.ReadFile(name) // of a directory: none
		line := fmt.Sprintf("%s %s %q", strings.TrimPrefix(name, dir), info.Mode(), text)
		if d.Type().IsRegular() {
			line += info.ModTime().String()
		}
		lines = append(lines, line)
		return nil
	}))
	return strings.Join(lines, "\n")
}

const one = `put {"name":"a"}: `

func TestTrialOfRuns(t *testing.T) {
	t.Parallel()
	// write writes the file that the call names; also, if it is not "", another.
	write := func(dir, also string) func(context.Context, put) (string, error) {
		return func(_ context.Context, in put) (string, error) {
			for _, name := range []string{in.Name, also} {
				if name == "" {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					return "", err
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte("new"), 0o600); err != nil {
					return "", err
				}
			}
			return "done", nil
		}
	}
	does := func(f func() error) func(context.Context, put) (string, error) {
		return func(context.Context, put) (string, error) { return "done", f() }
	}
	in := func(dir string, parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	touches := func(dir string, names ...string) tool.Claims {
		c := tool.Claims{Touches: []tool.Access{}}
		for _, n := range names {
			name, read := strings.CutPrefix(n, "read ")
			c.Touches = append(c.Touches, tool.Access{Resource: "file:" + filepath.ToSlash(in(dir, name)), Write: !read})
		}
		return c
	}
	readOnly, idempotent := tool.Claims{ReadOnly: true}, tool.Claims{Idempotent: true}
	const (
		lied  = one + "claims ReadOnly, but Run changed the directory: "
		again = one + "claims Idempotent, but a second run changed the directory again: "
		far   = one + "claims Touches, but Run changed what it does not claim to write: "
	)
	tests := []struct {
		name   string
		claims func(dir string) tool.Claims // nil: none
		run    func(dir string) func(context.Context, put) (string, error)
		want   string
	}{
		{"T3 claims nothing, writes: fine", nil, func(dir string) func(context.Context, put) (string, error) { return write(dir, "") }, ""},
		{"T3 claims ReadOnly, writes a file: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "")
		}, lied + "created a"},
		{"T3 claims ReadOnly, changes a file: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.WriteFile(in(dir, "sub", "deep.txt"), []byte("other"), 0o600) })
		}, lied + "changed sub/deep.txt"},
		{"T3 claims ReadOnly, removes a directory: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.RemoveAll(in(dir, "sub")) })
		}, lied + "removed sub, removed sub/deep.txt"},
		{"T3 claims ReadOnly, removes the directory itself: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.RemoveAll(dir) })
		}, lied + "removed ., removed link, removed old.txt, removed sub, removed sub/deep.txt"},
		{"T3 claims ReadOnly, changes a mode: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(os.Chmod(in(dir, "old.txt"), 0o400), os.Chmod(in(dir, "sub"), 0o500)) })
		}, lied + "changed the mode of old.txt, changed the mode of sub"},
		{"T3 claims ReadOnly, closes what is there: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(os.Chmod(in(dir, "old.txt"), 0), os.Chmod(in(dir, "sub"), 0)) })
		}, lied + "changed the mode of old.txt, changed the mode of sub"},
		{"T3 claims ReadOnly, leads a link elsewhere: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(os.Remove(in(dir, "link")), os.Symlink("sub", in(dir, "link"))) })
		}, lied + "changed link"},
		{"T3 claims ReadOnly, puts a link in the place of a directory: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(os.RemoveAll(in(dir, "sub")), os.Symlink("/", in(dir, "sub"))) })
		}, lied + "changed sub, removed sub/deep.txt"},
		{"T3 claims ReadOnly, writes much: the first few are named", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error {
				var errs []error
				for i := range 7 {
					errs = append(errs, os.WriteFile(in(dir, fmt.Sprint(i)), nil, 0o600))
				}
				return errors.Join(errs...)
			})
		}, lied + "created 0, created 1, created 2, created 3, created 4, and 2 more"},
		{"T3 claims ReadOnly, writes and fails: reported", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(os.WriteFile(in(dir, "log"), nil, 0o600), errors.New("failed")) })
		}, lied + "created log"},
		{"T3 claims ReadOnly, writes and removes it again: fine", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(os.WriteFile(in(dir, "tmp"), nil, 0o600), os.Remove(in(dir, "tmp"))) })
		}, ""},
		{"T3 claims ReadOnly, a file is the same but newer: fine", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.WriteFile(in(dir, "old.txt"), []byte("old"), 0o600) })
		}, ""},
		{"T3 claims ReadOnly, reads: fine", func(string) tool.Claims { return readOnly }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { _, err := os.ReadFile(in(dir, "old.txt")); return err })
		}, ""},

		{"T3 claims Idempotent, appends: reported", func(string) tool.Claims { return idempotent }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return appendTo(in(dir, "old.txt")) })
		}, again + "changed old.txt"},
		{"T3 claims Idempotent, a new name each time: reported", func(string) tool.Claims { return idempotent }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error {
				all, err := os.ReadDir(dir)
				return errors.Join(err, os.WriteFile(in(dir, fmt.Sprint("n", len(all))), nil, 0o600))
			})
		}, again + "created n4"},
		{"T3 claims Idempotent, appends and fails: reported", func(string) tool.Claims { return idempotent }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return errors.Join(appendTo(in(dir, "old.txt")), errors.New("failed")) })
		}, again + "changed old.txt"},
		{"T3 claims Idempotent, fails at first and did nothing: only that is said", func(string) tool.Claims { return idempotent }, func(dir string) func(context.Context, put) (string, error) {
			tries := 0
			return does(func() error {
				if tries++; tries == 1 {
					return errors.New("busy")
				}
				return appendTo(in(dir, "old.txt"))
			})
		}, "trial: Run failed with every input, so that little was tried: failed: busy"},
		{"T3 claims Idempotent, removes, and has nothing left to remove: fine", func(string) tool.Claims { return idempotent }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.Remove(in(dir, "old.txt")) })
		}, ""},
		{"T3 claims Idempotent, writes the same, says something else: fine", func(string) tool.Claims { return idempotent }, func(dir string) func(context.Context, put) (string, error) {
			times := 0
			return func(ctx context.Context, in put) (string, error) {
				times++
				_, err := write(dir, "")(ctx, in)
				return fmt.Sprint(times), err
			}
		}, ""},

		{"D2 claims Touches, writes another file: reported", func(dir string) tool.Claims { return touches(dir, "a") }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "log/b")
		}, far + "created log, created log/b"},
		{"D2 claims Touches, writes what it only reads: reported", func(dir string) tool.Claims { return touches(dir, "read a") }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "")
		}, far + "created a"},
		{"D2 claims Touches of nothing, writes: reported", func(dir string) tool.Claims { return touches(dir) }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "")
		}, far + "created a"},
		{"D2 claims Touches, writes what only begins alike: reported", func(dir string) tool.Claims { return touches(dir, "a") }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "ab")
		}, far + "created ab"},
		{"D2 claims Touches of something else, writes a file: reported", func(string) tool.Claims {
			return tool.Claims{Touches: []tool.Access{{Resource: "table:orders", Write: true}}}
		}, func(dir string) func(context.Context, put) (string, error) { return write(dir, "") }, far + "created a"},
		{"D2 claims Touches, writes that file: fine", func(dir string) tool.Claims { return touches(dir, "a") }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "")
		}, ""},
		{"D2 claims Touches, makes the way to that file: fine", func(dir string) tool.Claims { return touches(dir, "a", "log/new/b") }, func(dir string) func(context.Context, put) (string, error) {
			return write(dir, "log/new/b")
		}, ""},
		{"D2 claims Touches of a file, removes its directory: reported", func(dir string) tool.Claims { return touches(dir, "sub/deep.txt") }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.RemoveAll(in(dir, "sub")) })
		}, far + "removed sub"},
		{"D2 claims Touches of a directory, removes what is below: fine", func(dir string) tool.Claims { return touches(dir, "sub") }, func(dir string) func(context.Context, put) (string, error) {
			return does(func() error { return os.RemoveAll(in(dir, "sub")) })
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := watched(t)
			s := putSpec{Run: tt.run(dir)}
			if tt.claims != nil {
				s.Claims = tt.claims(dir)
			}
			tr := tooltest.Trial{Tool: made(t, s), Inputs: []string{`{"name":"a"}`}, Dir: dir}
			if got := faultsOf(t, tr); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func appendTo(name string) error {
	text, err := os.ReadFile(name)
	return errors.Join(err, os.WriteFile(name, append(text, "more"...), 0o600))
}

func TestTrialOfClaims(t *testing.T) {
	t.Parallel()
	t.Run("T3 claims are those of the call: only the one that lies is reported", func(t *testing.T) {
		dir := watched(t)
		tl := made(t, putSpec{
			ClaimsOf: func(in put) tool.Claims { return tool.Claims{ReadOnly: in.Name == "a"} },
			Run: func(context.Context, put) (string, error) {
				return "", os.WriteFile(filepath.Join(dir, "b"), nil, 0o600)
			},
		})
		tr := tooltest.Trial{Tool: tl, Inputs: []string{`{"name":"a"}`, `{"name":"b"}`}, Dir: dir}
		if got, want := faultsOf(t, tr), one+"claims ReadOnly, but Run changed the directory: created b"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("D2 a directory has two names: a claim may use either", func(t *testing.T) {
		dir := watched(t)
		link := filepath.Join(t.TempDir(), "link")
		ok(t, os.Symlink(dir, link))
		for _, claimed := range []string{dir, link} {
			if claimed == dir {
				var err error
				claimed, err = filepath.EvalSymlinks(dir)
				ok(t, err)
			}
			tl := made(t, putSpec{
				Info: tool.Info{Claims: tool.Claims{Touches: []tool.Access{{Resource: "file:" + filepath.ToSlash(claimed) + "/b", Write: true}}}},
				Run: func(context.Context, put) (string, error) {
					return "", os.WriteFile(filepath.Join(dir, "b"), nil, 0o600)
				},
			})
			if got := faultsOf(t, tooltest.Trial{Tool: tl, Inputs: []string{`{"name":"a"}`}, Dir: link}); got != "" {
				t.Errorf("claims below %s: got %q, want nothing", claimed, got)
			}
		}
	})
	t.Run("T8 examples are tried too, each input once", func(t *testing.T) {
		ran := make(map[string]int)
		tl := made(t, putSpec{
			Info: tool.Info{Examples: []tool.Example{{Input: json.RawMessage(`{"name":"b"}`)}, {Input: json.RawMessage(`{"name":"a"}`)}}},
			Run:  func(_ context.Context, in put) (string, error) { ran[in.Name]++; return "", nil },
		})
		if got := faultsOf(t, tooltest.Trial{Tool: tl, Inputs: []string{`{"name":"a"}`}, Dir: watched(t)}); got != "" || ran["a"] != 1 || ran["b"] != 1 {
			t.Errorf("got %q, runs %v; want none, and each input once", got, ran)
		}
	})
}

func TestTrialOfInput(t *testing.T) {
	t.Parallel()
	const input = `{"name":"a","tags":["b","a"]}`
	sorts := func(in put) { slices.Sort(in.Tags) }
	does := func(context.Context, put) (string, error) { return "", nil }
	tests := []struct {
		name  string
		tool  putSpec
		wrote string // which function is reported; "": none
	}{
		{"T2 Run", putSpec{Run: func(_ context.Context, in put) (string, error) { sorts(in); return "", nil }}, "Run"},
		{"T2 Run, although Validate saw the input first", putSpec{
			Validate: func(context.Context, put) (json.RawMessage, error) { return nil, nil },
			Run:      func(_ context.Context, in put) (string, error) { sorts(in); return "", nil },
		}, "Run"},
		{"T11 Validate", putSpec{Run: does, Validate: func(_ context.Context, in put) (json.RawMessage, error) { sorts(in); return nil, nil }}, "Validate"},
		{"T12 Permit", putSpec{Run: does, Permit: func(_ context.Context, in put) (tool.Decision, error) {
			sorts(in)
			return tool.Decision{Verdict: tool.Silent}, nil
		}}, "Permit"},
		{"T13 AskIf", putSpec{Run: does, AskIf: func(_ context.Context, in put) (bool, error) { sorts(in); return false, nil }}, "AskIf"},
		{"T14 Preview", putSpec{Run: does, Preview: func(_ context.Context, in put) (string, error) { sorts(in); return "", nil }}, "Preview"},
		{"T14 Facts", putSpec{Run: does, Facts: func(in put) (tool.Facts, error) { sorts(in); return tool.Facts{}, nil }}, "Facts"},
		{"T14 Scopes", putSpec{Run: does, Scopes: func(in put) ([]string, error) { sorts(in); return nil, nil }}, "Scopes"},
		{"T15 Key", putSpec{Run: does, Key: func(_ context.Context, in put) (string, error) { sorts(in); return "", nil }}, "Key"},
		{"T3 ClaimsOf", putSpec{Run: does, ClaimsOf: func(in put) tool.Claims { sorts(in); return tool.Claims{} }}, "ClaimsOf"},
		{"T2 a field of its own copy: fine", putSpec{Run: func(_ context.Context, in put) (string, error) {
			in.Name, in.Tags = "b", nil
			return in.Name + fmt.Sprint(in.Tags), nil
		}}, ""},
		{"T2 a clone: fine", putSpec{Run: func(_ context.Context, in put) (string, error) {
			return fmt.Sprint(slices.Sorted(slices.Values(in.Tags))), nil
		}}, ""},
		{"T2 written as it was: fine", putSpec{Run: func(_ context.Context, in put) (string, error) { in.Tags[0] = "b"; return "", nil }}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			if tt.wrote != "" {
				want = "put " + input + ": " + tt.wrote + " wrote to its input"
			}
			tr := tooltest.Trial{Tool: made(t, tt.tool), Inputs: []string{input}}
			if got := strings.Join(tr.Faults(t.Context()), "\n"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTrialOfFunctions(t *testing.T) {
	t.Parallel()
	does := func(context.Context, put) (string, error) { return "", nil }
	effect := func(dir string) error { return os.WriteFile(filepath.Join(dir, "seen"), nil, 0o600) }
	const effects = " must have no effect, but it changed the directory: created seen"
	failed := errors.New("cannot say")
	tests := []struct {
		name string
		tool func(dir string) putSpec
		want string
	}{
		{"T14 Preview writes: reported", func(dir string) putSpec {
			return putSpec{Run: does, Preview: func(context.Context, put) (string, error) { return "", effect(dir) }}
		}, one + "Preview" + effects},
		{"T11 Validate writes: reported", func(dir string) putSpec {
			return putSpec{Run: does, Validate: func(context.Context, put) (json.RawMessage, error) { return nil, effect(dir) }}
		}, one + "Validate" + effects},
		{"T12 Permit writes: reported", func(dir string) putSpec {
			return putSpec{Run: does, Permit: func(context.Context, put) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Silent}, effect(dir)
			}}
		}, one + "Permit" + effects},
		{"T13 AskIf, AskReasonOf and RejectTextOf write: reported", func(dir string) putSpec {
			text := func(context.Context, put) (string, error) { return "", effect(dir) }
			return putSpec{Run: does, AskReasonOf: text, RejectTextOf: text, AskIf: func(context.Context, put) (bool, error) { return false, effect(dir) }}
		}, one + "AskIf" + effects + "\n" + one + "AskReasonOf" + effects + "\n" + one + "RejectTextOf" + effects},
		{"T14 Facts and Scopes write: reported", func(dir string) putSpec {
			return putSpec{
				Run: does, Facts: func(put) (tool.Facts, error) { return tool.Facts{}, effect(dir) },
				Scopes: func(put) ([]string, error) { return nil, effect(dir) },
			}
		}, one + "Facts" + effects + "\n" + one + "Scopes" + effects},
		{"T15 Key writes: reported", func(dir string) putSpec {
			return putSpec{Run: does, Key: func(context.Context, put) (string, error) { return "", effect(dir) }}
		}, one + "Key" + effects},
		{"T3 ClaimsOf writes: reported", func(dir string) putSpec {
			return putSpec{Run: does, ClaimsOf: func(put) tool.Claims { _ = effect(dir); return tool.Claims{ReadOnly: true} }}
		}, one + "ClaimsOf" + effects},
		{"T14 Preview writes, Key does not: only one is reported", func(dir string) putSpec {
			return putSpec{
				Run: does, Preview: func(context.Context, put) (string, error) { return "", effect(dir) },
				Key: func(context.Context, put) (string, error) { return "k", nil },
			}
		}, one + "Preview" + effects},
		{"T14 Preview reads: fine", func(dir string) putSpec {
			return putSpec{Run: does, Preview: func(context.Context, put) (string, error) {
				text, err := os.ReadFile(filepath.Join(dir, "old.txt"))
				return string(text), err
			}}
		}, ""},
		{"T3 ClaimsOf panics: reported", func(string) putSpec {
			return putSpec{Run: does, ClaimsOf: func(put) tool.Claims { panic("oh") }}
		}, one + "ClaimsOf panicked: oh"},
		{"T3 ClaimsOf names a resource wrongly: reported", func(string) putSpec {
			return putSpec{Run: does, ClaimsOf: func(in put) tool.Claims { return tool.Claims{Touches: []tool.Access{{Resource: "file:" + in.Name}}} }}
		}, one + `ClaimsOf failed on valid input: claims: touches "file:a": want an absolute path with /`},
		{"T14 Facts fail: reported", func(string) putSpec {
			return putSpec{Run: does, Facts: func(put) (tool.Facts, error) { return tool.Facts{}, failed }}
		}, one + "Facts failed on valid input: cannot say"},
		{"T14 Facts panic: reported", func(string) putSpec {
			return putSpec{Run: does, Facts: func(put) (tool.Facts, error) { panic("oh") }}
		}, one + "Facts panicked: oh"},
		{"L6 Preview panics: reported", func(string) putSpec {
			return putSpec{Run: does, Preview: func(context.Context, put) (string, error) { panic("oh") }}
		}, one + "Preview panicked: oh"},
		{"L6 Run panics: reported", func(string) putSpec {
			return putSpec{Run: func(context.Context, put) (string, error) { panic("oh") }}
		}, one + "Run panicked: oh"},
		{"T14 Preview cannot say: fine", func(string) putSpec {
			return putSpec{Run: does, Preview: func(context.Context, put) (string, error) { return "", failed }}
		}, ""},
		{"T11 Facts see what Validate made of it: fine", func(string) putSpec {
			return putSpec{
				Run:      does,
				Validate: func(context.Context, put) (json.RawMessage, error) { return json.RawMessage(`{"name":"b"}`), nil },
				Facts: func(in put) (tool.Facts, error) {
					if in.Name != "b" {
						return tool.Facts{}, failed
					}
					return tool.Facts{}, nil
				},
			}
		}, ""},
		{"T11 ClaimsOf can do only with what Validate made of it: fine", func(string) putSpec {
			return putSpec{
				Run:      does,
				Validate: func(context.Context, put) (json.RawMessage, error) { return json.RawMessage(`{"name":"/a"}`), nil },
				ClaimsOf: func(in put) tool.Claims { return tool.Claims{Touches: []tool.Access{{Resource: "file:" + in.Name}}} },
			}
		}, ""},
		{"T11 Validate makes something else of it: reported", func(string) putSpec {
			return putSpec{Run: does, Validate: func(context.Context, put) (json.RawMessage, error) { return json.RawMessage(`{"nam":"b"}`), nil }}
		}, one + `Validate made {"nam":"b"} of it, which does not fit the schema: InputValidationError: (root): got unknown "nam", want only "name", "tags" ("nam": did you mean "name"?); (root): got no "name", want "name" (string)` +
			"\ntrial: no call came to Run: invalid_input: input changed by the tool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := watched(t)
			tr := tooltest.Trial{Tool: made(t, tt.tool(dir)), Inputs: []string{`{"name":"a"}`}, Dir: dir}
			got := faultsOf(t, tr)
			if i := strings.Index(got, "input changed by the tool"); i >= 0 {
				got = got[:i+len("input changed by the tool")]
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	t.Run("T11 what Validate refuses is not for Facts: fine", func(t *testing.T) {
		tl := made(t, putSpec{
			Run: does,
			Validate: func(_ context.Context, in put) (json.RawMessage, error) {
				if in.Name == "" {
					return nil, errors.New("name: want one")
				}
				return nil, nil
			},
			Facts: func(in put) (tool.Facts, error) { return tool.Facts{Paths: []string{"/" + in.Name[:1]}}, nil },
		})
		if got := (tooltest.Trial{Tool: tl, Inputs: []string{`{"name":""}`, `{"name":"a"}`}}).Faults(t.Context()); got != nil {
			t.Errorf("got %q, want none", got)
		}
	})
}

// Time is that of a bubble: what waits for a second does not.
func TestTrialOfCooperative(t *testing.T) {
	t.Parallel()
	obeys := func(ctx context.Context, _ put) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	does := func(context.Context, put) (string, error) { return "", nil }
	const left = "; it was left running, and nothing more was tried"
	tests := []struct {
		name string
		tool func(release <-chan struct{}) putSpec
		want string
	}{
		{"T10 claims Cooperative, ignores its context: reported", func(release <-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true}, Run: func(context.Context, put) (string, error) { <-release; return "", nil }}
		}, "claims Cooperative, but Run did not return within 1s with a context that had ended before" + left},
		{"T10 claims Cooperative, looks at its context only at first: reported", func(release <-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true}, Run: func(ctx context.Context, _ put) (string, error) {
				if ctx.Err() == nil {
					<-release
				}
				return "", ctx.Err()
			}}
		}, "claims Cooperative, but Run did not return within 1s after its context ended" + left},
		{"T10 claims Cooperative, Preview ignores its context: reported", func(<-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true}, Run: does, Preview: func(context.Context, put) (string, error) { time.Sleep(5 * time.Second); return "", nil }}
		}, "claims Cooperative, but Preview did not return within 1s with a context that had ended before" + left},
		{"T10 claims Cooperative, returns late: reported", func(<-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true}, Run: func(ctx context.Context, _ put) (string, error) {
				<-ctx.Done()
				time.Sleep(2 * time.Second)
				return "", nil
			}}
		}, "claims Cooperative, but Run did not return within 1s with a context that had ended before" + left},
		{"T10 claims Cooperative, waits for its context: fine", func(<-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true}, Run: obeys}
		}, ""},
		{"T10 claims Cooperative, tidies up for a while: fine", func(<-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true, Timeout: tool.Unlimited}, Run: func(ctx context.Context, _ put) (string, error) {
				<-ctx.Done()
				time.Sleep(900 * time.Millisecond)
				return "", nil
			}}
		}, ""},
		{"T10 claims Cooperative, is simply fast: fine", func(<-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Cooperative: true}, Run: does, Validate: func(context.Context, put) (json.RawMessage, error) { return nil, nil }}
		}, ""},
		{"T10 claims Cooperative, hangs on what it would refuse: fine", func(release <-chan struct{}) putSpec {
			return putSpec{
				Info: tool.Info{Cooperative: true},
				Permit: func(_ context.Context, in put) (tool.Decision, error) {
					if in.Name == "a" {
						return tool.Decision{Verdict: tool.Deny}, nil
					}
					return tool.Decision{Verdict: tool.Silent}, nil
				},
				Run: func(_ context.Context, in put) (string, error) {
					if in.Name == "a" {
						<-release
					}
					return "", nil
				},
			}
		}, ""},
		{"T10 does not claim it, and takes its time: fine", func(<-chan struct{}) putSpec {
			return putSpec{Run: func(context.Context, put) (string, error) { time.Sleep(5 * time.Second); return "", nil }}
		}, ""},
		{"D7 does not claim it, and hangs: reported", func(release <-chan struct{}) putSpec {
			return putSpec{Info: tool.Info{Timeout: tool.Unlimited}, Run: func(context.Context, put) (string, error) { <-release; return "", nil }}
		}, "Run did not return within 11s" + left},
		{"D7 Permit hangs: reported", func(release <-chan struct{}) putSpec {
			return putSpec{Run: does, Permit: func(context.Context, put) (tool.Decision, error) { <-release; return tool.Decision{}, nil }}
		}, "Permit did not return within 10s" + left},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				tr := tooltest.Trial{Tool: made(t, tt.tool(release)), Inputs: []string{`{"name":"a"}`, `{"name":"b"}`}}
				want := tt.want
				if want != "" {
					want = one + want
				}
				if got := strings.Join(tr.Faults(t.Context()), "\n"); got != want {
					t.Errorf("got  %q\nwant %q", got, want)
				}
				close(release)
				time.Sleep(time.Minute) // what was left behind ends
			})
		})
	}
}

func TestTrialOfParallel(t *testing.T) {
	t.Parallel()
	// crowd panics where two runs are inside at once; there is no third to wait for.
	crowd := func() func(context.Context, put) (string, error) {
		var mu sync.Mutex
		inside := make(map[string]int)
		return func(_ context.Context, in put) (string, error) {
			mu.Lock()
			inside[in.Name]++
			n := inside[in.Name]
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside[in.Name]--
			mu.Unlock()
			if n > 1 {
				panic("two at once")
			}
			return "", nil
		}
	}
	const want = one + "claims that it may run beside other calls, but Run panicked there: two at once"
	tests := []struct {
		name string
		info tool.Info
		run  func(context.Context, put) (string, error)
		want string
	}{
		{"D1 claims Parallel, cannot stand itself: reported", tool.Info{Claims: tool.Claims{Parallel: true}}, crowd(), want},
		{"D1 claims ReadOnly, cannot stand itself: reported", tool.Info{Claims: tool.Claims{ReadOnly: true}}, crowd(), want},
		{
			"D1 claims Parallel, panics alone: reported once",
			tool.Info{Claims: tool.Claims{Parallel: true}},
			func(context.Context, put) (string, error) { panic("oh") }, one + "Run panicked: oh",
		},
		{"D1 claims Parallel, and stands it: fine", tool.Info{Claims: tool.Claims{Parallel: true}}, func(context.Context, put) (string, error) { return "", nil }, ""},
		{"D1 does not claim it: fine", tool.Info{}, crowd(), ""},
		{"D3 claims ReadOnly, caps itself at 1: fine", tool.Info{Claims: tool.Claims{ReadOnly: true}, AtOnce: 1}, crowd(), ""},
		{"D1 claims Parallel, and to write one thing: fine", tool.Info{Claims: tool.Claims{Parallel: true, Touches: []tool.Access{{Resource: "table:a", Write: true}}}}, crowd(), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := tooltest.Trial{Tool: made(t, putSpec{Info: tt.info, Run: tt.run}), Inputs: []string{`{"name":"a"}`}}
				if got := strings.Join(tr.Faults(t.Context()), "\n"); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestTrialOfOutcome(t *testing.T) {
	t.Parallel()
	asks := func(does func() error) func(context.Context, put) (string, error) {
		return func(ctx context.Context, _ put) (string, error) {
			if _, ok := tool.From(ctx).Answer(); ok {
				return "", nil
			}
			return "", &tool.Outcome{Err: does(), Suspend: "Sure?"}
		}
	}
	t.Run("L7 asks, but has begun: reported", func(t *testing.T) {
		dir := watched(t)
		tl := made(t, putSpec{Run: asks(func() error { return appendTo(filepath.Join(dir, "old.txt")) })})
		tr := tooltest.Trial{Tool: tl, Inputs: []string{`{"name":"a"}`}, Dir: dir, Answers: []string{"yes"}}
		if got, want := faultsOf(t, tr), one+"asks with Outcome.Suspend, which says that nothing was done yet, but Run changed the directory: changed old.txt"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("L7 asks, and is answered: fine", func(t *testing.T) {
		dir := watched(t)
		tr := tooltest.Trial{Tool: made(t, putSpec{Run: asks(func() error { return nil })}), Inputs: []string{`{"name":"a"}`}, Dir: dir, Answers: []string{"yes"}}
		if got := faultsOf(t, tr); got != "" {
			t.Errorf("got %q, want nothing", got)
		}
	})
	t.Run("L7 asks, and there is no answer: a fault of the trial", func(t *testing.T) {
		tr := tooltest.Trial{Tool: made(t, putSpec{Run: asks(func() error { return nil })}), Inputs: []string{`{"name":"a"}`}}
		want := `trial: input {"name":"a"}: the tool asks "Sure?", and Answers has no answer to it`
		if got := strings.Join(tr.Faults(t.Context()), "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("L1 output that does not fit: reported", func(t *testing.T) {
		type size struct {
			Bytes int `json:"bytes" jsonschema:"minimum=0"`
		}
		tl := made(t, tool.Spec[put, size]{Run: func(_ context.Context, in put) (size, error) { return size{len(in.Name) - 2}, nil }})
		got := strings.Join(tooltest.Trial{Tool: tl, Inputs: []string{`{"name":"a"}`, `{"name":"abc"}`}}.Faults(t.Context()), "\n")
		if want := one + "what Run returned does not fit the output schema: "; !strings.HasPrefix(got, want) || strings.Contains(got, "abc") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestTrialItself(t *testing.T) {
	t.Parallel()
	does := func(context.Context, put) (string, error) { return "", nil }
	input := []string{`{"name":"a"}`}
	file := filepath.Join(watched(t), "old.txt")
	gone := filepath.Join(t.TempDir(), "gone")
	tests := []struct {
		name string
		tr   tooltest.Trial
		want string // how it begins
	}{
		{"T1 no tool", tooltest.Trial{}, "trial: got no tool"},
		{"T2 a bad definition", tooltest.Trial{Tool: &tool.Tool{Info: tool.Info{Name: "put"}}}, `trial: tool "put": no description`},
		{"T1 no input", tooltest.Trial{Tool: made(t, putSpec{Run: does})}, "trial: nothing was tried: give it Inputs, or the tool Examples"},
		{
			"S2 input that does not fit",
			tooltest.Trial{Tool: made(t, putSpec{Run: does}), Inputs: []string{`{"nam":"a"}`, `{"name":"a"}`}},
			`trial: input {"nam":"a"}: InputValidationError: (root): got unknown "nam"`,
		},
		{
			"S2 input that is long is named by its beginning",
			tooltest.Trial{Tool: made(t, putSpec{Run: does}), Inputs: []string{`{"nam":"` + strings.Repeat("a", 200) + `"}`, `{"name":"a"}`}},
			`trial: input {"nam":"` + strings.Repeat("a", 92) + "…: InputValidationError: ",
		},
		{"T1 no directory", tooltest.Trial{Tool: made(t, putSpec{Run: does}), Inputs: input, Dir: gone}, "trial: " + gone + ": no such directory"},
		{"T1 a file for a directory", tooltest.Trial{Tool: made(t, putSpec{Run: does}), Inputs: input, Dir: file}, "trial: "},
		{"L1 no call comes to Run", tooltest.Trial{Tool: made(t, putSpec{Run: does, Permit: func(context.Context, put) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Deny, Reason: "never"}, nil
		}}), Inputs: input}, "trial: no call came to Run: denied: denied by permit: never"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.tr.Faults(t.Context())
			if len(got) != 1 || !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("D6 the host has stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got := tooltest.Trial{Tool: made(t, putSpec{Run: does}), Inputs: input}.Faults(ctx)
		if len(got) != 1 || got[0] != "trial: stopped: context canceled" {
			t.Errorf("got %q, want that it was stopped", got)
		}
	})
	t.Run("T3 Reset comes before each check", func(t *testing.T) {
		stock := 1 // kept in memory, not in the directory
		tl := made(t, putSpec{Info: tool.Info{Cooperative: true}, Run: func(context.Context, put) (string, error) {
			if stock--; stock < 0 {
				panic("sold out")
			}
			return "", nil
		}})
		tr := tooltest.Trial{Tool: tl, Inputs: []string{`{"name":"a"}`, `{"name":"b"}`}, Reset: func() { stock = 1 }}
		if got := tr.Faults(t.Context()); got != nil || stock != 1 {
			t.Errorf("got %q, stock %d; want no fault and a stock of 1", got, stock)
		}
	})
	t.Run("T3 the caller is that of the calls", func(t *testing.T) {
		tl := made(t, putSpec{
			Preview: func(ctx context.Context, _ put) (string, error) {
				return string([]rune{tool.From(ctx).Request().Caller.Values["key"].(rune)}), nil
			},
			Run: func(ctx context.Context, _ put) (string, error) {
				return string([]rune{tool.From(ctx).Request().Caller.Values["key"].(rune)}), nil
			},
		})
		if got := (tooltest.Trial{Tool: tl, Inputs: input, Caller: tool.Caller{Values: map[string]any{"key": 'k'}}}).Faults(t.Context()); got != nil {
			t.Errorf("got %q, want none", got)
		}
	})
	t.Run("T3 Run says every fault", func(t *testing.T) {
		n := &note{TB: t}
		tooltest.Trial{Tool: made(t, putSpec{Run: does, Facts: func(put) (tool.Facts, error) { panic("oh") }}), Inputs: input}.Run(n)
		if len(n.said) != 1 || n.said[0] != one+"Facts panicked: oh" {
			t.Errorf("said %q, want the fault", n.said)
		}
	})
}
