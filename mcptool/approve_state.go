package mcptool

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/ferrule-dev/ferrule/schema"
)

// A requestState of our own is a word that nobody can guess and that leads to a held
// call once, with a seal: for whom, and for which call. So what is refused can be
// told apart, and nobody goes on with the call of another, or with another call.

const ownState = "ferrule-" // begins a requestState of our own

// newState is a requestState for a dialogue.
func (d *dialogue) newState() string {
	word := random()
	return ownState + word + "." + d.seal(word)
}

// seal binds a word to the principal and to what was asked for.
func (d *dialogue) seal(word string) string {
	mac := hmac.New(sha256.New, d.client.gate.house.key())
	arguments, _ := member(d.given, "arguments")
	for _, part := range []string{word, d.client.caller.Tenant, d.client.caller.Principal, d.method, target(d.given), schema.Canonical(string(arguments))} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// sealed reports whether a requestState was made for this principal and for what is
// asked for here.
func (d *dialogue) sealed(state string) bool {
	rest, own := strings.CutPrefix(state, ownState)
	word, seal, whole := strings.Cut(rest, ".")
	return own && whole && hmac.Equal([]byte(seal), []byte(d.seal(word)))
}

// refused is why a requestState leads nowhere.
func (d *dialogue) refused(state string) string {
	switch {
	case !strings.HasPrefix(state, ownState):
		return "requestState: it was not given out here"
	case !d.sealed(state):
		return "requestState: it was given out for another call, to somebody else or before a restart: send the request as it was"
	}
	return "requestState: no call waits for it: it is used already or expired"
}
