package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// A server on this machine is opened by name; everything else on it stays closed.
func ExampleFetch() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>Notes</h1><ul><li>one<li>two</ul><script>track()</script>")
	}))
	defer site.Close()

	fetch, err := builtin.Fetch{Hosts: []string{strings.TrimPrefix(site.URL, "http://")}}.Tool()
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := errors.Join(err, rt.Add(fetch)); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, url := range []string{site.URL, "http://localhost:5432/"} {
		result := rt.Session(tool.Caller{}).View(ctx).Do(ctx, tool.Call{Name: "fetch", Input: []byte(`{"url":"` + url + `"}`)})[0]
		_, text, _ := strings.Cut(result.String(), "\n\n")
		text, _, _ = strings.Cut(text, "\n</untrusted") // what strangers wrote is marked so
		if result.Err != nil {
			text = result.Err.Text
		}
		fmt.Println(text)
	}
	// Output:
	// # Notes
	//
	// - one
	// - two
	// ValidationError: localhost is a name of a local network, which fetch does not open.
}
