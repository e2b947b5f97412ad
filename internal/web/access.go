package web

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

// door decides who comes in. The first link has the key; from then on there is a
// cookie, and what changes something has a word of the page beside it, which no other
// site can read. All of them are made of the key, so that they outlive a restart.
type door struct {
	name, cookie, form string
	cross              http.CrossOriginProtection
	patience           time.Duration // how long a body may take; 0: bodyTime
}

func (d *door) open(key string) {
	d.name = "ferrule_" + derived(key, "name")[:8] // ports share cookies: each console has its own
	d.cookie, d.form = derived(key, "cookie"), derived(key, "form")
}

// derived is a text that only who has the key can make.
func derived(key, use string) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte("ferrule console " + use))
	return hex.EncodeToString(m.Sum(nil))
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Bounds of a request.
const (
	maxBody  = 1 << 20
	bodyTime = 10 * time.Second
)

// formHeader has the word of the page in requests of its script.
const formHeader = "X-Ferrule-Form"

// headers are those of every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-store")
}

// ServeHTTP serves the console.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.once.Do(c.begin)
	headers(w.Header())
	c.door.hurry(w, r)
	if err := c.placed(r); err != nil {
		c.refuse(w, r, http.StatusForbidden, err)
		return
	}
	if strings.HasPrefix(r.URL.Path, staticPath) {
		c.static(w, r)
		return
	}
	if r.URL.Query().Has("key") {
		c.enter(w, r)
		return
	}
	byKey, err := c.known(r)
	if err != nil {
		c.refuse(w, r, http.StatusUnauthorized, err)
		return
	}
	if r.ContentLength != 0 || r.Method != http.MethodGet && r.Method != http.MethodHead {
		if status, err := c.door.receive(w, r); err != nil {
			c.refuse(w, r, status, err)
			return
		}
		if err := c.meant(r, byKey); err != nil {
			c.refuse(w, r, http.StatusForbidden, err)
			return
		}
	}
	c.mux.ServeHTTP(w, looking(r))
}

var (
	errElsewhere = errors.New("the console is served on this machine only: open it here, or through an ssh tunnel")
	errHost      = errors.New("got a request by another name than one of this machine: open the console as 127.0.0.1 or localhost")
	errNoKey     = errors.New("open the link that “ferrule up” printed: it has the key, and this browser is known from then on. The key is also in the file console-key of the state folder (.ferrule): http://ADDRESS/?key=KEY")
	errWrongKey  = errors.New("this link has another key than this console: open the one that “ferrule up” printed last")
	errForged    = errors.New("this request did not come from a page of the console: open the page again, and repeat it there")
)

// hurry bounds how long a body may take, whatever becomes of the request: who is
// refused before it was read is not waited for, either.
func (d *door) hurry(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(cmp.Or(d.patience, bodyTime))) // where it cannot be set there is none
	w.Header().Set("Connection", "close")
}

// receive reads a body whole, so that who sends one slowly, or without end, is refused
// before anything is made of it. What is done then may take its time.
func (d *door) receive(w http.ResponseWriter, r *http.Request) (status int, err error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("got a body of more than %d bytes: want less", maxBody)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout, errors.New("the body took too long: send it again")
	}
	if err != nil {
		return http.StatusBadRequest, errors.New("the body ended too early: send it again")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // else it would end what is done
	w.Header().Del("Connection")
	r.Body = io.NopCloser(bytes.NewReader(text))
	return 0, nil
}

// placed refuses what comes from elsewhere, or under a name that is not of this
// machine: a page of another site may have made that name lead here.
func (c *Console) placed(r *http.Request) error {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return errElsewhere
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, bad := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case bad == nil && ip.Unmap().IsLoopback(), strings.EqualFold(host, "localhost"):
		return nil
	case slices.ContainsFunc(c.Hosts, func(h string) bool { return strings.EqualFold(h, r.Host) || strings.EqualFold(h, host) }):
		return nil
	}
	return errHost
}

// known refuses who has neither the cookie nor the key. byKey: it has the key itself,
// as programs have.
func (c *Console) known(r *http.Request) (byKey bool, err error) {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if c.Key == "" || !equal(key, c.Key) {
			return false, errWrongKey
		}
		return true, nil
	}
	for _, cookie := range r.CookiesNamed(c.door.name) {
		if c.Key != "" && equal(cookie.Value, c.door.cookie) {
			return false, nil
		}
	}
	return false, errNoKey
}

// meant refuses a request to change something that a page of another site has made.
func (c *Console) meant(r *http.Request, byKey bool) error {
	if c.door.cross.Check(r) != nil {
		return errForged
	}
	if byKey {
		return nil
	}
	word := r.Header.Get(formHeader)
	if word == "" && isForm(r) {
		word = r.PostFormValue("form")
	}
	if !equal(word, c.door.form) {
		return errForged
	}
	return nil
}

// cookieAge is how long a browser is known. The key is the bound: who makes a new one
// has shut all of them out.
const cookieAge = 90 * 24 * time.Hour

// enter takes the key of the first link, and leads on without it: it is to stay neither
// in the address nor in the history of the browser.
func (c *Console) enter(w http.ResponseWriter, r *http.Request) {
	if c.Key == "" || !equal(r.URL.Query().Get("key"), c.Key) {
		c.refuse(w, r, http.StatusUnauthorized, errWrongKey)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // secure where it is encrypted, which this machine to itself need not be
		Name: c.door.name, Value: c.door.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil, MaxAge: int(cookieAge / time.Second),
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
