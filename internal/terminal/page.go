package terminal

// page is the part that is shown of a text which may be longer than the room for
// it, and how much of it has been.
type page struct {
	top  int // the first line that is shown
	seen int // all lines that must be read were shown up to here
}

// end is behind the last line that is shown. Where more follows, the last place
// is for saying so.
func (p *page) end(total, room int) int {
	if p.top+room >= total {
		return total
	}
	return p.top + max(room-1, 0)
}

// show takes down what is on the screen. A jump over lines does not count as
// having shown them.
func (p *page) show(total, room int) {
	p.top = min(max(p.top, 0), max(total-room, 0))
	if p.top <= p.seen {
		p.seen = max(p.seen, p.end(total, room))
	}
}

// aim begins to read the lines from one up to another, and brings them into view
// as far as there is room.
func (p *page) aim(from, to, room int) {
	p.seen = from
	p.top = min(max(p.top, to-max(room-1, 1)), from)
}

// key turns the page; ok is false for keys that mean something else.
func (p *page) key(key string, total, room int) (ok bool) {
	step := max(room-1, 1)
	switch key {
	case "pgdown", "space", " ":
		next := p.top + step
		if p.top <= p.seen { // there was less room before
			next = min(next, p.seen)
		}
		p.top = max(next, p.top)
	case "pgup":
		p.top -= step
	case "home":
		p.top = 0
	case "end":
		p.top = total
	default:
		return false
	}
	p.top = min(max(p.top, 0), max(total-room, 0))
	return true
}

// missed goes back to the first line that was jumped over.
func (p *page) missed() (jumped bool) {
	if p.top <= p.seen {
		return false
	}
	p.top = p.seen
	return true
}
