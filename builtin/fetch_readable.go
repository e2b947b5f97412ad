package builtin

import (
	"bytes"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	fetchDeep   = 4096 // elements within each other; what is deeper ends the reading
	fetchIndent = 8    // levels of lists and quotes that are shown
	fetchLink   = 2048 // bytes of a link; a longer one is its text alone
	fetchLinks  = 5000 // links with their address; the further ones are their text alone
	fetchTitle  = 500  // bytes of a title
)

// fetchReadable is a page as text: headings with #, lists, links, code and tables
// as Markdown has them. What a reader of the page would not see is left out. The
// text has at most about most bytes; cut says that there was more.
//
// It goes by the tokens of the page, without a tree: the time is linear in its
// length, whatever is in it.
func fetchReadable(page string, base *url.URL, most int) (text string, cut bool) {
	r := &fetchReader{base: base, most: most, open: make(map[atom.Atom]int)}
	z := html.NewTokenizer(strings.NewReader(page))
	for !r.cut && len(r.out) <= most {
		switch z.Next() {
		case html.ErrorToken:
			return r.text()
		case html.TextToken:
			r.write(z.Text())
		case html.StartTagToken:
			r.start(z, false)
		case html.SelfClosingTagToken:
			r.start(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(fetchTag(name))
		case html.CommentToken, html.DoctypeToken:
		}
	}
	r.cut = true
	return r.text()
}

// fetchTag names an element. One that HTML does not know has a number beyond
// those that are given.
func fetchTag(name []byte) atom.Atom {
	if a := atom.Lookup(name); a != 0 {
		return a
	}
	h := fnv.New32a()
	_, _ = h.Write(name) // never fails
	return atom.Atom(h.Sum32() | 1<<31)
}

// fetchElement is an element that was begun and has not ended.
type fetchElement struct {
	tag    atom.Atom
	hidden bool
	href   string // of a link that is written
	fence  bool   // it is written between fences
	code   bool   // it is written between backquotes
	from   int    // where the text of a link or of code begins
	item   int    // of a list: the last item's number; of a row: cells; of a table: rows
}

type fetchReader struct {
	base  *url.URL
	based bool // by the page itself
	most  int
	out   []byte
	title []byte
	cut   bool

	stack  []fetchElement
	open   map[atom.Atom]int // how many of each are in the stack
	hidden int               // how many of them are hidden
	inLink int               // how many of them are links that are written
	fenced bool              // one of them is between fences
	coded  bool              // or between backquotes
	links  int
	opened int // where the last link or code begins

	breaks int    // line breaks that stand before what comes next
	space  bool   // a space does
	mark   string // a heading's, an item's or a row's
}

func (r *fetchReader) text() (string, bool) {
	for len(r.stack) > 0 {
		r.pop()
	}
	if len(r.out) > r.most {
		r.out, r.cut = fetchWhole(r.out[:r.most]), true
	}
	text := strings.TrimRight(string(r.out), " \n")
	if title := strings.Join(strings.Fields(string(fetchWhole(r.title))), " "); title != "" {
		text = strings.TrimRight("Title: "+title+"\n\n"+text, "\n")
	}
	return strings.ToValidUTF8(text, "\uFFFD"), r.cut
}

// start takes in the beginning of an element.
func (r *fetchReader) start(z *html.Tokenizer, selfClosing bool) {
	name, more := z.TagName()
	e := fetchElement{tag: fetchTag(name)}
	href, alt := "", ""
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "hidden":
			e.hidden = true
		case "aria-hidden":
			e.hidden = e.hidden || string(value) == "true"
		case "style":
			e.hidden = e.hidden || fetchUnseen(string(value))
		case "href":
			href = string(value)
		case "alt":
			alt = strings.Join(strings.Fields(string(value)), " ")
		case "start":
			if n, err := strconv.Atoi(string(value)); err == nil && n > 0 && n < 1e6 {
				e.item = n - 1
			}
		}
	}
	if selfClosing && (e.tag == atom.Svg || e.tag == atom.Math || r.open[atom.Svg]+r.open[atom.Math] > 0) {
		return // only there the slash counts
	}
	r.closeBefore(e.tag)
	switch e.tag {
	case atom.Base:
		if r.based || href == "" || len(href) >= fetchLink {
			return // the first one counts, as in browsers
		}
		r.based = true
		if u, err := r.base.Parse(href); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			r.base = u
		}
		return
	case atom.Br:
		r.line(1)
		return
	case atom.Hr:
		r.line(2)
		if !e.hidden {
			r.write([]byte("---"))
		}
		r.line(2)
		return
	case atom.Img:
		if alt != "" && !e.hidden {
			r.write([]byte("[image: " + alt + "]"))
		}
		return
	case atom.Area, atom.Col, atom.Embed, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr, atom.Frame:
		return // has no end
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Noembed, atom.Noframes, atom.Object, atom.Svg, atom.Math,
		atom.Canvas, atom.Audio, atom.Video, atom.Select, atom.Datalist, atom.Textarea, atom.Dialog:
		e.hidden = true
	default:
	}
	if len(r.stack) >= fetchDeep {
		r.cut = true
		return
	}
	if e.hidden {
		r.hidden++
	}
	if r.hidden == 0 {
		r.begin(&e, href)
	}
	r.stack = append(r.stack, e)
	r.open[e.tag]++
}

// begin writes what stands in front of an element's text.
func (r *fetchReader) begin(e *fetchElement, href string) {
	switch e.tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.line(2)
		r.marked(strings.Repeat("#", int(e.tag.String()[1]-'0')) + " ")
	case atom.Ul, atom.Ol, atom.Menu:
		r.line(r.aroundList())
	case atom.Li:
		r.line(1)
		r.marked(r.bullet())
	case atom.A:
		if e.href = r.link(href); e.href != "" {
			r.opening('[')
			e.from = len(r.out)
			r.inLink++
		}
	case atom.Code, atom.Kbd, atom.Samp:
		if !r.fenced && !r.coded {
			r.opening('`')
			e.code, r.coded, e.from = true, true, len(r.out)
		}
	case atom.Pre:
		r.line(2)
		if !r.fenced && !r.coded && !r.inline() {
			r.flush()
			r.out = append(r.out, "```\n"...)
			e.fence, r.fenced = true, true
		}
	case atom.Tr:
		r.line(1)
		r.marked("| ")
	default:
		r.line(fetchLines(e.tag))
	}
}

// end takes in the end of an element; of one that is not open it is nothing.
func (r *fetchReader) end(tag atom.Atom) {
	if tag == atom.Br {
		r.line(1)
		return
	}
	if r.open[tag] > 0 {
		for r.pop() != tag {
		}
	}
}

// pop ends the innermost element.
func (r *fetchReader) pop() atom.Atom {
	e := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	r.open[e.tag]--
	if r.hidden > 0 {
		if e.hidden {
			r.hidden--
		}
		return e.tag
	}
	switch {
	case e.href != "":
		r.inLink--
		if len(r.out) == e.from { // nobody could see it
			r.out, r.opened = r.out[:e.from-1], 0
		} else {
			r.out = append(append(append(r.out, "]("...), e.href...), ')')
		}
	case e.code:
		if r.coded = false; len(r.out) == e.from {
			r.out, r.opened = r.out[:e.from-1], 0
		} else {
			r.out = append(r.out, '`')
		}
	case e.fence:
		r.fenced = false
		r.out = append(bytes.TrimRight(r.out, "\n"), "\n```"...)
		r.line(2)
	case e.tag == atom.Td || e.tag == atom.Th:
		r.endCell()
	case e.tag == atom.Tr:
		r.endRow(e.item)
	case e.tag == atom.Li:
		r.mark = ""
		r.line(1)
	case e.tag == atom.Ul || e.tag == atom.Ol || e.tag == atom.Menu:
		r.line(r.aroundList())
	default:
		if r.line(fetchLines(e.tag)); strings.HasPrefix(r.mark, "#") && fetchLines(e.tag) > 0 {
			r.mark = "" // of a heading without a text
		}
	}
	return e.tag
}

// closeBefore ends what the beginning of another element ends without saying.
func (r *fetchReader) closeBefore(tag atom.Atom) {
	switch tag {
	case atom.Li, atom.Tr, atom.A:
		r.closeLast(tag, tag)
	case atom.Dt, atom.Dd:
		r.closeLast(atom.Dt, atom.Dd)
	case atom.Td, atom.Th:
		r.closeLast(atom.Td, atom.Th)
	default:
	}
	if fetchLines(tag) > 0 {
		r.closeLast(atom.P, atom.P)
	}
}

// closeLast ends the last open a or b, unless something else holds it. It looks
// back a little only, so that it takes no longer on a page that is deep.
func (r *fetchReader) closeLast(a, b atom.Atom) {
	for i := len(r.stack) - 1; r.open[a]+r.open[b] > 0 && i >= max(0, len(r.stack)-16); i-- {
		switch tag := r.stack[i].tag; tag {
		case a, b:
			for len(r.stack) > i {
				r.pop()
			}
			return
		case atom.Ul, atom.Ol, atom.Menu, atom.Dl, atom.Table, atom.Div, atom.Section, atom.Article, atom.Blockquote:
			return
		default:
		}
	}
}
