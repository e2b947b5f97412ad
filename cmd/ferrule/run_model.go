package main

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/agent/anthropic"
	"github.com/ferrule-dev/ferrule/agent/openai"
	"github.com/ferrule-dev/ferrule/agent/scripted"
	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// paceOfScripts is the time between two words of a script, where somebody looks on.
const paceOfScripts = 30 * time.Millisecond

// noKey is sent where there is no key, to a server that needs none.
const noKey = "none"

// modelForms is what --model takes, in words.
const modelForms = "anthropic:MODEL, openai:MODEL, openai-chat:MODEL, or scripted:FILE, which is played and needs no key"

// modelOf is the model of a run. What is kept of a script is its whole path.
func (p *program) modelOf(k *keptRun) (agent.Model, error) {
	kind, name, _ := strings.Cut(k.Model, ":")
	switch {
	case k.Model == "":
		return nil, usage("got no model, want --model (or FERRULE_MODEL) %s", modelForms)
	case name == "":
		return nil, usage("--model: got %q, want %s", terminal.Brief(k.Model, 80), modelForms)
	}
	if kind == "scripted" && k.BaseURL != "" {
		return nil, usage("--base-url: got %q, but a script is asked nowhere: leave it out", terminal.Brief(k.BaseURL, 80))
	}
	if u, err := url.Parse(k.BaseURL); k.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return nil, usage("--base-url: got %q, want http://HOST or https://HOST, and perhaps a path", terminal.Brief(k.BaseURL, 80))
	}
	switch kind {
	case "scripted":
		file := p.path(name)
		s, err := scripted.Load(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usage("--model: %w", err)
		}
		if err != nil {
			return nil, usage("--model: the script is wrong:\n%w", err)
		}
		if terminal.Is(p.stdout) && !p.json {
			s.Pace = paceOfScripts
		}
		k.Model = "scripted:" + file
		return s.Model(), nil
	case "anthropic":
		if err := p.wantsKey("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", cmp.Or(k.BaseURL, p.env("ANTHROPIC_BASE_URL"))); err != nil {
			return nil, err
		}
		m := &anthropic.Model{Model: name}
		if k.BaseURL != "" {
			m.Options = append(m.Options, option.WithBaseURL(k.BaseURL))
		}
		if p.env("ANTHROPIC_API_KEY") == "" && p.env("ANTHROPIC_AUTH_TOKEN") == "" && p.env("ANTHROPIC_FEDERATION_RULE_ID") == "" {
			m.Options = append(m.Options, option.WithAPIKey(noKey))
		}
		return m, nil
	case "openai", "openai-chat":
		base := cmp.Or(k.BaseURL, p.env("OPENAI_BASE_URL"))
		if err := p.wantsKey("OPENAI_API_KEY", "", base); err != nil {
			return nil, err
		}
		return &openai.Model{Model: name, Chat: kind == "openai-chat", BaseURL: base}, nil
	}
	return nil, usage("--model: got %q, want %s", terminal.Brief(k.Model, 80), modelForms)
}

// wantsKey reports that there is no key for a provider. Another address may need none.
func (p *program) wantsKey(name, or, base string) error {
	if base != "" || p.env(name) != "" || or != "" && p.env(or) != "" {
		return nil
	}
	return usage("--model: got no key in %s, want one there; --base-url asks a server that needs none, and scripted:FILE is played without any", name)
}
