package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// casedKeyword is a keyword of ours that only strict writes: the list of names
// that must not be spelled in another case. A model that sends "Path" means
// "path", and a tool that reads "path" would not see it.
const casedKeyword = "ferrule:cased"

type cased struct{ names []string }

func caseVocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "https://schema.invalid/cased",
		Compile: func(_ *jsonschema.CompilerContext, obj map[string]any) (jsonschema.SchemaExt, error) {
			list, ok := obj[casedKeyword].([]any)
			if !ok {
				return nil, nil //nolint:nilnil // the library's way to say "not here"
			}
			c := &cased{}
			for _, name := range list {
				if s, ok := name.(string); ok {
					c.names = append(c.names, s)
				}
			}
			return c, nil
		},
	}
}

// Validate implements the library's extension.
func (c *cased) Validate(ctx *jsonschema.ValidatorContext, v any) {
	obj, ok := v.(map[string]any)
	if !ok {
		return
	}
	for name := range obj {
		if right, wrong := wrongCase(name, c.names); wrong {
			ctx.AddError(&wrongCaseKind{name, right})
		}
	}
}

// wrongCase reports whether name is one of names in another case, and which.
func wrongCase(name string, names []string) (right string, wrong bool) {
	if slices.Contains(names, name) {
		return "", false
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	if i < 0 {
		return "", false
	}
	return names[i], true
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
