package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/agent/anthropic"
	"github.com/ferrule-dev/ferrule/agent/openai"
	"github.com/ferrule-dev/ferrule/agent/scripted"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/provider"
)

// paceOfScripts is the time between two words of a script, where somebody looks on.
const paceOfScripts = 30 * time.Millisecond

// noKey is sent where there is no key, to a server that needs none.
const noKey = "none"

// modelForms is what --model takes, in words.
const modelForms = "anthropic:MODEL, openai:MODEL, openai-chat:MODEL, or scripted:FILE, which is played and needs no key"

// errNoModel is that what --model says is none of its forms.
func errNoModel(said string) error {
	kind, _, _ := strings.Cut(said, ":")
	near := nearest(kind, []string{"anthropic", "openai", "openai-chat", "scripted"})
	for i := range near {
		near[i] += ":"
	}
	return usage("--model: got %q, want %s%s", terminal.Brief(said, 80), modelForms, didYouMean(near))
}

// modelOf is the model of a run. What is kept of a script is its whole path.
func (p *program) modelOf(k *keptRun) (agent.Model, error) {
	kind, name, _ := strings.Cut(k.Model, ":")
	switch {
	case k.Model == "":
		return nil, usage("got no model, want --model (or FERRULE_MODEL) %s", modelForms)
	case name == "":
		return nil, errNoModel(k.Model)
	}
	u, err := url.Parse(k.BaseURL)
	if err == nil && u.User != nil || err != nil && strings.Contains(k.BaseURL, "@") { // it would be kept with the run
		return nil, usage("--base-url: got a name or a password in the address, want none: put the key into %s", k.key())
	}
	if kind == "scripted" && k.BaseURL != "" {
		return nil, usage("--base-url: got %q, but a script is asked nowhere: leave it out", terminal.Brief(k.BaseURL, 80))
	}
	if k.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return nil, usage("--base-url: got %q, want http://HOST or https://HOST, and perhaps a path", terminal.Brief(k.BaseURL, 80))
	}
	switch kind {
	case "scripted":
		file := p.path(name)
		s, err := scripted.Load(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usage("--model: %w", plainly(err))
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
	return nil, errNoModel(k.Model)
}

// name is that of the model, as its provider calls it; "": it has none.
func (k *keptRun) name() string {
	kind, name, _ := strings.Cut(k.Model, ":")
	if kind == "scripted" {
		return ""
	}
	return name
}

// key is the variable that has the key for the model.
func (k *keptRun) key() string {
	switch kind, _, _ := strings.Cut(k.Model, ":"); kind {
	case "anthropic":
		return "ANTHROPIC_API_KEY"
	case "openai", "openai-chat":
		return "OPENAI_API_KEY"
	}
	return "ANTHROPIC_API_KEY or OPENAI_API_KEY"
}

// asksElsewhere reports that a run which goes on would ask an address that stands in its
// file alone: who can change the file would be sent the key, and the conversation. On
// this machine that may be.
func (p *program) asksElsewhere(k *keptRun) error {
	u, err := url.Parse(k.BaseURL)
	if err != nil || u.User != nil { // modelOf says what is wrong
		return nil
	}
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() == "localhost" || ip.IsLoopback() || slices.Contains([]string{"", p.env("ANTHROPIC_BASE_URL"), p.env("OPENAI_BASE_URL")}, k.BaseURL) {
		return nil
	}
	return usage("--resume: the file of %s has the address %s: if that is right, say --base-url %[2]s again, for a file alone is no reason to send a key there", k.Session, terminal.Brief(k.BaseURL, 200))
}

// helps is how to go on after an error.
func (k *keptRun) helps(err error, again string) string {
	text := fmt.Sprintf("It is kept: `%s` tries again", again)
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Status == 0 || e.Again {
		if ok && e.After > 0 {
			text += fmt.Sprintf("; the provider wants to be left alone for %s first", roughly(e.After))
		}
		return text
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text = fmt.Sprintf("put a key that may ask for this model into %s, then `%s` goes on", k.key(), again)
	case http.StatusNotFound:
		text = fmt.Sprintf("look whether there is such a model, and whether --base-url is right: `%s --model …` asks another", again)
	default:
		text = fmt.Sprintf("look at what the provider says: `%s --model …` asks another model", again)
	}
	return fmt.Sprintf("It is kept, but to try again does not help where the provider answers %d: %s", e.Status, text)
}

// wantsKey reports that there is no key for a provider. Another address may need none.
func (p *program) wantsKey(name, or, base string) error {
	if base != "" || p.env(name) != "" || or != "" && p.env(or) != "" {
		return nil
	}
	return usage("--model: got no key in %s, want one there; --base-url asks a server that needs none, and scripted:FILE is played without any", name)
}
