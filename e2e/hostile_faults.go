package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
)

// hostileFault is what `ferrule servers` must say of a kind; of "names" see below.
func hostileFault() map[string]string {
	return map[string]string{
		"long": "definition: got", "huge": "longer than", "endless": "did not answer within", "line": "longer than",
		"silent": "did not answer within", "unknown": "an answer to", "garbage": "it wrote what is of no use",
		"flood": "it said that its lists have changed", "asks": askedWrongly, "changing": "changed",
	}
}

const askedWrongly = "it asked where no call ran"

// standing is what `ferrule servers --json` says of one.
type standing struct {
	Name        string `json:"name"`
	State       string `json:"state"`
	Why         string `json:"why"`
	Tools       int    `json:"tools"`
	Quarantined []struct {
		Tool string `json:"name"`
		Why  string `json:"why"`
	} `json:"quarantined"`
	Faults []string `json:"faults"`
}

// faultsOf checks that each fault is seen in `ferrule servers`.
func (w *world) faultsOf(ctx context.Context, s *score, dir string) error {
	cmd := exec.CommandContext(ctx, w.program, "servers", "--json") //nolint:gosec // the program under test
	cmd.Dir, cmd.Env = dir, w.home(dir)
	out, err := output(ctx, "ferrule servers", cmd)
	if err != nil {
		return err
	}
	var all []standing
	if err := json.Unmarshal(out, &all); err != nil {
		return err
	}
	for _, st := range all {
		kind := strings.TrimPrefix(st.Name, "web-")
		said := st.Why
		for _, q := range st.Quarantined {
			said += "\n" + q.Tool + ": " + q.Why
		}
		said += "\n" + strings.Join(st.Faults, "\n")
		if said = strings.TrimSpace(said); strings.Contains(said, "a request, nonsense, in an era that has none") {
			said += "\n" + askedWrongly // that is how the new era has it
		}
		switch kind {
		case "good":
			s.hold("servers: nothing is said of the good one", said == "" && st.State == "ready", said, nil)
		case "many":
			s.hold("servers: "+st.Name, st.Tools == 5001, st.Tools, 5001)
		case "names":
			namesOf(s, st)
		default:
			want := hostileFault()[kind]
			s.hold("servers: the fault of "+st.Name+" is seen", strings.Contains(said, want), said, want)
		}
	}
	return nil
}

// namesOf checks that nothing is offered that has a wrong schema or another's name.
func namesOf(s *score, st standing) {
	why := make(map[string]string)
	for _, q := range st.Quarantined {
		why[q.Tool] = q.Why
	}
	for _, name := range []string{"schema_array", "schema_number", "schema_ref", "schema_deep", "schema_none", "twice", "two\ufffdlines", "", "\u0435cho", "tw\ufffdice"} {
		s.hold("servers: "+st.Name+": not offered", why[name] != "", why[name], name)
	}
	for _, name := range []string{"tool_call", "tool_search", "good__echo"} {
		if why[name] == "" {
			s.miss("servers: "+st.Name+": a name that imitates another is not offered", nil, name)
		} else {
			s.hold("servers: "+st.Name+": a name that imitates another is not offered", true, why[name], name)
		}
	}
	s.note("servers: "+st.Name, object{"offered": st.Tools, "quarantined": why})
}
