package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed static
var statics embed.FS

const staticPath = "/static/"

// begin makes what all requests share.
func (c *Console) begin() {
	c.door.open(c.Key)
	c.pages = make(map[string]*template.Template)
	names, _ := fs.Glob(pages, "pages/*.html") // which never fails: the pattern is one
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		c.pages[name] = template.Must(template.New("").Funcs(c.words()).ParseFS(pages, "pages/layout.html", "pages/parts.html", file))
	}
	c.mux = c.routes()
}

// routes are the pages, and the same as JSON.
func (c *Console) routes() http.Handler {
	m := http.NewServeMux()
	for _, part := range []func(*http.ServeMux){c.nowRoutes, c.historyRoutes, c.toolRoutes, c.ruleRoutes, c.serverRoutes, c.feedRoutes, c.describeRoutes} {
		part(m)
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if ways := waysTo(m, r); len(ways) > 0 {
			w.Header().Set("Allow", strings.Join(ways, ", "))
			c.refuse(w, r, http.StatusMethodNotAllowed, fmt.Errorf("got %s, want %s: /api/openapi.json says what there is", r.Method, strings.Join(ways, " or ")))
			return
		}
		err := errors.New("there is no such page: the links above lead to those that there are")
		if isAPI(r) {
			err = fmt.Errorf("there is no %s %s: /api/openapi.json says what there is", r.Method, r.URL.Path)
		}
		c.refuse(w, r, http.StatusNotFound, err)
	})
	return m
}

// waysTo are the methods by which there is something at the address of a request.
func waysTo(m *http.ServeMux, r *http.Request) (ways []string) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		as := *r
		as.Method = method
		if _, pattern := m.Handler(&as); pattern != "/" && pattern != "" {
			ways = append(ways, method)
		}
	}
	return ways
}

// static serves a file that is part of the program.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	name := path.Clean(strings.TrimPrefix(r.URL.Path, "/"))
	text, err := fs.ReadFile(statics, name)
	switch {
	case err != nil:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "files are only read: want GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "no-cache") // it changes with the program
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// isForm reports whether a request is a form that a browser sent.
func isForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/x-www-form-urlencoded"
}

// isAPI reports whether a request wants JSON.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") && !isForm(r) }

// page is what every page has.
type page struct {
	Title   string
	At      string // which of the pages it is, by its path
	Place   string
	Version string
	Form    string // the word that its forms send
	Pending int    // questions that wait
	Said    string // what became of a form
	Failed  bool   // and that it did not work
	Data    any
}

// show writes a page.
func (c *Console) show(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	at, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if named, ok := data.(interface{ heading() string }); ok {
		title = named.heading()
	}
	p := page{Title: title, At: "/" + at, Place: c.Place, Version: c.Version, Form: c.door.form, Data: data}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		p.Form, p.Place = "", "" // it is shown to whomever
	} else {
		p.Said, p.Failed = c.said(r)
		if list, err := c.asking(r.Context()); err == nil {
			p.Pending = len(list)
		}
	}
	var b bytes.Buffer
	if err := c.pages[name].ExecuteTemplate(&b, "layout", p); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// refuse says why a request is not answered as it was meant.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	if isAPI(r) {
		c.json(w, status, failure{err.Error()})
		return
	}
	c.show(w, r, status, "refused", http.StatusText(status), err.Error())
}

type failure struct {
	Error string `json:"error"`
}

func (c *Console) json(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// pair serves the same data as a page and as JSON.
func pair[T any](c *Console, m *http.ServeMux, route, name, title string, get func(*http.Request) (T, error)) {
	api := route
	if route == "/{$}" {
		api = "/now"
	}
	pairAt(c, m, route, api, name, title, get)
}

// pairAt is pair where the JSON is elsewhere.
func pairAt[T any](c *Console, m *http.ServeMux, route, api, name, title string, get func(*http.Request) (T, error)) {
	c.book.pages = append(c.book.pages, route)
	m.HandleFunc("GET "+route, func(w http.ResponseWriter, r *http.Request) {
		data, err := get(r)
		if err != nil {
			c.refuse(w, r, statusOf(err), err)
			return
		}
		c.show(w, r, http.StatusOK, name, title, data)
	})
	give(c, m, api, title, get)
}

// full is a list that is empty rather than null, as all are that are answered.
func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// give serves data as JSON alone.
func give[T any](c *Console, m *http.ServeMux, route, title string, get func(*http.Request) (T, error)) {
	c.book.add(operation{method: http.MethodGet, path: "/api" + route, title: title, out: reflect.TypeFor[T]()})
	m.HandleFunc("GET /api"+route, func(w http.ResponseWriter, r *http.Request) {
		data, err := get(r)
		if err != nil {
			c.refuse(w, r, statusOf(err), err)
			return
		}
		c.json(w, http.StatusOK, data)
	})
}

// act serves something that is done: with JSON for programs, with a form for browsers,
// which are led back to where they were.
func act[In any](c *Console, m *http.ServeMux, route string, read func(url.Values) (In, error), do func(*http.Request, In) (said string, err error)) {
	actTo(c, m, route, read, func(r *http.Request, in In) (done, error) {
		said, err := do(r, in)
		return done{Said: said}, err
	})
}

// actTo is act for what leads elsewhere.
func actTo[In any](c *Console, m *http.ServeMux, route string, read func(url.Values) (In, error), do func(*http.Request, In) (done, error)) {
	c.book.add(operation{method: http.MethodPost, path: "/api" + route, in: reflect.TypeFor[In](), out: reflect.TypeFor[done]()})
	m.HandleFunc("POST /api"+route, func(w http.ResponseWriter, r *http.Request) {
		in, err := body(r, read)
		if err != nil {
			c.refuse(w, r, http.StatusBadRequest, err)
			return
		}
		became, err := do(r, in)
		switch {
		case isForm(r) && err != nil:
			c.back(w, r, err)
		case isForm(r):
			c.forth(w, r, became)
		case err != nil:
			c.refuse(w, r, min(statusOf(err), http.StatusUnprocessableEntity), err)
		default:
			c.json(w, http.StatusOK, became)
		}
	})
}

// tell answers what is asked with a body: nothing is done.
func tell[In, Out any](c *Console, m *http.ServeMux, route string, get func(*http.Request, In) (Out, error)) {
	c.book.add(operation{method: http.MethodPost, path: "/api" + route, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()})
	m.HandleFunc("POST /api"+route, func(w http.ResponseWriter, r *http.Request) {
		in, err := body(r, func(url.Values) (in In, err error) { return in, errors.New("got a form, want JSON") })
		if err != nil {
			c.refuse(w, r, http.StatusBadRequest, err)
			return
		}
		out, err := get(r, in)
		if err != nil {
			c.refuse(w, r, min(statusOf(err), http.StatusUnprocessableEntity), err)
			return
		}
		c.json(w, http.StatusOK, out)
	})
}

// done is what became of something that was done.
type done struct {
	Said string `json:"said"`
	To   string `json:"to,omitempty"`   // the page that shows it; "": the one that it was done on
	Call string `json:"call,omitempty"` // Ferrule's id of the call that it has made
}

// body reads what was sent.
func body[In any](r *http.Request, read func(url.Values) (In, error)) (in In, err error) {
	if isForm(r) {
		if err := r.ParseForm(); err != nil {
			return in, err
		}
		return read(r.PostForm)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return in, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return in, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, errors.New("got a body that is not the JSON that /api/openapi.json describes: " + err.Error())
	}
	return in, nil
}

// back leads a browser back, with why it did not work. Where something was typed, that is
// shown again, to be put right and sent.
func (c *Console) back(w http.ResponseWriter, r *http.Request, err error) {
	if again := againOf(r, err); again.Typed {
		c.show(w, r, min(statusOf(err), http.StatusUnprocessableEntity), "again", "Once more", again)
		return
	}
	c.lead(w, r, err.Error(), true)
}

// again is a form that did not work, with what stood in it.
type again struct {
	Why, Action, Back string
	Fields            []sent
	Typed             bool
}

// sent is a field of a form as it was sent.
type sent struct {
	Name, Word, Value string
	Typed             bool // by a person; else the page has filled it in
}

func againOf(r *http.Request, why error) again {
	a := again{Why: why.Error(), Action: r.URL.RequestURI(), Back: backOf(r).String()}
	for name, values := range r.PostForm {
		word := map[string]string{
			"message": "To the model, with a no", "reason": "For the record", "text": "Your answer", "edited": "Arguments", "rule": "Rule",
			"note": "How you know", "raw": "Arguments as JSON, in the place of the fields",
		}[name]
		if arg, ok := strings.CutPrefix(name, fieldPrefix); ok {
			word = arg
		}
		for _, v := range values {
			if name != "form" {
				a.Fields = append(a.Fields, sent{name, word, v, word != ""})
				a.Typed = a.Typed || word != "" && name != "rule" && name != "edited" && v != "" || name == "edited" && r.PostForm.Get("do") == "edit" || name == "rule" && !r.PostForm.Has("do")
			}
		}
	}
	slices.SortStableFunc(a.Fields, func(x, y sent) int { return strings.Compare(x.Name, y.Name) })
	return a
}

// forth leads a browser back, with what was done, or to what shows it.
func (c *Console) forth(w http.ResponseWriter, r *http.Request, d done) {
	if d.To != "" {
		http.Redirect(w, r, d.To, http.StatusSeeOther)
		return
	}
	c.lead(w, r, d.Said, false)
}

// lead leads to the page that the form names, which is one of the console. What became
// of the form stands in the address, with a mark that only the console can make: else
// whoever has somebody follow a link could say something here.
func (c *Console) lead(w http.ResponseWriter, r *http.Request, said string, failed bool) {
	to := backOf(r)
	q := to.Query()
	q.Set("said", said)
	if failed {
		q.Set("failed", "1")
	}
	q.Set("mark", c.mark(said, failed))
	to.RawQuery = q.Encode()
	http.Redirect(w, r, to.String(), http.StatusSeeOther) //nolint:gosec // backOf gives only paths of the console
}

// backOf is the page that a form names, if it is one of the console, without what the
// console adds to addresses.
func backOf(r *http.Request) *url.URL {
	to, q := "/", url.Values{}
	if at, err := url.Parse(r.PostFormValue("back")); err == nil && at.Host == "" && at.Scheme == "" && strings.HasPrefix(at.Path, "/") && !strings.HasPrefix(at.Path, "//") {
		to, q = path.Clean(at.Path), at.Query()
	}
	for _, own := range []string{"key", "said", "failed", "mark"} {
		q.Del(own)
	}
	return &url.URL{Path: to, RawQuery: q.Encode()}
}

// said is what became of the form that led to a page.
func (c *Console) said(r *http.Request) (said string, failed bool) {
	q := r.URL.Query()
	if said, failed = q.Get("said"), q.Has("failed"); said == "" || !equal(q.Get("mark"), c.mark(said, failed)) {
		return "", false
	}
	return said, failed
}

func (c *Console) mark(said string, failed bool) string {
	return derived(c.Key, fmt.Sprintf("said %t %s", failed, said))[:16]
}

// missing is what there is not.
type missing string

func (m missing) Error() string { return string(m) }

// mistaken is what cannot be meant.
type mistaken string

func (m mistaken) Error() string { return string(m) }

// statusOf is how an answer says what went wrong.
func statusOf(err error) int {
	if _, ok := errors.AsType[mistaken](err); ok {
		return http.StatusBadRequest
	}
	if _, ok := errors.AsType[missing](err); ok {
		return http.StatusNotFound
	}
	if over, ok := errors.AsType[policy.Refusal](err); ok {
		if errors.Is(over, policy.ErrNotAsked) {
			return http.StatusNotFound
		}
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}
