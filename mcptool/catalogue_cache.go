package mcptool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
)

// lastKnown is what is kept on the disk of a server. What it said is kept as text:
// as JSON within JSON the bytes would not stay what they were, and a tool would
// seem to have changed.
type lastKnown struct {
	Form     int    `json:"form"`  // of this file
	Reach    string `json:"reach"` // digest of how the server is reached
	Greeting struct {
		Version      string `json:"version"`
		Info         string `json:"info,omitempty"`
		Capabilities string `json:"capabilities,omitempty"`
		Instructions string `json:"instructions,omitempty"`
		Raw          string `json:"raw,omitempty"`
	} `json:"greeting"`
	Tools []string `json:"tools"`
}

// cacheForm is the form of the file that is read and written.
const cacheForm = 1

// maxCache bounds what is read: a list, and some more.
const maxCache = maxListBytes + 16<<20

// reached is a digest of how a server is reached: another command, or the same
// with other variables, may have other tools.
func (s *Server) reached() string {
	all, err := json.Marshal([]any{s.Command, s.Dir, s.Env, s.URL, s.Written, s.Header, s.Era})
	if err != nil { // texts and maps of texts can always be written
		return ""
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:])
}

func (s *server) cacheFile() string { return filepath.Join(s.hub.Cache, s.Name+".json") }

// recall registers the tools that the server had when it was last reached, unless
// nothing is known of it any more: see noted.
func (s *server) recall(ctx context.Context) {
	if s.hub.Cache == "" {
		return
	}
	known, err := s.readCache()
	if err == nil {
		tools := make([]json.RawMessage, len(known.Tools))
		for i, text := range known.Tools {
			tools[i] = asJSON(text)
		}
		_, err = s.offer(ctx, s.catalogue(ctx, tools))
		if s.hub.Pins == "" || s.knowsPins() {
			s.mu.Lock()
			s.said = known.greeting()
			s.mu.Unlock()
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.hub.log().LogAttrs(ctx, slog.LevelWarn, "what was kept of a server is not used", slog.String("server", s.Name), slog.String("why", err.Error()))
	}
}

// greeting is what the server said of itself.
func (k *lastKnown) greeting() *greeting {
	g := &k.Greeting
	return &greeting{
		era: eraOf(g.Version), version: g.Version, instructions: g.Instructions,
		info: asJSON(g.Info), capabilities: asJSON(g.Capabilities), raw: asJSON(g.Raw),
	}
}

// asJSON is what was kept as text; nil where somebody has made no JSON of it.
func asJSON(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

func (s *server) readCache() (*lastKnown, error) {
	f, err := os.Open(s.cacheFile())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCache+1))
	if err != nil {
		return nil, err
	}
	known := &lastKnown{}
	switch err := json.Unmarshal(b, known); {
	case len(b) > maxCache:
		return nil, fmt.Errorf("%s: got more than %d bytes", f.Name(), maxCache)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	case known.Form != cacheForm || known.Reach != s.reached():
		return nil, fs.ErrNotExist // of another server, or of another Ferrule
	case len(known.Tools) > maxItems:
		return nil, fmt.Errorf("%s: got %d tools, want at most %d", f.Name(), len(known.Tools), maxItems)
	}
	return known, nil
}

// remember keeps what the server said, unless that was done. The file is there as a
// whole or not at all. A server may say every second that its list has changed; who
// waits for the disk waits for all that is written to it.
func (s *server) remember(g *greeting, tools []json.RawMessage) error {
	if s.hub.Cache == "" {
		return nil
	}
	sum := sumOf(g, tools)
	s.mu.Lock()
	same := s.remembered == sum
	s.mu.Unlock()
	if same {
		return nil
	}
	known := lastKnown{Form: cacheForm, Reach: s.reached(), Tools: make([]string, 0, len(tools))}
	for _, raw := range tools {
		if len(raw) <= maxDefinition { // else it is of no use, today or later
			known.Tools = append(known.Tools, string(raw))
		}
	}
	known.Greeting.Version, known.Greeting.Instructions = g.version, g.instructions
	known.Greeting.Info, known.Greeting.Capabilities, known.Greeting.Raw = string(g.info), string(g.capabilities), string(g.raw)
	b, err := json.Marshal(known)
	if err != nil {
		return err
	}
	if err := writeWhole(s.cacheFile(), b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remembered = sum
	return nil
}

// sumOf tells apart what is remembered.
func sumOf(g *greeting, tools []json.RawMessage) (sum [sha256.Size]byte) {
	h := sha256.New()
	add := func(b []byte) {
		h.Write(strconv.AppendInt(nil, int64(len(b)), 10))
		h.Write([]byte{' '})
		h.Write(b)
	}
	for _, part := range []string{g.version, g.instructions} {
		add([]byte(part))
	}
	for _, part := range []json.RawMessage{g.info, g.capabilities, g.raw} {
		add(part)
	}
	for _, raw := range tools {
		if len(raw) <= maxDefinition {
			add(raw)
		}
	}
	h.Sum(sum[:0])
	return sum
}
