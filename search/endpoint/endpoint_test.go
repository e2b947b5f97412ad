package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/search/endpoint"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// model is a server that knows two meanings, and answers out of order.
func model(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "small" || r.Header.Get("Authorization") != "Bearer open sesame" {
		http.Error(w, "not like this", http.StatusUnauthorized)
		return
	}
	var rows []string
	for i, text := range in.Input {
		v := []float32{0, 1}
		if strings.Contains(text, "weather") || strings.Contains(text, "umbrella") {
			v = []float32{1, 0}
		}
		b, _ := json.Marshal(v)
		rows = append([]string{fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, b)}, rows...)
	}
	fmt.Fprintf(w, `{"object":"list","data":[%s]}`, strings.Join(rows, ","))
}

func answers(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	key := func(context.Context) (string, error) { return "open sesame", nil }
	docs := []search.Document{
		{Name: "forecast", Description: "The weather of the next days."}, {Name: "send", Description: "Send a message."}, {Name: "sum", Description: "Add numbers."},
	}
	for _, tt := range []struct {
		name   string
		serve  http.HandlerFunc
		key    func(context.Context) (string, error)
		query  string
		want   string // the first hit
		faulty string // of the error
	}{
		{"Q4 a model far away", model, key, "take an umbrella", "forecast", ""},
		{"Q4 the wrong key", model, func(context.Context) (string, error) { return "x", nil }, "send a message", "send", `401 Unauthorized: "not like this"`},
		{"Q4 no key to be had", model, func(context.Context) (string, error) { return "", errors.New("locked") }, "send a message", "send", "key: locked"},
		{"Q4 no JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, key, "send a message", "send", "no list of vectors"},
		{"Q4 an index that is none", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"index":7,"embedding":[1]}]}`)
		}, key, "send a message", "send", "got index 7, want 0 to 2"},
		{"Q4 fewer vectors than texts", answers(`{"data":[]}`), key, "send a message", "send", "got 0 vectors, want 3"},
		{"Q4 an error that says it is none", answers(`{"error":"no such model"}`), key, "send a message", "send", "got 0 vectors, want 3"},
		{"Q4 an index twice", answers(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), key, "send a message", "send", "got index 0 twice"},
		{"Q4 vectors of two lengths", answers(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`), key, "send a message", "send", "got vectors of 1 and of 2 numbers"},
		{"Q4 nothing but zeros", answers(`{"data":[{"index":0,"embedding":[0,0]}]}`), key, "send a message", "send", "without a number other than 0"},
		{"K3 the key in what it says", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "wrong key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		}, key, "send a message", "send", "401 Unauthorized (what it says holds the key, and is left out)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.serve)
			defer server.Close()
			embedder := endpoint.Endpoint{URL: server.URL, Model: "small", Key: tt.key, Client: server.Client()}.Embedder()
			embedder.Wait = time.Minute // this test does not race with a clock
			x := search.Index{Embedder: embedder}
			err := x.Set(t.Context(), "all", docs...)
			if tt.faulty == "" && err != nil || tt.faulty != "" && (err == nil || !strings.Contains(err.Error(), tt.faulty)) {
				t.Errorf("got %v, want %q", err, tt.faulty)
			}
			a := x.Search(t.Context(), search.Query{Text: tt.query, Limit: 1})
			if len(a.Hits) == 0 {
				t.Fatalf("got no hits: %v", a.Fault)
			}
			if got := a.Hits[0].Document.Name; got != tt.want {
				t.Errorf("got %q first, want %q", got, tt.want)
			}
		})
	}
}

func TestEndpointGoesNowhereElse(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	e := endpoint.Endpoint{URL: server.URL, Model: "small"}.Embedder()
	if _, err := e.Queries(t.Context(), []string{"rain"}); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("Q4 got %v, want the status", err)
	}
	e = endpoint.Endpoint{URL: "http://127.0.0.1:1/?key=sesame", Model: "small"}.Embedder()
	if _, err := e.Queries(t.Context(), []string{"rain"}); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("K3 got %v, want an error without the address", err)
	}
	if got := endpoint.Text(&search.Document{Name: "long", Description: strings.Repeat("é", 10_000)}); len(got) > 6_000 || !strings.HasPrefix(got, " long: é") {
		t.Errorf("Q4 got a text of %d bytes", len(got))
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	tooltest.Embedder(t, func(t *testing.T) *search.Embedder {
		server := httptest.NewServer(http.HandlerFunc(model))
		t.Cleanup(server.Close)
		key := func(context.Context) (string, error) { return "open sesame", nil }
		return endpoint.Endpoint{URL: server.URL, Model: "small", Key: key, Client: server.Client()}.Embedder()
	})
}
