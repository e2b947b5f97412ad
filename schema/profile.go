package schema

import (
	"regexp"
	"slices"
)

// Profile names a provider's dialect of JSON Schema.
type Profile string

// The profiles.
const (
	Anthropic    Profile = "anthropic"
	OpenAI       Profile = "openai"
	OpenAIStrict Profile = "openai-strict"
	Gemini       Profile = "gemini"
	MCP          Profile = "mcp"
)

// Profiles lists them.
func Profiles() []Profile { return []Profile{Anthropic, OpenAI, OpenAIStrict, Gemini, MCP} }

// dialect is what a provider takes in the schema of a tool's arguments. In
// every dialect the root is an object; no dialect is sent references or allOf,
// because none needs them once they are written out.
type dialect struct {
	takes     map[string]bool     // the keywords
	formats   map[string][]string // the formats, by type; nil: any
	oneType   bool                // a type is one name; more are branches of anyOf
	loneAnyOf bool                // nothing stands beside anyOf
	textEnum  bool                // an enum has strings, none empty, and stands beside type string
	items     bool                // an array says what its items are
	named     bool                // an object has properties, if only {}
	required  bool                // what is required is named in properties
	notAtRoot []string            // keywords that the root may not have; never anyOf and oneOf, in any dialect
	keys      *regexp.Regexp      // what property names look like; nil: any
}

func (d *dialect) has(keyword string) bool { return d.takes[keyword] }

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}

// plain is JSON Schema 2020-12 with references written out. Gone as well are
// allOf, which is merged, and unevaluated…, which counts on how a schema was
// composed.
func plain() map[string]bool {
	out := map[string]bool{}
	for name, w := range vocabulary {
		if w.knows(2020) && !slices.Contains([]string{"allOf", "unevaluatedItems", "unevaluatedProperties"}, name) {
			out[name] = true
		}
	}
	return out
}

// dialectOf is the table of a profile.
func dialectOf(p Profile) *dialect {
	switch p {
	case Anthropic:
		// input_schema is JSON Schema 2020-12 with an object at its root
		// (docs.claude.com, "How to implement tool use"; the API answers
		// "JSON schema is invalid. It must match JSON Schema draft 2020-12").
		// The root takes no union ("input_schema does not support oneOf,
		// allOf, or anyOf at the top level", anthropics/claude-code#5973), and
		// property names are checked ("Property keys should match pattern",
		// anthropics/claude-code#79418).
		return &dialect{takes: plain(), keys: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)}
	case OpenAI:
		// Function calling without strict: "schema must have type 'object' and
		// not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top
		// level", and "array schema missing items" and "object schema missing
		// properties" anywhere (langchain-ai/langchainjs#9804,
		// goruck/home-generative-agent#545, sigoden/aichat#1049).
		return &dialect{takes: plain(), items: true, named: true, notAtRoot: []string{"enum", "const", "not"}}
	case OpenAIStrict:
		// Structured Outputs, "Supported schemas"
		// (developers.openai.com/api/docs/guides/structured-outputs): the
		// types, enum, anyOf, the keywords and formats below. default,
		// minLength and maxLength are outside of the subset
		// (openai/openai-node#1988). The rest of what strict asks for is in
		// structured.go.
		return &dialect{
			takes: set("title", "description", "type", "enum", "anyOf", "properties", "required", "additionalProperties",
				"items", "minItems", "maxItems", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
			formats:   map[string][]string{"string": {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}},
			items:     true,
			named:     true,
			required:  true,
			notAtRoot: []string{"enum", "const"},
		}
	case Gemini:
		// The Schema message of function declarations, a subset of OpenAPI 3.0
		// (ai.google.dev/api/caching#Schema). It also has title, default and
		// example, which the model does not heed. type is one name ("Proto
		// field is not repeating", WordPress/ai-provider-for-google#33), and
		// NULL is one of them; "When using any_of, it must be the only field
		// set" (anomalyco/opencode#15795, from Vertex AI); "enum: only allowed
		// for STRING type" (decolua/9router#359); "format: only 'enum' and
		// 'date-time' are supported for STRING type"
		// (google-gemini/gemini-cli#3178); "items: missing field"
		// (NousResearch/hermes-agent#69924); "required[0]: property is not
		// defined" (iBUHub/AIStudioToAPI#154).
		return &dialect{
			takes: set("description", "type", "enum", "format", "anyOf", "properties", "required", "minProperties", "maxProperties",
				"items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern"),
			formats:   map[string][]string{"string": {"date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"}},
			oneType:   true,
			loneAnyOf: true,
			textEnum:  true,
			items:     true,
			required:  true,
		}
	case MCP:
		// inputSchema is JSON Schema 2020-12 unless it says otherwise, with an
		// object at its root (modelcontextprotocol.io, SEP-1613 and
		// server/tools). References and unions at the root are legal, but
		// popular clients lose $defs (PrefectHQ/fastmcp#2808) or hand the
		// schema to a model as it is, whose provider then refuses every tool
		// of the request (dearlordylord/huly-mcp#66).
		return &dialect{takes: plain()}
	}
	return nil
}
