package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/tool"
)

// stage shows a run. What the model says goes to standard output; calls go to standard
// error, a line for each that runs, and one for each that has ended.
type stage struct {
	p     *program
	b     *board
	lays  bool // text is laid out above the lines of calls
	began time.Time

	line    string         // the raw line that the model has not ended
	printed int            // how much of what can be seen of it stands above the board
	thinks  bool           // it is a thought
	open    bool           // something of the line is printed, where nothing is laid out
	spoke   bool           // the model has said something
	last    block          // what was printed last
	calls   map[string]job // that have not ended
	next    int            // number of the next row
	turns   int
	count   int    // calls that have ended
	why     string // why it is over
	dry     bool   // nothing runs
	// unprinted is why an event could not be printed, and unkept why the conversation
	// could not be kept the last time.
	unprinted, unkept error
}

// block is what stands together: between two of different kinds is an empty line.
type block int

const (
	nothing block = iota
	saidBlock
	callBlock
)

// job is a call on its way.
type job struct {
	title, args string
	row         int
	silent      bool
	before      bool // it does not run: it is done already
}

// colour is a text in a colour, where there are some.
func (s *stage) colour(code, text string) string {
	if text == "" || !s.p.coloured(s.p.stderr) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}

// Colours, of which nothing is said alone.
const (
	faint = "2"
	green = "32"
	red   = "31"
)

// show takes an event. It is called while the board prints.
func (s *stage) show(e agent.Event) {
	id := e.Inside + "/" + callID(e)
	if e.Kind != agent.Asking {
		s.drop(e.Inside + "/asking")
	}
	switch e.Kind {
	case agent.Asking:
		s.start(e.Inside+"/asking", s.title(e, "the model"), "", false)
	case agent.Said, agent.Refused, agent.Thought:
		if e.Inside == "" {
			s.say(e.Text, e.Kind == agent.Thought)
		}
	case agent.Writing:
		s.endText()
		s.start(id, s.title(e, ""), "…", e.Silent)
	case agent.Called:
		s.endText()
		s.drop(id)
		s.start(id, s.title(e, ""), arguments(e.Call.Input), e.Silent)
	case agent.Changed:
		s.amend(id, e)
	case agent.Started:
		s.restart(id, e)
	case agent.Joined:
		s.known(id, e)
		c := s.calls[id]
		c.before = true
		s.calls[id] = c
	case agent.Updated:
		s.hear(id, e.Update)
	case agent.Waits:
		s.note(id, "waits for an answer")
	case agent.Answered:
		s.note(id, "")
	case agent.Ended:
		s.end(id, e)
	case agent.Aside:
		s.tell("  "+s.colour(faint, terminal.Visible(s.title(e, ""))+" goes on in the background"), saidBlock)
	case agent.Turned:
		if s.endText(); e.Inside == "" {
			s.turns++
		}
	case agent.Noted:
		s.tell("  "+s.colour(faint, terminal.Visible(e.Text)), callBlock)
	case agent.Over:
		s.endText()
		if e.Inside == "" {
			s.b.rows, s.calls = nil, nil
		}
	}
}

func callID(e agent.Event) string {
	if e.Call == nil {
		return ""
	}
	return e.Call.ID
}

// title names what an event is about; inside another agent with that one's name.
func (s *stage) title(e agent.Event, name string) string {
	if name == "" && e.Call != nil {
		name = e.Call.Name
	}
	if e.Inside != "" {
		return e.Agent + ": " + name
	}
	return name
}

// start puts up a line.
func (s *stage) start(id, title, args string, silent bool) {
	if s.calls == nil {
		s.calls = make(map[string]job)
	}
	if old, known := s.calls[id]; known {
		s.remove(old.row)
	}
	s.next++
	s.calls[id] = job{title: title, args: args, row: s.next, silent: silent}
	if !silent {
		s.b.rows = append(s.b.rows, &row{index: s.next, name: title, args: args, began: time.Now()})
	}
}

// known makes sure that a call has a line: one of a tool that calls has none yet.
func (s *stage) known(id string, e agent.Event) {
	if _, known := s.calls[id]; !known {
		s.start(id, s.title(e, ""), "", e.Silent)
	}
}

// amend is a call that has other arguments now.
func (s *stage) amend(id string, e agent.Event) {
	s.known(id, e)
	c := s.calls[id]
	c.args = arguments(e.Call.Input)
	s.calls[id] = c
	if r := s.b.row(c.row); r != nil {
		r.args = c.args
	}
}

// restart is a call that begins to run: its time counts from now on.
func (s *stage) restart(id string, e agent.Event) {
	s.known(id, e)
	if r := s.b.row(s.calls[id].row); r != nil {
		r.began, r.message = time.Now(), ""
	}
}

// drop takes a line away.
func (s *stage) drop(id string) {
	if c, known := s.calls[id]; known {
		s.remove(c.row)
		delete(s.calls, id)
	}
}

func (s *stage) remove(index int) {
	s.b.rows = slices.DeleteFunc(s.b.rows, func(r *row) bool { return r.index == index })
}

func (s *stage) note(id, message string) {
	if r := s.b.row(s.calls[id].row); r != nil {
		r.message = message
	}
}

// hear takes what a call says while it runs.
func (s *stage) hear(id string, u *tool.Update) {
	r := s.b.row(s.calls[id].row)
	switch {
	case r == nil || u == nil:
		return
	case u.Progress:
		r.message = progressText(u)
	default:
		if text := strings.TrimSpace(u.Text); text != "" {
			r.message = text[strings.LastIndexByte(text, '\n')+1:]
		}
		return
	}
	if s.b.shows || time.Since(r.told) < hearEvery {
		return
	}
	r.told = time.Now()
	s.tell(terminal.Visible(r.name+": "+r.message), callBlock)
}

// end prints what came of a call: what the model wrote comes last, so that it moves
// nothing.
func (s *stage) end(id string, e agent.Event) {
	c, known := s.calls[id]
	if !known {
		c = job{title: s.title(e, ""), silent: e.Silent}
	}
	s.drop(id)
	if !c.before {
		s.count++
	}
	if c.silent {
		return
	}
	s.endText()
	mark, how := s.colour(green, "✓"), ""
	if e.Failure != "" {
		mark, how = s.colour(red, "✗"), " "+terminal.Visible(string(e.Failure))
	}
	if e.Took > 0 {
		how += " after " + roughly(e.Took)
	}
	var text string
	if e.Result != nil {
		text = tool.TextOf(e.Result.Content)
		if e.Failure == "" {
			how += ", " + sizeOf(len(text))
		}
	}
	switch {
	case c.before && e.Failure == "":
		mark, how = "·", ", done before"
	case c.before:
		how += ", done before"
	case s.dry && e.Failure == "":
		mark, how = "·", ", not run"
	}
	plain := terminal.Visible(c.title) + how
	line := plain
	if c.args != "" {
		room := s.width() - terminal.Columns(plain) - 4
		if !s.lays {
			room = 100
		}
		if room >= 8 {
			line += "  " + s.colour(faint, terminal.Cut(c.args, room))
		}
	}
	s.tell(mark+" "+line, callBlock)
	if (e.Failure != "" || s.dry) && e.Failure != tool.Aborted && text != "" { // that it was aborted is all there is to say
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		room := 400
		if s.lays {
			room = s.width() - 4
		}
		s.tell("  "+s.colour(faint, "│ "+terminal.Cut(terminal.Visible(first), room)), callBlock)
	}
}

// width is how many columns lines may take.
func (s *stage) width() int {
	w, _ := s.b.size()
	return max(w, 20)
}

// tell prints a line that is not the model's. Whatever is foreign in it can be seen
// already.
func (s *stage) tell(line string, as block) {
	if s.p.quiet {
		return
	}
	if s.lays && s.last == saidBlock && as == callBlock {
		s.p.errs.control("\n")
	}
	s.last, s.b.apart = as, false
	s.p.errs.control(line + "\n")
}

// say prints what the model says, as far as lines of it are whole. The rest stands on
// the board, above the calls.
func (s *stage) say(text string, thought bool) {
	if thought && !s.lays {
		return
	}
	if s.thinks != thought {
		s.endText()
	}
	s.thinks = thought
	if s.line == "" && s.printed == 0 && !s.open {
		if s.last != saidBlock { // empty lines at the beginning say nothing
			text = strings.TrimLeft(text, "\n")
		}
		if text == "" {
			return
		}
		if s.last == callBlock && (s.lays || s.spoke) {
			s.p.printf("\n")
		}
		s.spoke = true
		s.last, s.b.apart = saidBlock, s.lays
	}
	if !s.lays {
		s.p.printf("%s", text)
		s.open = !strings.HasSuffix(text, "\n")
		return
	}
	for {
		head, rest, whole := strings.Cut(text, "\n")
		s.line += head
		s.flow(whole)
		if !whole {
			return
		}
		text = rest
	}
}

// longLine is how long a line may be before it is broken off.
const longLine = 8 << 10

// flow lays the line out: what does not fit goes up, and all of it where it is whole.
func (s *stage) flow(whole bool) {
	whole = whole || len(s.line) > longLine
	seen := terminal.Visible(strings.ReplaceAll(s.line, "\t", "    "))
	// What comes later may change how something before it is shown: then no letter is
	// cut in two.
	from := min(s.printed, len(seen))
	for from < len(seen) && !utf8.RuneStart(seen[from]) {
		from++
	}
	parts := slices.Collect(wrap(seen[from:], s.width()))
	last := len(parts) - 1
	for _, part := range parts[:last] {
		s.put(part)
		s.printed += len(part)
	}
	s.b.partial = s.dim(parts[last])
	if whole {
		s.put(parts[last])
		s.line, s.printed, s.b.partial = "", 0, ""
	}
}

func (s *stage) put(line string) { s.p.out.control(s.dim(strings.TrimRight(line, " ")) + "\n") }

// dim is how a line looks.
func (s *stage) dim(line string) string {
	if s.thinks {
		return s.colour(faint, line)
	}
	return line
}

// endText ends the line that the model has not ended.
func (s *stage) endText() {
	if s.line != "" {
		s.flow(true)
	}
	if s.open {
		s.p.printf("\n")
		s.open = false
	}
	if s.last == saidBlock && s.lays && s.thinks {
		s.last, s.thinks = callBlock, false // what it says next stands apart
	}
}

// sum says in a line what the run was.
func (s *stage) sum(name string) {
	if !s.lays || s.p.quiet {
		return
	}
	s.p.errs.control("\n" + s.colour(faint, fmt.Sprintf("%s: %s, %s, %s", name, plural(int64(s.turns), "turn", "turns"), plural(int64(s.count), "call", "calls"), roughly(time.Since(s.began)))) + "\n")
}

// arguments are those of a call in a line that can be printed: the values of a short
// object by their names.
func arguments(input json.RawMessage) string {
	const most = 200
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return terminal.Brief(string(input), most)
	}
	var list []string
	for name, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if len(fields) == 1 { // it needs no name
			return terminal.Brief(text, most)
		}
		list = append(list, terminal.Brief(name, most)+"="+terminal.Brief(text, most))
	}
	// What is short says most: the name of a file, before what is to be written to it.
	slices.SortFunc(list, func(a, b string) int {
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return terminal.Brief(strings.Join(list, " "), most)
}

// sizeOf is how much text there is, in words.
func sizeOf(n int) string {
	switch {
	case n < 1000:
		return plural(int64(n), "byte", "bytes")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}
