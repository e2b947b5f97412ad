package main

import (
	"slices"
	"time"
)

// busy says what takes its time, on a terminal and after a second: how long it takes is
// shown with it, on standard error. It is gone when done is called, and where anything
// else is printed. Who does many things calls it for each.
func (p *program) busy(text string) (done func()) {
	if b := p.at.Load(); b != nil {
		return b.busy(text)
	}
	b := p.newBoard()
	if !b.shows || !p.at.CompareAndSwap(nil, b) {
		return func() {}
	}
	// What is printed is read, and not what comes before it.
	p.out.before, p.errs.before = b.hide, b.hide
	end := b.busy(text)
	b.stopped.Go(b.turn)
	return func() {
		end()
		b.close()
		p.out.before, p.errs.before = nil, nil
	}
}

// busy puts up a line, below those of calls.
func (b *board) busy(text string) (done func()) {
	if !b.shows {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	hidden := b.away
	if !b.hushes { // it is not for calls: what was printed is whole
		b.away = false
		// There is one line: of what is done within something else.
		for _, r := range b.rows {
			r.covered++
		}
	}
	r := &row{index: -1, name: text, work: true, began: time.Now()}
	b.rows = append(b.rows, r)
	return func() {
		b.print(func() {
			b.rows = slices.DeleteFunc(b.rows, func(o *row) bool { return o == r })
			if b.hushes {
				return
			}
			b.away = b.away || hidden
			for _, r := range b.rows {
				r.covered--
			}
		})
	}
}

// still takes away what says that something takes its time: from here on it waits for
// somebody, or something, that may take for ever.
func (p *program) still() {
	if b := p.at.Load(); b != nil && !b.hushes {
		b.hide()
	}
}

// endAtOnce leaves the terminal as it was: the program ends, whatever else runs.
func (p *program) endAtOnce() {
	if b := p.at.Load(); b != nil && b.mu.TryLock() {
		b.erase()
		b.away = true
		b.mu.Unlock()
	}
	p.hush.end()
}
