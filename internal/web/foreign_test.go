package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// What strangers write, wherever they can.
var hostileTexts = map[string]string{
	"elements":    `<evil-tag evil-attr="1">x</evil-tag><script>evil()</script><img src=x onerror=evil()>`,
	"quotes":      `" evil-attr="1" onmouseover="evil()' evil-attr='1' onfocus='evil() x=` + "`",
	"ends":        `</title></textarea></pre></script></style></option></select><evil-tag>--><evil-tag>]]><evil-tag>`,
	"a script":    `javascript:evil()//`,
	"a data link": `data:text/html,<script>evil()</script>`,
	"another way": `//evil.com/<evil-tag>`,
	"escaped":     `&lt;evil-tag&gt;&#60;evil-tag&#62;&quot; evil-attr=&quot;1`,
	"template":    `{{.Form}}{{define "layout"}}<evil-tag>{{end}}`,
	"unseen":      "safe\u202e\u2066\u200b\u0000\u001b[31m\ufeff\U000e0041<evil-tag>\u2028\r\n",
	"broken":      "\xff\xfe<evil-tag\xc0>",
	"long":        strings.Repeat(`<evil-tag evil-attr='"`, 500),
}

func TestForeignTexts(t *testing.T) {
	t.Parallel()
	for what, text := range hostileTexts {
		c := filled(text)
		c.once.Do(c.begin)
		query := url.Values{"tool": {text}, "args": {text}, "find": {text}, "text": {text}, "session": {text}, "mode": {text}, "source": {text}, "kind": {text}, "decision": {text}, "said": {text}, "q": {text}}
		var all []string
		for _, route := range c.book.pages {
			at := pageOf(route, url.PathEscape("x"))
			hostile := pageOf(route, strings.ReplaceAll(url.PathEscape(text), "%00", ""))
			all = append(all, at, at+"?"+query.Encode(), hostile)
		}
		all = append(all, "/nowhere/"+url.PathEscape(text))
		slices.Sort(all)
		for _, path := range slices.Compact(all) {
			t.Run("G1 "+what+" at "+brief(path)+" are text", func(t *testing.T) {
				t.Parallel()
				w := get(t, c, path)
				if w.Code != http.StatusOK && w.Code != http.StatusNotFound && w.Code < 300 || w.Code >= 500 {
					t.Fatalf("got %d, %s", w.Code, w.Body)
				}
				if w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
					return // it leads elsewhere
				}
				for _, fault := range made(t, w.Body.String()) {
					t.Error(fault)
				}
			})
		}
		t.Run("G1 "+what+" that became of a form are text", func(t *testing.T) {
			t.Parallel()
			q := url.Values{"said": {text}, "mark": {c.mark(text, false)}}
			w := get(t, c, "/?"+q.Encode())
			if !strings.Contains(w.Body.String(), `class="said"`) {
				t.Error("it is not shown")
			}
			for _, fault := range made(t, w.Body.String()) {
				t.Error(fault)
			}
		})
		t.Run("G1 "+what+" in JSON are no page", func(t *testing.T) {
			t.Parallel()
			for _, o := range c.book.operations {
				if o.method != http.MethodGet || o.kind != "" {
					continue
				}
				w := get(t, c, pageOf(o.path, "x"))
				if w.Header().Get("Content-Type") != kindJSON || strings.ContainsAny(w.Body.String(), "<>\u2028") {
					t.Errorf("%s: got %s, %s", o.path, w.Header().Get("Content-Type"), w.Body)
				}
			}
		})
	}
}

func brief(path string) string { return path[:min(len(path), 40)] }

// made says what in a page was made of what strangers wrote.
func made(t *testing.T, page string) (faults []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ours := func(to string) bool {
		return to == "" || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") && !strings.HasPrefix(to, "/\\") || strings.HasPrefix(to, "?")
	}
	titles := 0
	for n := range root.Descendants() {
		switch n.Type { //nolint:exhaustive // the others hold nothing
		case html.CommentNode:
			faults = append(faults, "a comment: "+n.Data)
		case html.TextNode:
			if strings.ContainsAny(n.Data, "\u202e\u2066\u200b\x00\x1b\ufeff\U000e0041") && n.Parent.Data != "textarea" {
				faults = append(faults, "characters that nobody sees, in "+n.Parent.Data+": "+n.Data)
			}
		case html.ElementNode:
			if n.Data == "h1" {
				titles++
			}
			if strings.Contains(n.Data, "evil") || slices.Contains([]string{"iframe", "object", "embed", "base", "style", "template", "frame", "math"}, n.Data) {
				faults = append(faults, "an element: "+n.Data)
			}
			if n.Data == "script" && (n.FirstChild != nil || len(n.Attr) != 2 || n.Attr[0].Val != "/static/console.js") {
				faults = append(faults, "a script")
			}
			for _, a := range n.Attr {
				switch {
				case strings.Contains(a.Key, "evil"), strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", strings.ContainsAny(a.Key, `"'<>=`):
					faults = append(faults, "an attribute of "+n.Data+": "+a.Key)
				case slices.Contains([]string{"href", "src", "action", "formaction", "poster", "data", "xlink:href"}, a.Key) && !ours(a.Val):
					faults = append(faults, a.Key+" leads to "+a.Val)
				case a.Key == "http-equiv":
					faults = append(faults, "http-equiv")
				}
			}
		}
	}
	if titles != 1 {
		faults = append(faults, "there is not one h1")
	}
	return faults
}
