package mcptool

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

// access is what one server has granted, for all connections to it. Only one thing
// is done about it at a time: loading, renewing, or a login.
type access struct {
	login  Login
	client *http.Client
	log    *slog.Logger

	life  context.Context //nolint:containedctx // as long as the server, not as a call
	end   context.CancelFunc
	going sync.WaitGroup

	mu      sync.Mutex
	loaded  bool
	now     grant
	own     bool            // now comes from a login of this run
	stepped map[string]bool // scopes that more was asked for, by the text of the server
	flight  *grantFlight
	asked   time.Time // a person, last
	failed  error     // of that login; nil: it did not
	// resource is what the login that is under way is for, and entering is where.
	resource, entering string
	hidden             []string // what is in no error and no log
	last               []byte   // what was kept when this process last looked
	unread             string   // why that is of no use; "": it is
	lacking            bool     // the last request was refused, and nobody could be asked

	// veil keeps a value out of all that the runtime tells (K3). Nil: nothing does.
	veil func(value string)
}

// grant is a token, and all that is needed to renew it.
type grant struct {
	Token  *oauth2.Token  `json:"token"`
	Client *oauth2.Config `json:"client"`
	// Resource is what the token is for, and Wants are scopes that the server has
	// asked for since.
	Resource string   `json:"resource,omitempty"`
	Wants    []string `json:"wants,omitempty"`
	// Issuer is the authorization server that it comes from. It outlasts the token:
	// the next login is there, too.
	Issuer string `json:"issuer,omitempty"`
}

// grantFlight is something that is done about a token, for all who wait for it.
type grantFlight struct {
	done chan struct{}
	err  error
}

// newAccess is nil for a server that nobody logs in to.
func newAccess(login Login, log *slog.Logger) (*access, error) {
	if login.Open == nil && login.Load == nil {
		return nil, nil //nolint:nilnil // said above
	}
	a := &access{login: login, client: grantClient(), log: log, stepped: make(map[string]bool)}
	if login.Open != nil {
		if _, err := auth.NewAuthorizationCodeHandler(a.settings(login.Issuer)); err != nil {
			return nil, fmt.Errorf("login: %w", err)
		}
	}
	a.life, a.end = context.WithCancel(context.Background())
	a.hide(login.ClientSecret)
	return a, nil
}

// close ends a login that is under way.
func (a *access) close() {
	if a == nil {
		return
	}
	a.end()
	a.going.Wait()
}

// bearer is the token to send, renewed if need be; "": there is none.
func (a *access) bearer(ctx context.Context) (string, error) {
	for tries := 0; ; tries++ {
		a.mu.Lock()
		ready, token := a.loaded && !a.now.stale(), a.now.text()
		a.mu.Unlock()
		if ready || tries == maxLogins { // some are given out expired
			return token, nil
		}
		if err := a.alone(ctx, token, a.ready); err != nil {
			return "", err
		}
	}
}

// current is the token there is; "": none.
func (a *access) current() string {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.text()
}

// alone does something about the token that was seen, in the time of the server:
// who wanted it may be gone before a person has logged in. Where something is under
// way, that is waited for; where the token is another one by then, nothing is done.
func (a *access) alone(ctx context.Context, seen string, work func(context.Context) error) error {
	a.mu.Lock()
	if a.loaded && a.now.text() != seen {
		a.mu.Unlock()
		return nil
	}
	f := a.flight
	if f == nil {
		if a.life.Err() != nil {
			a.mu.Unlock()
			return errClosed
		}
		f = &grantFlight{done: make(chan struct{})}
		a.flight = f
		a.going.Go(func() {
			err := work(a.life)
			a.mu.Lock()
			f.err, a.flight = err, nil
			a.mu.Unlock()
			close(f.done)
		})
	}
	a.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return fmt.Errorf("%w, while a login was waited for", context.Cause(ctx))
	}
}

// ready loads what was kept, and renews a token that has expired. One that cannot
// be renewed any more is forgotten.
func (a *access) ready(ctx context.Context) error {
	a.load(ctx)
	a.mu.Lock()
	stale, issuer := a.now.stale(), a.now.Issuer
	a.mu.Unlock()
	if !stale {
		return nil
	}
	err := a.renew(ctx)
	if over(err) {
		a.set(grant{Issuer: issuer}, false)
		return nil
	}
	if err != nil {
		return a.fault("its token could not be renewed", err)
	}
	return nil
}

// granted takes the token of a login.
func (a *access) granted(ctx context.Context, client *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	a.hide(token.AccessToken, token.RefreshToken, client.ClientSecret)
	a.mu.Lock()
	got := grant{Token: token, Client: client, Resource: a.resource, Issuer: a.entering}
	a.mu.Unlock()
	err := a.exclusive(ctx, func(ctx context.Context) error {
		a.keep(ctx, got)
		a.set(got, true)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return oauth2.StaticTokenSource(token), nil
}

// set is the one place where the token changes.
func (a *access) set(g grant, own bool) {
	if g.Token != nil {
		a.hide(g.Token.AccessToken, g.Token.RefreshToken, g.Client.ClientSecret)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now, a.loaded, a.own = g, true, own
	if g.Token != nil {
		a.lacking = false
	}
}

// widen adds the scopes that there are already to those that are asked for: a
// server that wants more does not want less of the rest.
func (a *access) widen(wanted []string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.login.Scopes) > 0 {
		wanted = a.login.Scopes
	}
	if a.now.Client != nil {
		wanted = withScopes(a.now.Client.Scopes, wanted)
	}
	return withScopes(wanted, a.now.Wants)
}

// text is the token as it is sent.
func (g *grant) text() string {
	if g.Token == nil {
		return ""
	}
	return g.Token.AccessToken
}

// stale says whether the token has expired, and another can be had for it.
func (g *grant) stale() bool {
	return g.Token != nil && g.Token.RefreshToken != "" && !g.Token.Valid()
}

// has says whether all these scopes were asked for.
func (g *grant) has(scopes string) bool {
	if g.Client == nil || scopes == "" {
		return false
	}
	for scope := range strings.FieldsSeq(scopes) {
		if !slices.Contains(g.Client.Scopes, scope) {
			return false
		}
	}
	return true
}
