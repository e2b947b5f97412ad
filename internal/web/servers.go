package web

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Server is an MCP server of the configuration.
type Server struct {
	Name        string        `json:"name"`
	State       string        `json:"state"` // connecting, ready, waiting, needs login, failed, stopped, off
	Era         string        `json:"era,omitempty"`
	Server      string        `json:"server,omitempty"` // what it calls itself
	Since       time.Time     `json:"since,omitzero"`
	Tools       int           `json:"tools"`
	Restarts    int           `json:"restarts"`
	Why         string        `json:"why,omitempty"`
	Missing     string        `json:"missing,omitempty"` // its program, where there is none of that name
	Login       string        `json:"login,omitempty"`   // what a person runs to log in
	Paused      string        `json:"paused,omitempty"`
	Isolation   string        `json:"isolation,omitempty"`
	Faults      []string      `json:"faults,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
	Rules       []string      `json:"rules,omitempty"` // what the configuration says of its calls
	Quarantined []Quarantined `json:"quarantined,omitempty"`
	Found       []string      `json:"found,omitempty"` // in what its tools say: what may try to steer a model
	// Latency is that of its calls among the last on the record; nil: there are none.
	Latency *Latency `json:"latency,omitempty"`
	// Pins are the tools that wait to be accepted, and As is the digest of exactly them.
	Pins []Pin  `json:"pins,omitempty"`
	As   string `json:"as,omitempty"`
	// LeftOut are those that somebody did not want as they are now: they can be accepted
	// all the same.
	LeftOut []Pin `json:"left_out,omitempty"`
}

// Quarantined is a tool that is not offered.
type Quarantined struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// Latency is how long calls ran, in milliseconds: half of them as long as P50 at most,
// 95 of a hundred as long as P95. Those that did not run do not count.
type Latency struct {
	Calls int     `json:"calls"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	Error int     `json:"errors"`
}

// Pin is a tool whose definition is not the one that was accepted.
type Pin struct {
	Tool  string   `json:"tool"`
	State string   `json:"state"`
	Why   string   `json:"why,omitempty"`
	Diff  string   `json:"diff,omitempty"`
	Found []string `json:"found,omitempty"` // what is hidden in it, or may try to steer a model
	As    string   `json:"as"`              // the digest of exactly this one
	By    string   `json:"by,omitempty"`    // who has left it out
}

// Unusable are the tools that are not offered, and about which nothing is asked.
func (s Server) Unusable() []Quarantined {
	return slices.DeleteFunc(slices.Clone(s.Quarantined), func(q Quarantined) bool {
		return slices.ContainsFunc(slices.Concat(s.Pins, s.LeftOut), func(p Pin) bool { return p.Tool == q.Tool })
	})
}

// serversPage is all servers.
type serversPage struct {
	Servers []Server `json:"servers"`
	Waiting int      `json:"waiting"`     // tools to be accepted
	Of      int      `json:"calls_seen"`  // calls on the record, of whatever source, that latencies are made of
	Settle  bool     `json:"can_be_said"` // pins can be accepted here
}

func (c *Console) serverRoutes(m *http.ServeMux) {
	if c.Servers == nil {
		return
	}
	pair(c, m, "/servers", "servers", "Servers", c.servers)
	act(c, m, "/servers/{name}/pins", settlingOf, func(r *http.Request, in settling) (string, error) {
		return c.settle(r.Context(), r.PathValue("name"), in)
	})
}

func (c *Console) servers(r *http.Request) (p serversPage, err error) {
	list, err := c.Servers(r.Context())
	if err != nil {
		return p, err
	}
	p.Servers, p.Settle = append([]Server{}, list...), c.Settle != nil
	took, of, err := c.latencies(r.Context())
	if err != nil {
		return p, err
	}
	p.Of = of
	for i := range p.Servers {
		s := &p.Servers[i]
		s.Latency = cmp.Or(s.Latency, took[s.Name])
		p.Waiting += len(s.Pins)
	}
	return p, nil
}

// latencyCalls is how many of the last calls are looked at.
const latencyCalls = 500

// latencies are those of each source, and of how many calls they were made.
func (c *Console) latencies(ctx context.Context) (by map[string]*Latency, of int, err error) {
	by = make(map[string]*Latency)
	if c.Lines == nil {
		return by, 0, nil
	}
	began, err := c.read(ctx, Filter{Kind: audit.Requested, Newest: latencyCalls}) // which says the source
	if err != nil {
		return by, 0, err
	}
	ended, err := c.read(ctx, Filter{Kind: audit.Ended, Newest: latencyCalls})
	if err != nil {
		return by, 0, err
	}
	sources := make(map[string]string, len(began))
	for i := range began {
		sources[began[i].ID] = began[i].Source
	}
	times := make(map[string][]float64)
	for i := range ended {
		l := &ended[i]
		source := sources[l.ID]
		if l.Took <= 0 || source == "" {
			continue // it did not run, or belongs to the program
		}
		if by[source] == nil {
			by[source] = new(Latency)
		}
		by[source].Calls++
		if r := l.Result; r != nil && r.IsError {
			by[source].Error += truth(slices.Contains([]State{Failed, Lost}, stateOf(tool.Kind(r.Kind))))
		}
		times[source] = append(times[source], float64(l.Took)/float64(time.Millisecond))
	}
	for source, list := range times {
		slices.Sort(list)
		by[source].P50, by[source].P95 = percentile(list, 50), percentile(list, 95)
	}
	return by, len(began), nil
}

// percentile is the least of sorted values that so many of a hundred do not exceed.
func percentile(sorted []float64, n int) float64 {
	return sorted[max(0, int(math.Ceil(float64(len(sorted)*n)/100))-1)]
}

// settling is what a person says to the tools of a server that wait.
type settling struct {
	Accept *bool  `json:"accept"` // false: they are left out
	As     string `json:"as"`     // Server.As of what was shown, or Pin.As of one tool
}

func settlingOf(v url.Values) (in settling, err error) {
	switch word := v.Get("accept"); word {
	case "true", "false":
		yes := word == "true"
		in.Accept = &yes
	}
	in.As = v.Get("as")
	return in, nil
}

func (c *Console) settle(ctx context.Context, server string, in settling) (string, error) {
	switch {
	case c.Settle == nil:
		return "", errors.New("tools cannot be accepted here: `ferrule pins` does it")
	case in.Accept == nil:
		return "", errors.New("got no accept, want true, or false to leave the tools out")
	case in.As == "":
		return "", errors.New("got no digest, want the one of what was shown: as")
	}
	if err := c.Settle(ctx, server, in.As, *in.Accept); err != nil {
		return "", err
	}
	if *in.Accept {
		return "accepted: they are offered within a second", nil
	}
	return "left out until they change, or are accepted after all", nil
}
