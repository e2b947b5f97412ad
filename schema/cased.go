package schema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// casedKeyword is a keyword of ours that only strict writes: the names that
// must not be spelled in another case. A model that sends "Path" means "path",
// and a tool that reads "path" would not see it.
const casedKeyword = "ferrule:cased"

type cased struct {
	names    []string
	patterns []*regexp.Regexp // what they match may be spelled as it is
}

func caseVocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "https://schema.invalid/cased",
		Compile: func(_ *jsonschema.CompilerContext, obj map[string]any) (jsonschema.SchemaExt, error) {
			says, ok := obj[casedKeyword].(map[string]any)
			if !ok {
				return nil, nil //nolint:nilnil // the library's way to say "not here"
			}
			c := &cased{names: list(says["names"])}
			for _, pattern := range list(says["patterns"]) {
				// The library has compiled it before, within its budget.
				if re, err := regexp.Compile(pattern); err == nil {
					c.patterns = append(c.patterns, re)
				}
			}
			return c, nil
		},
	}
}

func list(v any) []string {
	var out []string
	items, _ := v.([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Validate implements the library's extension.
func (c *cased) Validate(ctx *jsonschema.ValidatorContext, v any) {
	obj, ok := v.(map[string]any)
	if !ok {
		return
	}
	for name := range obj {
		if right, wrong := c.wrong(name); wrong {
			ctx.AddError(&wrongCaseKind{name, right})
		}
	}
}

// wrong reports whether name is one of the names in another case, and which.
func (c *cased) wrong(name string) (right string, wrong bool) {
	if slices.Contains(c.names, name) || slices.ContainsFunc(c.patterns, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
		return "", false
	}
	i := slices.IndexFunc(c.names, func(n string) bool { return strings.EqualFold(n, name) })
	if i < 0 {
		return "", false
	}
	return c.names[i], true
}

type wrongCaseKind struct{ got, want string }

// KeywordPath implements the library's error kind.
func (*wrongCaseKind) KeywordPath() []string { return []string{"properties"} }

// LocalizedString implements the library's error kind.
func (k *wrongCaseKind) LocalizedString(*message.Printer) string {
	return "property " + string(quote(k.got)) + " is spelled " + string(quote(k.want))
}

// printer writes the library's texts. They are English only.
func printer() *message.Printer { return message.NewPrinter(language.English) }
