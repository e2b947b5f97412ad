package cedar

import (
	"hash/maphash"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// key is all that rules read of a request and that is the same for every call of
// a tool by a caller. What they do not read is left out.
type key struct {
	name, own        string
	source           string
	trust            tool.Trust
	principal        string
	tenant           string
	session, client  string
	agent, mode      string
	tags             uint64 // a hash of them; 0: not read
	attended         bool
	needsUser        bool
	varies           bool // claims depend on the arguments
	claims           [5]bool
	touches, nothing bool // the claim is made; it is empty
}

// keyed says which parts of a key the rules read.
type keyed struct {
	principal, tenant, session, client, agent, attended, mode, tags, needsUser, claims bool
}

func (r *reads) keyed() keyed {
	k := keyed{
		principal: r.principal, tenant: r.tenant || r.keys["tenant"], session: r.keys["session"], client: r.keys["client"],
		agent: r.keys["agent"], attended: r.keys["attended"], mode: r.keys["mode"], tags: r.tags, needsUser: r.needsUser,
	}
	for _, word := range claimWords() {
		k.claims = k.claims || r.keys[claimsPrefix+word]
	}
	return k
}

func (s *Set) key(q *tool.Request) key {
	k := key{name: q.Name, source: q.Source.Name, trust: q.Source.Trust}
	r := &s.keyed
	if r.principal {
		k.principal = principal(q)
	}
	if r.tenant {
		k.tenant = q.Caller.Tenant
	}
	if r.session {
		k.session = q.Caller.Session
	}
	if r.client {
		k.client = q.Caller.Client
	}
	if r.agent {
		k.agent = q.Caller.Agent
	}
	if r.mode {
		k.mode = q.Mode
	}
	k.attended = r.attended && q.Caller.Attended
	if q.Tool != nil {
		k.own = q.Tool.Name
		if r.tags && len(q.Tool.Tags) > 0 {
			k.tags = s.hash(q.Tool.Tags)
		}
		k.needsUser = r.needsUser && q.Tool.NeedsUser
	}
	if r.claims {
		if k.varies = q.Varies; !q.Varies {
			c := &q.Claims
			k.claims = [5]bool{c.ReadOnly, c.Parallel, c.Reversible, c.Local, c.Idempotent}
			k.touches, k.nothing = c.Touches != nil, len(c.Touches) == 0
		}
	}
	return k
}

// hash is one of words, never 0.
func (s *Set) hash(words []string) uint64 {
	var sum uint64
	for _, w := range words {
		sum = sum*31 + maphash.String(s.seed, w)
	}
	return sum | 1
}

func principal(q *tool.Request) string {
	if q.Caller.Principal == "" {
		return "local"
	}
	return q.Caller.Principal
}

// mode is the word of the session's mode; what is none counts as read.
func mode(q *tool.Request) string {
	if m := policy.Mode(q.Mode); m.Known() {
		return m.String()
	}
	return policy.ModeRead.String()
}

// entities are the principal and the tool of a request.
type entities struct{ principal, tool types.Entity }

// Get is how Cedar finds them.
func (e *entities) Get(uid types.EntityUID) (types.Entity, bool) {
	switch uid {
	case e.principal.UID:
		return e.principal, true
	case e.tool.UID:
		return e.tool, true
	}
	return types.Entity{}, false
}

func entitiesOf(q *tool.Request) *entities {
	parents := []types.EntityUID{types.NewEntityUID("Source", types.String(q.Source.Name))}
	var tags []types.Value
	needsUser := false
	if q.Tool != nil {
		for _, t := range q.Tool.Tags {
			parents = append(parents, types.NewEntityUID("Tag", types.String(t)))
			tags = append(tags, types.String(t))
		}
		needsUser = q.Tool.NeedsUser
	}
	trust := q.Source.Trust
	if trust > tool.BuiltIn {
		trust = tool.Inbound // as its word is
	}
	return &entities{
		principal: types.Entity{
			UID:        types.NewEntityUID("Principal", types.String(principal(q))),
			Attributes: types.NewRecord(types.RecordMap{"tenant": types.String(q.Caller.Tenant)}),
		},
		tool: types.Entity{
			UID:     types.NewEntityUID("Tool", types.String(q.Name)),
			Parents: types.NewEntityUIDSet(parents...),
			Attributes: types.NewRecord(types.RecordMap{
				"name": types.String(q.Name), "own_name": types.String(q.OwnName()), "source": types.String(q.Source.Name),
				"trust": types.String(trust.String()), "trust_level": types.Long(trust),
				"tags": types.NewSet(tags...), "needs_user": types.Boolean(needsUser),
			}),
		},
	}
}

// constants are what the flat context has whatever the arguments; claims are not
// among them where they vary.
func constants(q *tool.Request, claims bool) types.RecordMap {
	c := q.Caller
	m := types.RecordMap{
		"session": types.String(c.Session), "client": types.String(c.Client), "agent": types.String(c.Agent),
		"tenant": types.String(c.Tenant), "attended": types.Boolean(c.Attended), "mode": types.String(mode(q)),
	}
	if claims {
		for _, word := range claimWords() {
			m[types.String(claimsPrefix+word)] = claim(q, word)
		}
	}
	return m
}

// claim is what a request says of itself by that word.
func claim(q *tool.Request, word string) types.Value {
	c := q.Claims
	switch word {
	case "read_only":
		return types.Boolean(c.ReadOnly)
	case "parallel":
		return types.Boolean(c.Overlaps())
	case "reversible":
		return types.Boolean(c.Reversible)
	case "local":
		return types.Boolean(c.Local)
	case "idempotent":
		return types.Boolean(c.Idempotent)
	case "destructive":
		return types.Boolean(c.Destructive())
	case "class":
		return types.String(c.Class())
	}
	return types.String(c.SideEffect())
}
