package builtin

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestFetchReadable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, want string }{
		{"nothing", "", ""},
		{"a title and a heading", "<html><head><title> A \n title </title></head><body><h2>Head</h2><p>Text", "Title: A title\n\n## Head\n\nText"},
		{"paragraphs without an end", "<p>a<p>b<p>c", "a\n\nb\n\nc"},
		{"spaces", "<p> a \n\t b&nbsp;c <b> d </b>e<i>f</i>", "a b c d ef"},
		{"line breaks", "a<br>b<br/>c", "a\nb\nc"},
		{"blocks", "<div>a</div><div>b<div>c</div></div>d", "a\nb\nc\nd"},
		{"a list", "<ul><li>a</li><li>b<li>c</ul>d", "- a\n- b\n- c\n\nd"},
		{"a list with numbers", "<ol start=3><li>a<li>b</ol>", "3. a\n4. b"},
		{"a list in a list", "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>", "- a\n  - b\n  - c\n- d"},
		{"paragraphs in a list", "<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n\n- b"},
		{"a link", "see <a href=/x?y#z>this  page</a>.", "see [this page](https://example.com/x?y#z)."},
		{"a link elsewhere", `<a href="http://other.example/a b)">x</a>`, "[x](http://other.example/a%20b%29)"},
		{"a link with a block in it", "<a href=x><h3>Card</h3><p>text</p></a>", "[Card text](https://example.com/a/x)"},
		{"a link by the page's base", "<base href=/other/><a href=x>y</a>", "[y](https://example.com/other/x)"},
		{"the first base counts", "<base target=x><base href=/other/><base href=/third/><a href=x>y</a>", "[y](https://example.com/other/x)"},
		{"a link without a text", "a <a href=x></a>b", "a b"},
		{"links that lead nowhere", "<a href=javascript:alert(1)>a</a> <a href=data:x>b</a> <a href=#c>c</a> <a name=d>d</a> <a href='file:///e'>e</a>", "a b c d e"},
		{"a link without an end", "<a href=x>a <a href=y>b</a>", "[a](https://example.com/a/x) [b](https://example.com/a/y)"},
		{"code", "run <code>go  test</code> now", "run `go test` now"},
		{"a block of code", "<p>a</p><pre><code>x\n  y &lt;z&gt;\n\n</code></pre>b", "a\n\n```\nx\n  y <z>\n```\n\nb"},
		{"a table", "<table><thead><tr><th>a<th>b</tr></thead><tbody><tr><td>1</td><td><p>2</p><p>3</p></td></tr><tr><td></td><td>4</td></tr></tbody></table>x", "| a | b |\n| --- | --- |\n| 1 | 2 3 |\n|  | 4 |\n\nx"},
		{"a quote", "<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>d", "> a\n\n> b\n\n> > c\n\nd"},
		{"a picture", `a <img src=x alt="a  cat"> b <img src=y>`, "a [image: a cat] b"},
		{"a line", "a<hr>b", "a\n\n---\n\nb"},
		{"a script and a style", "a<script>b<p></script><style>c</style><!-- d --><noscript><p>e</noscript>f", "af"},
		{"a template and a frame", "a<template><p>b</template><iframe>c</iframe><svg><text>d</text></svg>e", "ae"},
		{"a picture that ends itself", "a<svg/>b<svg><path/><g/></svg>c", "abc"},
		{"hidden", "a<div hidden>b<div>c</div>d</div>e<p aria-hidden=true>f</p>g", "aeg"},
		{"hidden by style", `a<p style="color:red; DISPLAY : none">b</p><p style="visibility:hidden!important">c</p><p style="font-size:0px">d</p><p style="opacity:0.0">e</p><p style="opacity:.9;font-size:0.9em">f</p>`, "a\n\nf"},
		{"hidden without an end", "<p hidden>a<p>b", "b"},
		{"hidden within what ends", "<div><span hidden>a</div>b", "b"},
		{"a form", "<form>a <input value=b><select><option>c</select><textarea>d</textarea><button>e</button></form>", "a e"},
		{"entities", "&lt;a&gt; &amp; &#x41; &#0; &nosuch;", "<a> & A \uFFFD &nosuch;"},
		{"ends that begin nowhere", "</p></div>a</b></a></td>b", "ab"},
		{"elements of one's own", "<x-card>a <y-b hidden>c</y-b>b</x-card>", "a b"},
		{"an empty heading", "<h1></h1>a", "a"},
		{"a heading in a cell", "<table><tr><td><h1>a</h1></td></tr></table>", "| a |"},
	}
	base, err := url.Parse("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run("I4 "+tt.name, func(t *testing.T) {
			if got, cut := fetchReadable(tt.page, base, 1<<20); got != tt.want || cut {
				t.Errorf("fetchReadable(%q) = %q, %t, want %q", tt.page, got, cut, tt.want)
			}
		})
	}
}

func TestFetchReadableIsBounded(t *testing.T) {
	t.Parallel()
	base := &url.URL{Scheme: "https", Host: "example.com", Path: "/" + strings.Repeat("p/", 1000)}
	const size, most = 1 << 16, 30_000
	for _, part := range []string{
		"<a href=x>x</a>", "<a href=../x>", "<ul><li>x", "<div>", "<x-y>x</x-y>", "<table><tr><td>x", "<blockquote>x", "<pre>x", "<p hidden>", "</p>", "<b></i>", "<code>", "<svg>", "<!--", "&", "<", "<a ", "<title>x", "<li>", "<td></td>", "<b><span hidden>x</b>", "x ", "\xff", "<base href=x>",
	} {
		t.Run("I4 "+part, func(t *testing.T) {
			start := time.Now()
			text, _ := fetchReadable(strings.Repeat(part, size/len(part)), base, most)
			if took := time.Since(start); took > time.Minute { // generous: the machine may be busy
				t.Errorf("it took %s for a page of 64 KiB", took)
			}
			if len(text) > most+fetchTitle+20 {
				t.Errorf("got %d bytes, want at most %d", len(text), most)
			}
		})
	}
	t.Run("I4 what is cut says so", func(t *testing.T) {
		if text, cut := fetchReadable(strings.Repeat("ü", 1000), base, 101); !cut || len(text) > 101 || !utf8.ValidString(text) {
			t.Errorf("got %q and cut: %t, want it cut between two letters", text, cut)
		}
	})
	t.Run("I4 so many links have their address, and the rest their text", func(t *testing.T) {
		text, _ := fetchReadable(strings.Repeat("<a href=/>x</a> ", fetchLinks+1), base, 1<<20)
		if n := strings.Count(text, "]("); n != fetchLinks || !strings.HasSuffix(text, " x") {
			t.Errorf("got %d links, want %d", n, fetchLinks)
		}
	})
	t.Run("I4 what is too deep ends it", func(t *testing.T) {
		if _, cut := fetchReadable(strings.Repeat("<div>", fetchDeep+1)+"x", base, most); !cut {
			t.Error("want it cut")
		}
	})
}

func FuzzReadable(f *testing.F) {
	for _, s := range []string{
		"<p>a<ul><li>b<ol><li>c</ul>", "<table><tr><th>a<td><pre>x</table>", "<a href=x><code><pre></a>y</code>", "<pre><a href=y><code></pre>", "<svg><title>x</svg>y", "<title>a<title>b", "<b hidden><a href=q></b></a>", "<h1><h2></h1>x", "<plaintext>x", "<code><a href=x></a></code>",
		"<blockquote><pre>\n</blockquote>", "<td><table><tr><td>x</td></tr></table></td>",
	} {
		f.Add(s, 1000)
	}
	base := &url.URL{Scheme: "https", Host: "example.com", Path: "/a"}
	f.Fuzz(func(t *testing.T, page string, most int) {
		most = max(0, min(most, 1<<16))
		text, cut := fetchReadable(page, base, most)
		if !utf8.ValidString(text) || len(text) > 3*most+fetchTitle+20 {
			t.Errorf("fetchReadable(%q, %d) = %q, want UTF-8 of that length", page, most, text)
		}
		if again, _ := fetchReadable(page, base, most); again != text {
			t.Errorf("fetchReadable(%q) = %q, then %q", page, text, again)
		}
		if !cut && strings.Contains(text, "\x00") && !strings.Contains(page, "\x00") {
			t.Errorf("fetchReadable(%q) = %q, want no NUL", page, text)
		}
	})
}

func FuzzFetchAddress(f *testing.F) {
	for _, s := range tricks {
		f.Add(strings.ReplaceAll(s, "PORT", "8080"))
	}
	f.Fuzz(func(t *testing.T, raw string) {
		to, err := fetchParse(raw)
		if err != nil {
			return
		}
		again, err := fetchParse(to.url.String())
		if err != nil || again.String() != to.String() || again.name != to.name || again.addr != to.addr || again.port != to.port {
			t.Errorf("%q: got %q, read again %q and %v", raw, to.url, again.url, err)
		}
		if (to.name == "") == !to.addr.IsValid() {
			t.Errorf("%q: got the name %q and the address %s, want one of them", raw, to.name, to.addr)
		}
	})
}
