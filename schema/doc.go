// Package schema checks what a model sends against JSON Schema, and readies
// schemas for models. It knows nothing of tools and can be used alone.
//
// [Compile] takes draft 2020-12 and draft 7, refuses what would make checks
// slow and follows no reference out of the document. [Schema.Check] has two engines.
// One walks the text once, builds no tree and allocates nothing; it serves the
// keywords that tools use, and its yes is final. Everything else, and every
// error text, comes from a full library. A fuzz test holds the two to one
// verdict.
//
// With [Options.Arguments] a schema is read for the arguments of a call, which
// is stricter than JSON Schema: objects are closed, duplicate and wrong-case
// keys are refused. [Arguments] reads the text alone; [Repair] mends it.
//
// [InferInput] and [InferOutput] write the schema of a Go type, [Decode] and
// [Decoder] read checked text into it. A field is required unless its json tag
// says omitempty or omitzero. The tag jsonschema adds keywords, separated by
// commas (a comma in a value is written \\,):
//
//	Path  string   `json:"path" jsonschema:"description=file to read,minLength=1"`
//	Mode  string   `json:"mode,omitempty" jsonschema:"enum=fast,enum=full"`
//	Limit int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=10"`
//	Tags  []string `json:"tags,omitempty" jsonschema:"maxItems=8,enum=a,enum=b"`
//	Note  string   `json:"note" jsonschema:"a sentence without = before its first comma is the description"`
//
// It takes description, title, default, enum, example, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern,
// format, minItems, maxItems, uniqueItems, minProperties, maxProperties,
// nullable, and required or optional, which override the json tag. The tag
// jsonschema_description holds a description with commas as they are. Keywords
// of strings and numbers on a slice are about its items. A type with a method
// JSONSchema() json.RawMessage writes its own schema.
//
// [Flatten] rewrites a schema for one provider's dialect, [Normalise] mends
// definitions that are not JSON Schema. Both list what they changed; checks
// always use the original.
//
// # Deviations
//
// Patterns are RE2: look-around and back-references refuse a schema. Formats
// are asserted before draft 2019-09 only. A number of more than 1,000
// characters, or with an exponent beyond ±1,000, is refused wherever it stands.
// Where a schema refers to itself in several ways, or has very many
// alternatives, very deep or large values are refused rather than looked at for
// ever.
package schema
