package mcptool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Login is how a person lets this program in to a server over HTTP that wants
// OAuth. The zero value: nobody logs in, and a server that wants authorization is
// given a header or nothing.
//
// A login is asked for when the server refuses a request for want of one, once for
// all connections. What was refused did not run, and is sent again behind it.
type Login struct {
	// Open has a person follow an address, and returns the one that the browser
	// was sent back to: Redirect, with what was added to it. It ends with ctx.
	Open func(ctx context.Context, address string) (back string, err error)
	// Redirect is where the browser is sent back to, such as
	// http://localhost:7712/callback.
	Redirect string
	// ClientID and ClientSecret are those of a client that was registered by hand,
	// or ClientID is the https address of a document about the client. "", and
	// where the server takes no such document: the client registers itself.
	ClientID, ClientSecret string
	// Issuer is the authorization server to log in at, as its metadata names it. One
	// that the server names instead is sent nothing. "": any at the first login, and
	// from then on that one.
	Issuer string
	// Named is told the authorization server before a person is sent there. Nil:
	// nobody is.
	Named func(issuer string)
	// Scopes are what is asked for, beside what was granted before and what the
	// server has refused for want of. None: what the server names.
	Scopes []string
	// Load and Keep hold what was granted from one run to the next. It is as
	// secret as a password. Load returns nothing where nothing was kept, and Keep
	// is called anew when the token was renewed. Nil: it lasts as long as the hub.
	Load func(ctx context.Context) ([]byte, error)
	Keep func(ctx context.Context, granted []byte) error
	// Alone does work while no other process that has the same Load and Keep does
	// its own. Nil: there is no other.
	Alone func(ctx context.Context, work func(context.Context) error) error
	// Advice is what a person is told to do where a login is needed and Open is nil:
	// with a Load what was granted elsewhere is used, and nobody is asked.
	Advice string
}

const (
	// loginTime is how long a person may take.
	loginTime = 10 * time.Minute
	// loginPause is how long nobody is asked again after a login that failed: the
	// hub tries much more often than a person wants to see a window.
	loginPause = 5 * time.Minute
	// grantTime is how long each request to an authorization server may take.
	grantTime = 30 * time.Second
)

// check says what is wrong with the login of a server.
func (g *Login) check(s *Server) error {
	if g.Open == nil && g.Load == nil {
		if g.Redirect != "" || g.ClientID != "" || g.ClientSecret != "" || g.Keep != nil {
			return errors.New("login: got no Open, want one, or a Load: nobody can log in")
		}
		return nil
	}
	if s.URL == "" {
		return errors.New("login: got one for a command, want a URL")
	}
	for name := range s.Header {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return errors.New("login: got a header Authorization as well, want one of them")
		}
	}
	if g.Open == nil {
		return nil
	}
	if u, err := url.Parse(g.Redirect); err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "" {
		return fmt.Errorf("login: redirect: got %q, want an address", short(g.Redirect))
	}
	if g.ClientID == "" && g.ClientSecret != "" {
		return errors.New("login: got a client secret without a client id")
	}
	return nil
}

// document says whether the client's id is the address of a document about it.
func (g *Login) document() bool {
	u, err := url.Parse(g.ClientID)
	return err == nil && u.Scheme == "https" && u.Host != "" && g.ClientSecret == ""
}

// settings are those of the SDK, which knows how a login goes. A client that was
// registered by hand is known to the issuer only, and its secret goes to no other.
func (a *access) settings(issuer string) *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              a.login.Redirect,
		AuthorizationCodeFetcher: a.open,
		ScopeFilter:              a.widen,
		RequestRefreshToken:      true,
		AcceptUnadvertisedIss:    true, // it is compared all the same
		Client:                   a.client,
		NewTokenSource:           a.granted,
	}
	switch {
	case a.login.document():
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: a.login.ClientID}
	case a.login.ClientID != "":
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: a.login.ClientID, Issuer: issuer}
		if a.login.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: a.login.ClientSecret}
		}
		return c
	}
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		RedirectURIs:  []string{a.login.Redirect},
		GrantTypes:    []string{"authorization_code", "refresh_token"},
		ResponseTypes: []string{"code"},
		ClientName:    "ferrule",
	}}
	return c
}

// open has a person log in, and reads what the browser brought back.
func (a *access) open(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	a.mu.Lock()
	a.asked = time.Now()
	if u, err := url.Parse(args.URL); err == nil {
		a.resource = u.Query().Get("resource")
	}
	a.mu.Unlock()
	back, err := a.login.Open(ctx, args.URL)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(back)
	if err != nil {
		return nil, errors.New("the browser was sent back to what is no address") // it may have the code
	}
	q := u.Query()
	if why := q.Get("error"); why != "" {
		return nil, refusedLogin(why, q.Get("error_description"))
	}
	if q.Get("code") == "" {
		return nil, errors.New("the browser was sent back without a code")
	}
	a.hide(q.Get("code"))
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// grantClient is how authorization servers are spoken to. It follows redirects
// only to the same server: what is sent there has codes and secrets in its body.
// It has no dialer of its own, so that the SDK can guard against addresses that are
// not public.
func grantClient() *http.Client {
	return &http.Client{
		Timeout: grantTime,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSHandshakeTimeout:    dialTime,
			DisableKeepAlives:      true, // a login is rare
			MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("got more than %d redirects", maxRedirects)
			}
			if !sameServer(via[0].URL, to.URL) {
				return fmt.Errorf("got a redirect to %s://%s, want one to the same scheme, host and port", short(to.URL.Scheme), short(to.URL.Host))
			}
			return nil
		},
	}
}
