package main

import (
	"context"
	"errors"
	"net"
)

// notifySocket names where a service manager wants to be told how the program stands:
// sd_notify(3).
const notifySocket = "NOTIFY_SOCKET"

// managed reports whether a service manager has started the program. What is printed
// then goes to a journal, which others read and which is kept.
func (p *program) managed() bool { return p.env(notifySocket) != "" }

// notify tells a service manager, if there is one, how the program stands. It can do
// without: that it could not be told is said.
func (p *program) notify(ctx context.Context, state string) {
	if !p.managed() {
		return
	}
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(ctx), "unixgram", p.env(notifySocket)) // Go knows of @
	if err == nil {
		_, err = conn.Write([]byte(state))
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		p.complain("ferrule: the service manager could not be told " + state + ": " + err.Error())
	}
}
