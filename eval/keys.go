package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/leaks"
	"github.com/ferrule-dev/ferrule/guard/redact"
)

const (
	keysEach   = 20 // keys of a rule
	wantKeys   = 80 // percent of keys that are redacted
	wantAlike  = 4  // percent of look-alikes that may be
	alikeEach  = 200
	keysSeed   = 10
	weakFigure = 80 // percent: rules with less are told
)

// keys makes keys for every rule of the scanner, and texts that look like keys, and
// counts which of them are redacted. A key stands in a line of a program, a file of
// settings, JSON, YAML or a log. It is redacted where half of it or less is left.
func keys(out *json.Encoder, _ []string) error {
	scanner := new(leaks.Scanner)
	rules, err := scanner.Rules()
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(keysSeed, keysSeed)) //nolint:gosec // the same each time
	made, found, weak := 0, 0, 0
	var unmade []string
	for _, rule := range rules {
		all, err := samples(rng, rule, keysEach)
		if err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		if len(all) == 0 {
			unmade = append(unmade, rule.ID)
			continue
		}
		n := 0
		for i, s := range all {
			clean, _, err := redact.New(redact.Options{Secrets: scanner}).Redact(surround(s.text, rule.ID, i))
			if err != nil {
				return err
			}
			if !strings.Contains(clean, s.value[:(len(s.value)+1)/2]) && !strings.Contains(clean, s.value[len(s.value)/2:]) {
				n++
			}
		}
		made, found = made+len(all), found+n
		if p := percent(n, len(all)); p < weakFigure {
			weak++
			if err := out.Encode(map[string]any{"rule": rule.ID, "kind": rule.Kind, "keys": len(all), "redacted": n, "recall": p}); err != nil {
				return err
			}
		}
	}
	alike, flagged, err := lookAlikes(out, scanner, rng)
	if err != nil {
		return err
	}
	recall, alarms := percent(found, made), percent(flagged, alike)
	if err := out.Encode(map[string]any{
		"program": "keys", "rules": len(rules), "rules_below_80": weak, "no_keys_made": unmade, "keys": made, "redacted": found, "recall": recall, "want_recall": wantKeys,
		"look_alikes": alike, "flagged": flagged, "flagged_percent": alarms, "want_flagged_at_most": wantAlike,
	}); err != nil {
		return err
	}
	if recall < wantKeys || alarms > wantAlike {
		return fmt.Errorf("%w: %.1f %% of keys are redacted, want %d; %.1f %% of look-alikes, want at most %d", errMissed, recall, wantKeys, alarms, wantAlike)
	}
	return nil
}

// surround is a key as it may stand in a text, under the name of whose it is. One
// that brings a name and a sign along stands by itself.
func surround(key, rule string, i int) string {
	if strings.ContainsAny(key, " \t\n") || strings.ContainsAny(strings.TrimRight(key, "=;'\"`"), "=:>'\"`") {
		return []string{key + "\n", "  " + key + "\n", "# settings\n" + key + "\n\ndone\n"}[i%3]
	}
	key = strings.TrimRight(key, ";'\"`")
	name, _, _ := strings.Cut(rule, "-")
	switch i % 6 {
	case 0:
		return "export " + strings.ToUpper(name) + "=" + key + "\n"
	case 1:
		return `{"name": "main", "` + name + `": "` + key + `", "port": 8080}`
	case 2:
		return "service:\n  name: main\n  " + name + ": " + key + "\n"
	case 3:
		return "2024-05-01T12:00:00Z INFO request to " + name + " with " + key + " was accepted\n"
	case 4:
		return "const " + name + " = '" + key + "';\n"
	default:
		return strings.ToUpper(name) + "=\"" + key + "\" make deploy\n"
	}
}

// lookAlikes counts the texts that are no keys and are redacted nevertheless.
func lookAlikes(out *json.Encoder, scanner redact.Scanner, rng *rand.Rand) (all, flagged int, err error) {
	kinds := alikeKinds(rng)
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		n := 0
		for range alikeEach {
			text := kinds[name]()
			_, found, err := redact.New(redact.Options{Secrets: scanner}).Redact(text)
			if err != nil {
				return 0, 0, err
			}
			if len(found) > 0 {
				n++
			}
		}
		all, flagged = all+alikeEach, flagged+n
		if n == 0 {
			continue
		}
		if err := out.Encode(map[string]any{"look_alike": name, "texts": alikeEach, "flagged": n}); err != nil {
			return 0, 0, err
		}
	}
	return all, flagged, nil
}

// alikeKinds make texts that have something of a key, in their usual surroundings.
func alikeKinds(rng *rand.Rand) map[string]func() string {
	pick := func(all ...string) string { return all[rng.IntN(len(all))] }
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.UintN(256)) //nolint:gosec // it is less than 256
		}
		return b
	}
	hexes := func(n int) string { return hex.EncodeToString(random(n)) }
	word := func() string {
		return pick("user", "order", "index", "render", "handler", "config", "session", "request", "token", "cache", "key", "value", "auth", "access", "buffer", "stream", "parser", "client")
	}
	uuid := func() string {
		h := hexes(16)
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
	}
	camel := func(n int) string {
		var b strings.Builder
		for i := range n {
			w := word()
			if i > 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			b.WriteString(w)
		}
		return b.String()
	}
	return map[string]func() string{
		"uuid": func() string {
			return pick("id: ", `"request_id": "`, "order=", "trace ", "GET /items/") + uuid() + "\n"
		},
		"git sha": func() string {
			return pick("commit ", "HEAD is now at ", "index ", "ref: ", "uses: actions/checkout@", "merge base ") + hexes(20) + "\n"
		},
		"short sha": func() string { return hexes(4)[:7] + " fix the " + word() + " of the " + word() + "\n" },
		"sha256":    func() string { return hexes(32) + "  dist/" + word() + ".tar.gz\n" },
		"digest":    func() string { return "image: registry.example/" + word() + "@sha256:" + hexes(32) + "\n" },
		"md5":       func() string { return pick("etag: \"", "md5=", "checksum: ") + hexes(16) + "\n" },
		"base64 of text": func() string {
			text := "the " + word() + " of the " + word() + " is made for each " + word()
			return pick("data: ", "body=", "message: ", `{"content": "`) + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
		},
		"integrity": func() string {
			return `      "integrity": "sha512-` + base64.StdEncoding.EncodeToString(random(64)) + "\",\n"
		},
		"go.sum": func() string {
			return "github.com/x/" + word() + " v1.2.3 h1:" + base64.StdEncoding.EncodeToString(random(32)) + "\n"
		},
		"identifier":  func() string { return "func " + camel(4) + "(" + word() + " string) " + camel(3) + " {\n" },
		"assignment":  func() string { return word() + "Key := " + camel(3) + "." + camel(2) + "()\n" },
		"environment": func() string { return "API_KEY=$" + strings.ToUpper(word()+"_"+word()) + "\n" },
		"template":    func() string { return "token: {{ ." + camel(2) + " }}\npassword: ${" + strings.ToUpper(word()) + "}\n" },
		"minified": func() string {
			return "!function(e,t){var n=" + word() + ",r=t." + camel(2) + ";e.exports=function(){return r(n,{key:" + word() + ",token:!0})}}(" + word() + ");\n"
		},
		"placeholder": func() string {
			return pick("api_key = ", "TOKEN=", `"secret": "`, "password: ") + pick("YOUR_API_KEY", "<your-token-here>", "changeme", "xxxxxxxxxxxxxxxxxxxxxxxx", "REPLACE_ME", "your-secret-key", "INSERT_TOKEN_HERE", "********") + "\n"
		},
		"path": func() string {
			return "open /usr/lib/" + word() + "/" + camel(2) + "/" + word() + "-1.2.3.so: no such file\n"
		},
		"url": func() string {
			return "see https://docs.example/" + word() + "/" + camel(2) + "?page=" + word() + "#access-" + word() + "\n"
		},
		"time": func() string {
			return fmt.Sprintf("%d.%06d key=%d\n", 1700000000+rng.IntN(1e7), rng.IntN(1e6), rng.IntN(1e9))
		},
		"colours": func() string { return "color: #" + hexes(3) + "; background: #" + hexes(4) + ";\n" },
		"data url": func() string {
			return "src=\"data:image/png;base64," + base64.StdEncoding.EncodeToString(random(90)) + "\"\n"
		},
		"prose": func() string {
			return "The key: " + word() + " is made by the " + word() + ", and its token = " + camel(3) + "\n"
		},
	}
}
