package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// strange is what a stranger may write anywhere.
const strange = "<script>alert(1)</script>\"'&\u202e<img src=x onerror=alert(2)>"

// catalogueHost is a console over some tools; tried gets the calls that are made.
func catalogueHost(tools ...Tool) (c *Console, tried *[]string) {
	tried = new([]string)
	c = &Console{
		Key: testKey, Place: "/here", Version: "v1",
		Tools: func(context.Context) ([]Tool, error) { return tools, nil },
		Try: func(_ context.Context, name string, args json.RawMessage) (string, error) {
			if name == "full" {
				return "", errors.New("the host says no")
			}
			*tried = append(*tried, name+" "+string(args))
			return "call-1.0", nil
		},
	}
	return c, tried
}

func someTools() []Tool {
	return []Tool{
		{Name: "read", Trust: "own", Policy: "allow", Rule: "own", Claims: &tool.Claims{ReadOnly: true, Local: true}, Description: "Read a file.\nAll of it.", Tokens: 1200, Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)},
		{Name: "bank__pay", Source: "bank", Trust: "mcp", Policy: "ask", Claims: new(tool.Claims), Description: "Pay an invoice.", Tokens: 90},
		{Name: "bank__odd", Source: "bank", Trust: "mcp", Hidden: "its schema is wrong"},
		{Name: "full", Trust: "own", Description: "It depends."},
	}
}

// asText fails where what a stranger wrote is not text on a page.
func asText(t *testing.T, page string) {
	t.Helper()
	page = regexp.MustCompile(`(<option value| id| name| aria-labelledby)="[^"]*"`).ReplaceAllString(page, "") // which nobody sees
	for _, bad := range []string{"<script>alert", "<img src=x", "\u202e"} {
		if strings.Contains(page, bad) {
			i := strings.Index(page, bad)
			t.Errorf("%q stands in the page: …%s…", bad, page[max(0, i-80):min(len(page), i+80)])
		}
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)") {
		t.Error("the text is not on the page")
	}
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	t.Run("R1 tools stand by source, with what becomes of their calls and what they cost", func(t *testing.T) {
		t.Parallel()
		c, _ := catalogueHost(someTools()...)
		var all catalogue
		if err := json.Unmarshal(get(t, c, "/api/tools").Body.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		if len(all.Sources) != 2 || all.Sources[1].Name != "bank" || all.Tokens != 1290 || all.Sources[1].Tokens != 90 || all.Offered != 3 || all.All != 4 {
			t.Errorf("got %+v", all)
		}
		if all.Sources[0].Tools[0].Input != nil {
			t.Error("got a schema in the list, want it on the page of the tool only")
		}
		page := get(t, c, "/tools").Body.String()
		for _, want := range []string{"1,290", "allowed", "asked for", "not offered", "its schema is wrong", "by arguments", "only reads", "may destroy", `href="/tools/bank__pay"`, `href="/tools/bank__odd?source=bank"`} {
			if !strings.Contains(page, want) {
				t.Errorf("the page has no %q", want)
			}
		}
	})
	for query, want := range map[string]string{
		"q=invoice": "bank__pay", "q=BANK+pay": "bank__pay", "show=asked": "bank__pay", "show=hidden": "bank__odd", "show=allowed": "read", "show=arguments": "full",
		"source=bank&q=odd": "bank__odd", "source=&q=all": "read", "source=&q=pay": "", "show=denied": "", "q=" + url.QueryEscape(strange): "", "show=nonsense&q=read+file": "read",
	} {
		t.Run("R1 a filter: "+query, func(t *testing.T) {
			t.Parallel()
			c, _ := catalogueHost(someTools()...)
			var all catalogue
			w := get(t, c, "/api/tools?"+query)
			if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range all.Sources {
				for _, one := range s.Tools {
					names = append(names, one.Name)
				}
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if page := get(t, c, "/tools?"+query); page.Code != http.StatusOK || want == "" && !strings.Contains(page.Body.String(), "No tool fits") {
				t.Errorf("got %d, want a page that says so", page.Code)
			}
		})
	}
	t.Run("R1 a thousand tools of a source are shown when they are asked for", func(t *testing.T) {
		t.Parallel()
		var tools []Tool
		for i := range 1000 {
			tools = append(tools, Tool{Name: fmt.Sprintf("many__%d", i), Source: "many", Trust: "mcp", Policy: "ask", Claims: new(tool.Claims), Description: strings.Repeat("It does something. ", 100)})
		}
		c, _ := catalogueHost(tools...)
		if page := get(t, c, "/tools").Body; page.Len() > 20_000 || !strings.Contains(page.String(), `href="/tools?source=many"`) {
			t.Errorf("got %d bytes, want a link to them", page.Len())
		}
		if page := get(t, c, "/tools?source=many").Body; page.Len() > 700_000 || strings.Count(page.String(), "<tr id=") != 1000 {
			t.Errorf("got %d bytes, want all of them", page.Len())
		}
	})
	t.Run("R1 where there is none the page says how to get some", func(t *testing.T) {
		t.Parallel()
		c, _ := catalogueHost()
		if page := get(t, c, "/tools").Body.String(); !strings.Contains(page, "ferrule servers add") {
			t.Errorf("got %s", page)
		}
	})
	t.Run("G1 what a stranger wrote is text", func(t *testing.T) {
		t.Parallel()
		schema, _ := json.Marshal(map[string]any{
			"type": "object", "description": strange, "required": []string{strange}, "$comment": strange,
			"properties": map[string]any{
				strange: map[string]any{"type": "string", "description": strange, "default": "<script>alert(1)</script>", "pattern": strange},
				"e":     map[string]any{"enum": []string{strange, "<script>alert(1)</script>"}}, "o": map[string]any{"type": "object", "default": map[string]string{"<script>alert(1)</script>": "x"}},
			},
		})
		one := Tool{
			Name: strange, Source: strange, Trust: "mcp", Rule: strange, Why: strange, Description: strange, Findings: []string{strange}, Found: []string{strange}, Pin: strange,
			Isolation: strange, Aliases: []string{strange}, Tags: []string{strange}, Secrets: []string{strange}, Examples: []tool.Example{{Input: schema, Output: schema}}, Input: schema, Output: schema,
			Claims: &tool.Claims{Touches: []tool.Access{{Resource: strange}}},
		}
		hidden := one
		hidden.Name, hidden.Hidden, hidden.Waits = strange+"2", strange, true
		c, _ := catalogueHost(one, hidden)
		for _, path := range []string{"/tools", "/tools?q=" + url.QueryEscape("<script>alert(1)</script>"), one.Path(), hidden.Path()} {
			w := get(t, c, path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: got %d", path, w.Code)
			}
			asText(t, w.Body.String())
		}
	})
}

func TestTry(t *testing.T) {
	t.Parallel()
	const to = "/history/call-1.0"
	t.Run("U1 a program calls a tool, and is told the call", func(t *testing.T) {
		t.Parallel()
		for body, want := range map[string]string{
			`{"arguments": {"path": "a", "limit": 9007199254740993}}`: `read {"path": "a", "limit": 9007199254740993}`,
			`{"fields": {"path": "a", "limit": "2"}}`:                 `read {"limit":2,"path":"a"}`,
			`{"raw": "{\"path\": \"b\"}", "fields": {"path": ""}}`:    `read {"path": "b"}`,
			`{}`: `read {}`,
		} {
			c, tried := catalogueHost(someTools()...)
			w := post(t, c, "/api/tools/read/call", kindJSON, body)
			var got done
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got.To != to || got.Call != "call-1.0" {
				t.Errorf("%s: got %d, %s, %v", body, w.Code, w.Body, err)
			}
			if len(*tried) != 1 || (*tried)[0] != want {
				t.Errorf("%s: got %q, want %q", body, *tried, want)
			}
		}
	})
	t.Run("U1 a browser without JavaScript calls a tool, and is led to the call", func(t *testing.T) {
		t.Parallel()
		c, tried := catalogueHost(someTools()...)
		w := post(t, c, "/api/tools/read/call", kindForm, url.Values{"arg.path": {"a\r\nb"}, "arg.limit": {""}, "raw": {""}, "back": {"/tools/read"}}.Encode())
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != to || len(*tried) != 1 || (*tried)[0] != `read {"path":"a\nb"}` {
			t.Errorf("got %d to %q, %q", w.Code, w.Header().Get("Location"), *tried)
		}
	})
	for name, tt := range map[string]struct {
		path, body string
		status     int
	}{
		"a tool that is not offered":    {"/api/tools/bank__odd/call", `{}`, http.StatusUnprocessableEntity},
		"a tool that there is not":      {"/api/tools/none/call", `{}`, http.StatusNotFound},
		"arguments that are no object":  {"/api/tools/read/call", `{"arguments": []}`, http.StatusUnprocessableEntity},
		"a field that there is not":     {"/api/tools/read/call", `{"fields": {"x": "1"}}`, http.StatusUnprocessableEntity},
		"what the host does not take":   {"/api/tools/full/call", `{}`, http.StatusUnprocessableEntity},
		"a member that there is not":    {"/api/tools/read/call", `{"argument": {}}`, http.StatusBadRequest},
		"what is no JSON":               {"/api/tools/read/call", `{"arguments": {`, http.StatusBadRequest},
		"a path that leads to a secret": {"/api/tools/..%2f..%2fetc/call", `{}`, http.StatusNotFound},
	} {
		t.Run("U1 nothing is called with "+name, func(t *testing.T) {
			t.Parallel()
			c, tried := catalogueHost(someTools()...)
			if w := post(t, c, tt.path, kindJSON, tt.body); w.Code != tt.status || len(*tried) > 0 {
				t.Errorf("got %d, %s, %q, want %d", w.Code, w.Body, *tried, tt.status)
			}
		})
	}
	t.Run("U1 a form of another site calls nothing", func(t *testing.T) {
		t.Parallel()
		c, tried := catalogueHost(someTools()...)
		c.once.Do(c.begin)
		w := post(t, c, "/api/tools/read/call", kindForm, "arg.path=a", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: c.door.name, Value: c.door.cookie})
		})
		if w.Code != http.StatusForbidden || len(*tried) > 0 {
			t.Errorf("got %d, %q", w.Code, *tried)
		}
	})
	t.Run("U1 the page has a field for each argument, and one for all as JSON", func(t *testing.T) {
		t.Parallel()
		c, _ := catalogueHost(someTools()...)
		page := get(t, c, "/tools/read").Body.String()
		for _, want := range []string{`name="arg.path"`, `name="arg.limit" type="number"`, `name="raw"`, `action="/api/tools/read/call"`, "<title>read · Ferrule</title>", "required"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page has no %s", want)
			}
		}
		if page := get(t, c, "/tools/bank__odd").Body.String(); strings.Contains(page, "Try it") {
			t.Error("a tool that is not offered can be tried")
		}
		c.Try = nil
		if page := get(t, c, "/tools/read").Body.String(); strings.Contains(page, "Try it") {
			t.Error("a tool can be tried where nobody calls it")
		}
	})
}
