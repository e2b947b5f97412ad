package cedar

import (
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// What rules may say. A rule that says something else would never fit, which
// nobody notices of one that denies.

func annotationWords() []string { return []string{"id", "short", "ask", "reason", "message"} }

func typeWords() []string { return []string{"Principal", "Action", "Tool", "Source", "Tag"} }

// What rules may read of the context. Rules are evaluated on one flat record:
// context.args.path is its args.path, and context.covered.contains("git*") its
// covered.git*, a bool. It is quicker to make than records within records, and
// holds only what the rules name.
func contextWords() []string {
	return []string{"session", "client", "agent", "tenant", "attended", "mode", "claims", "args", "covered", "met"}
}

func claimWords() []string {
	return []string{"read_only", "parallel", "reversible", "local", "idempotent", "destructive", "class", "side_effect"}
}

func resourceWords() []string {
	return []string{"name", "own_name", "source", "trust", "trust_level", "tags", "needs_user"}
}

// valuesOf are all that an attribute can be, and its name; none where it can be
// anything.
func valuesOf(n ast.IsNode) (name string, values []string) {
	if resourceAttribute(n) == "trust" {
		for t := range tool.BuiltIn + 1 {
			values = append(values, t.String())
		}
		return "trust", values
	}
	path, ok := contextPath(n)
	if !ok || len(path) == 0 {
		return "", nil
	}
	switch name = path[len(path)-1]; strings.Join(path, ".") {
	case "mode":
		for _, m := range []policy.Mode{policy.ModeAsk, policy.ModeEdit, policy.ModeRead, policy.ModeAuto, policy.ModeObserve, policy.ModeDryRun} {
			values = append(values, m.String())
		}
	case "claims.class":
		values = []string{"read-only", "write", "unsafe"}
	case "claims.side_effect":
		values = []string{"pure", "read-only", "side-effecting", "external-stateful"}
	}
	return name, values
}

// resourceAttribute is what is read of the resource; "": nothing.
func resourceAttribute(n ast.IsNode) string {
	a, ok := n.(ast.NodeTypeAccess)
	if !ok {
		return ""
	}
	if v, ok := a.Arg.(ast.NodeTypeVariable); !ok || v.Name != "resource" {
		return ""
	}
	return string(a.Value)
}

// listed is words as an error lists them, that which was probably meant first.
func listed(wrong string, words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	near := slices.MinFunc(words, func(a, b string) int { return distance(wrong, a) - distance(wrong, b) })
	if distance(wrong, near) > len(near)/2 {
		return "one of " + strings.Join(words, ", ")
	}
	return near + "; there are " + strings.Join(words, ", ")
}

// distance is how many letters must be changed to make b of a, whatever their
// case.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
