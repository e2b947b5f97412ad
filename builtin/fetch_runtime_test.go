package builtin_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestFetchInARuntime(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, "page")
	}))
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	run := func(t *testing.T, rt *ferrule.Runtime, url string) tool.Result {
		t.Helper()
		view := attended(t, rt, builtin.Fetch{Hosts: []string{host}}.Tool)
		// A question that nobody answers ends the test, too.
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		return view.Do(ctx, tool.Call{Name: "fetch", Input: []byte(`{"url":"` + url + `"}`)})[0]
	}
	t.Run("I4 what it brings has the trust of the web, failed or not", func(t *testing.T) {
		for _, path := range []string{"/", "/nowhere"} {
			res := run(t, &ferrule.Runtime{Policy: policy.AllowOwn{}}, s.URL+path)
			if (res.Err == nil) != (path == "/") || !strings.Contains(res.String(), "page") || res.Trust == nil || *res.Trust != tool.Web {
				t.Errorf("%s: got %v with trust %v, want the page with trust web", path, res, res.Trust)
			}
		}
	})
	t.Run("I4 somebody is asked first: it reaches outside", func(t *testing.T) {
		if res := run(t, new(ferrule.Runtime), s.URL); res.Err == nil || res.Err.Kind != tool.Denied {
			t.Errorf("got %v, want it denied", res)
		}
	})
	t.Run("I4 nobody is asked about what is refused anyway, and it is not tried again", func(t *testing.T) {
		var kinds []audit.Kind
		rt := &ferrule.Runtime{Inbox: new(policy.Memory), Observe: func(e audit.Event) { kinds = append(kinds, e.Kind) }}
		res := run(t, rt, "http://169.254.169.254/latest")
		if res.Err == nil || res.Err.Kind != tool.InvalidValue || !strings.Contains(res.Err.Detail, "tools.fetch.hosts") {
			t.Errorf("got %+v, want it refused with what would open it", res.Err)
		}
		for _, k := range kinds {
			if k == audit.Asked || k == audit.Retried || k == audit.Started {
				t.Errorf("got the event %s, want the call to end before", k)
			}
		}
	})
	t.Run("I4 rules by host see where it connects to", func(t *testing.T) {
		made, err := builtin.Fetch{}.Tool()
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			rule, url string
			covers    bool
		}{
			{"fetch(host: example.com)", "https://EXAMPLE.com./x", true},
			{"fetch(host: *.example.com)", "https://a.b.example.com", true},
			{"fetch(host: example.com:8443)", "https://example.com:8443/", true},
			{"fetch(host: example.com:8443)", "https://example.com/", false},
			{"fetch(host: xn--bcher-kva.example)", "https://bücher.example/", true},
			{"fetch(host: [2606:4700::1])", "https://[2606:4700:0:0::1]/", true},
			{"fetch(host: 8.8.8.8)", "https://[::ffff:8.8.8.8]/", true},
			{"fetch(host: example.com)", "https://example.com@evil.example/", false},
			{"fetch(host: example.com)", "https://evil.example/?example.com", false},
		} {
			r, err := policy.ParseRule(tt.rule, "")
			if err != nil {
				t.Fatal(err)
			}
			args, err := made.Admit([]byte(`{"url":"` + tt.url + `"}`))
			if err != nil {
				t.Fatal(err)
			}
			q := tool.Request{Tool: &made.Info, Name: "fetch", Args: args, Claims: made.Claims}
			if got := r.Covers(&q); got != tt.covers {
				t.Errorf("%s covers %s: %t, want %t", tt.rule, tt.url, got, tt.covers)
			}
		}
	})
}
