package builtin

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// tricks are ways to write an address of this machine or its network. PORT is a
// port where somebody listens on 127.0.0.1, 127.0.0.2 and ::1.
var tricks = []string{
	"http://127.0.0.1:PORT/", "http://127.0.0.2:PORT/", "http://127.1:PORT/", "http://127.0.1:PORT/",
	"http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://0x7f.0.0.1:PORT/", "http://0x7F.1:PORT/", "http://0177.0.0.1:PORT/",
	"http://017700000001:PORT/", "http://0177.0x0.0.1:PORT/", "http://127.0.0.01:PORT/", "http://127.000.000.001:PORT/",
	"http://127.0.0.1.:PORT/", "http://127.0.0.1..:PORT/", "http://127.0.0.1%2e:PORT/", "http://.127.0.0.1:PORT/", "http://127..0.0.1:PORT/",
	"http://0:PORT/", "http://0.0.0.0:PORT/", "http://0.0.0.1:PORT/", "http://00000:PORT/", "http://127.0.0.257:PORT/", "http://383.0.0.1:PORT/", "http://4294967297:PORT/",
	"http://[::1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/", "http://[::]:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/",
	"http://[0:0:0:0:0:ffff:7f00:0001]:PORT/", "http://[::127.0.0.1]:PORT/", "http://[::7f00:1]:PORT/", "http://[::1%25lo]:PORT/", "http://[::1%lo]:PORT/", "http://[fe80::1%25lo]:PORT/",
	"http://[64:ff9b::127.0.0.1]:PORT/", "http://[64:ff9b::7f00:1]:PORT/", "http://[2002:7f00:1::]:PORT/", "http://[2001:0:7f00:1::]:PORT/", "http://[127.0.0.1]:PORT/", "http://[::1]x:PORT/", "http://[::1]@127.0.0.1:PORT/",
	"http://localhost:PORT/", "http://LOCALHOST:PORT/", "http://localhost.:PORT/", "http://a.localhost:PORT/", "http://a.b.LocalHost.:PORT/", "http://localhost.localdomain:PORT/", "http://ip6-localhost:PORT/", "http://intranet:PORT/",
	"http://example.com@127.0.0.1:PORT/", "http://example.com:80@127.0.0.1:PORT/", "http://@127.0.0.1:PORT/", "http://:@127.0.0.1:PORT/", "http://127.0.0.1:PORT@localhost:PORT/", "http://example.com%40127.0.0.1:PORT/",
	"http://127.0.0.1:PORT#@example.com/", "http://127.0.0.1:PORT?@example.com/", "http://127.0.0.1:PORT\\@example.com/", "http:\\\\127.0.0.1:PORT/", "http:/\\127.0.0.1:PORT/", "http:///127.0.0.1:PORT/", "http:127.0.0.1:PORT/", "//127.0.0.1:PORT/", "127.0.0.1:PORT/",
	"http://127.0.0.1:PORT/\tx", "http://127.0.0.1\n:PORT/", "http://127.0.\t0.1:PORT/", " http://127.0.0.1:PORT/", "http://127.0.0.1:PORT/ ", "http://127.0.0.1\u200b:PORT/", "http://127.0.0.1\u00ad:PORT/", "http://local\u00adhost:PORT/",
	"http://%31%32%37.0.0.1:PORT/", "http://127%2e0%2e0%2e1:PORT/", "http://%6cocalhost:PORT/", "http://127.0.0.1%00.example.com:PORT/", "http://127.0.0.1%09:PORT/",
	"http://127。0。0。1:PORT/", "http://127．0．0．1:PORT/", "http://127｡0｡0｡1:PORT/", "http://１２７.0.0.1:PORT/", "http://①②⑦.⓪.⓪.①:PORT/", "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:PORT/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/", "http://ｌｏｃａｌｈｏｓｔ:PORT/", "http://lOcAlHoſt:PORT/", "http://١٢٧.٠.٠.١:PORT/",
	"HTTP://127.0.0.1:PORT/", "hTTps://127.0.0.1:PORT/", "ftp://127.0.0.1:PORT/", "gopher://127.0.0.1:PORT/_GET", "file:///etc/passwd", "file://127.0.0.1/etc/passwd", "data:text/plain,x", "dict://127.0.0.1:PORT/", "ws://127.0.0.1:PORT/", "javascript:1", "unix:///run/x", "view-source:http://127.0.0.1:PORT/",
	"http://127.0.0.1:22/", "http://127.0.0.1:0/", "http://127.0.0.1:-1/", "http://127.0.0.1:65536/", "http://example.com:25/", "http://example.com:6379/",
	"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/", "http://metadata/", "http://metadata.goog/", "http://100.100.100.200/", "http://168.63.129.16/", "http://0xa9fea9fe/", "http://2852039166/", "http://[::ffff:a9fe:a9fe]/",
	"http://", "http:", "", "http://:PORT/", "http://-/", "http://.:PORT/", "http://*:PORT/",
	// By names, which are resolved: see resolvedTricks.
	"http://loop.example.com:PORT/", "http://LOOP.example.com.:PORT/", "http://loop6.example.com:PORT/", "http://both.example.com:PORT/", "http://mapped.example.com:PORT/", "http://compat.example.com:PORT/",
	"http://nat64.example.com:PORT/", "http://chain.example.com:PORT/", "http://zero.example.com:PORT/", "http://zero6.example.com:PORT/", "http://net10.example.com:PORT/", "http://meta.example.com/", "http://127.0.0.1.nip.example.com:PORT/", "http://xn--lopback-example.example.com:PORT/", "http://bücher.example:PORT/",
}

func resolvedTricks() map[string][][]string {
	return map[string][][]string{
		"loop.example.com": {{"127.0.0.1"}}, "loop6.example.com": {{"::1"}}, "both.example.com": {{"127.0.0.1", "::1"}},
		"mapped.example.com": {{"::ffff:127.0.0.1"}}, "compat.example.com": {{"::127.0.0.1"}}, "nat64.example.com": {{"64:ff9b::7f00:1"}},
		"chain.example.com": {{"b.example.com", "c.example.com", "127.0.0.1"}}, "zero.example.com": {{"0.0.0.0"}}, "zero6.example.com": {{"::"}},
		"net10.example.com": {{"10.0.0.1"}}, "meta.example.com": {{"169.254.169.254"}}, "127.0.0.1.nip.example.com": {{"127.0.0.1"}},
		"xn--lopback-example.example.com": {{"127.0.0.1"}}, "xn--bcher-kva.example": {{"127.0.0.1"}},
	}
}

func TestFetchTricks(t *testing.T) {
	t.Parallel()
	quiet := listenSilently(t)
	dns := &names{tables: resolvedTricks()}
	f := Fetch{Resolver: dns.resolver(t), own: func() ([]net.Addr, error) { return nil, nil }}
	if len(tricks) < 60 {
		t.Fatalf("got %d tricks, want at least 60", len(tricks))
	}
	for _, trick := range tricks {
		t.Run("I4 refused: "+trick, func(t *testing.T) {
			address := strings.ReplaceAll(trick, "PORT", quiet.port)
			for _, call := range []func(*testing.T, Fetch, any) (tool.Result, error){fetched, ran} {
				res, err := call(t, f, address)
				e := (*tool.Error)(nil)
				if !errors.As(err, &e) || e.Kind != tool.InvalidValue {
					t.Fatalf("got %v and %v, want a refusal", res, err)
				}
				if strings.Contains(e.Text, "169.254.169.254") && !strings.Contains(trick, "169.254.169.254") && !strings.Contains(trick, "a9fe") || strings.Contains(e.Text, "10.0.0.1") || !strings.HasSuffix(e.Text, ".") || strings.Contains(e.Text, "tools.fetch") {
					t.Errorf("the model reads %q, want a sentence that says no address that it did not know", e.Text)
				}
			}
		})
	}
	if n := quiet.heard.Load(); n != 0 {
		t.Errorf("I4 listeners on loopback were connected to %d times, want 0", n)
	}
	t.Run("I4 the listeners would have heard it", func(t *testing.T) {
		opened := f
		opened.Hosts = []string{"*.example.com", "127.0.0.1", "::1", "localhost"}
		for _, address := range []string{"http://loop.example.com:PORT/", "http://chain.example.com:PORT/", "http://127.0.0.1:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://mapped.example.com:PORT/"} {
			before := quiet.heard.Load()
			res, err := fetched(t, opened, strings.ReplaceAll(address, "PORT", quiet.port))
			if err != nil || !strings.Contains(res.String(), "secret") || quiet.heard.Load() == before {
				t.Errorf("%s: got %v and %v, want the page", address, res, err)
			}
		}
	})
}

func TestFetchClasses(t *testing.T) {
	t.Parallel()
	table, err := newFetchTable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		addresses string
		want      fetchClass
	}{
		{"0.0.0.0 0.1.2.3 255.255.255.255 224.0.0.1 239.255.255.250 :: ff02::1 ff0e::1 ::ffff:0.0.0.0 64:ff9b::e000:1", fetchNever},
		{"127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255 ::1 fc00::1 fdff::1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1", fetchPrivate},
		{"169.254.169.254 169.254.170.2 169.254.1.1 168.63.129.16 100.100.100.200 192.0.0.192 192.0.0.8 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 198.18.0.1 198.19.255.255 240.0.0.1 255.255.255.254 192.52.193.1 192.31.196.1 192.175.48.1", fetchSpecial},
		{"fd00:ec2::254 fd20:ce::254 fe80::1 febf::1 fec0::1 ::127.0.0.1 ::8.8.8.8 64:ff9b:1::1 2002:7f00:1:: 2002:808:808:: 2001::1 2001:0:7f00:1:: 2001:db8::1 3fff::1 100::1 5f00::1 4000::1 64:ff9b::a9fe:a9fe 2606:4700::5efe:7f00:1 2606:4700::200:5efe:a00:1", fetchSpecial},
		{"8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.0 192.167.1.1 192.169.0.1 100.63.255.255 100.128.0.0 223.255.255.255 168.63.129.17 2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8 64:ff9b::808:808", fetchPublic},
	}
	for _, tt := range tests {
		for text := range strings.FieldsSeq(tt.addresses) {
			t.Run("I4 "+text, func(t *testing.T) {
				if got, what := table.class(netip.MustParseAddr(text)); got != tt.want {
					t.Errorf("class(%s) = %d (%s), want %d", text, got, what, tt.want)
				}
			})
		}
	}
	t.Run("I4 a zone and what is no address", func(t *testing.T) {
		for _, a := range []netip.Addr{{}, netip.MustParseAddr("2606:4700::1%eth0")} {
			if got, _ := table.class(a); got != fetchNever {
				t.Errorf("class(%v) = %d, want never", a, got)
			}
		}
	})
}

func TestFetchFacts(t *testing.T) {
	t.Parallel()
	tests := []struct{ url, host, preview string }{
		{"https://Example.COM/a?b=1#c", "example.com", "GET https://example.com/a?b=1"},
		{"https://example.com.:443/", "example.com", "GET https://example.com/"},
		{"http://example.com:443/", "example.com:443", "GET http://example.com:443/"},
		{"http://example.com:8080", "example.com:8080", "GET http://example.com:8080"},
		{"http://bücher.example/ü", "xn--bcher-kva.example", "GET http://xn--bcher-kva.example/%C3%BC"},
		{"http://[2606:4700:0::1111]:80/", "[2606:4700::1111]", "GET http://[2606:4700::1111]/"},
		{"http://[::ffff:8.8.8.8]/", "8.8.8.8", "GET http://8.8.8.8/"},
	}
	made, err := Fetch{}.Tool()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run("I4 "+tt.url, func(t *testing.T) {
			args, err := made.Admit([]byte(`{"url":"` + tt.url + `"}`))
			if err != nil {
				t.Fatal(err)
			}
			facts, err := args.Facts()
			if err != nil || !slices.Equal(facts.Hosts, []string{tt.host}) || facts.Paths == nil || facts.Commands == nil {
				t.Errorf("facts: got %+v and %v, want the host %s and nothing else", facts, err, tt.host)
			}
			if scopes, err := made.Scopes(args); err != nil || !slices.Equal(scopes, []string{"host: " + tt.host}) {
				t.Errorf("scopes: got %q and %v, want %q", scopes, err, "host: "+tt.host)
			}
			if text, err := made.Preview(t.Context(), args); err != nil || text != tt.preview {
				t.Errorf("preview: got %q and %v, want %q", text, err, tt.preview)
			}
		})
	}
	for _, bad := range []string{"http://name@b.example/", "http://example.com/a b", "http://example.com/a\\b", "http://example.com/a\u202eb", "http://example.com/a\tb", "http://８.8.8.8/index.html", "http://b%C3%BCcher.example/", "http://" + strings.Repeat("a.", 130) + "example/", "http://" + strings.Repeat("a", 64) + ".example/", "http://example.com/" + strings.Repeat("a", fetchMaxURL)} {
		t.Run("I4 of what is no address nothing is known: "+bad[:20], func(t *testing.T) {
			input, err := json.Marshal(map[string]string{"url": bad})
			if err != nil {
				t.Fatal(err)
			}
			args, err := made.Admit(input)
			if err != nil {
				t.Fatal(err)
			}
			if facts, err := args.Facts(); err == nil {
				t.Errorf("got %+v, want an error", facts)
			}
		})
	}
}
