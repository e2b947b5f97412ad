package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// asking is one way in which a call that must be asked for is answered. Its name is part
// of the call's id, by which people know what to do.
type asking struct {
	name  string
	runs  bool          // it runs in the end, unless its server is lost
	era   string        // of the client, where it must be one; "": either
	leave time.Duration // the client goes away so long after it has called; 0: it does not
	long  bool          // it takes most of a minute
}

func askings() []asking {
	return []asking{
		{name: "allow-cli", runs: true},
		{name: "allow-page", runs: true},
		{name: "deny-cli"},
		{name: "deny-page"},
		{name: "edit-cli", runs: true},
		{name: "edit-page", runs: true},
		{name: "form", runs: true, era: newVersion},
		{name: "nobody", leave: 2 * time.Second},
		{name: "late", runs: true, long: true},
	}
}

// edited is what becomes of an id that a person has edited.
func edited(id string) string { return id + "-edited" }

// asks makes calls that must be asked for, one of each kind in turn, two at a time.
func (k *soaking) asks(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	free := make(chan struct{}, 2)
	every := time.Duration(20 / k.w.rate * float64(time.Second)) // a twentieth of all
	for n := 0; k.pause(every); n++ {
		kinds := askings()
		a := kinds[n%len(kinds)]
		if a.long && k.lasts-time.Since(k.began) < 2*time.Minute {
			continue
		}
		stateless := n/len(kinds)%2 == 1
		if a.era != "" {
			stateless = a.era == newVersion
		}
		u := k.l.upstreams[n%len(k.l.upstreams)]
		if a.long { // it is not one of those that the others wait for
			all.Go(func() { k.ask(ctx, a, u, stateless) })
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			k.ask(ctx, a, u, stateless)
		})
	}
	return nil
}

func (k *soaking) ask(ctx context.Context, a asking, u upstream, stateless bool) {
	c := &wire{url: k.g.url, stateless: stateless, elicits: a.name == "form", client: &http.Client{Transport: &http.Transport{}}}
	defer c.http().CloseIdleConnections()
	if err := c.hello(ctx); err != nil {
		k.tally.fault("ask: %v", err)
		return
	}
	defer c.close(context.WithoutCancel(ctx))
	id := k.id("ask-" + a.name)
	k.tally.add("questions")
	call := func() string {
		once, leave := context.WithCancelCause(ctx)
		defer leave(nil)
		if a.leave > 0 {
			defer time.AfterFunc(a.leave, func() { leave(errLeft) }).Stop()
		}
		return k.call(once, c, calling(u.prefixed("count_ask"), object{"id": id, "ms": 0}))
	}
	got := call()
	switch {
	case a.name == "form" && got != "":
		got = k.fillIn(ctx, c, u, id, got)
	case a.name == "late": // it was given back; then somebody has answered
		if !k.pause(2 * time.Second) {
			return
		}
		got = call()
	}
	ran := id
	if strings.HasPrefix(a.name, "edit") {
		ran = edited(id)
	}
	k.tally.mu.Lock()
	defer k.tally.mu.Unlock()
	if got != "" && a.runs {
		k.tally.ran = append(k.tally.ran, ran)
		k.tally.count["answered with a yes"]++
	}
	if !a.runs || ran != id {
		k.tally.unrun = append(k.tally.unrun, id)
	}
	if got != "" && (!a.runs || !strings.Contains(got, ran)) {
		k.tally.faults = append(k.tally.faults, fmt.Sprintf("%s: got %.200s", id, got))
	}
}

// fillIn answers the question that a client was given in the place of a result.
func (k *soaking) fillIn(ctx context.Context, c *wire, u upstream, id, got string) string {
	var asked struct {
		RequestState  string                     `json:"requestState"`
		InputRequests map[string]json.RawMessage `json:"inputRequests"`
	}
	if err := json.Unmarshal([]byte(got), &asked); err != nil || len(asked.InputRequests) == 0 {
		k.tally.fault("%s: got %.200s, want a question", id, got)
		return ""
	}
	responses := object{}
	for key := range asked.InputRequests {
		responses[key] = object{"action": "accept", "content": object{"decision": "allow"}}
	}
	params := calling(u.prefixed("count_ask"), object{"id": id, "ms": 0})
	params["requestState"], params["inputResponses"] = asked.RequestState, responses
	return k.call(ctx, c, params)
}

// answers is people who look at what waits and answer it, here and there.
func (k *soaking) answers(ctx context.Context) error {
	seen := make(map[string]time.Time)
	for {
		select {
		case <-k.left:
			return nil
		case <-time.After(400 * time.Millisecond):
		}
		text, err := k.page(ctx, http.MethodGet, "/api/questions", nil)
		if err != nil {
			return err
		}
		var waiting []struct{ ID, Input string }
		if err := json.Unmarshal(text, &waiting); err != nil {
			return fmt.Errorf("/api/questions: got %.200s: %w", text, err)
		}
		for _, q := range waiting {
			var in struct{ ID string }
			if err := json.Unmarshal([]byte(q.Input), &in); err != nil {
				return fmt.Errorf("a question: got the input %.200q: %w", q.Input, err)
			}
			if _, ok := seen[q.ID]; !ok {
				seen[q.ID] = time.Now()
			}
			kind, _, _ := strings.Cut(strings.TrimPrefix(in.ID, "ask-")+"-", "-")
			page := strings.Contains(in.ID, "-page-")
			if kind == "late" && time.Since(seen[q.ID]) > 46*time.Second {
				kind, page = "allow", true
			}
			if err := k.reply(ctx, q.ID, in.ID, kind, page); err != nil {
				return err
			}
		}
	}
}

// reply gives one answer, on the page or in a terminal.
func (k *soaking) reply(ctx context.Context, question, id, kind string, page bool) error {
	args, _ := json.Marshal(object{"id": edited(id), "ms": 0}) // it is plain
	var command []string
	var body object
	switch kind {
	case "allow":
		command, body = []string{"allow", question}, object{"do": "allow"}
	case "deny":
		command, body = []string{"deny", question, "--message", "not today"}, object{"do": "deny", "message": "not today"}
	case "edit":
		command, body = []string{"allow", question, "--args", string(args)}, object{"do": "allow", "input": json.RawMessage(args)}
	default:
		return nil // nobody answers, or the client does
	}
	var err error
	if page {
		_, err = k.page(ctx, http.MethodPost, "/api/questions/"+question, body)
	} else {
		_, err = k.ferrule(ctx, append([]string{"approvals"}, command...)...)
	}
	return err
}

// page asks the console for something.
func (k *soaking) page(ctx context.Context, method, path string, body object) ([]byte, error) {
	return k.fetch(ctx, k.key, method, path, body)
}

func (k *soaking) fetch(ctx context.Context, key, method, path string, body object) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, soakPatience)
	defer cancel()
	resp, err := k.open(ctx, key, method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: got %s: %.300s", method, path, resp.Status, text)
	}
	return text, err
}

func (k *soaking) open(ctx context.Context, key, method, path string, body object) (*http.Response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(k.g.url, "/mcp")+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return http.DefaultClient.Do(req)
}

// watches is a page of the console that is open: its stream, what it asks for when there
// is something new, and now and then another page. The stream breaks off, and is begun
// again.
func (k *soaking) watches(ctx context.Context) error {
	began := time.Now()
	for n := 0; !k.over(); n++ {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		err := k.watch(ctx, n)
		cancel()
		if err != nil {
			return err
		}
		k.tally.add("console reopened")
		// The whole record: the longer it is, the less often.
		if n%4 == 3 && time.Since(began) > time.Minute*time.Duration(n/8) {
			if _, err := k.page(context.WithoutCancel(ctx), http.MethodGet, "/api/export", nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *soaking) watch(ctx context.Context, n int) error {
	resp, err := k.open(ctx, k.key, http.MethodGet, "/api/events", nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { _ = resp.Body.Close() }() // it ends the reading
	reading.Go(func() {
		buffer := make([]byte, 4<<10)
		for {
			if _, err := resp.Body.Read(buffer); err != nil {
				return
			}
			k.tally.add("events of the console")
		}
	})
	for i := 0; ctx.Err() == nil && k.pause(2*time.Second); i++ {
		path := []string{"/api/now", "/", "/api/history", "/servers", "/tools", "/history"}[(i+n)%6]
		if _, err := k.page(context.WithoutCancel(ctx), http.MethodGet, path, nil); err != nil {
			return err
		}
		k.tally.add("pages read")
	}
	return nil
}
