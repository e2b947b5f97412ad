package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/secret/keyring"
)

// vaultOf are the secrets that the configuration names.
func vaultOf(c *config.Config) (*secret.Vault, error) {
	entries := make(map[string]secret.Entry, len(c.Secrets))
	for name, s := range c.Secrets {
		entries[name] = secret.Entry{Source: sourceOf(s), Tools: slices.Concat(s.Tools, usersOf(c, name))}
	}
	return secret.NewVault(entries)
}

// No tool can be called so: what servers and clients are given is in the hands of
// the configuration alone.
const (
	serverUses    = "server:"
	listenUses    = "listen:"
	searchUses    = "search:endpoint"
	telemetryUses = "telemetry:headers"
)

// usersOf are the servers that are given a secret, the listener whose token it is, the
// model for searches whose key it is, and the collector, as a vault knows them.
func usersOf(c *config.Config, name string) (list []string) {
	for _, s := range c.Servers {
		if slices.Contains(s.Secrets(), name) {
			list = append(list, serverUses+s.Name)
		}
	}
	for principal, token := range c.Listen.Tokens {
		if token == name {
			list = append(list, listenUses+principal)
		}
	}
	if e := c.Search.Endpoint; e != nil && e.Key == name {
		list = append(list, searchUses)
	}
	if slices.Contains(config.Server{Header: c.Telemetry.Headers}.Secrets(), name) {
		list = append(list, telemetryUses)
	}
	slices.Sort(list)
	return list
}

// valueFor is the value of a secret for a server or a listener. From then on it is
// kept out of everything that leaves.
func valueFor(ctx context.Context, v *secret.Vault, user, name string) (value string, err error) {
	err = v.Use(ctx, user, []string{name}, name, func(b []byte) error {
		value = string(b)
		return nil
	})
	return strings.TrimRight(value, "\r\n"), err
}

func sourceOf(s config.Secret) secret.Source {
	switch {
	case s.Env != "":
		return secret.Env(s.Env)
	case s.File != "":
		return secret.File(s.File)
	case len(s.Command) > 0:
		return secret.CommandWith(s.CommandEnv, s.Command[0], s.Command[1:]...)
	}
	return keyring.New(s.Keyring.Service, s.Keyring.Account)
}

// examineSecrets says of each whether it can be had, and never what it is.
func examineSecrets(ctx context.Context, c *config.Config) (all []finding) {
	v, err := vaultOf(c)
	if err != nil {
		return []finding{{"secrets", "failed", err.Error()}}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		users := slices.Clone(c.Secrets[name].Tools)
		for _, user := range usersOf(c, name) {
			users = append(users, strings.Replace(user, ":", " ", 1)) // "server files"
		}
		f := finding{"secret " + name, "ok", sourceOf(c.Secrets[name]).String() + ", for " + strings.Join(users, ", ")}
		if len(users) == 0 {
			f.Text = strings.TrimSuffix(f.Text, "for ") + "for no tool: name some under tools"
		}
		if err := v.Check(ctx, name); err != nil {
			f.State, f.Text = "failed", strings.TrimPrefix(err.Error(), "secret "+name+": ")
		}
		all = append(all, f)
	}
	return all
}
