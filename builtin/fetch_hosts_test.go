package builtin

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func noAddresses() ([]net.Addr, error) { return nil, nil }

func TestFetchHosts(t *testing.T) {
	t.Parallel()
	quiet := listenSilently(t)
	dns := &names{tables: map[string][][]string{
		"dev.corp.example": {{"127.0.0.1"}}, "corp.example": {{"127.0.0.1"}}, "evil-corp.example": {{"127.0.0.1"}},
		"meta.corp.example": {{"169.254.169.254"}}, "zero.corp.example": {{"0.0.0.0"}}, "dev": {{"127.0.0.1"}},
	}}
	resolver := dns.resolver(t)
	tests := []struct {
		name, hosts, url string
		only, opened     bool
	}{
		{"a name", "dev.corp.example", "http://DEV.corp.example.:PORT/", false, true},
		{"a name without a dot", "dev", "http://dev:PORT/", false, true},
		{"a name on its port", "dev.corp.example:PORT", "http://dev.corp.example:PORT/", false, true},
		{"a name on another port", "dev.corp.example:81", "http://dev.corp.example:PORT/", false, false},
		{"names below", "*.corp.example", "http://dev.corp.example:PORT/", false, true},
		{"names below, on a port", "*.corp.example:PORT", "http://dev.corp.example:PORT/", false, true},
		{"not the name itself", "*.corp.example", "http://corp.example:PORT/", false, false},
		{"not a name that ends alike", "*.corp.example", "http://evil-corp.example:PORT/", false, false},
		{"an address", "127.0.0.1", "http://127.0.0.1:PORT/", false, true},
		{"an address on its port", "127.0.0.1:PORT", "http://127.0.0.1:PORT/", false, true},
		{"an address on another port", "127.0.0.1:81", "http://127.0.0.1:PORT/", false, false},
		{"another address", "127.0.0.3", "http://127.0.0.1:PORT/", false, false},
		{"an address that a name leads to", "127.0.0.1", "http://dev.corp.example:PORT/", false, true},
		{"a range", "127.0.0.0/30", "http://127.0.0.2:PORT/", false, true},
		{"outside a range", "127.0.0.4/30", "http://127.0.0.2:PORT/", false, false},
		{"a range that a name leads to", "127.0.0.0/8", "http://dev.corp.example:PORT/", false, true},
		{"a name of the machine takes more than a range", "127.0.0.0/8", "http://localhost:PORT/", false, false},
		{"a name does not open metadata", "*.corp.example", "http://meta.corp.example/", false, false},
		{"nothing opens an unspecified address", "*.corp.example 0.0.0.0 0.0.0.0/0", "http://zero.corp.example:PORT/", false, false},
		{"only: in the list", "dev.corp.example", "http://dev.corp.example:PORT/", true, true},
		{"only: an address in the list", "127.0.0.0/8", "http://127.0.0.1:PORT/", true, true},
		{"only: not in the list", "dev.corp.example", "http://public.example:PORT/", true, false},
		{"only: a public address", "dev.corp.example", "http://8.8.8.8/", true, false},
		{"only: an empty list", "", "http://8.8.8.8/", true, false},
	}
	for _, tt := range tests {
		t.Run("I4 "+tt.name, func(t *testing.T) {
			put := strings.NewReplacer("PORT", quiet.port)
			f := Fetch{Hosts: strings.Fields(put.Replace(tt.hosts)), Only: tt.only, Resolver: resolver, own: noAddresses}
			before := quiet.heard.Load()
			res, err := fetched(t, f, put.Replace(tt.url))
			e := (*tool.Error)(nil)
			if refused := errors.As(err, &e) && e.Kind == tool.InvalidValue; refused == tt.opened || tt.opened && err != nil {
				t.Errorf("got %v and %v, want opened: %t", res, err, tt.opened)
			}
			if heard := quiet.heard.Load() > before; heard != tt.opened {
				t.Errorf("the listener heard it: %t, want %t", heard, tt.opened)
			}
		})
	}
	t.Run("I4 only: what is not in the list is not looked up", func(t *testing.T) {
		dns.mu.Lock()
		defer dns.mu.Unlock()
		if slices.Contains(dns.asked, "public.example") {
			t.Errorf("it was: %q", dns.asked)
		}
	})
	t.Run("I4 an address of this machine is not public", func(t *testing.T) {
		f := Fetch{own: func() ([]net.Addr, error) {
			return []net.Addr{&net.IPNet{IP: net.ParseIP("8.8.4.4"), Mask: net.CIDRMask(24, 32)}}, nil
		}}
		for _, address := range []string{"http://8.8.4.4/", "http://[64:ff9b::808:404]/"} {
			if _, err := fetched(t, f, address); err == nil || !strings.Contains(err.Error(), "an address of this machine") {
				t.Errorf("%s: got %v, want a refusal", address, err)
			}
		}
	})
}

func TestFetchHostsAreRead(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", " ", "http://example.com", "example.com/", "a b", "*", "a.*", "*.127.0.0.1", "127.1", "10.0.0.1/8", "10.0.0.0/33", "example.com:", "example.com:0", "example.com:99999", "user@example.com", "::ffff:10.0.0.0/104", "[::1", "1.2.3.4.5", "a..b"} {
		t.Run("I4 refused: "+bad, func(t *testing.T) {
			if _, err := (Fetch{Hosts: []string{bad}}).Tool(); err == nil {
				t.Errorf("Hosts: %q: got no error, want one", bad)
			}
		})
	}
	t.Run("I4 limits below zero", func(t *testing.T) {
		for _, f := range []Fetch{{Bytes: -1}, {Timeout: -1}, {Idle: -1}} {
			if _, err := f.Tool(); err == nil {
				t.Errorf("%+v: got no error, want one", f)
			}
		}
	})
	t.Run("I4 the operator reads what would open it", func(t *testing.T) {
		dns := &names{tables: map[string][][]string{"wiki.corp.example": {{"10.9.8.7"}}, "meta.corp.example": {{"169.254.169.254"}}}}
		resolver := dns.resolver(t)
		for _, tt := range []struct{ url, text, detail string }{
			{"http://wiki.corp.example/", "wiki.corp.example leads to a private address, which fetch does not open.", `wiki.corp.example is 10.9.8.7, a private address; to open it: tools.fetch.hosts: ["wiki.corp.example"]`},
			{"http://meta.corp.example/", "meta.corp.example leads to a metadata address, which fetch does not open.", `meta.corp.example is 169.254.169.254, a metadata address; to open it: tools.fetch.hosts: ["169.254.169.254"]`},
			{"http://example.com:25/", "Port 25 is not opened by fetch.", `port 25 of example.com is not one of 80, 443 and those from 1024 on that browsers open and caches do not use; to open it: tools.fetch.hosts: ["example.com:25"]`},
			{"http://example.com:11211/", "Port 11211 is not opened by fetch.", `port 11211 of example.com is not one of 80, 443 and those from 1024 on that browsers open and caches do not use; to open it: tools.fetch.hosts: ["example.com:11211"]`},
			{"http://localhost/", "localhost is a name of a local network, which fetch does not open.", `localhost is a name that means something else on each network; to open it: tools.fetch.hosts: ["localhost"]`},
		} {
			_, err := fetched(t, Fetch{Resolver: resolver, own: noAddresses}, tt.url)
			if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Text != tt.text || e.Detail != tt.detail {
				t.Errorf("%s: got %+v, want %q and %q", tt.url, e, tt.text, tt.detail)
			}
		}
	})
}

func TestFetchRebinding(t *testing.T) {
	t.Parallel()
	quiet := listenSilently(t)
	t.Run("I4 a name that leads elsewhere the second time", func(t *testing.T) {
		// A server of its own on the port of the silent ones, at an address that is open.
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.3:"+quiet.port)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusFound)
		}))
		_ = s.Listener.Close()
		s.Listener = l
		s.Start()
		defer s.Close()
		dns := &names{tables: map[string][][]string{"turn.example": {{"127.0.0.3"}, {"127.0.0.1"}}}}
		res, err := fetched(t, Fetch{Hosts: []string{"127.0.0.3"}, Resolver: dns.resolver(t)}, "http://turn.example:"+quiet.port+"/")
		if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Kind != tool.InvalidValue || !strings.Contains(e.Detail, "turn.example is 127.0.0.1") {
			t.Errorf("got %v and %v, want the second address refused", res, err)
		}
	})
	t.Run("I4 of several addresses only those that are open are tried", func(t *testing.T) {
		for _, list := range [][]string{{"127.0.0.4", "127.0.0.1"}, {"127.0.0.1", "127.0.0.4"}, {"127.0.0.4", "::1"}, {"127.0.0.4", "127.0.0.1", "127.0.0.2", "::1"}} {
			dns := &names{tables: map[string][][]string{"two.example": {list}}}
			if res, err := fetched(t, Fetch{Hosts: []string{"127.0.0.4"}, Resolver: dns.resolver(t)}, "http://two.example:"+quiet.port+"/"); err == nil {
				t.Errorf("%q: got %v, want an error: nobody listens on the one that is open", list, res)
			}
		}
	})
	if n := quiet.heard.Load(); n != 0 {
		t.Errorf("I4 listeners on loopback were connected to %d times, want 0", n)
	}
}

func TestFetchRedirects(t *testing.T) {
	t.Parallel()
	quiet := listenSilently(t)
	for _, location := range []string{
		"file:///etc/passwd", "gopher://127.0.0.1/", "data:text/html,x", "javascript:alert(1)", "ftp://example.com/", "//127.0.0.1:PORT/", "http://127.0.0.1:PORT/", "http://localhost:PORT/",
		"http://[::1]:PORT/", "http://2130706433:PORT/", "http://0x7f.1:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://a@127.0.0.1:PORT/", "http://169.254.169.254/", "http://example.com:22/", "http:\\\\127.0.0.1:PORT/", "http://0:PORT/", "http://①②⑦.0.0.1:PORT/",
		"http://127.0.0.1:PORT\\@example.com/", "///127.0.0.1:PORT/", "http://metadata.google.internal/", "HTTP://LOCALHOST.:PORT/", "http://loop.example.com:PORT/", "//loop.example.com:PORT/",
	} {
		t.Run("I4 refused: "+location, func(t *testing.T) {
			base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", strings.ReplaceAll(location, "PORT", quiet.port))
				w.WriteHeader(http.StatusFound)
			})
			f.own = noAddresses
			f.Resolver = (&names{tables: map[string][][]string{"loop.example.com": {{"127.0.0.1"}}}}).resolver(t)
			for _, f.Follow = range []bool{true, false} {
				if !f.Follow && strings.Contains(location, "loop.example.com") {
					continue // handed back: it is refused when it is looked up
				}
				res, err := fetched(t, f, base)
				e := (*tool.Error)(nil)
				if !errors.As(err, &e) || e.Kind != tool.InvalidValue {
					t.Fatalf("follow %t: got %v and %v, want a refusal", f.Follow, res, err)
				}
				if want := "The address redirects to one that fetch does not open."; e.Text != want {
					t.Errorf("follow %t: the model reads %q, want %q", f.Follow, e.Text, want)
				}
			}
		})
	}
	if n := quiet.heard.Load(); n != 0 {
		t.Errorf("I4 listeners on loopback were connected to %d times, want 0", n)
	}
	t.Run("I4 another host is handed back", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/x", http.StatusFound)
		})
		res, err := fetched(t, f, base)
		if err != nil || !strings.HasSuffix(res.String(), "\nhttps://other.example/x") || res.Trust == nil || *res.Trust != tool.Web {
			t.Errorf("got %v and %v, want the address with trust web", res, err)
		}
	})
	t.Run("I4 another port of an open host is handed back", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:"+quiet.port+"/", http.StatusFound)
		})
		f.Hosts = []string{"127.0.0.1"}
		before := quiet.heard.Load()
		if res, err := fetched(t, f, base); err != nil || !strings.Contains(res.String(), "another host") || quiet.heard.Load() != before {
			t.Errorf("got %v and %v, want the address", res, err)
		}
		f.Follow = true
		if res, err := fetched(t, f, base); err != nil || !strings.Contains(res.String(), "secret") {
			t.Errorf("Follow: got %v and %v, want the page", res, err)
		}
	})
	t.Run("I4 five redirects, not six", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if left := r.URL.Path[1:]; left != "" {
				http.Redirect(w, r, left[1:], http.StatusFound)
				return
			}
			_, _ = w.Write([]byte("there"))
		})
		if res, err := fetched(t, f, base+"/12345"); err != nil || !strings.Contains(res.String(), "there") || !strings.Contains(res.String(), "after 5 redirects") {
			t.Errorf("five: got %v and %v, want the page", res, err)
		}
		if res, err := fetched(t, f, base+"/123456"); err == nil || !strings.Contains(err.Error(), "more than 5 times") {
			t.Errorf("six: got %v and %v, want an error", res, err)
		}
	})
}
