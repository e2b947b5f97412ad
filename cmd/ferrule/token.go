package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/secret"
)

// Files of the state directory, which only its owner reads.
const (
	tokenFile      = "token"
	consoleKeyFile = "console-key"
)

// localToken is the token of the local user, which is made once and kept in the
// state directory, where nobody else can come.
func localToken(state string) (string, error) { return tokenIn(state, tokenFile, os.Link) }

// consoleKey opens the console. It is another one: who calls tools must not be able to
// allow them.
func consoleKey(state string) (string, error) { return tokenIn(state, consoleKeyFile, os.Link) }

// metricsToken lets Prometheus fetch metrics, and do nothing else.
func metricsToken(state string) (string, error) { return tokenIn(state, "metrics-token", os.Link) }

// tokenIn makes the token whole with a hard link, which not every file system has.
func tokenIn(state, name string, link func(from, to string) error) (string, error) {
	path := filepath.Join(state, name)
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	made := make([]byte, 24)
	if _, err := rand.Read(made); err != nil {
		return "", err
	}
	text, draft := []byte(base64.RawURLEncoding.EncodeToString(made)+"\n"), filepath.Join(state, ".token-"+rand.Text())
	if err := keepNew(draft, text); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	err = link(draft, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = keepNew(path, text) // who reads it before it is whole is told so, and starts again
	}
	if errors.Is(err, fs.ErrExist) { // somebody else was first
		err = nil
	}
	if err = errors.Join(err, os.Remove(draft)); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return readToken(path)
}

// readToken reads a token that is one.
func readToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 24 || len(token) > 512 || strings.ContainsAny(token, " \t\r\n\"'") {
		return "", fmt.Errorf("token: %s: got %d characters, want a token: remove the file, and another is made", path, len(token))
	}
	return token, nil
}

// tokensOf are the tokens of a listener, each with its principal.
func tokensOf(ctx context.Context, l config.Listen, v *secret.Vault, local string) (map[string]string, error) {
	tokens := map[string]string{local: localUser}
	for principal, name := range l.Tokens {
		token, err := valueFor(ctx, v, listenUses+principal, name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("listen.tokens.%s: %w", principal, err)
		case len(token) < 16:
			return nil, usage("listen.tokens.%s: got a token of %d characters, want 16 or more: others could guess it", principal, len(token))
		case tokens[token] != "":
			return nil, usage("listen.tokens.%s: got the token of %s, want one of its own", principal, tokens[token])
		}
		tokens[token] = principal
	}
	return tokens, nil
}
