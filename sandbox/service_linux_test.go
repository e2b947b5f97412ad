package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
)

// beService takes the system calls away that the unit of systemd does not have, and
// runs a command in a sandbox then.
func beService(args []string) error {
	machine, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	calls := slices.DeleteFunc(strings.Split(args[2], ","), func(name string) bool {
		_, known := machine.SyscallNames[name]
		return !known // it is of another architecture, or too new for the library
	})
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionAllow, Names: calls}},
	}}
	if err := seccomp.LoadFilter(filter); err != nil {
		return err
	}
	box, err := New(Config{Helper: entered, Level: Level(args[0]), Network: Loopback, Workspace: []string{args[1]}})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	o, err := box.Run(context.Background(), Command{Args: []string{"bash", "-c", "echo ran; cat " + args[3]}, Stdout: &out, Stderr: &out})
	if err != nil {
		return err
	}
	fmt.Printf("%s%s %q missing %q\n", out.String(), o.Applied.Level, o.Applied.Kernel, o.Applied.Missing)
	return box.Close()
}

// systemCalls are what the lines SystemCallFilter= of a unit allow, by name.
func systemCalls(t *testing.T, unit string) (names []string) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	var add func(word string)
	add = func(word string) {
		if !strings.HasPrefix(word, "@") {
			names = append(names, word)
			return
		}
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "syscall-filter", word).Output()
		if err != nil {
			t.Fatalf("%s: %v", word, err)
		}
		_, list, _ := strings.Cut(string(out), "\n") // the first line is the name
		for line := range strings.Lines(list) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				add(line)
			}
		}
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "SystemCallFilter="); ok {
			for word := range strings.FieldsSeq(list) {
				add(word)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestUnderTheUnit(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"ferrule.service", "ferrule-user.service"} {
		for _, level := range []Level{Process, Namespace} {
			t.Run("N1 "+string(level)+" can be had with the system calls of "+unit, func(t *testing.T) {
				t.Parallel()
				if _, why := bubblewrap(); level == Namespace && why != "" {
					if os.Getenv("CI") != "" {
						t.Fatal(why)
					}
					t.Skip(why)
				}
				w := newWorld(t)
				list := role("service", string(level), w.work, strings.Join(systemCalls(t, "../packaging/systemd/"+unit), ","), w.outside+"/secret")
				out, err := exec.CommandContext(t.Context(), list[0], list[1:]...).CombinedOutput()
				if err != nil || !strings.Contains(string(out), "ran\n") || strings.Contains(string(out), "outside\n") {
					t.Errorf("got %v and %s, want a command that runs and reads nothing outside", err, out)
				}
				if a := w.box.Applied(); level == Process && !strings.Contains(string(out), fmt.Sprintf("%s %q missing %q", a.Level, a.Kernel, a.Missing)) {
					t.Errorf("got %s, want the same as without: %q, %q", out, a.Kernel, a.Missing)
				}
			})
		}
	}
}
