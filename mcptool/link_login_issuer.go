package mcptool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// issuer is the authorization server that a server names, looked for where the SDK
// looks for it. It is a text of the server: who takes the server over names another,
// and the code of a login and the secret of the client would go there. So it is found
// before the login, and held against what is known of it. "": it names none.
func (a *access) issuer(ctx context.Context, at *url.URL, refusal *http.Response) string {
	for _, place := range issuerPlaces(at, refusal) {
		about, err := oauthex.GetProtectedResourceMetadata(ctx, place.about, place.resource, a.client)
		switch {
		case err != nil || about == nil:
			continue
		case len(about.AuthorizationServers) == 0:
			return ""
		}
		return about.AuthorizationServers[0]
	}
	bare := *at // servers of 2025-03-26 are their own
	bare.Path = ""
	return bare.String()
}

// issuerPlace is where metadata about a resource may be (RFC 9728).
type issuerPlace struct{ about, resource string }

func issuerPlaces(at *url.URL, refusal *http.Response) (list []issuerPlace) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	challenges, _ := oauthex.ParseWWWAuthenticate(refusal.Header.Values("WWW-Authenticate")) // the SDK says so
	for _, c := range challenges {
		if named := c.Params["resource_metadata"]; named != "" {
			list = append(list, issuerPlace{named, at.String()})
			break
		}
	}
	below := *at
	below.Path = wellKnown + "/" + strings.TrimLeft(at.Path, "/")
	list = append(list, issuerPlace{below.String(), at.String()})
	below.Path = wellKnown
	bare := *at
	bare.Path = ""
	return append(list, issuerPlace{below.String(), bare.String()})
}

// expects says why a person is not sent to an authorization server: it is another
// than was said, or than the one of the last login.
func (a *access) expects(issuer string) error {
	a.mu.Lock()
	before := a.now.Issuer
	a.mu.Unlock()
	switch {
	case issuer == "":
		return errors.New("the server names no authorization server")
	case a.login.Issuer != "" && !sameIssuer(issuer, a.login.Issuer):
		return fmt.Errorf("the server names the authorization server %q, want %q, as was configured", a.shown(issuer), a.shown(a.login.Issuer))
	case a.login.Issuer == "" && before != "" && !sameIssuer(issuer, before):
		return fmt.Errorf("the server names the authorization server %q now, and at the last login %q; if that is meant, log out first", a.shown(issuer), a.shown(before))
	}
	return nil
}

// sameIssuer compares as the SDK does.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }
