package ferrule

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// line is one line of a recording: a call and its final result.
//
// What is read back are the very bytes that were written. JSON stands in it as
// it is ("input", "json") where it is on one line; other text in its place
// ("input_text", "json_text"), as every text, is a string, or {"base64": "…"}
// where it is not UTF-8.
type line struct {
	session     sessionKey
	agent       string
	turn, place int
	call        tool.Call
	isJSON      bool // the input is known to be; else it is looked at
	withheld    bool // the input: a note stands in its place
	result      tool.Result
	fatal       bool // its error asks the host to end the run
	at          time.Time
}

// lineVersion is that of the format. What would be read wrong by who knows only
// this one is another.
const lineVersion = "1"

// localPrincipal is whom a session runs for where nobody is named.
const localPrincipal = "local"

// append writes the line behind b, with its newline. It is written by hand: it
// is all that recording costs.
func (l *line) append(b []byte) []byte {
	b = append(b, `{"v":`+lineVersion+`,"session":`...)
	b = appendText(b, l.session.session)
	b = appendNamed(b, `,"tenant":`, l.session.tenant)
	if l.session.principal != localPrincipal {
		b = appendNamed(b, `,"principal":`, l.session.principal)
	}
	b = appendNamed(b, `,"agent":`, l.agent)
	b = strconv.AppendInt(append(b, `,"turn":`...), int64(l.turn), 10)
	b = strconv.AppendInt(append(b, `,"place":`...), int64(l.place), 10)
	b = appendText(append(b, `,"call":{"id":`...), l.call.ID)
	b = appendText(append(b, `,"name":`...), l.call.Name)
	b = appendJSON(b, `,"input`, l.call.Input, l.isJSON || json.Valid(l.call.Input))
	if l.withheld {
		b = append(b, `,"withheld":true`...)
	}
	b = appendText(append(b, `},"result":{"id":`...), l.result.ID)
	between := `,"content":[`
	for i := range l.result.Content {
		b = appendBlock(append(b, between...), &l.result.Content[i])
		between = ","
	}
	if len(l.result.Content) > 0 {
		b = append(b, ']')
	}
	if l.result.Err != nil {
		b = l.appendError(append(b, `,"error":`...))
	}
	if l.result.Trust != nil {
		b = appendText(append(b, `,"trust":`...), l.result.Trust.String())
	}
	if o := l.result.Origin; o != nil {
		b = appendText(append(b, `,"origin":{"tool":`...), o.Tool)
		b = appendNamed(b, `,"source":`, o.Source)
		b = appendText(append(b, `,"sensitivity":`...), o.Sensitivity.String())
		b = append(b, '}')
	}
	b = l.at.UTC().AppendFormat(append(b, `},"time":"`...), time.RFC3339Nano)
	return append(b, "\"}\n"...)
}

func (l *line) appendError(b []byte) []byte {
	e := l.result.Err
	b = appendText(append(b, `{"kind":`...), string(e.Kind))
	b = appendNamed(b, `,"text":`, e.Text)
	b = appendNamed(b, `,"detail":`, e.Detail)
	if e.RetryAfter != 0 {
		b = strconv.AppendInt(append(b, `,"retry_after":`...), int64(e.RetryAfter), 10)
	}
	if l.fatal {
		b = append(b, `,"fatal":true`...)
	}
	return append(b, '}')
}

func appendBlock(b []byte, c *tool.Content) []byte {
	b = appendText(append(b, `{"type":`...), string(c.Type))
	b = appendNamed(b, `,"text":`, c.Text)
	if len(c.JSON) > 0 {
		b = appendJSON(b, `,"json`, c.JSON, true) // phase 8, or who gave it up, has looked
	}
	if len(c.Data) > 0 {
		b = base64.StdEncoding.AppendEncode(append(b, `,"data":"`...), c.Data)
		b = append(b, '"')
	}
	b = appendNamed(b, `,"media_type":`, c.MediaType)
	b = appendNamed(b, `,"name":`, c.Name)
	if c.Width != 0 {
		b = strconv.AppendInt(append(b, `,"width":`...), int64(c.Width), 10)
	}
	if c.Height != 0 {
		b = strconv.AppendInt(append(b, `,"height":`...), int64(c.Height), 10)
	}
	b = appendNamed(b, `,"uri":`, c.URI)
	return append(b, '}')
}

// appendJSON appends a key, of which the beginning is given, and JSON text as it
// is, where it comes back as it is from a line.
func appendJSON(b []byte, key string, text json.RawMessage, isJSON bool) []byte {
	b = append(b, key...)
	if n := len(text); isJSON && n > 0 && text[0] > ' ' && text[n-1] > ' ' && bytes.IndexByte(text, '\n') < 0 && utf8.Valid(text) {
		return append(append(b, `":`...), text...)
	}
	return appendText(append(b, `_text":`...), text)
}

// appendNamed appends a key and a text, unless the text is empty.
func appendNamed[T ~string | ~[]byte](b []byte, key string, s T) []byte {
	if len(s) == 0 {
		return b
	}
	return appendText(append(b, key...), s)
}

// appendText appends a text of any bytes: see [line].
func appendText[T ~string | ~[]byte](b []byte, s T) []byte {
	start, from := len(b), 0
	b = append(b, '"')
	var all byte // bits that some byte has
	for i := range len(s) {
		c := s[i]
		all |= c
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(append(b, s[from:]...), '"')
	if all < utf8.RuneSelf || utf8.Valid(b[start:]) { // escapes are
		return b
	}
	b = base64.StdEncoding.AppendEncode(append(b[:start], `{"base64":"`...), []byte(s))
	return append(b, `"}`...)
}

// bytesText is a text of any bytes as it is read.
type bytesText string

// UnmarshalJSON reads both forms.
func (t *bytesText) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(t))
	}
	var odd struct {
		Base64 *[]byte `json:"base64"`
	}
	if err := strictly(text, &odd); err != nil || odd.Base64 == nil {
		return errors.New(`want a string or {"base64": "…"}`)
	}
	*t = bytesText(*odd.Base64)
	return nil
}

// strictly decodes text, in which there is no key that v does not have.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// writtenLine is a line as it is read.
type writtenLine struct {
	Version   json.RawMessage `json:"v"`
	Session   bytesText       `json:"session"`
	Tenant    bytesText       `json:"tenant"`
	Principal bytesText       `json:"principal"`
	Agent     bytesText       `json:"agent"`
	Turn      int             `json:"turn"`
	Place     int             `json:"place"`
	Call      *struct {
		ID       bytesText       `json:"id"`
		Name     bytesText       `json:"name"`
		Input    json.RawMessage `json:"input"`
		Text     bytesText       `json:"input_text"`
		Withheld bool            `json:"withheld"`
	} `json:"call"`
	Result *struct {
		ID      bytesText      `json:"id"`
		Content []writtenBlock `json:"content"`
		Error   *writtenError  `json:"error"`
		Trust   *tool.Trust    `json:"trust"`
		Origin  *tool.Origin   `json:"origin"`
	} `json:"result"`
	Time time.Time `json:"time"`
}

type writtenError struct {
	Kind       tool.Kind     `json:"kind"`
	Text       string        `json:"text"`
	Detail     bytesText     `json:"detail"`
	RetryAfter time.Duration `json:"retry_after"`
	Fatal      bool          `json:"fatal"`
}

type writtenBlock struct {
	Type      tool.ContentType `json:"type"`
	Text      string           `json:"text"`
	JSON      json.RawMessage  `json:"json"`
	JSONText  string           `json:"json_text"`
	Data      []byte           `json:"data"`
	MediaType string           `json:"media_type"`
	Name      string           `json:"name"`
	Width     int              `json:"width"`
	Height    int              `json:"height"`
	URI       string           `json:"uri"`
}

// parseLine reads what append wrote. The text comes from outside: whatever is no
// call with a result that a model can be sent is refused.
func parseLine(text []byte) (*line, error) {
	var version struct {
		V json.RawMessage `json:"v"`
	}
	switch err := json.Unmarshal(text, &version); {
	case !utf8.Valid(text):
		return nil, errors.New("got bytes that are not UTF-8")
	case err != nil && text[0] != '{':
		return nil, fmt.Errorf("got %.40q, want an object", text)
	case err != nil:
		return nil, err
	}
	if got := string(version.V); got != lineVersion {
		if got == "" {
			got = "none"
		}
		return nil, fmt.Errorf("version: got %.40s, want %s", got, lineVersion)
	}
	var w writtenLine
	if err := strictly(text, &w); err != nil {
		return nil, err
	}
	switch {
	case w.Session == "":
		return nil, errors.New("session: want a name")
	case w.Turn < 1:
		return nil, fmt.Errorf("turn: got %d, want 1 or more", w.Turn)
	case w.Place < 0:
		return nil, fmt.Errorf("place: got %d, want 0 or more", w.Place)
	case w.Call == nil:
		return nil, errors.New("call: want one")
	case w.Result == nil:
		return nil, errors.New("result: want one")
	case w.Principal == "":
		w.Principal = localPrincipal
	}
	l := &line{
		session: sessionKey{string(w.Tenant), string(w.Principal), string(w.Session)}, agent: string(w.Agent),
		turn: w.Turn, place: w.Place, withheld: w.Call.Withheld, at: w.Time,
		call:   tool.Call{ID: string(w.Call.ID), Name: string(w.Call.Name), Input: w.Call.Input},
		result: tool.Result{ID: string(w.Result.ID), Trust: w.Result.Trust, Origin: w.Result.Origin},
	}
	if l.call.Input == nil {
		l.call.Input = json.RawMessage(w.Call.Text)
	}
	for i, b := range w.Result.Content {
		c, err := b.content()
		if err != nil {
			return nil, fmt.Errorf("content %d: %w", i+1, err)
		}
		l.result.Content = append(l.result.Content, c)
	}
	if e := w.Result.Error; e != nil {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("error: %w", err)
		}
		l.result.Err = &tool.Error{Kind: e.Kind, Text: e.Text, Detail: string(e.Detail), RetryAfter: e.RetryAfter}
		if l.fatal = e.Fatal; l.fatal {
			l.result.Err.Cause = &tool.Outcome{Err: errors.New(e.Text), Fatal: true, RetryAfter: e.RetryAfter}
		}
	}
	return l, nil
}

// content is the block that was written, if a tool may return one like it.
func (b *writtenBlock) content() (tool.Content, error) {
	c := tool.Content{
		Type: b.Type, Text: b.Text, JSON: b.JSON, Data: b.Data, MediaType: b.MediaType,
		Name: b.Name, Width: b.Width, Height: b.Height, URI: b.URI,
	}
	if c.JSON == nil && b.JSONText != "" {
		c.JSON = json.RawMessage(b.JSONText)
	}
	if text := checkBlock(&c); text != "" {
		return c, errors.New(text)
	}
	if b.Type == tool.JSONContent {
		if err := schema.Valid(string(c.JSON)); err != nil {
			return c, err
		}
	}
	return proper(&c), nil
}

func (e *writtenError) check() error {
	switch {
	case !e.Kind.Known():
		return fmt.Errorf("got the kind %q, want one that there is", e.Kind)
	case e.Kind == tool.Suspended:
		return errors.New("got the kind suspended, want one that is final")
	case e.RetryAfter < 0:
		return fmt.Errorf("retry after: got %d, want 0 or more", e.RetryAfter)
	}
	return nil
}
