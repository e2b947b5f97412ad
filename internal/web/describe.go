package web

import (
	"encoding"
	"encoding/json"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// book are the routes, as they were registered: the description is made of it, and of
// the Go types that are written and read.
type book struct {
	operations []operation
	pages      []string // without those that only give JSON
}

// operation is something that can be asked for as JSON.
type operation struct {
	method, path string
	title        string       // of the page with the same; "": told says it
	in, out      reflect.Type // nil: there is none, or it is no JSON
	kind         string       // of the answer; "": JSON
}

func (b *book) add(o operation) { b.operations = append(b.operations, o) }

func (c *Console) describeRoutes(m *http.ServeMux) {
	c.book.add(operation{method: http.MethodGet, path: "/api/openapi.json", out: reflect.TypeFor[map[string]any]()})
	description := sync.OnceValue(func() map[string]any { return c.book.describe(c.Version) })
	m.HandleFunc("GET /api/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		c.json(w, http.StatusOK, description())
	})
}

// told is what an operation does, in words, and what can be added to its address.
func told(o operation) (text string, query map[string]string) {
	switch o.method + " " + o.path {
	case "GET /api/now":
		return "What runs, what ran in the last hour, and what waits for a person", nil
	case "GET /api/questions":
		return "The questions that wait, oldest first", nil
	case "POST /api/questions/{id}":
		return "Answer a question: allow, deny, session or always", nil
	case "POST /api/questions":
		return "Answer several questions at once: allow or deny", nil
	case "POST /api/calls/{id}/stop":
		return "Stop a call that runs in this process", nil
	case "POST /api/calls/{id}/resolve":
		return "Say what became of a call whose process ended before it did: it was done, or it was not", nil
	case "GET /api/events":
		return "Server-sent events: one, changed, whenever there is something new to ask for", nil
	case "GET /api/rules":
		return "The rules that count, and what becomes of a call that is asked about", map[string]string{
			"find": "only rules of answers with this text", "tool": "explain a call of this tool", "args": "with these arguments, a JSON object",
			"mode": "in this mode; without it that of the configuration", "session": "in this session",
		}
	case "POST /api/rules/{id}":
		return "Put another rule in the place of one that was made of an answer", nil
	case "POST /api/rules/{id}/revoke":
		return "Take a rule back that was made of an answer", nil
	case "POST /api/explain":
		return "Say what would become of a call, by which rules, and what would change it: nothing runs", nil
	case "GET /api/tools":
		return "The tools that there are, by source, those that are not offered too; without their schemas", map[string]string{
			"q": "only tools with all of these words", "source": "only tools of this source",
			"show": "only those: allowed, asked, denied, arguments (it depends on them), hidden (not offered), noted (to look at)",
		}
	case "GET /api/tools/{name}":
		return "All about a tool, and its last calls", map[string]string{"source": "of this source, where several have the name"}
	case "POST /api/tools/{name}/call":
		return "Call a tool, through every rule: the answer has the id of the call as soon as there is one, and does not wait for its end", nil
	case "GET /api/servers":
		return "The MCP servers of the configuration, how they stand, and which of their tools wait to be accepted", nil
	case "POST /api/servers/{name}/pins":
		return "Accept tools of a server as they were shown, or leave them out", nil
	case "GET /api/openapi.json":
		return "This description", nil
	case "GET /api/history":
		return "Calls on the record, newest first", calling()
	case "GET /api/export":
		return "The record as lines of JSON, oldest first: all of it, or the lines of the calls that fit", calling()
	case "GET /api/calls/{id}":
		return "All about a call, phase by phase", nil
	case "GET /api/changes/{id}":
		return "What a tool changed in a file, with its diff", nil
	case "POST /api/changes/{id}/undo":
		return "Put a file back as it was before a change", nil
	case "GET /api/record":
		return "Whether the record is as it was written", nil
	case "GET /api/calls/{id}/result":
		return "The result of a call, as far as it is kept, in parts", map[string]string{"at": "where the part begins, in bytes; without it at the start"}
	case "GET /api/changes":
		return "What tools changed in files, newest first", map[string]string{"before": "the id of a change: those that are older"}
	}
	if o.title != "" {
		return o.title, nil
	}
	return strings.ReplaceAll(strings.Trim(strings.TrimPrefix(o.path, "/api/"), "/"), "/", " "), nil
}

// calling is what calls are looked for by.
func calling() map[string]string {
	return map[string]string{
		"tool": "of this tool, as it is called", "source": "of this source; own is the program itself", "state": "that stand so", "kind": "that ended with this kind of error",
		"decision": "with this decision: allow, ask or deny", "session": "of this session", "text": "with this text in something that is known of them", "before": "a place: those that are older",
	}
}

type object = map[string]any

// describe is all of it in OpenAPI 3.1.
func (b *book) describe(version string) object {
	w := writer{schemas: make(object), names: make(map[written]string)}
	failed := object{"description": "Why not", "content": object{"application/json": object{"schema": w.of(reflect.TypeFor[failure](), false)}}}
	paths := make(object)
	for _, o := range b.operations {
		text, query := told(o)
		var parameters []object
		for part := range strings.SplitSeq(o.path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				parameters = append(parameters, object{"name": strings.TrimRight(name, ".}"), "in": "path", "required": true, "schema": object{"type": "string"}})
			}
		}
		for name, about := range query {
			parameters = append(parameters, object{"name": name, "in": "query", "description": about, "schema": object{"type": "string"}})
		}
		slices.SortStableFunc(parameters, func(a, b object) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
		answer := object{"description": "Done"}
		switch {
		case o.kind != "":
			answer["content"] = object{o.kind: object{"schema": object{"type": "string"}}}
		case o.out != nil:
			answer["content"] = object{"application/json": object{"schema": w.of(o.out, false)}}
		}
		operation := object{"summary": text, "responses": object{"200": answer, "default": failed}}
		if o.in != nil {
			operation["requestBody"] = object{"content": object{"application/json": object{"schema": w.of(o.in, true)}}}
			parameters = append(parameters, object{
				"name": formHeader, "in": "header", "schema": object{"type": "string"},
				"description": "the word of a page (the meta element ferrule-form), where the cookie says who asks",
			})
		}
		if parameters != nil {
			operation["parameters"] = parameters
		}
		at, _ := paths[o.path].(object)
		if at == nil {
			at = make(object)
			paths[o.path] = at
		}
		at[strings.ToLower(o.method)] = operation
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "The console of Ferrule", "version": version,
			"description": "What the pages of `ferrule up` show and do. Programs send the key of the first link as a bearer token.",
		},
		"paths":    paths,
		"security": []object{{"key": []string{}}, {"cookie": []string{}}},
		"components": object{
			"schemas": w.schemas,
			"securitySchemes": object{
				"key":    object{"type": "http", "scheme": "bearer"},
				"cookie": object{"type": "apiKey", "in": "cookie", "name": "ferrule_…", "description": "set by the first link; its name differs from console to console"},
			},
		},
	}
}

// writer makes schemas of Go types.
type writer struct {
	schemas object
	names   map[written]string
}

// written is a type as it is sent here, where nothing may be in it that is not known,
// or as it is answered, where more may be added in time.
type written struct {
	t    reflect.Type
	sent bool
}

// of is the schema of a type.
func (w *writer) of(t reflect.Type, sent bool) object {
	as := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return object{"anyOf": []any{w.of(t.Elem(), sent), object{"type": "null"}}}
	case as(reflect.TypeFor[json.Marshaler]()): // json.RawMessage too: any JSON
		return object{}
	case as(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": w.of(t.Elem(), sent)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": w.of(t.Elem(), sent)}
	case reflect.Struct:
		return w.structure(written{t, sent})
	}
	return object{}
}

// structure is the schema of a struct: by reference, where it has a name.
func (w *writer) structure(of written) object {
	if of.t.Name() == "" {
		return w.members(of)
	}
	name, ok := w.names[of]
	if !ok {
		first, size := utf8.DecodeRuneInString(of.t.Name())
		name = string(unicode.ToUpper(first)) + of.t.Name()[size:]
		if _, taken := w.schemas[name]; taken {
			name = path.Base(of.t.PkgPath()) + "." + name
		}
		if _, taken := w.schemas[name]; taken {
			name += ".sent"
		}
		w.names[of], w.schemas[name] = name, nil // it may be in itself
		w.schemas[name] = w.members(of)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (w *writer) members(of written) object {
	properties, required := make(object), []string{}
	w.fields(of.t, of.sent, func(name string, schema object, always bool) {
		properties[name] = schema
		if always && !of.sent {
			required = append(required, name)
		}
	})
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if of.sent {
		schema["additionalProperties"] = false
	}
	return schema
}

// fields are those of a struct that are written, with those of what is embedded. Always:
// they are never left out. Lists of this package are never null, which tests hold; those
// of others may be.
func (w *writer) fields(t reflect.Type, sent bool, add func(name string, schema object, always bool)) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" && options == "":
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			w.fields(f.Type, sent, add)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		always, as := !strings.Contains(options, "omit"), f.Type
		if as.Kind() == reflect.Pointer && !always { // it is left out, and not null
			as = as.Elem()
		}
		schema := w.of(as, sent)
		if k := as.Kind(); always && !sent && (k == reflect.Slice || k == reflect.Map) && t.PkgPath() != reflect.TypeFor[Console]().PkgPath() && schema["type"] != nil {
			schema["type"] = []any{schema["type"], "null"}
		}
		add(name, schema, always)
	}
}
