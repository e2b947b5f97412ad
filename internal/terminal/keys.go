package terminal

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

const tooSmall = "the window is too small to show what would be allowed"

// key does what a key means where the screen looks.
func (s *screen) key(k tea.KeyPressMsg) tea.Cmd {
	s.note = ""
	switch s.look {
	case looksAtList:
		return s.listKey(k)
	case looksAtHelp:
		if !s.part.key(k.String(), len(s.help()), s.room()) {
			s.look = looksAtList
		}
		return nil
	default:
	}
	if s.gone {
		s.goneKey(k)
		return nil
	}
	switch s.look {
	case looksAtDenial:
		return s.written(k, "enter", func(text string) tea.Cmd {
			return s.answer(policy.Answer{Message: text}, "denied")
		})
	case looksAtReply:
		return s.written(k, "enter", func(text string) tea.Cmd {
			return s.answer(policy.Answer{Allow: true, Text: text}, "answered")
		})
	case looksAtEdit:
		return s.written(k, "ctrl+s", func(text string) tea.Cmd {
			input, err := edited(text)
			if err != nil {
				s.note = err.Error()
				return nil
			}
			return s.answer(policy.Answer{Allow: true, Input: input}, "allowed once, with the arguments as edited")
		})
	case looksAtRules:
		return s.ruleKey(k)
	case looksAtSecond:
		return s.secondKey(k)
	case looksAtList, looksAtHelp:
	}
	return nil
}

// goneKey is a key while an answer is made to what waits no more. It is no
// command: a text goes on being written until somebody has seen it.
func (s *screen) goneKey(k tea.KeyPressMsg) {
	switch k.String() {
	case "esc", "enter":
		s.look, s.gone = looksAtList, false
		s.note = "nothing was sent: " + goneText
		s.settleAt(s.was)
	default:
		if s.writes() {
			s.field.key(k)
		}
	}
}

// written is a key while a text is written.
func (s *screen) written(k tea.KeyPressMsg, send string, done func(string) tea.Cmd) tea.Cmd {
	switch k.String() {
	case send:
		return done(s.field.String())
	case "esc":
		s.look = looksAtList
	default:
		s.field.key(k)
	}
	return nil
}

func (s *screen) listKey(k tea.KeyPressMsg) tea.Cmd {
	switch key := k.String(); key {
	case "q":
		if s.busy {
			s.leaving = true
			return nil
		}
		return tea.Quit
	case "?", "h":
		s.look, s.part = looksAtHelp, page{}
	case "up", "k":
		s.choose(s.place() - 1)
	case "down", "j", "tab":
		s.choose(s.place() + 1)
	case "a", "s", "e", "d":
		return s.decide(key)
	default:
		s.page.key(key, len(s.detail()), s.room())
	}
	return nil
}

// decide begins an answer. It is about what was there long enough to be read,
// and a yes about what was shown whole.
func (s *screen) decide(key string) tea.Cmd {
	q, ok := s.question()
	switch {
	case !ok:
		s.note = "nothing waits"
		return nil
	case s.busy:
		s.note = "the answer before is still on its way"
		return nil
	case s.clock().Sub(s.moved) < settle:
		s.note = "it has moved: look again, then press " + key
		return nil
	case key == "d":
		s.look, s.about, s.field = looksAtDenial, q, newField("", false)
		return nil
	case s.small():
		s.note = tooSmall
		return nil
	case !s.allShown(&s.page, len(s.detail()), key):
		return nil
	}
	s.about = q
	switch {
	case key == "a" && q.Wants != "":
		s.look, s.field = looksAtReply, newField("", false)
	case key == "a":
		return s.answer(policy.Answer{Allow: true}, Once(q))
	case key == "e":
		s.look, s.field = looksAtEdit, newField(Pretty(q.Input), true)
		s.field.at = 0
	case len(q.Offers) == 0:
		s.note = "nothing is offered for longer than once"
	default:
		s.look, s.part, s.always = looksAtRules, page{}, false
		s.pick(0)
	}
	return nil
}

// allShown reports whether everything up to a line was on the screen. If not, it
// goes to what was jumped over; the key that asked does nothing for a moment.
func (s *screen) allShown(p *page, end int, key string) bool {
	if p.seen >= end {
		return true
	}
	s.note = "not all of it was shown yet: PgDn shows the rest, then press " + key
	if p.missed() {
		s.moved = s.clock()
		s.note = "this was not shown yet: read on with PgDn, then press " + key
	}
	return false
}

func (s *screen) ruleKey(k tea.KeyPressMsg) tea.Cmd {
	lines, _, end := s.rules()
	switch key := k.String(); key {
	case "esc", "q":
		s.look = looksAtList
	case "up", "k":
		s.pick(s.offer - 1)
	case "down", "j", "tab":
		s.pick(s.offer + 1)
	case "enter", "A", "shift+a":
		switch {
		case s.small():
			s.note = tooSmall
			return nil
		case s.clock().Sub(s.moved) < settle:
			s.note = "it has moved: look again, then press " + key
			return nil
		case !s.allShown(&s.part, end, key):
			return nil
		}
		if s.always = key != "enter"; s.about.Claims.Destructive() {
			s.look, s.part = looksAtSecond, page{}
			return nil
		}
		return s.last(false)
	default:
		if n, err := strconv.Atoi(key); err == nil {
			s.pick(n - 1)
		} else {
			s.part.key(key, len(lines), s.room())
		}
	}
	return nil
}

// pick chooses one of the rules that are offered.
func (s *screen) pick(offer int) {
	if offer < 0 || offer >= len(s.about.Offers) {
		return
	}
	s.offer = offer
	_, from, to := s.rules()
	s.part.aim(from, to, s.room())
}

func (s *screen) secondKey(k tea.KeyPressMsg) tea.Cmd {
	all := len(s.second())
	switch key := k.String(); {
	case s.part.key(key, all, s.room()):
	case key != "Y" && key != "shift+y":
		s.look, s.part = looksAtRules, page{}
		s.pick(s.offer)
	case s.small():
		s.note = tooSmall
	case s.clock().Sub(s.moved) < settle:
		s.note = "it has moved: look again, then press Y"
	case s.allShown(&s.part, all, "Y"):
		return s.last(true)
	}
	return nil
}

// last allows by the rule that was chosen.
func (s *screen) last(second bool) tea.Cmd {
	rule, text := s.about.Offers[s.offer], "allowed in this session: "
	if s.always {
		text = "allowed always: "
	}
	return s.answer(policy.Answer{Allow: true, Rule: rule, Always: s.always, Second: second}, text+Visible(rule))
}
