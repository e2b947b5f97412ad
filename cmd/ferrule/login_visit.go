package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// visit is a login in a browser: it is sent away to an address, and comes back to a
// port of this machine.
type visit struct {
	p       *program
	ln      net.Listener
	server  string
	timeout time.Duration
	browse  bool // a browser may be opened
}

const (
	callbackPath = "/callback"
	maxPasted    = 64 << 10
	goodbye      = 2 * time.Second
)

// redirect is where the browser comes back to.
func (v *visit) redirect() string { return "http://" + v.ln.Addr().String() + callbackPath }

// open has a person follow an address, and gives what the browser came back with.
func (v *visit) open(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", errors.New("the server names no http or https address to log in at") // which programs would be started with
	}
	state := u.Query().Get("state")
	back := make(chan string, 1)
	server := &http.Server{
		Handler: v.handler(state, back), ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: headerTime, MaxHeaderBytes: maxHeader,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(v.ln) // it ends when it is shut down
	}()
	defer func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
		<-served
	}()
	v.say(ctx, address)
	pasted := v.pasted(ctx)
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case at := <-back:
			return at, nil
		case line, more := <-pasted:
			if !more {
				pasted = nil // only the browser is left
				continue
			}
			if at, why := v.understood(line, state); why != "" {
				v.p.complain("ferrule: " + why)
			} else {
				return at, nil
			}
		}
	}
}

// say prints the address, and opens it where that can be.
func (v *visit) say(ctx context.Context, address string) {
	p := v.p
	p.printf("To log in to %s, open this address in a browser:\n\n  %s\n\n", v.server, terminal.Visible(address))
	if v.browse {
		switch opened, err := p.openBrowser(ctx, address); {
		case err != nil:
			p.complain("ferrule: the browser could not be opened: " + err.Error())
		case opened:
			p.printf("It was opened in your browser.\n")
		}
	}
	p.printf("Waiting for %s at most; Ctrl-C gives up. If the browser runs on another machine, it\nends at an address that begins with %s and cannot be opened:\npaste that address here.\n", v.timeout, v.redirect())
}

// handler takes the browser back. Whatever else comes is refused, and waited on: any
// page can send a browser to this port.
func (v *visit) handler(state string, back chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Host != v.ln.Addr().String(): // another name leads here
			answerPage(w, http.StatusMisdirectedRequest, "There is nothing here.")
		case r.URL.Path != callbackPath:
			answerPage(w, http.StatusNotFound, "There is nothing here.")
		case r.Method != http.MethodGet:
			answerPage(w, http.StatusMethodNotAllowed, "There is nothing here.")
		case q.Get("state") != state || q.Get("code") == "" && q.Get("error") == "":
			answerPage(w, http.StatusBadRequest, "This is not of the login that ferrule waits for. Use the address that it has printed.")
		default:
			select {
			case back <- v.redirect() + "?" + r.URL.RawQuery:
				answerPage(w, http.StatusOK, "The login is back at ferrule: the terminal says what became of it. This window can be closed.")
			default:
				answerPage(w, http.StatusConflict, "This login has come back already. This window can be closed.")
			}
		}
	})
}

// answerPage answers a browser with a text of this program.
func answerPage(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer") // the address has the code in it
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(code)
	fmt.Fprintf(w, "<!doctype html><title>ferrule</title><p>%s</p>\n", text)
}

// understood reads an address that a person has pasted. why: what is wrong with it,
// without what may be secret in it.
func (v *visit) understood(line, state string) (at, why string) {
	u, err := url.Parse(line)
	switch {
	case err != nil || u.Scheme != "http" || u.Path != callbackPath:
		return "", "that is not the address: it begins with " + v.redirect()
	case u.Query().Get("code") == "" && u.Query().Get("error") == "":
		return "", "that address has no code in it: copy all of it, to its end"
	case u.Query().Get("state") != state:
		return "", "that address is of another login: use the one that is printed above"
	}
	return v.redirect() + "?" + u.RawQuery, ""
}

// pasted are the lines of standard input. Its goroutine may be left behind where that
// never ends: reading cannot be stopped, and the program ends soon.
func (v *visit) pasted(ctx context.Context) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(v.p.stdin)
		scan.Buffer(nil, maxPasted)
		for scan.Scan() {
			line := strings.TrimSpace(scan.Text())
			if line == "" {
				continue
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
