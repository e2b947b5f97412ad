package builtin

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// write takes in text of the page.
func (r *fetchReader) write(text []byte) {
	switch {
	case r.hidden > 0 || len(text) == 0:
		return
	case r.open[atom.Title] > 0:
		r.title = append(r.title, text[:min(len(text), fetchTitle-len(r.title))]...)
		return
	case r.fenced:
		r.flush()
		r.out = append(r.out, text...)
		return
	}
	if c, _ := utf8.DecodeRune(text); unicode.IsSpace(c) {
		r.space = true
	}
	for word := range bytes.FieldsSeq(text) {
		r.flush()
		r.out = append(r.out, word...)
		r.space = true
	}
	if c, _ := utf8.DecodeLastRune(text); !unicode.IsSpace(c) {
		r.space = false
	}
}

// flush writes what was put off until something follows it.
func (r *fetchReader) flush() {
	first := len(r.out) == 0
	if first {
		r.breaks, r.space = 0, false
	}
	switch {
	case first || r.breaks > 0:
		for range min(r.breaks, 2) {
			r.out = append(r.out, '\n')
		}
		if !r.fenced {
			for range min(r.open[atom.Blockquote], fetchIndent) {
				r.out = append(r.out, "> "...)
			}
		}
		r.out = append(r.out, r.mark...)
	case r.mark != "":
		r.out = append(r.out, r.mark...)
	case r.space && r.opened != len(r.out): // no space behind the sign of a link or of code
		r.out = append(r.out, ' ')
	}
	r.breaks, r.space, r.mark = 0, false, ""
}

// opening writes the sign that a link or code begins with.
func (r *fetchReader) opening(sign byte) {
	r.flush()
	r.out = append(r.out, sign)
	r.opened = len(r.out)
}

// inline reports whether a line must not end here: in a cell or in a link.
func (r *fetchReader) inline() bool {
	return r.inLink > 0 || r.open[atom.Td]+r.open[atom.Th] > 0
}

// line puts n line breaks before what comes next.
func (r *fetchReader) line(n int) {
	switch {
	case n == 0 || r.hidden > 0:
	case r.inline():
		r.space = true
	default:
		r.breaks = max(r.breaks, n)
	}
}

// marked puts a mark in front of the line that comes next.
func (r *fetchReader) marked(mark string) {
	if !r.inline() {
		r.mark = mark
	}
}

func (r *fetchReader) lists() int { return r.open[atom.Ul] + r.open[atom.Ol] + r.open[atom.Menu] }

// aroundList parts a list from what is none; one within an item goes on below it.
func (r *fetchReader) aroundList() int {
	if r.lists() > 0 {
		return 1
	}
	return 2
}

// bullet is what an item begins with.
func (r *fetchReader) bullet() string {
	mark := "- "
	for i := len(r.stack) - 1; i >= max(0, len(r.stack)-16); i-- {
		if e := &r.stack[i]; e.tag == atom.Ol {
			e.item++
			mark = strconv.Itoa(e.item) + ". "
			break
		} else if e.tag == atom.Ul || e.tag == atom.Menu {
			break
		}
	}
	return strings.Repeat("  ", min(max(r.lists()-1, 0), fetchIndent)) + mark
}

func (r *fetchReader) endCell() {
	if r.inline() { // of a table within a cell
		r.space = true
		return
	}
	r.space = false
	r.flush()
	r.out = append(r.out, " |"...)
	r.space = true
	if n := len(r.stack); n > 0 && r.stack[n-1].tag == atom.Tr {
		r.stack[n-1].item++
	}
}

// endRow writes a line below the first row of a table.
func (r *fetchReader) endRow(cells int) {
	r.mark = ""
	r.line(1)
	if r.inline() {
		return
	}
	for i := len(r.stack) - 1; i >= max(0, len(r.stack)-4); i-- {
		e := &r.stack[i]
		if e.tag != atom.Table {
			continue
		}
		if e.item++; e.item == 1 && cells > 1 {
			r.flush()
			r.out = append(r.out, '|')
			for range min(cells, 100) {
				r.out = append(r.out, " --- |"...)
			}
			r.line(1)
		}
		return
	}
}

// link is where a link leads; "": nowhere that could be fetched.
func (r *fetchReader) link(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > fetchLink || r.links >= fetchLinks {
		return ""
	}
	r.links++
	u, err := r.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	// The one sign that would end the link where Markdown writes it.
	to := strings.ReplaceAll(u.String(), ")", "%29")
	if len(to) > fetchLink {
		return ""
	}
	return to
}

// fetchUnseen reports whether a style keeps an element from being seen.
func fetchUnseen(style string) bool {
	for rule := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(rule, ":")
		value, _, _ = strings.Cut(value, "!") // important or not
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size":
			if strings.TrimRight(value, "0.%abcdefghijklmnopqrstuvwxyz") == "" && strings.HasPrefix(value, "0") {
				return true
			}
		}
	}
	return false
}

// fetchLines is how many line breaks part an element from what is around it.
func fetchLines(tag atom.Atom) int {
	switch tag {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Menu, atom.Pre, atom.Hr,
		atom.Table, atom.Section, atom.Article, atom.Blockquote, atom.Figure, atom.Dl, atom.Details:
		return 2
	case atom.Div, atom.Header, atom.Footer, atom.Nav, atom.Main, atom.Aside, atom.Form, atom.Fieldset, atom.Legend, atom.Address,
		atom.Dt, atom.Dd, atom.Figcaption, atom.Summary, atom.Caption, atom.Center, atom.Hgroup, atom.Body, atom.Tr, atom.Li:
		return 1
	default:
		return 0
	}
}

// fetchBase is a page's own address for its links; one that is long is not worth
// resolving them by.
func fetchBase(u *url.URL) *url.URL {
	if len(u.Path)+len(u.RawQuery) <= fetchLink {
		return u
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
}
