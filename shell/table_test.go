package shell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// tableNames are the names of all rows, from the source: a switch cannot be
// asked for its cases.
func tableNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range []string{"table.go", "table_git.go", "table_machine.go", "table_sub.go", "table_more.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasSuffix(strings.ToLower(fn.Name.Name), "table") {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if c, ok := n.(*ast.CaseClause); ok {
					for _, x := range c.List {
						if lit, ok := x.(*ast.BasicLit); ok {
							name, _ := strconv.Unquote(lit.Value)
							names = append(names, name)
						}
					}
				}
				return true
			})
		}
	}
	return names
}

func TestTable(t *testing.T) {
	t.Parallel()
	names := tableNames(t)
	if len(names) < 500 {
		t.Fatalf("I2 got %d rows, want the whole table", len(names))
	}
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] {
			t.Errorf("I2 %q stands twice in the table", name)
		}
		seen[name] = true
		r := table(name)
		if !r.listed {
			t.Errorf("I2 %q: its row is not found", name)
		}
		if parent, sub, ok := cutLast(name); ok && !table(parent).subs {
			t.Errorf("I2 %q: %q is no program with commands, so %q is never reached", name, parent, sub)
		}
		checkFlags(t, name, r.flags)
		checkFlags(t, name, readerFlags(name).flags)
		for _, never := range []string{"--output=", "--output-file=", "--exec=", "--in-place", "--to-command="} {
			if r.listed && strings.Contains(" "+r.flags+" ", " "+never+" ") && !strings.HasPrefix(name, "systemctl") && !mayName(name) {
				t.Errorf("I2 %q has the flag %s", name, never)
			}
		}
	}
}

// checkFlags reports what cannot be meant in a list of flags. Of a flag that stands
// twice only the first counts.
func checkFlags(t *testing.T, name, list string) {
	t.Helper()
	how := make(map[string]string)
	for f := range strings.FieldsSeq(list) {
		bare := strings.TrimRight(f, ":?=")
		switch {
		case strings.HasPrefix(f, "--") && strings.HasSuffix(f, ":"):
			t.Errorf("I2 %q: %s: want = behind a long flag", name, f)
		case strings.HasPrefix(f, "--"), f[0] == '~', f == "-#", f[0] == ':' && len(f) == 2 && '0' <= f[1] && f[1] <= '9':
		case f[0] == '-' && len(bare) > 2 && bare != f:
			t.Errorf("I2 %q: %s: a short flag with a value stands alone", name, f)
		case f[0] == '-':
		default:
			t.Errorf("I2 %q: %s: not a flag", name, f)
		}
		each := []string{bare}
		if strings.HasPrefix(f, "-") && !strings.HasPrefix(f, "--") && f != "-#" {
			each = strings.Split(bare[1:], "")
		}
		for _, one := range each {
			kind := "flag" + f[len(bare):]
			if was := how[one]; was != "" && was != kind {
				t.Errorf("I2 %q: %s stands with a value and without, want one of them", name, one)
			}
			how[one] = kind
		}
	}
}

// mayName are the programs whose --output says how, not where.
func mayName(name string) bool {
	switch name {
	case "journalctl", "losetup", "zramctl", "stdbuf", "qemu-img info", "qemu-img map", "qemu-img compare", "qemu-img measure":
		return true
	}
	return false
}

func cutLast(name string) (parent, sub string, ok bool) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}
