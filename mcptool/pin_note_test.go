package mcptool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
)

// reachedBy is a hub with one server s that is reached in some way.
func reachedBy(t *testing.T, dir string, inbox policy.Inbox, way func(*Server), defs ...string) *shifting {
	t.Helper()
	s := pinnedServer(t, dir, inbox, defs...)
	way(&s.h.Servers[0])
	start(t, s.h)
	return s
}

func TestPinIdentity(t *testing.T) {
	asItIs := func(*Server) {}
	for _, tt := range []struct {
		name string
		way  func(*Server)
	}{
		{"another argument", func(s *Server) { s.Command = []string{"/bin/s", "--more", "two words"} }},
		{"another folder", func(s *Server) { s.Dir = os.TempDir() }},
	} {
		t.Run("M4 "+tt.name+": what it says is compared with what it said before", func(t *testing.T) {
			dir, inbox := t.TempDir(), new(policy.Memory)
			s := reachedBy(t, dir, inbox, asItIs, saysThat("a", "1"), plainTool("b"), plainTool("evil"))
			s.now(saysThat("a", "1"), plainTool("b"), saysThat("evil", "rejected"))
			p := &Pins{Dir: dir}
			shown, err := p.Of("s")
			if err == nil {
				err = p.Reject(shown, "ada")
			}
			if err != nil {
				t.Fatal(err)
			}
			s.now(saysThat("a", "1"), plainTool("b"), saysThat("evil", "rejected")) // the question is over
			closeHub(t, s.h)
			other := reachedBy(t, dir, inbox, tt.way, saysThat("a", "2"), plainTool("b"), plainTool("c"), saysThat("evil", "rejected"))
			other.want("-a +b *c -evil")
			all := open(t, inbox)
			if len(all) != 1 || !strings.Contains(all[0].Preview, "- 1") || strings.Contains(all[0].Preview, "evil") {
				t.Errorf("got %+v, want a question about what has changed, and not about what was rejected", all)
			}
			known, err := p.All()
			if err != nil || len(known) != 2 || known[0].Identity != other.h.server("s").who().identity {
				t.Errorf("got %+v, %v, want two, the last used first", known, err)
			}
			closeHub(t, other.h)
			back := reachedBy(t, dir, inbox, asItIs, saysThat("a", "1"), plainTool("b"))
			back.want("+a +b")
			if got, err := p.Of("s"); err != nil || got.Identity != "/bin/s" {
				t.Errorf("got %+v, %v, want what it is reached by now", got, err)
			}
		})
	}
	for _, tt := range []struct {
		name string
		way  func(*Server)
		open int
	}{
		{"other arguments in the same folder: the question about the old ones is withdrawn", func(s *Server) { s.Command = []string{"/bin/s", "--more"} }, 1},
		{"another folder: the question of the first is open still", func(s *Server) { s.Dir = os.TempDir() }, 2},
	} {
		t.Run("M4 "+tt.name, func(t *testing.T) {
			dir, inbox := t.TempDir(), new(policy.Memory)
			s := reachedBy(t, dir, inbox, asItIs, saysThat("a", "1"))
			s.now(saysThat("a", "2"))
			old := open(t, inbox)
			closeHub(t, s.h)
			reachedBy(t, dir, inbox, tt.way, saysThat("a", "3"))
			all := open(t, inbox)
			if len(old) != 1 || len(all) != tt.open || (tt.open == 1) != (all[0].ID != old[0].ID) {
				t.Errorf("got %+v after %+v, want %d", all, old, tt.open)
			}
		})
	}
	t.Run("M4 the same tools in another folder: nothing is asked", func(t *testing.T) {
		dir, inbox := t.TempDir(), new(policy.Memory)
		reachedBy(t, dir, inbox, asItIs, plainTool("a"))
		other := reachedBy(t, dir, inbox, func(s *Server) { s.Dir = dir }, plainTool("a"))
		other.want("+a")
		if all := open(t, inbox); len(all) != 0 {
			t.Errorf("got %+v, want no question", all)
		}
	})
	t.Run("M4 what was left out stays out in another version, and nobody has answered for that", func(t *testing.T) {
		dir := t.TempDir()
		one := reachedBy(t, dir, nil, asItIs, plainTool("a"), plainTool("b"))
		settled(t, one.h, PinAnswer{Said: "out", Out: []string{"b"}})
		two := reachedBy(t, dir, nil, func(s *Server) { s.Command = []string{"/bin/s", "--new"} }, plainTool("a"), plainTool("b"))
		two.want("+a -b")
		if known, err := two.h.Pinned("s"); err != nil || known.Answer == nil || !known.Answer.Earlier {
			t.Errorf("got %+v, %v, want an answer for what it was before", known.Answer, err)
		}
		settled(t, two.h, PinAnswer{Said: "reads"})
		three := reachedBy(t, dir, nil, func(s *Server) { s.Command = []string{"/bin/s", "--newer"} }, plainTool("a"), plainTool("b"))
		three.want("+a +b")
		if known, err := three.h.Pinned("s"); err != nil || known.Answer != nil {
			t.Errorf("got %+v, %v, want none: it left nothing out", known.Answer, err)
		}
	})
	t.Run("M4 what was known before and cannot be read blocks", func(t *testing.T) {
		dir := t.TempDir()
		s := reachedBy(t, dir, nil, asItIs, plainTool("a"))
		closeHub(t, s.h)
		if err := os.WriteFile(s.h.server("s").pinFile(), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		other := reachedBy(t, dir, nil, func(s *Server) { s.Dir = dir }, plainTool("a"))
		other.want("-a")
		if why := other.why("a"); !strings.Contains(why, "reached in another way before") || !strings.Contains(why, "take the file away") {
			t.Errorf("got %q, want what is wrong and what to do", why)
		}
	})
	t.Run("M4 of many ways the last are kept, and nothing of a write that was cut off", func(t *testing.T) {
		dir := t.TempDir()
		left := filepath.Join(dir, "s.0123456789ab.json.1.tmp")
		others := filepath.Join(dir, "other.0123456789ab.json.1.tmp")
		for _, path := range []string{left, others} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := range maxWays + 3 {
			s := reachedBy(t, dir, nil, func(s *Server) { s.Command = []string{"/bin/s", fmt.Sprint(i)} }, plainTool("a"))
			s.want("+a")
			closeHub(t, s.h)
		}
		files, err := (&Pins{Dir: dir}).files()
		if err != nil || len(files) != maxWays {
			t.Errorf("got %d files, %v, want %d", len(files), err, maxWays)
		}
		if _, err := os.Stat(left); err == nil {
			t.Error("got what was left of a write, want it gone")
		}
		if _, err := os.Stat(others); err != nil {
			t.Errorf("got %v, want the file of another server left alone", err)
		}
		locks, err := filepath.Glob(filepath.Join(dir, "*.lock"))
		if err != nil || len(locks) != 1 {
			t.Errorf("got %q, %v, want one", locks, err)
		}
	})
}

// TestPinsOfTwo is about two processes whose server tells each something else.
func TestPinsOfTwo(t *testing.T) {
	for _, tt := range []struct {
		name, a, b  string
		told        []string // what b's server says
		answer      func(*Pins, Pinned) error
		stateAtLast PinState
	}{
		{"a tool less", "+a +b", "+a", []string{saysThat("a", "1")}, nil, PinGone},
		{"another description", "+a +b", "+a -b", []string{saysThat("a", "1"), saysThat("b", "2")}, nil, PinChanged},
		{
			"another description that is rejected", "+a +b", "+a -b",
			[]string{saysThat("a", "1"), saysThat("b", "2")},
			func(p *Pins, shown Pinned) error { return p.Reject(shown, "ada") }, PinChanged,
		},
		{
			"another description that is accepted", "+a -b", "+a +b",
			[]string{saysThat("a", "1"), saysThat("b", "2")},
			func(p *Pins, shown Pinned) error { return p.Accept(shown, "ada") }, PinAccepted,
		},
		{"a tool more", "+a +b", "+a +b *c", []string{saysThat("a", "1"), plainTool("b"), plainTool("c")}, nil, PinAccepted},
	} {
		t.Run("M4 "+tt.name, func(t *testing.T) {
			dir, inbox := t.TempDir(), new(policy.Memory)
			a, b := pinnedServer(t, dir, inbox, saysThat("a", "1"), plainTool("b")), pinnedServer(t, dir, inbox, tt.told...)
			start(t, a.h)
			start(t, b.h)
			p := &Pins{Dir: dir}
			if tt.answer != nil {
				shown, err := p.Of("s")
				if err == nil {
					err = tt.answer(p, shown)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			judge := func() []byte { // as happens when the file is another
				for _, s := range []*shifting{a, b} {
					s.h.server("s").repin(t.Context())
				}
				text, err := os.ReadFile(a.h.server("s").pinFile())
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
			first, asked := judge(), open(t, inbox)
			for range 3 {
				if again := judge(); string(again) != string(first) {
					t.Errorf("got %s, want it as it was: %s", again, first)
				}
			}
			if again := open(t, inbox); !slices.EqualFunc(again, asked, func(x, y policy.Question) bool { return x.ID == y.ID }) {
				t.Errorf("got %+v, want the same questions: %+v", again, asked)
			}
			a.want(tt.a)
			b.want(tt.b)
			if shown, err := p.Of("s"); err != nil || shown.Tools[1].State != tt.stateAtLast {
				t.Errorf("got %+v, %v, want b %s", shown.Tools, err, tt.stateAtLast)
			}
			if why := a.why("b"); why != "" && !strings.Contains(why, "something else to another process") {
				t.Errorf("got %q, want why nobody is asked", why)
			}
		})
	}
}

func TestPinsOfOthers(t *testing.T) {
	t.Run("M4 a server whose pins take long holds up no other", func(t *testing.T) {
		s := &shifting{t: t, defs: []string{saysThat("a", "1")}}
		s.h = hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": s.list}}, "z": {methods: map[string]method{"tools/list": lists(plainTool("z"))}}})
		slices.SortFunc(s.h.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
		s.h.Pins = t.TempDir()
		start(t, s.h)
		s.now(saysThat("a", "2"))
		s.want("-a")
		slow := s.h.server("z")
		slow.pins.mu.Lock()
		defer slow.pins.mu.Unlock()
		p := &Pins{Dir: s.h.Pins}
		shown, err := p.Of("s")
		if err == nil {
			err = p.Accept(shown, "ada")
		}
		if err != nil {
			t.Fatal(err)
		}
		s.becomes("+a")
	})
}

func TestPinIDs(t *testing.T) {
	ids := make(map[string]bool)
	for range 100 {
		ids[newPinID()[:6]] = true // as much as a person must say of one
	}
	if len(ids) < 95 {
		t.Errorf("M4 got %d beginnings of 100 ids, want them all different", len(ids))
	}
}

func TestRenames(t *testing.T) {
	t.Run("M4 many tools of a megabyte are each read once", func(t *testing.T) {
		f := &pinFile{Server: "s"}
		form := func(i int) *pinForm {
			return &pinForm{Definition: []byte(fmt.Sprintf(`{"description":"%d","inputSchema":{"x":"%s%d"}}`, i, strings.Repeat("y", 100<<10), i))}
		}
		const n = 60
		for i := range n {
			f.Tools = append(f.Tools, pinEntry{Tool: fmt.Sprint("old", i), Gone: true, Accepted: form(i)}, pinEntry{Tool: fmt.Sprint("new", i), Waiting: form(n + i)})
		}
		f.Tools = append(f.Tools, pinEntry{Tool: "fetch", Waiting: form(7)})
		// Each definition is read once, not once for each other one.
		if made := testing.AllocsPerRun(1, f.renames); made > 20*n {
			t.Errorf("got %v allocations, want about 5 for each tool", made)
		}
		if got := f.Tools[2*n].Waiting.RenameOf; got != "old7" || f.Tools[1].Waiting.RenameOf != "" {
			t.Errorf("got %q and %q, want old7 and none", got, f.Tools[1].Waiting.RenameOf)
		}
	})
}
