package terminal

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrule-dev/ferrule/policy"
)

// key does what a key means where the screen looks.
func (s *screen) key(k tea.KeyPressMsg) tea.Cmd {
	s.note = ""
	switch s.look {
	case looksAtHelp:
		s.look = looksAtList
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
		switch yes := k.String() == "Y" || k.String() == "shift+y"; {
		case yes && (s.small() || len(s.second()) > s.detailHeight()):
			s.note = "the window is too small to show what would be allowed"
		case yes:
			return s.last(true)
		default:
			s.look = looksAtRules
		}
	case looksAtList:
		return s.listKey(k)
	}
	return nil
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
		return tea.Quit
	case "?", "h":
		s.look = looksAtHelp
	case "up", "k":
		s.choose(s.place() - 1)
	case "down", "j", "tab":
		s.choose(s.place() + 1)
	case "pgdown", "space", " ":
		s.scroll += max(s.detailHeight()-1, 1)
	case "pgup":
		s.scroll -= max(s.detailHeight()-1, 1)
	case "home":
		s.scroll = 0
	case "end":
		s.scroll = len(s.detail())
	case "a", "s", "e", "d":
		return s.decide(key)
	}
	s.scroll = min(max(s.scroll, 0), max(len(s.detail())-s.detailHeight(), 0))
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
		s.note = "the list has moved: look again, then press " + key
		return nil
	case key == "d":
		s.look, s.field = looksAtDenial, newField("", false)
		return nil
	case s.small():
		s.note = "the window is too small to show what would be allowed"
		return nil
	case s.seen < len(s.detail()):
		s.note = "not all of it was shown yet: PgDn shows the rest, then press " + key
		return nil
	}
	switch {
	case key == "a" && q.Wants != "":
		s.look, s.field = looksAtReply, newField("", false)
	case key == "a":
		return s.answer(policy.Answer{Allow: true}, "allowed once")
	case key == "e":
		s.look, s.field = looksAtEdit, newField(Pretty(q.Input), true)
		s.field.at = 0
	case len(q.Offers) == 0:
		s.note = "nothing is offered for longer than once"
	default:
		s.look, s.offer, s.always = looksAtRules, 0, false
	}
	return nil
}

func (s *screen) ruleKey(k tea.KeyPressMsg) tea.Cmd {
	q, ok := s.question()
	if !ok {
		return nil
	}
	switch key := k.String(); key {
	case "esc", "q":
		s.look = looksAtList
	case "up", "k":
		s.offer = max(s.offer-1, 0)
	case "down", "j", "tab":
		s.offer = min(s.offer+1, len(q.Offers)-1)
	case "enter", "A", "shift+a":
		if s.always = key != "enter"; q.Claims.Destructive() {
			s.look = looksAtSecond
			return nil
		}
		return s.last(false)
	default:
		if n, err := strconv.Atoi(key); err == nil && n >= 1 && n <= len(q.Offers) {
			s.offer = n - 1
		}
	}
	return nil
}

// last allows by the rule that was chosen.
func (s *screen) last(second bool) tea.Cmd {
	q, ok := s.question()
	if !ok || s.offer >= len(q.Offers) {
		return nil
	}
	rule, text := q.Offers[s.offer], "allowed in this session: "
	if s.always {
		text = "allowed always: "
	}
	return s.answer(policy.Answer{Allow: true, Rule: rule, Always: s.always, Second: second}, text+Visible(rule))
}
