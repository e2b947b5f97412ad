package mcptool

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// localPrincipal is who calls where no token is asked for.
const localPrincipal = "local"

// credential is a token, as its digest, and who it names. Digests have one
// length, so that comparing them says nothing of the token's.
type credential struct {
	digest    [sha256.Size]byte
	principal string
}

func credentials(tokens map[string]string) []credential {
	var all []credential
	for token, principal := range tokens {
		if token == "" {
			continue // a secret that is not set opens nothing
		}
		if principal == "" {
			principal = localPrincipal
		}
		all = append(all, credential{sha256.Sum256([]byte(token)), principal})
	}
	return all
}

// principal is who a request comes from. All tokens are compared, whichever fits.
func (d *door) principal(r *http.Request) (string, bool) {
	if d.Open {
		return localPrincipal, true
	}
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	digest := sha256.Sum256([]byte(strings.TrimSpace(token)))
	who, found := "", false
	for _, c := range d.tokens {
		if subtle.ConstantTimeCompare(c.digest[:], digest[:]) == 1 {
			who, found = c.principal, true
		}
	}
	return who, found
}

// refusal says why a request has no principal. It does not say what a token begins
// with, or how long one is.
func (d *door) refusal(r *http.Request) string {
	if len(r.Header.Values("Authorization")) == 0 {
		return "a bearer token is needed: send the header Authorization: Bearer TOKEN, with the token that was printed or given out here"
	}
	return "the Authorization header has no token that is known here: want Bearer TOKEN, with the token that was printed or given out here"
}

// hostAllowed says whether the name that the client used for this server is one
// of its names. A page in a browser whose name was made to lead here (DNS
// rebinding) sends its own.
func (d *door) hostAllowed(r *http.Request) bool {
	return d.named(r, r.Host)
}

// originAllowed says whether the page that calls, if it is a page, may.
func (d *door) originAllowed(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if !d.originNamed(r, origin) {
			return false
		}
	}
	return true
}

func (d *door) originNamed(r *http.Request, origin string) bool {
	for _, host := range d.Hosts {
		if strings.Contains(host, "://") && strings.EqualFold(host, origin) {
			return true
		}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" {
		return false // "null" is one of these
	}
	return d.named(r, u.Host)
}

func (d *door) named(r *http.Request, hostport string) bool {
	if hostport == "" {
		return false
	}
	host := hostOf(hostport)
	for _, h := range d.Hosts {
		if strings.EqualFold(h, hostport) || strings.EqualFold(strings.Trim(h, "[]"), host) {
			return true
		}
	}
	return loopback(host) && cameToLoopback(r)
}

// hostOf is a host without its port and brackets.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func cameToLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && loopback(hostOf(addr.String()))
}
