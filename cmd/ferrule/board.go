package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/tool"
)

// board shows what runs. On a terminal that is a line for each call, below all
// that is printed; elsewhere it is a line when a call says how far it is.
type board struct {
	p      *program
	shows  bool // standard error is a terminal
	passes bool // what calls print is passed on as it comes
	quiet  bool // nothing is said but what is printed
	hushes bool // keys are not shown: somebody may press some for long
	alone  bool // there is one call, which needs no number
	run    bool // calls have no numbers, and are told by their arguments

	asked chan question // that were put, where somebody looks at them here
	tell  bool          // of questions it is told where they are answered

	mu       sync.Mutex
	rows     []*row // of calls that run, in their order
	over     map[int]bool
	streamed strings.Builder // what was passed on
	changed  sync.Cond       // a call has ended
	partial  string          // the line of a text that has not ended: it stands above the rows
	apart    bool            // an empty line stands above the rows
	drawn    int             // lines that are on the screen
	open     bool            // what was printed last does not end its line
	away     bool            // something else has the screen
	frame    int
	stop     chan struct{}
	stopped  sync.WaitGroup
}

// question is one that was put.
type question struct {
	id, tool string
	wants    bool // an answer in words
}

// questionOf is the question of an event, about the tool as models call it, whichever
// way it was called.
func questionOf(e audit.Event) question {
	return question{e.Question, e.Request.Name, e.Request.Tool != nil && e.Request.Tool.NeedsUser}
}

// row is a call that runs.
type row struct {
	index   int
	name    string
	args    string // as they are printed; "": they are not
	work    bool   // it is no call, but something else that takes its time
	covered int    // lines that are shown in the place of this one
	began   time.Time
	message string
	told    time.Time // when the message was last printed, where that is a line
}

// How often lines are drawn, how long a call runs before it has one, and how often
// a call is heard where each message is a line that stays.
const (
	drawEvery  = 100 * time.Millisecond
	drawAfter  = time.Second
	hearEvery  = time.Second
	maxAsked   = 1024 // questions that nobody has looked at
	lastEvents = time.Second
)

// board makes one for calls. passes says that what calls print is passed on.
func (p *program) board(passes, quiet bool) *board {
	b := p.newBoard()
	b.passes, b.quiet, b.hushes = passes, quiet || p.quiet, true
	b.shows = b.shows && !b.quiet
	p.at.Store(b)
	if b.shows {
		b.hush()
		b.stopped.Go(b.turn)
	}
	return b
}

// newBoard is one that does not move yet.
func (p *program) newBoard() *board {
	b := &board{
		p: p, shows: terminal.Is(p.stderr) && !p.quiet && !p.dumb(), quiet: p.quiet,
		asked: make(chan question, maxAsked), over: make(map[int]bool), stop: make(chan struct{}),
	}
	b.changed.L = &b.mu
	return b
}

// hush has keys not be shown among the lines.
func (b *board) hush() {
	if b.shows && b.hushes {
		b.p.hush.begin(b.p.stdin)
	}
}

// silence is a terminal that does not show what is typed. The zero value shows it. It is
// safe for concurrent use.
type silence struct {
	mu   sync.Mutex
	undo func() // nil: it is shown
}

func (s *silence) begin(in any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.undo == nil {
		s.undo = terminal.Silence(in)
	}
}

func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.undo != nil {
		s.undo()
		s.undo = nil
	}
}

// turn draws the lines again and again.
func (b *board) turn() {
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
			b.mu.Lock()
			still := len(b.rows) == 0 && b.drawn <= 1 // there is nothing that moves
			b.mu.Unlock()
			if !still {
				b.print(func() { b.frame++ })
			}
		}
	}
}

// hide takes the lines away for good.
func (b *board) hide() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.makeWay()
}

// makeWay takes the lines away, and has keys be shown again.
func (b *board) makeWay() {
	b.erase()
	b.away = true
	b.p.hush.end()
}

// close ends the board.
func (b *board) close() {
	b.p.at.CompareAndSwap(b, nil)
	close(b.stop)
	b.stopped.Wait()
	b.hide()
}

// leave gives the screen to something else: the lines are taken away, and what is
// printed waits until comeBack.
func (b *board) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.makeWay()
	wait := new(held)
	b.p.out.wait, b.p.errs.wait = wait, wait
}

func (b *board) comeBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := b.p.out.wait
	b.p.out.wait, b.p.errs.wait, b.away = nil, nil, false
	for _, h := range wait.list {
		h.to.control(h.text)
	}
	b.hush()
}

// yield takes the lines away while f has the screen, and prints on it.
func (b *board) yield(f func()) {
	b.mu.Lock()
	b.makeWay()
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.away = false
		b.hush()
	}()
	f()
}

// print has f print above the lines.
func (b *board) print(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	f()
	b.draw()
}

// observe is told what happens.
func (b *board) observe(e audit.Event) {
	if e.Request == nil {
		return
	}
	switch e.Kind { //nolint:exhaustive // of the others nothing is shown
	case audit.Started:
		b.print(func() { b.start(e.Request) })
	case audit.Updated:
		b.print(func() { b.heard(e.Request, e.Update) })
	case audit.Ended:
		b.print(func() { b.end(e.Request.Index) })
	case audit.Asked:
		q := questionOf(e)
		if b.tell {
			b.print(func() { b.p.sayWhere(q) })
			return
		}
		select {
		case b.asked <- q:
		default: // they are being looked at
		}
	}
}

func (b *board) start(r *tool.Request) {
	if b.row(r.Index) != nil { // it runs once more
		return
	}
	b.rows = append(b.rows, &row{index: r.Index, name: r.CalledAs, began: time.Now()})
	slices.SortFunc(b.rows, func(x, y *row) int { return x.index - y.index })
}

func (b *board) row(index int) *row {
	if i := slices.IndexFunc(b.rows, func(r *row) bool { return r.index == index }); i >= 0 {
		return b.rows[i]
	}
	return nil
}

func (b *board) end(index int) {
	b.rows = slices.DeleteFunc(b.rows, func(r *row) bool { return r.index == index })
	b.over[index] = true
	b.changed.Broadcast()
}

// wait waits until all that a call has said is shown: it may come after its
// result.
func (b *board) wait(index int) {
	late := time.AfterFunc(lastEvents, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.over[index] = true
		b.changed.Broadcast()
	})
	defer late.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.over[index] {
		b.changed.Wait()
	}
}

// heard takes what a call says while it runs.
func (b *board) heard(r *tool.Request, u *tool.Update) {
	if u == nil {
		return
	}
	if u.Text != "" && b.passes {
		b.pass(u)
	}
	row := b.row(r.Index)
	switch {
	case row == nil:
		return
	case !u.Progress:
		if text := strings.TrimSpace(u.Text); b.shows && !b.passes && text != "" {
			row.message = text[strings.LastIndexByte(text, '\n')+1:] // the last line that it printed
		}
		return
	}
	row.message = progressText(u)
	if b.shows || b.quiet || time.Since(row.told) < hearEvery {
		return
	}
	row.told = time.Now()
	fmt.Fprintf(b.p.errs, "%s: %s\n", b.title(row), terminal.Visible(row.message))
}

// title names a call.
func (b *board) title(r *row) string {
	if b.alone || b.run || r.work {
		return terminal.Visible(r.name)
	}
	return fmt.Sprintf("%d %s", r.index+1, terminal.Visible(r.name))
}

// pass passes on what a call prints.
func (b *board) pass(u *tool.Update) {
	to := b.p.out
	if u.Stream == "stderr" {
		to = b.p.errs
	}
	if u.Missed > 0 {
		fmt.Fprintf(b.p.errs, "[%d bytes before this were not shown]\n", u.Missed)
	}
	fmt.Fprint(to, u.Text)
	b.streamed.WriteString(u.Text)
	b.open = !strings.HasSuffix(u.Text, "\n")
}

// passed is what was passed on, and whether it ends its line.
func (b *board) passed() (text string, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.streamed.String(), b.open
}

// progressText is how far a call is, in words.
func progressText(u *tool.Update) string {
	text := u.Message
	switch {
	case u.Total > 0:
		text = strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*min(max(u.Current/u.Total, 0), 1), text))
	case u.Current > 0 && text == "":
		text = fmt.Sprintf("%g", u.Current)
	}
	return text
}

// erase takes the lines off the screen.
func (b *board) erase() {
	if b.drawn > 0 {
		b.p.errs.write(fmt.Sprintf("\x1b[%dA\r\x1b[J", b.drawn))
	}
	b.drawn = 0
}

// draw puts them there, if there is room: below whole lines only.
func (b *board) draw() {
	if !b.shows || b.away || b.open {
		return
	}
	width, height := b.size()
	var lines []string
	if b.partial != "" {
		lines = append(lines, b.partial)
	}
	apart := b.apart
	for _, r := range b.rows {
		if took := time.Since(r.began); took >= drawAfter && r.covered == 0 {
			if apart {
				lines, apart = append(lines, ""), false
			}
			lines = append(lines, b.line(r, took, width))
		}
	}
	if most := max(height-2, 1); len(lines) > most {
		more := fmt.Sprintf("… and %d more", len(lines)-most+1)
		lines = append(lines[:most-1:most-1], terminal.Cut(more, width))
	}
	for _, l := range lines {
		b.p.errs.write(l + "\n")
	}
	b.drawn = len(lines)
}

// size is how large the screen is. The last column stays free: some terminals
// break the line there.
func (b *board) size() (width, height int) {
	width, height = 80, 24
	if f, ok := b.p.stderr.(*os.File); ok {
		if w, h, err := term.GetSize(f.Fd()); err == nil && w > 1 && h > 0 {
			width, height = w, h
		}
	}
	return width - 1, height
}

// line is a row as it is drawn. How long it runs comes first, so that nothing
// moves when the message changes.
func (b *board) line(r *row, took time.Duration, width int) string {
	spinner := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	text := fmt.Sprintf("%c %s %s  %s", spinner[b.frame%len(spinner)], elapsed(took), b.title(r), terminal.Visible(strings.Join(strings.Fields(r.message), " ")))
	if r.args != "" {
		text = strings.TrimRight(text, " ") + "  " + r.args
	}
	return terminal.Cut(strings.TrimRight(text, " "), width)
}

// elapsed is a time that always takes six columns.
func elapsed(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%5.1fs", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%2dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%2dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
