// Package endpoint embeds texts with a model that is reached over HTTP, by the form
// that OpenAI has and that most servers speak: Ollama, vLLM, llama.cpp and others.
//
//	e := endpoint.Endpoint{URL: "http://127.0.0.1:11434/v1/embeddings", Model: "nomic-embed-text"}
//	x := search.Index{Embedder: e.Embedder()}
//
// The texts of all documents and queries go there. If it does not answer in time,
// words alone do.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/search"
)

// Endpoint is where a model is reached.
type Endpoint struct {
	URL   string // the whole of it, with /v1/embeddings at its end
	Model string
	// Key gives the key that is sent, anew for each request; nil: none is.
	Key func(context.Context) (string, error)
	// Text is what of a document is embedded; nil: [Text].
	Text func(*search.Document) string
	// Dimensions is how many numbers a vector has, for models that can say it
	// shorter; 0: as many as the model has. Each takes a byte for each tool.
	Dimensions int
	Batch      int           // documents at once; 0: 64
	Wait       time.Duration // how long a search waits; 0: 300 ms
	Client     *http.Client  // nil: one that waits a minute at most, and goes nowhere else
}

// Bounds, in bytes: of an answer that is read, and of a text that is sent. Models
// read some thousand tokens.
const (
	maxAnswer = 64 << 20
	maxText   = 6_000
)

// Text is a document's name, description and its arguments, as far as models read.
func Text(d *search.Document) string {
	var b strings.Builder
	b.WriteString(strings.Join([]string{d.Source, d.Name}, " ") + ": " + d.Description)
	for _, a := range d.Arguments {
		if b.Len() > maxText {
			break
		}
		b.WriteString("\n" + a.Name + ": " + a.Description)
	}
	text := b.String()
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// Embedder embeds with the model.
func (e Endpoint) Embedder() *search.Embedder {
	text := e.Text
	if text == nil {
		text = Text
	}
	wait := e.Wait
	if wait <= 0 {
		wait = 300 * time.Millisecond
	}
	return &search.Embedder{
		Documents: func(ctx context.Context, docs []search.Document) ([][]float32, error) {
			texts := make([]string, len(docs))
			for i := range docs {
				texts[i] = text(&docs[i])
			}
			return e.embed(ctx, texts)
		},
		Queries: e.embed,
		Batch:   e.Batch,
		Wait:    wait,
	}
}

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

func (e Endpoint) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.URL == "" {
		return nil, errors.New("endpoint: got no URL")
	}
	body, err := json.Marshal(request{e.Model, texts, e.Dimensions})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	key := ""
	if e.Key != nil {
		if key, err = e.Key(ctx); err != nil {
			return nil, fmt.Errorf("endpoint: key: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := e.Client
	if client == nil {
		client = &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	resp, err := client.Do(req)
	if where := (*url.Error)(nil); errors.As(err, &where) {
		err = where.Err // the address may hold a key
	}
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("endpoint: got status %s%s, want 200", resp.Status, said(resp.Body, key))
	}
	var a answer
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&a); err != nil {
		return nil, fmt.Errorf("endpoint: got an answer that is no list of vectors as OpenAI has it: %w", err)
	}
	return e.vectors(a, len(texts))
}

// said is the beginning of what an endpoint says of an error; nothing if the key is
// in it.
func said(body io.Reader, key string) string {
	text, _ := io.ReadAll(io.LimitReader(body, 4<<10))
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return ""
	case key != "" && strings.Contains(string(text), key):
		return " (what it says holds the key, and is left out)"
	}
	return fmt.Sprintf(": %.200q", text)
}

// vectors are those of an answer, one for each text.
func (e Endpoint) vectors(a answer, texts int) ([][]float32, error) {
	all := make([][]float32, texts)
	for _, d := range a.Data {
		switch {
		case d.Index < 0 || d.Index >= texts:
			return nil, fmt.Errorf("endpoint: got index %d, want 0 to %d", d.Index, texts-1)
		case all[d.Index] != nil:
			return nil, fmt.Errorf("endpoint: got index %d twice", d.Index)
		case e.Dimensions > 0 && len(d.Embedding) != e.Dimensions:
			return nil, fmt.Errorf("endpoint: got a vector of %d numbers, want %d", len(d.Embedding), e.Dimensions)
		case len(d.Embedding) != len(a.Data[0].Embedding):
			return nil, fmt.Errorf("endpoint: got vectors of %d and of %d numbers, want one length", len(a.Data[0].Embedding), len(d.Embedding))
		case !slices.ContainsFunc(d.Embedding, func(f float32) bool { return f != 0 }):
			return nil, fmt.Errorf("endpoint: got a vector without a number other than 0 for text %d", d.Index)
		}
		all[d.Index] = d.Embedding
	}
	if len(a.Data) != texts {
		return nil, fmt.Errorf("endpoint: got %d vectors, want %d", len(a.Data), texts)
	}
	return all, nil
}
