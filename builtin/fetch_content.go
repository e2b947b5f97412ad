package builtin

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/ferrule-dev/ferrule/tool"
)

// content turns a body into what a model can read.
func (c *fetchClient) content(in fetchInput, t fetchTarget, kind, header string, b fetchBody, head string) ([]tool.Content, error) {
	head += fmt.Sprintf(", %s, %s", kind, b.sizes())
	if fetchPicture(kind) {
		if b.cut {
			return nil, fetchUnread(kind, b, fmt.Sprintf("a picture of more than %d bytes is not read", c.bytes))
		}
		if http.DetectContentType(b.data) != kind {
			return nil, fetchUnread(kind, b, "it is not what it says")
		}
		return []tool.Content{tool.Text(head), {Type: tool.ImageContent, Data: b.data, MediaType: kind}}, nil
	}
	if !fetchTextual(kind) {
		return nil, fetchUnread(kind, b, "only text, HTML, JSON, XML and pictures are read")
	}
	text := fetchDecode(b.data, header, b.cut)
	if strings.ContainsRune(text, 0) {
		return nil, fetchUnread(kind, b, "it is not the text that it says it is")
	}
	if (kind == "text/html" || kind == "application/xhtml+xml") && !in.Raw {
		readable, cut := fetchReadable(text, fetchBase(t.url), c.bytes)
		if text = readable; cut && !b.cut {
			head += ", the text cut"
		}
	}
	return []tool.Content{tool.Text(head + "\n\n" + text)}, nil
}

// sizes says how much there is and how much of it was read.
func (b fetchBody) sizes() string {
	switch {
	case !b.cut:
		return fmt.Sprintf("%d bytes", len(b.data))
	case b.size > int64(len(b.data)):
		return fmt.Sprintf("cut: the first %d of %d bytes", len(b.data), b.size)
	}
	return fmt.Sprintf("cut: the first %d bytes of more", len(b.data))
}

func fetchUnread(kind string, b fetchBody, why string) error {
	return &tool.Error{Kind: tool.Failed, Text: fmt.Sprintf("The answer is %s, %s: %s.", kind, b.sizes(), why)}
}

// fetchPicture reports whether models take pictures of the type.
func fetchPicture(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

func fetchTextual(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-") {
	case "json", "xml", "yaml", "toml", "javascript", "ecmascript", "ndjson", "jsonl", "graphql", "sql", "sh", "markdown", "xml-dtd":
		return strings.HasPrefix(kind, "application/")
	}
	return false
}

// fetchDecode is a body as UTF-8: by its mark, by the header, by what a page says
// of itself, else as UTF-8 where it is that, as browsers do.
func fetchDecode(data []byte, header string, cut bool) string {
	if cut {
		data = fetchWhole(data)
	}
	enc, _, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], fetchCharset(header))
	if !certain && utf8.Valid(data) {
		return string(data)
	}
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		text = data
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(text, []byte("\uFEFF"))), "\uFFFD")
}

// fetchCharset is the header without what is no parameter of it, at which the
// library gives up.
func fetchCharset(header string) string {
	if _, params, err := mime.ParseMediaType(header); err == nil || params["charset"] != "" {
		return header
	}
	return "text/html"
}

// fetchWhole takes off a character of UTF-8 that was cut through.
func fetchWhole(data []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(data)); i++ {
		if c := data[len(data)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-i:]) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}
