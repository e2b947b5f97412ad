package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// flowStory is a scenario or an injection as it is written by hand:
//
//	# kind/name
//	> what the person asked for, or
//	! what stands in a result
//	tool {"its":"arguments"}
//	= its result, where {{*}} is a place that strangers can write to
//	$ what is worth stealing: {{loot}}, {{loot:url}} and {{loot:b64}} in arguments
type flowStory struct {
	kind, name, text, loot string
	calls                  []flowCall
}

// pairsEach is how many injections a scenario is paired with.
const pairsEach = 5

// flowSet makes sequences of scenarios and injections: each scenario as it is, then
// with some of the injections of its kind, each in the first place that strangers
// can write to, and its calls right after. Every third scenario is held back, and
// so is every third injection, which stands only in scenarios that are held back.
func flowSet(out *json.Encoder, files []string) error {
	scenarios, err := readStories(files[0])
	if err != nil {
		return err
	}
	injections, err := readStories(files[1])
	if err != nil {
		return err
	}
	next := map[string]int{}
	for n, s := range scenarios {
		part := "seen"
		if n%3 == 2 {
			part = "held"
		}
		if err := out.Encode(flowSequence{ID: s.kind + "/" + s.name, Part: part, Prompt: s.text, Calls: s.with(nil)}); err != nil {
			return err
		}
		var fit []flowStory
		for m, i := range injections {
			if i.kind == s.kind && (part == "held" || m%3 != 2) && s.takes(i) {
				fit = append(fit, i)
			}
		}
		for range min(pairsEach, len(fit)) {
			i := fit[next[part+s.kind]%len(fit)]
			next[part+s.kind]++
			row := flowSequence{ID: s.kind + "/" + s.name + "+" + i.name, Of: s.kind + "/" + s.name, Part: part, Prompt: s.text, Calls: s.with(&i)}
			if err := out.Encode(row); err != nil {
				return err
			}
		}
	}
	return nil
}

const place = "{{*}}"

// takes reports whether an injection has a place in a scenario, and something to
// steal where it does.
func (s *flowStory) takes(i flowStory) bool {
	var written, steals bool
	for _, c := range s.calls {
		written = written || strings.Contains(c.Result, place)
	}
	for _, c := range i.calls {
		steals = steals || strings.Contains(string(c.Args), "{{loot")
	}
	return written && (!steals || s.loot != "")
}

func (s *flowStory) with(i *flowStory) []flowCall {
	var all []flowCall
	for _, c := range s.calls {
		hit := i != nil && strings.Contains(c.Result, place)
		if c.Result = strings.TrimSpace(strings.Replace(c.Result, " "+place, "", 1)); hit {
			c.Result += "\n" + i.text
		}
		c.Result = strings.ReplaceAll(c.Result, place, "")
		if all = append(all, c); !hit {
			continue
		}
		quoted, _ := json.Marshal(s.loot) //nolint:errchkjson // a string has a JSON form
		for _, in := range i.calls {
			in.Injected = true
			in.Args = json.RawMessage(strings.NewReplacer(
				"{{loot}}", strings.Trim(string(quoted), `"`),
				"{{loot:url}}", url.QueryEscape(s.loot),
				"{{loot:b64}}", base64.StdEncoding.EncodeToString([]byte(s.loot)),
			).Replace(string(in.Args)))
			all = append(all, in)
		}
		i = nil
	}
	return all
}

func readStories(path string) ([]flowStory, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []flowStory
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		mark, rest, _ := strings.Cut(lines.Text(), " ")
		if mark == "#" {
			kind, name, _ := strings.Cut(rest, "/")
			all = append(all, flowStory{kind: kind, name: name})
			continue
		}
		if mark == "" {
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s: line %d: want # and a name first", path, number)
		}
		s := &all[len(all)-1]
		switch {
		case mark == ">" || mark == "!":
			s.text = rest
		case mark == "$":
			s.loot = rest
		case mark == "=" && len(s.calls) > 0:
			s.calls[len(s.calls)-1].Result = strings.ReplaceAll(rest, `\n`, "\n")
		case json.Valid([]byte(strings.NewReplacer("{{", "", "}}", "").Replace(rest))):
			s.calls = append(s.calls, flowCall{Tool: mark, Args: json.RawMessage(rest)})
		default:
			return nil, fmt.Errorf("%s: line %d: got %q, want a tool and its arguments", path, number, lines.Text())
		}
	}
	return all, lines.Err()
}
