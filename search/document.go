package search

// Document is what can be found: a tool, as far as words tell of it.
type Document struct {
	// ID is what the document is called outside, and by select:. Empty: Name. No
	// two of one source have the same.
	ID          string
	Name        string
	Description string
	Arguments   []Argument
	Tags        []string
	Examples    []string
	Source      string // set by [Index.Set]
	About       string // what the source says of itself
	// Standing is how far the document is trusted: of near copies the one that has
	// most is shown, and the others are named.
	Standing int
}

// Argument is one that a tool takes.
type Argument struct{ Name, Description string }

func (d *Document) id() string {
	if d.ID == "" {
		return d.Name
	}
	return d.ID
}

// Field is a part of a document that a word was found in.
type Field uint8

// The fields of a document.
const (
	InName Field = iota
	InDescription
	InArguments
	InArgumentTexts
	InTags
	InSource
	InAbout
	InExamples
	allFields
)

// String is how a reason names the field.
func (f Field) String() string {
	switch f {
	case InName:
		return "name"
	case InDescription:
		return "description"
	case InArguments:
		return "argument"
	case InArgumentTexts:
		return "about arguments"
	case InTags:
		return "tag"
	case InSource:
		return "source"
	case InAbout:
		return "about source"
	case InExamples:
		return "example"
	default:
		return "text"
	}
}

// Bounds of a document: what is beyond is not indexed.
const (
	maxText  = 16 << 10 // bytes of one text
	maxTexts = 400      // texts of one field
	maxWords = 4_000    // words of all
)

// texts calls yield with each text of the document and the field that it is of.
func (d *Document) texts(yield func(Field, string)) {
	yield(InName, cut(d.Name))
	yield(InDescription, cut(d.Description))
	for _, a := range d.Arguments[:min(len(d.Arguments), maxTexts)] {
		yield(InArguments, cut(a.Name))
		yield(InArgumentTexts, cut(a.Description))
	}
	for _, t := range d.Tags[:min(len(d.Tags), maxTexts)] {
		yield(InTags, cut(t))
	}
	yield(InSource, cut(d.Source))
	yield(InAbout, cut(d.About))
	for _, e := range d.Examples[:min(len(d.Examples), maxTexts)] {
		yield(InExamples, cut(e))
	}
}

func cut(text string) string { return text[:min(len(text), maxText)] }
