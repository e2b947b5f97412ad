package config_test

import (
	"encoding/json"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	const key = "secrets: {k: {env: K}}\n"
	for _, tt := range []struct{ name, text, want string }{
		{"Q4 nothing is said", "search: {meaning: , endpoint: }", `{"Words":false,"Endpoint":null}`},
		{"Q4 words alone", "search: {meaning: false}", `{"Words":true,"Endpoint":null}`},
		{
			"Q4 a model far away", key + "search: {endpoint: {url: 'https://models.example/v1/embeddings', model: small, key: k, dimensions: 256, wait: 1s}}",
			`{"Words":false,"Endpoint":{"URL":"https://models.example/v1/embeddings","Model":"small","Key":"k","Dimensions":256,"Wait":1000000000}}`,
		},
		{
			"Q4 a model on this machine", key + "search: {meaning: true, endpoint: {url: 'http://localhost:11434/v1/embeddings', model: small, key: k}}",
			`{"Words":false,"Endpoint":{"URL":"http://localhost:11434/v1/embeddings","Model":"small","Key":"k","Dimensions":0,"Wait":0}}`,
		},
		{
			"Q4 without a key", "search: {endpoint: {url: 'http://models.example/v1/embeddings', model: small}}",
			`{"Words":false,"Endpoint":{"URL":"http://models.example/v1/embeddings","Model":"small","Key":"","Dimensions":0,"Wait":0}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Parse("f.yaml", "/work", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(c.Search); err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, text, want string }{
		{"Y1 a key", "search: {meanings: true}", `f.yaml:1:10: search: unknown key "meanings": did you mean "meaning"?`},
		{"Y1 neither yes nor no", "search: {meaning: some}", `f.yaml:1:19: search.meaning: got the text "some", want true or false`},
		{"Y1 no model", "search: {endpoint: {url: 'http://localhost/'}}", `f.yaml:1:20: search.endpoint: got no model, want its name, such as nomic-embed-text`},
		{"Y1 no url", "search: {endpoint: {}}", `f.yaml:1:20: search.endpoint: got no url, want the address of a model, such as http://127.0.0.1:11434/v1/embeddings`},
		{"Y1 too long a wait", "search: {endpoint: {url: 'http://localhost/', model: m, wait: 10h}}", `f.yaml:1:63: search.endpoint.wait: got 10h0m0s, want at most 10s: a search waits for it`},
		{"Y1 too many numbers", "search: {endpoint: {url: 'http://localhost/', model: m, dimensions: 99999}}", `f.yaml:1:69: search.endpoint.dimensions: got 99999, want at most 4096`},
		{"Y1 no address", "search: {endpoint: {url: localhost, model: m}}", `f.yaml:1:26: search.endpoint.url: got "localhost", want the whole address, such as http://127.0.0.1:11434/v1/embeddings`},
		{"Y1 a password in it", "search: {endpoint: {url: 'http://a:b@localhost/', model: m}}", `f.yaml:1:26: search.endpoint.url: got a name or password in it, want search.endpoint.key, the name of a secret`},
		{"K1 the key itself", "search: {endpoint: {url: 'https://m.example/', model: m, key: 'sk-a b'}}", `f.yaml:1:63: search.endpoint.key: want the name of a secret, not the key itself`},
		{"K1 a secret that is not there", "search: {endpoint: {url: 'https://m.example/', model: m, key: k}}", `f.yaml:1:63: search.endpoint.key: got what does not stand under secrets, want the name of one there, not the secret itself`},
		{"K1 a key that others could read", key + "search: {endpoint: {url: 'http://m.example/', model: m, key: k}}", `f.yaml:2:20: search.endpoint: got a key for an address that begins with http://, want https://: others could read it`},
		{"Y1 a number", "search: {endpoint: {url: 'http://localhost/', model: m, dimensions: 0}}", `f.yaml:1:69: search.endpoint.dimensions: got 0, want 1 or more`},
		{"Y1 both", "search: {meaning: false, endpoint: {url: 'http://localhost/', model: m}}", `f.yaml:1:9: search: got an endpoint and meaning: false, want one of them: it would not be asked`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := config.Parse("f.yaml", "/work", tt.text); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
