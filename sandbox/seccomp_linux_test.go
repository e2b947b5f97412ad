package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// System calls that are refused whatever their arguments.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	machine, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	// Some would be refused without a filter as well; the filter comes first and
	// this shows that nothing else answers.
	var numbers []string
	for _, name := range refused() {
		if n, ok := machine.SyscallNames[name]; ok {
			numbers = append(numbers, strconv.Itoa(n))
		}
	}
	if len(numbers) < 50 {
		t.Fatalf("got %d calls of this machine, want more", len(numbers))
	}
	for _, way := range ways() {
		t.Run("N1 "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			if o, out := w.run(role(append([]string{"syscall"}, numbers...)...)...); o.Code != 1 || !strings.Contains(out, "operation not permitted") {
				t.Errorf("got %+v and %q", o, out)
			}
		})
	}
}

// Calls that are refused where no namespace makes them harmless.
func TestRefusedWithoutNamespaces(t *testing.T) {
	t.Parallel()
	machine, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, ways()[1].change)
	for name, calls := range map[string][]string{"attributes": attributes(), "messages": messages()} {
		t.Run("N1 "+name+" for a command that only reads", func(t *testing.T) {
			var numbers []string // of the calls that this machine has: see TestCallsAreKnown
			for _, call := range calls {
				if n, ok := machine.SyscallNames[call]; ok {
					numbers = append(numbers, strconv.Itoa(n))
				} else if n, ok := unnamed()[call]; ok {
					numbers = append(numbers, strconv.Itoa(n))
				}
			}
			if o, out := w.do(Command{Args: role(append([]string{"syscall"}, numbers...)...), ReadOnly: true}); o.Code != 1 || !strings.Contains(out, "operation not permitted") {
				t.Errorf("got %+v and %q, want all refused", o, out)
			}
		})
	}
}

// A name that the library does not know would be left out of the filter, and
// nobody would notice.
func TestCallsAreKnown(t *testing.T) {
	t.Parallel()
	names := slices.Concat(refused(), messages(), attributes(), []string{"clone3", "socket"})
	for _, c := range conditions(allowed{internet: true}) {
		names = append(names, c.Name)
	}
	for machine, absent := range map[string][]string{
		"x86_64": {"stime", "vm86", "vm86old", "ipc"},
		"arm64": {
			"stime", "iopl", "ioperm", "modify_ldt", "vm86", "vm86old", "uselib", "ustat", "sysfs", "_sysctl", "create_module",
			"get_kernel_syms", "query_module", "ipc", "chmod", "chown", "lchown", "utime", "utimes", "futimesat",
		},
	} {
		t.Run("N1 every call that is refused has a number, "+machine, func(t *testing.T) {
			info, err := arch.GetInfo(machine)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				_, named := info.SyscallNames[name]
				_, numbered := unnamed()[name]
				if there := !slices.Contains(absent, name); there != (named || numbered) || named && numbered {
					t.Errorf("%s: the library has it: %v, unnamed has it: %v, want one of them unless this machine has no such call", name, named, numbered)
				}
			}
		})
	}
}

// A program for another architecture has other numbers for its calls. It is
// killed.
func TestOtherArchitecture(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gcc"); err != nil || os.Getenv("GOARCH") == "arm64" {
		t.Skip("needs gcc")
	}
	w := newWorld(t)
	write(t, filepath.Join(w.work, "a.c"), `
#include <stdio.h>
int main(void) { long r = 20; __asm__ volatile("int $0x80" : "+a"(r) : : "memory"); printf("done %ld\n", r); return 0; }`)
	if out, err := exec.Command("gcc", "-o", filepath.Join(w.work, "a"), filepath.Join(w.work, "a.c")).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	t.Run("N1 calls by the numbers of 32 bits end the program", func(t *testing.T) {
		if o, out := w.run("./a"); o.Signal != "SIGSYS" {
			t.Errorf("got %+v and %q, want SIGSYS", o, out)
		}
	})
}
