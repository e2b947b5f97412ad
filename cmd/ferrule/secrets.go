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
		entries[name] = secret.Entry{Source: sourceOf(s), Tools: s.Tools}
	}
	return secret.NewVault(entries)
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
		f := finding{"secret " + name, "ok", sourceOf(c.Secrets[name]).String() + ", for " + strings.Join(c.Secrets[name].Tools, ", ")}
		if len(c.Secrets[name].Tools) == 0 {
			f.Text = strings.TrimSuffix(f.Text, "for ") + "for no tool: name some under tools"
		}
		if err := v.Check(ctx, name); err != nil {
			f.State, f.Text = "failed", strings.TrimPrefix(err.Error(), "secret "+name+": ")
		}
		all = append(all, f)
	}
	return all
}
