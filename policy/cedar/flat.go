package cedar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/ferrule-dev/ferrule/policy"
)

const (
	argsPrefix    = "args."
	unheldPrefix  = "unheld." // an argument that is there, but that Cedar cannot hold
	claimsPrefix  = "claims."
	coveredPrefix = "covered."
	metPrefix     = "met."
)

// reach is how far one must go to know what stands under a key.
type reach uint8

const (
	reachTool   reach = iota // it is the same for all calls of a tool by a caller
	reachClaims              // it is not where the claims vary
	reachCall
)

func reachOf(key string) reach {
	kind, _, more := strings.Cut(key, ".")
	switch {
	case !more:
		return reachTool
	case kind == "claims":
		return reachClaims
	}
	return reachCall
}

func isCovered(key string) bool { return strings.HasPrefix(key, coveredPrefix) }

func isMet(key string) bool { return strings.HasPrefix(key, metPrefix) }

// reads is what a rule depends on beside the name, source and trust of the tool.
type reads struct {
	principal, tenant, tags, needsUser bool
	keys                               map[string]bool // of the flat context
	liked                              map[string]bool // those of them that like reads
}

func nothingRead() reads { return reads{keys: make(map[string]bool), liked: make(map[string]bool)} }

// flattener turns the conditions of one rule into those on the flat context, and
// says what is wrong with them.
type flattener struct {
	checker
	workspace string
	patterns  map[string]policy.Rule // by flat key
	reads     reads
}

// fault notes what is wrong with something that the words find.
func (f *flattener) fault(words []string, format string, args ...any) ast.IsNode {
	f.checker.fault(words, format, args...)
	return truth(false)
}

// whole is fault for something of which nothing is read.
func (f *flattener) whole(words []string, format string, args ...any) ast.IsNode {
	f.fault(words, format, args...)
	f.faults[len(f.faults)-1].whole = true
	return truth(false)
}

// plain is a condition with each pattern in its one spelling, which needs no
// workspace.
func (f *flattener) plain(n ast.IsNode) ast.IsNode {
	set, right := insideOf(n)
	if set == "" {
		return rebuild(n, f.plain)
	}
	spell := func(e ast.IsNode) ast.IsNode {
		text, ok := literal(e)
		if !ok {
			return f.fault([]string{"context", set}, `context.%s: got something else than a text in .contains, want context.%s.contains("git status*")`, set, set)
		}
		r, err := policy.ParseRule("*("+text+")", f.workspace)
		if err != nil {
			return f.fault([]string{text}, "context.%s: %q: %s", set, text, unshifted(err))
		}
		f.patterns[set+"."+r.Inside()] = r
		return ast.NodeValue{Value: types.String(r.Inside())}
	}
	if _, ok := n.(ast.NodeTypeContains); !ok {
		list, ok := right.(ast.NodeTypeSet)
		if !ok {
			return f.fault([]string{"context", set}, `context.%s: got something else than a list of texts in .containsAny or .containsAll, want one such as ["git status*"]`, set)
		}
		right = rebuild(list, spell)
	} else {
		right = spell(right)
	}
	return containing(n, right)
}

// containing is what asks what a set contains, for something else.
func containing(n, right ast.IsNode) ast.IsNode {
	switch v := n.(type) {
	case ast.NodeTypeContains:
		v.Right = right
		return v
	case ast.NodeTypeContainsAll:
		v.Right = right
		return v
	case ast.NodeTypeContainsAny:
		v.Right = right
		return v
	}
	return n
}

// unshifted is what is wrong with the inside of a rule, at its place there.
func unshifted(err error) string {
	if e, ok := err.(*policy.RuleError); ok { //nolint:errorlint // ParseRule gives it bare
		return fmt.Sprintf("column %d: %s", max(1, e.Column-len("*(")), e.Text)
	}
	return err.Error()
}

// insideOf is covered or met where n asks what context.covered or context.met
// contains, and for what it asks; else "".
func insideOf(n ast.IsNode) (set string, right ast.IsNode) {
	var b ast.BinaryNode
	switch v := n.(type) {
	case ast.NodeTypeContains:
		b = v.BinaryNode
	case ast.NodeTypeContainsAll:
		b = v.BinaryNode
	case ast.NodeTypeContainsAny:
		b = v.BinaryNode
	default:
		return "", nil
	}
	path, ok := contextPath(b.Left)
	if ok && len(path) == 1 && (path[0] == "covered" || path[0] == "met") {
		return path[0], b.Right
	}
	return "", nil
}

func literal(n ast.IsNode) (string, bool) {
	v, ok := n.(ast.NodeValue)
	if !ok {
		return "", false
	}
	s, ok := v.Value.(types.String)
	return string(s), ok
}

// contextPath is what is read of the context: args and path for
// context.args.path.
func contextPath(n ast.IsNode) (path []string, ok bool) {
	switch v := n.(type) {
	case ast.NodeTypeVariable:
		return nil, v.Name == "context"
	case ast.NodeTypeAccess:
		path, ok = contextPath(v.Arg)
		return append(path, string(v.Value)), ok
	}
	return nil, false
}

// flat is a condition on the flat context. It takes what plain has made.
func (f *flattener) flat(n ast.IsNode) ast.IsNode {
	if set, right := insideOf(n); set != "" {
		return f.inside(n, set, right)
	}
	switch v := n.(type) {
	case ast.NodeValue:
		if uid, ok := v.Value.(types.EntityUID); ok { // it may be the one of the request
			f.reads.principal, f.reads.tenant = f.reads.principal || uid.Type == "Principal", f.reads.tenant || uid.Type == "Principal"
			f.reads.tags, f.reads.needsUser = f.reads.tags || uid.Type == "Tool", f.reads.needsUser || uid.Type == "Tool"
		}
	case ast.NodeTypeVariable:
		switch v.Name {
		case "context":
			return f.whole([]string{"context"}, "context: got the whole of it, want one of its attributes: %s", strings.Join(contextWords(), ", "))
		case "principal":
			f.reads.principal, f.reads.tenant = true, true
		case "resource":
			f.reads.tags, f.reads.needsUser = true, true
		}
	case ast.NodeTypeLike:
		read := f.flat(v.Arg)
		keysOf(read, f.reads.liked)
		return ast.NodeTypeLike{Arg: read, Value: v.Value}
	case ast.NodeTypeAccess:
		if path, ok := contextPath(n); ok {
			return f.access(path)
		}
		if f.entity(v.StrOpNode) {
			return n
		}
	case ast.NodeTypeHas:
		if path, ok := contextPath(v.Arg); ok {
			return f.has(path, string(v.Value))
		}
		if f.entity(v.StrOpNode) {
			return n
		}
	}
	return rebuild(n, f.flat)
}

// inside is context.covered.contains and its like.
func (f *flattener) inside(n ast.IsNode, set string, right ast.IsNode) ast.IsNode {
	key := func(e ast.IsNode) ast.IsNode {
		text, _ := literal(e)
		return f.key(set + "." + text)
	}
	switch n.(type) {
	case ast.NodeTypeContainsAll:
		all := truth(true)
		for _, e := range right.(ast.NodeTypeSet).Elements {
			all = and(all, key(e))
		}
		return all
	case ast.NodeTypeContainsAny:
		some := truth(false)
		for _, e := range right.(ast.NodeTypeSet).Elements {
			some = or(some, key(e))
		}
		return some
	}
	return key(right)
}

func (f *flattener) key(key string) ast.IsNode {
	f.reads.keys[key] = true
	return attribute(key)
}

// access is context.….
func (f *flattener) access(path []string) ast.IsNode {
	var n ast.IsNode
	rest := path[1:]
	switch word := path[0]; word {
	case "claims":
		if !f.claim(path) {
			return truth(false)
		}
		n, rest = f.key(claimsPrefix+path[1]), path[2:]
	case "args":
		if len(path) < 2 {
			return f.whole([]string{"context", word}, "context.args: got all arguments, want one by its name, such as context.args.path")
		}
		n, rest = f.key(argsPrefix+path[1]), path[2:]
	case "covered", "met":
		return f.whole([]string{"context", word}, `context.%s: got another use of it, want context.%s.contains("git status*")`, word, word)
	default:
		if !slices.Contains(contextWords(), word) {
			return f.unknown("context", word, contextWords())
		}
		n = f.key(word)
	}
	for _, word := range rest {
		n = ast.NodeTypeAccess{StrOpNode: ast.StrOpNode{Arg: n, Value: types.String(word)}}
	}
	return n
}

func (f *flattener) claim(path []string) bool {
	switch {
	case len(path) < 2:
		f.whole([]string{"context", "claims"}, "context.claims: got all claims, want one of %s", strings.Join(claimWords(), ", "))
	case !slices.Contains(claimWords(), path[1]):
		f.unknown("context.claims", path[1], claimWords())
	default:
		return true
	}
	return false
}

func (f *flattener) unknown(what, word string, words []string) ast.IsNode {
	parts := append(strings.Split(what, "."), word)
	return f.fault(parts, "%s: got the attribute %q, want %s", what, word, listed(word, words))
}

// has is context.… has word.
func (f *flattener) has(path []string, word string) ast.IsNode {
	switch {
	case len(path) == 0:
		if !slices.Contains(contextWords(), word) {
			return f.unknown("context", word, contextWords())
		}
		return truth(true)
	case len(path) == 1 && path[0] == "claims":
		return truth(f.claim([]string{"claims", word}))
	case len(path) == 1 && path[0] == "args":
		// An argument that Cedar cannot hold is neither there nor not: looking
		// for it fails, as reading it does.
		f.reads.keys[argsPrefix+word] = true
		return or(present(argsPrefix+word), and(present(unheldPrefix+word), attribute(argsPrefix+word)))
	}
	return ast.NodeTypeHas{StrOpNode: ast.StrOpNode{Arg: f.access(path), Value: types.String(word)}}
}

// entity is whether a node reads, or looks for, an attribute of the principal or
// the resource, which it then knows.
func (f *flattener) entity(s ast.StrOpNode) bool {
	v, ok := s.Arg.(ast.NodeTypeVariable)
	if !ok {
		return false
	}
	word := string(s.Value)
	switch v.Name {
	case "principal":
		if f.reads.tenant = true; word != "tenant" {
			f.unknown("principal", word, []string{"tenant"})
		}
		return true
	case "resource":
		if !slices.Contains(resourceWords(), word) {
			f.unknown("resource", word, resourceWords())
		}
		f.reads.tags = f.reads.tags || word == "tags"
		f.reads.needsUser = f.reads.needsUser || word == "needs_user"
		return true
	}
	return false
}

// head notes what a rule's scope depends on.
func (f *flattener) head(p *ast.Policy) {
	if _, all := p.Principal.(ast.ScopeTypeAll); !all {
		f.reads.principal = true
	}
	switch p.Resource.(type) {
	case ast.ScopeTypeIn, ast.ScopeTypeIsIn:
		f.reads.tags = true
	}
}
