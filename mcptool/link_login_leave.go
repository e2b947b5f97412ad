package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// LogOut has the authorization server withdraw what it granted (RFC 7009), and returns
// which one that is. The error is why it could not: not every one can. What Login.Keep
// has kept is still there.
func (s Server) LogOut(ctx context.Context) (issuer string, err error) {
	if err := s.check(nil); err != nil {
		return "", err
	}
	a, err := newAccess(s.Login, slog.New(slog.DiscardHandler))
	if err != nil || a == nil {
		return "", errors.Join(err, errors.New("nobody logs in there"))
	}
	defer a.close()
	a.load(ctx)
	a.mu.Lock()
	now, unread := a.now, a.unread
	a.mu.Unlock()
	switch {
	case unread != "":
		return "", fmt.Errorf("what was kept cannot be used: %s", unread)
	case now.Token == nil:
		return "", errors.New("nothing was granted")
	case now.Issuer == "":
		return "", errors.New("where it was granted was not kept")
	}
	if err := a.withdraw(ctx, now); err != nil {
		return "", errors.New(a.clean(err))
	}
	return a.shown(now.Issuer), nil
}

// withdraw withdraws the token to renew with, and then the one that it was for: not
// every server does both at once, and not every server takes the second.
func (a *access) withdraw(ctx context.Context, g grant) error {
	about, err := auth.GetAuthServerMetadata(ctx, g.Issuer, a.client)
	switch {
	case err != nil:
		return err
	case about == nil || about.RevocationEndpoint == "":
		return fmt.Errorf("%s names no address for that", g.Issuer)
	case !guarded(about.RevocationEndpoint):
		return fmt.Errorf("%s names an address for that which is not https", g.Issuer)
	}
	if g.Token.RefreshToken != "" {
		if err := a.revoke(ctx, about, g.Client, "refresh_token", g.Token.RefreshToken); err != nil {
			return err
		}
	}
	err = a.revoke(ctx, about, g.Client, "access_token", g.Token.AccessToken)
	if errors.Is(err, errUnsupported) && g.Token.RefreshToken != "" {
		return nil // it expires soon
	}
	return err
}

var errUnsupported = errors.New("unsupported_token_type")

// revoke sends one token to be withdrawn.
func (a *access) revoke(ctx context.Context, about *oauthex.AuthServerMeta, client *oauth2.Config, kind, token string) error {
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	inHeader := client.Endpoint.AuthStyle != oauth2.AuthStyleInParams && !slices.Contains(about.RevocationEndpointAuthMethodsSupported, "client_secret_post")
	if client.ClientSecret == "" || !inHeader {
		form.Set("client_id", client.ClientID)
		if client.ClientSecret != "" {
			form.Set("client_secret", client.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, about.RevocationEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("the address for that is none")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if client.ClientSecret != "" && inHeader {
		req.SetBasicAuth(url.QueryEscape(client.ClientID), url.QueryEscape(client.ClientSecret))
	}
	res, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	var said struct {
		Error string `json:"error"`
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // it only says why
	_ = json.Unmarshal(body, &said)
	switch {
	case said.Error == errUnsupported.Error():
		return errUnsupported
	case oauthWord(said.Error):
		return fmt.Errorf("the authorization server answers %d, %s", res.StatusCode, said.Error)
	}
	return fmt.Errorf("the authorization server answers %d", res.StatusCode)
}

// oauthWord says whether a text of an authorization server is an error code: a word,
// which repeats nothing of what it was sent.
func oauthWord(code string) bool {
	return code != "" && len(code) < 40 && strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// guarded says whether what is sent to an address goes over no network in the clear.
func guarded(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || net.ParseIP(host).IsLoopback())
}
