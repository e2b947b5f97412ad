package builtin

import (
	"context"
	"crypto/x509"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

//go:embed texts/fetch.md
var fetchText string

// Fetch is the tool fetch: it reads from the web with GET and HEAD, by http and
// https. The zero value works, and opens public addresses only.
//
// What is refused is loopback, private, link-local, metadata, multicast and
// every other address that is not public, in whatever notation. That is decided
// on the address itself, when the connection is made: a name that is resolved
// twice, a second answer that differs and a redirect all come past the same
// place. So are all ports but 80, 443 and those from 1024 on that browsers open
// and caches do not use. No proxy of the environment is used; no cookie, referer
// or password is sent.
//
// A redirect is followed on the same host, five times at most and never from
// https to http. One to another host is handed back to the model, because rules
// have decided about the host that the call named.
type Fetch struct {
	// Hosts are opened although they are not public:
	//
	//	wiki.corp.example       a name that may lead to private addresses
	//	*.corp.example          the names below it, not itself
	//	localhost:3000          on one port; else on each that is usual
	//	10.1.0.0/16             addresses, whatever name leads there
	//	[fd00::1]:8080          one address, on one port
	//
	// A name opens loopback and private addresses. What is link-local, metadata
	// or reserved must be written as an address, and multicast, broadcast and
	// unspecified ones are opened by nothing.
	Hosts []string
	// Only: nothing but Hosts is opened, and other names are not even looked up.
	// Zero: public addresses are, too.
	Only bool
	// Follow follows redirects to other hosts as well. Rules by host then judge
	// the first host alone. Zero: they are handed back.
	Follow bool

	// Bytes is how much of an answer is read, packed and unpacked; 0: 5 MiB.
	Bytes int
	// Timeout bounds a call; 0: 30 s. Idle bounds the wait for the connection,
	// for the headers and for each further byte; 0: 10 s.
	Timeout, Idle time.Duration

	// Agent is the User-Agent; "": ferrule.
	Agent string
	// Roots are the certificates that are trusted; nil: those of the system.
	Roots *x509.CertPool
	// Resolver looks names up; nil: that of the system.
	Resolver *net.Resolver

	// own gives the addresses of this machine; nil: as the system says.
	own func() ([]net.Addr, error)
}

type fetchInput struct {
	URL    string `json:"url" jsonschema:"description=the address: http or https"`
	Method string `json:"method,omitempty" jsonschema:"description=GET (default) or HEAD,enum=GET,enum=HEAD"`
	Raw    bool   `json:"raw,omitempty" jsonschema:"description=give the source of a page instead of its readable text"`
}

func (in fetchInput) method() string {
	if in.Method == "" {
		return "GET"
	}
	return in.Method
}

// Tool makes the tool. A bad entry of Hosts is an error.
func (f Fetch) Tool() (*tool.Tool, error) {
	c, err := f.client()
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return tool.Spec[fetchInput, tool.Result]{
		Info: tool.Info{
			Name: "fetch", Description: strings.TrimSpace(fetchText), Tags: []string{"web"},
			// It touches what it does not name: a page may show anything that another
			// call has just changed, so it waits for those that write.
			Claims:  tool.Claims{ReadOnly: true, Parallel: true, Idempotent: true},
			Timeout: c.timeout + fetchGrace, Cancel: true, Cooperative: true,
			Examples: []tool.Example{{Input: json.RawMessage(`{"url":"https://example.com/"}`)}},
		},
		// Before anybody is asked whether it may run: what is refused anyway.
		Validate: func(_ context.Context, in fetchInput) (json.RawMessage, error) {
			to, err := fetchParse(in.URL)
			if err == nil {
				err = c.gate.host(to)
			}
			return nil, fetchInvalid(err)
		},
		Preview: func(_ context.Context, in fetchInput) (string, error) {
			to, err := fetchParse(in.URL)
			if err != nil {
				return "", err
			}
			return in.method() + " " + to.url.String(), nil
		},
		Facts: func(in fetchInput) (tool.Facts, error) {
			to, err := fetchParse(in.URL)
			if err != nil {
				return tool.Facts{}, err
			}
			return tool.Facts{Hosts: []string{to.String()}, Paths: []string{}, Commands: [][]string{}}, nil
		},
		Scopes: func(in fetchInput) ([]string, error) {
			to, err := fetchParse(in.URL)
			if err != nil {
				return nil, err
			}
			return []string{"host: " + to.String()}, nil
		},
		Run: c.run,
	}.Tool()
}

// fetchGrace is how much later than the tool's own limit the runtime's falls, so
// that the model reads what took so long.
const fetchGrace = 2 * time.Second
