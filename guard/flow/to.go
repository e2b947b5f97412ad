package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule/tool"
)

// leaf is one value in the arguments of a call.
type leaf struct {
	path   string // such as recipients[0]
	key    string // the name it stands under
	value  string
	number bool
}

// leaves are the values of arguments, in one order, and names that may carry
// something: what a tool calls its arguments does not look so. Arguments that are no
// JSON are one value.
func leaves(text string) []leaf {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return []leaf{{path: "arguments", value: text}}
	}
	var all []leaf
	var walk func(path, key string, v any)
	walk = func(path, key string, v any) {
		switch v := v.(type) {
		case string:
			all = append(all, leaf{path, key, v, false})
		case json.Number:
			all = append(all, leaf{path, key, v.String(), true})
		case []any:
			for i, e := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), key, e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				at := strings.TrimPrefix(path+"."+k, ".")
				if len(k) >= minRun || len(k) >= minToken && (standsOut(k) || strings.ContainsFunc(k, unicode.IsSpace)) {
					all = append(all, leaf{at, "", k, false})
				}
				walk(at, k, v[k])
			}
		}
	}
	walk("", "", root)
	return all
}

// destination is where data goes, or what is acted on.
type destination struct {
	value   string
	key     string // the argument's name; "": the tool itself
	outside bool   // an address or a host: it is not the source that is called
	guess   bool   // nothing says that it is one, but for its being short
}

// id is what a yes is remembered by. An address is the same for every tool.
func (d destination) id(r *tool.Request) string {
	if d.outside {
		return d.value
	}
	return r.Source.Name + "\x00" + r.Name + "\x00" + d.key + "\x00" + d.value
}

// destinations are all the places that a call goes to, at least one: what the
// operator's label names, else hosts and arguments whose name says so, else the
// short values that are not plainly content, else the tool itself.
func destinations(r *tool.Request, label Label, all []leaf) []destination {
	var to []destination
	add := func(d destination) {
		if d.value != "" && !slices.Contains(to, d) {
			to = append(to, d)
		}
	}
	if facts, err := r.Args.Facts(); err == nil {
		for _, h := range facts.Hosts {
			add(destination{value: hostOf(h), outside: true})
		}
	}
	for _, l := range all {
		carried := word(l.key, contentWords)
		switch {
		case label.To != nil:
			if slices.Contains(label.To, l.key) {
				add(destinationOf(l))
			}
		case l.number || carried && len(l.value) > maxName:
		case word(l.key, whereWords):
			for _, part := range strings.FieldsFunc(l.value, func(r rune) bool { return r == ',' || r == ';' }) {
				add(destinationOf(leaf{l.path, l.key, strings.TrimSpace(part), false}))
			}
		case !carried && address(l.value) != "":
			add(destinationOf(l))
		case !carried:
			hosts, _ := linksIn(l.value)
			for _, h := range hosts {
				add(destination{value: h, key: l.key, outside: true})
			}
		}
	}
	if len(to) > 0 {
		return to
	}
	for _, l := range all {
		if label.To == nil && !word(l.key, contentWords) && len(l.value) <= maxName && (!l.number || word(l.key, numberWords)) {
			d := destinationOf(l)
			d.guess = !d.outside
			add(d)
		}
	}
	if len(to) == 0 {
		add(destination{value: r.Name})
	}
	return to
}

// maxName is how long a name of a place can be.
const maxName = 120

func destinationOf(l leaf) destination {
	if a := address(l.value); a != "" {
		return destination{value: a, key: l.key, outside: true}
	}
	if word(l.key, hostWords) && strings.Contains(l.value, ".") && !strings.ContainsFunc(l.value, unicode.IsSpace) {
		return destination{value: hostOf(l.value), key: l.key, outside: true} // a link without its scheme
	}
	return destination{value: l.value, key: l.key}
}

// address is the host of a link, or a mail address; "": the value is neither.
func address(value string) string {
	value = strings.TrimSpace(value)
	if strings.ContainsFunc(value, unicode.IsSpace) || len(value) > 8<<10 {
		return ""
	}
	if i := strings.Index(value, "://"); i > 0 {
		return hostOf(value[i+3:])
	}
	value = strings.TrimPrefix(strings.ToLower(value), "mailto:")
	if name, host, ok := strings.Cut(value, "@"); ok && name != "" && !strings.Contains(name, "/") && strings.Contains(host, ".") && !strings.ContainsAny(host, "/@") {
		return value
	}
	if host, _, _ := strings.Cut(value, "/"); strings.HasPrefix(host, "www.") {
		return hostOf(value)
	}
	return ""
}

// hostOf is the host of a link without its scheme, in small letters.
func hostOf(s string) string {
	u, err := url.Parse("//" + strings.NewReplacer(`\`, "/").Replace(s))
	if err != nil || u.Hostname() == "" {
		end := strings.IndexAny(s, "/?#")
		if end < 0 {
			end = len(s)
		}
		return strings.ToLower(s[:end]) // as it stands: it fits nothing that was named
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// links are the hosts of all links in the arguments of a call; more: there are
// others.
func links(all []leaf) (to []destination, more bool) {
	for _, l := range all {
		hosts, others := linksIn(l.value)
		more = more || others
		for _, h := range hosts {
			if d := (destination{value: h, key: l.key, outside: true}); h != "" && !slices.Contains(to, d) {
				if len(to) == maxLinks {
					return to, true
				}
				to = append(to, d)
			}
		}
	}
	return to, more
}

// How many hosts are looked at in one value, and in one call, and in how many links
// of a value.
const (
	maxLinks    = 64
	maxAllLinks = 2048
)

// linksIn are the hosts of the links within a value such as a command, each once;
// more: there are others.
func linksIn(s string) (hosts []string, more bool) {
	scheme, www := strings.Index(s, "://"), strings.Index(s, "www.")
	for at, many := 0, 0; scheme >= 0 || www >= 0; many++ {
		if many == maxAllLinks {
			return hosts, true
		}
		if scheme >= 0 && (www < 0 || scheme < www) {
			at = scheme + 3
		} else {
			at = www
		}
		end := strings.IndexAny(s[at:], " \t\r\n\"'<>|;,)`")
		if end < 0 {
			end = len(s) - at
		}
		end += at
		if h := hostOf(strings.TrimRight(s[at:end], ".:!?")); !slices.Contains(hosts, h) {
			if len(hosts) == maxLinks {
				return hosts, true
			}
			hosts = append(hosts, h)
		}
		scheme, www = nextOf(s, "://", scheme, end), nextOf(s, "www.", www, end)
	}
	return hosts, false
}

// nextOf is where a mark stands behind a place, where it was found before at was.
func nextOf(s, mark string, was, from int) int {
	if was < 0 || was >= from {
		return was
	}
	i := strings.Index(s[from:], mark)
	if i < 0 {
		return -1
	}
	return from + i
}

// word reports whether the last word of an argument's name is one of a list, in
// one or many.
func word(key string, among func(string) bool) bool {
	parts := wordsOf(key)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return among(last) || among(strings.TrimSuffix(last, "s"))
}

// wordsOf splits a name such as user_email, userEmail or user-email.
func wordsOf(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(b.String())
}

// whereWords are names of arguments that say where data goes.
func whereWords(w string) bool {
	switch w {
	case "to", "recipient", "receiver", "cc", "bcc", "email", "mail", "address", "addressee", "channel", "room", "chat", "conversation",
		"thread", "group", "team", "url", "uri", "link", "href", "host", "hostname", "domain", "server", "endpoint", "webhook",
		"callback", "site", "website", "account", "iban", "bic", "payee", "beneficiary", "user", "username", "member", "participant",
		"attendee", "invitee", "assignee", "collaborator", "reviewer", "contact", "phone", "topic", "queue", "bucket", "repo",
		"repository", "remote", "destination", "target", "hotel", "restaurant", "company", "vendor", "merchant", "shop", "store",
		"supplier":
		return true
	}
	return false
}

// hostWords are those of them whose value begins with a host.
func hostWords(w string) bool {
	switch w {
	case "url", "uri", "link", "href", "host", "hostname", "domain", "server", "endpoint", "webhook", "callback", "site", "website":
		return true
	}
	return false
}

// contentWords are names of arguments that are what is sent, or how.
func contentWords(w string) bool {
	switch w {
	case "body", "content", "text", "message", "msg", "subject", "title", "heading", "description", "desc", "comment", "note", "summary",
		"caption", "html", "markdown", "data", "payload", "value", "amount", "sum", "price", "currency", "quantity", "size", "date",
		"day", "month", "year", "time", "start", "end", "begin", "until", "since", "deadline", "duration", "limit", "count", "page",
		"offset", "sort", "order", "query", "q", "search", "filter", "format", "lang", "language", "locale", "timezone", "permission",
		"role", "priority", "status", "state", "type", "kind", "color", "colour", "label", "tag", "password", "passphrase", "secret",
		"token", "key", "reason", "old", "new", "recurring", "attachment", "review", "rating", "answer", "thought", "observation":
		return true
	}
	return false
}

// numberWords are names of arguments whose numbers are names.
func numberWords(w string) bool {
	switch w {
	case "id", "number", "no", "nr", "pid", "uid":
		return true
	}
	return false
}
