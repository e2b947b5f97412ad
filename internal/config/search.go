package config

import (
	"net/url"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/secret"
)

// search says how tools are found. The zero value has every default.
type search struct {
	// Words: what is meant does not count.
	Words bool
	// Endpoint is a model that tells what is meant; nil: the program's own vectors.
	Endpoint *searchEndpoint
}

// searchEndpoint is a model that is reached over HTTP, see package search/endpoint.
type searchEndpoint struct {
	URL, Model string
	Key        string        // the name of the secret that is sent; "": none is
	Dimensions int           // 0: as many as the model has
	Wait       time.Duration // 0: the default
}

// Bounds of what a model is asked for. A search may wait twice: for what tools mean,
// and for its query.
const (
	maxDimensions = 4096
	maxSearchWait = 10 * time.Second
)

func (r *reader) search(n *yaml.Node, s *search) {
	r.fields(n, "search", []string{"meaning", "endpoint"}, func(key string, v *yaml.Node) {
		what := "search." + key
		switch {
		case v.Kind == yaml.ScalarNode && v.Tag == "!!null": // as where it is not there
		case key == "meaning":
			s.Words = !r.yes(v, what)
		case key == "endpoint":
			s.Endpoint = r.searchEndpoint(v, what)
		}
	})
	if s.Words && s.Endpoint != nil {
		r.fault(n, "search: got an endpoint and meaning: false, want one of them: it would not be asked")
	}
}

func (r *reader) searchEndpoint(n *yaml.Node, what string) *searchEndpoint {
	before := len(r.errs)
	e := new(searchEndpoint)
	r.fields(n, what, []string{"url", "model", "key", "dimensions", "wait"}, func(key string, v *yaml.Node) {
		what := what + "." + key
		switch key {
		case "url":
			e.URL = r.searchAddress(v, what)
		case "model":
			e.Model = r.said(v, what)
		case "key":
			if e.Key = r.said(v, what); secret.CheckName(e.Key) != nil { // it may be the key, which is not shown
				r.fault(v, "%s: want the name of a secret, not the key itself", what)
			} else {
				r.wanted = append(r.wanted, want{at: v, what: what, name: e.Key, bare: true})
			}
		case "dimensions":
			if e.Dimensions = r.positive(v, what); e.Dimensions > maxDimensions {
				r.fault(v, "%s: got %d, want at most %d", what, e.Dimensions, maxDimensions)
			}
		case "wait":
			if e.Wait = r.span(v, what); e.Wait > maxSearchWait {
				r.fault(v, "%s: got %s, want at most %s: a search waits for it", what, e.Wait, maxSearchWait)
			}
		}
	})
	if len(r.errs) > before {
		return nil
	}
	u, err := url.Parse(e.URL)
	switch {
	case e.URL == "":
		r.fault(n, "%s: got no url, want the address of a model, such as http://127.0.0.1:11434/v1/embeddings", what)
	case e.Model == "":
		r.fault(n, "%s: got no model, want its name, such as nomic-embed-text", what)
	case e.Key != "" && (err != nil || u.Scheme == "http" && !loopback(u.Hostname())):
		r.fault(n, "%s: got a key for an address that begins with http://, want https://: others could read it", what)
	}
	return e
}

// searchAddress is a URL in which nothing is filled in.
func (r *reader) searchAddress(n *yaml.Node, what string) string {
	text := r.said(n, what)
	switch u, err := url.Parse(text); {
	case text == "":
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		r.fault(n, "%s: got %q, want the whole address, such as http://127.0.0.1:11434/v1/embeddings", what, text)
	case u.User != nil: // which is not shown
		r.fault(n, "%s: got a name or password in it, want search.endpoint.key, the name of a secret", what)
	}
	return text
}
