package builtin_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestAskUser(t *testing.T) {
	t.Parallel()
	choices := `{"question":"Which colour?","choices":["red","blue","7"]}`
	tests := []struct {
		name, input string
		answer      policy.Answer
		want        string
		kind        tool.Kind
	}{
		{"an answer in words", `{"question":"Which colour?"}`, policy.Answer{Allow: true, Text: " green, rather "}, "green, rather", ""},
		{"a choice by its number", choices, policy.Answer{Allow: true, Text: "2"}, "blue", ""},
		{"a choice by its number and a dot", choices, policy.Answer{Allow: true, Text: "1."}, "red", ""},
		{"a choice that is a number", choices, policy.Answer{Allow: true, Text: "7"}, "7", ""},
		{"words where there are choices", choices, policy.Answer{Allow: true, Text: "none of them"}, "none of them", ""},
		{"a number that is no choice", choices, policy.Answer{Allow: true, Text: "4"}, "4", ""},
		{"no words", choices, policy.Answer{Allow: true}, "the person gave no answer", tool.Failed},
		{"no answer", choices, policy.Answer{Message: "Not now."}, "Not now.", tool.Rejected},
	}
	for _, tt := range tests {
		t.Run("I5 "+tt.name, func(t *testing.T) {
			inbox := new(policy.Memory)
			asked := make(chan string, 1)
			rt := &ferrule.Runtime{Inbox: inbox, Observe: func(e audit.Event) {
				if e.Kind == audit.Asked {
					asked <- e.Question
				}
			}}
			view := attended(t, rt, builtin.AskUser{}.Tool)
			var person sync.WaitGroup
			person.Go(func() {
				id := <-asked
				q, err := inbox.Find(t.Context(), id)
				if err != nil || !strings.HasPrefix(q.Wants, "Which colour?") || strings.Contains(tt.input, "choices") != strings.HasSuffix(q.Wants, "\n1. red\n2. blue\n3. 7") {
					t.Errorf("the person reads %q (%v), want the question and its choices", q.Wants, err)
				}
				if err := inbox.Answer(t.Context(), id, tt.answer); err != nil {
					t.Error(err)
				}
			})
			res := view.Do(t.Context(), tool.Call{Name: "ask_user", Input: []byte(tt.input)})[0]
			person.Wait()
			kind := tool.Kind("")
			if res.Err != nil {
				kind = res.Err.Kind
			}
			if !strings.HasPrefix(res.String(), tt.want) || kind != tt.kind {
				t.Errorf("got %q (%s), want %q (%s)", res, kind, tt.want, tt.kind)
			}
		})
	}
	t.Run("I5 nobody is there", func(t *testing.T) {
		rt := &ferrule.Runtime{Inbox: new(policy.Memory)}
		ask, err := builtin.AskUser{}.Tool()
		if err := errors.Join(err, rt.Add(ask)); err != nil {
			t.Fatal(err)
		}
		res := rt.Session(tool.Caller{}).View(t.Context()).Do(t.Context(), tool.Call{Name: "ask_user", Input: []byte(choices)})[0]
		if res.Err == nil || res.Err.Kind != tool.NeedsUser {
			t.Errorf("got %v, want needs_user", res)
		}
	})
	t.Run("I5 two questions of a turn are shown together", func(t *testing.T) {
		inbox, asked := new(policy.Memory), make(chan string, 2)
		rt := &ferrule.Runtime{Inbox: inbox, Observe: func(e audit.Event) {
			if e.Kind == audit.Asked {
				asked <- e.Question
			}
		}}
		view := attended(t, rt, builtin.AskUser{}.Tool)
		var person sync.WaitGroup
		person.Go(func() {
			for _, id := range []string{<-asked, <-asked} { // none is answered before both are there
				if err := inbox.Answer(t.Context(), id, policy.Answer{Allow: true, Text: "yes"}); err != nil {
					t.Error(err)
				}
			}
		})
		call := tool.Call{Name: "ask_user", Input: []byte(choices)}
		for _, res := range view.Do(t.Context(), call, call) {
			if res.String() != "yes" {
				t.Errorf("got %q, want yes", res)
			}
		}
		person.Wait()
	})
	t.Run("I5 its name and description can be set", func(t *testing.T) {
		ask, err := builtin.AskUser{Name: "question", Description: "Ask."}.Tool()
		if err != nil || ask.Name != "question" || ask.Description != "Ask." || !ask.NeedsUser {
			t.Errorf("got %+v and %v, want both as they were set", ask, err)
		}
	})
}

func TestThink(t *testing.T) {
	t.Parallel()
	think, err := builtin.Think{}.Tool()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("A7 it returns its thought, and again, without anybody being asked", func(t *testing.T) {
		view := attended(t, new(ferrule.Runtime), builtin.Think{}.Tool)
		calls := slices.Repeat([]tool.Call{{Name: "think", Input: []byte(`{"thought":"First the tests."}`)}}, 20)
		for _, res := range view.Do(t.Context(), calls...) {
			if res.Err != nil || res.String() != "First the tests." {
				t.Errorf("got %v, want the thought", res)
			}
		}
	})
	t.Run("A7 it is pure", func(t *testing.T) {
		if think.Claims.SideEffect() != "pure" || !think.Silent || !think.Repeatable {
			t.Errorf("got %+v, want it pure, silent and repeatable", think.Info)
		}
	})
	t.Run("A7 name and description can be set", func(t *testing.T) {
		own, err := builtin.Think{Name: "scratch", Description: "Note something."}.Tool()
		if err != nil || own.Name != "scratch" || own.Description != "Note something." {
			t.Errorf("got %+v and %v, want both as they were set", own, err)
		}
		if think.Name != "think" || think.Description == "" {
			t.Errorf("got %q and %q, want its own", think.Name, think.Description)
		}
	})
}

// attended is a view of a session with a person, and one tool.
func attended(t *testing.T, rt *ferrule.Runtime, makes func() (*tool.Tool, error)) *ferrule.View {
	t.Helper()
	made, err := makes()
	if err := errors.Join(err, rt.Add(made)); err != nil {
		t.Fatal(err)
	}
	return rt.Session(tool.Caller{Attended: true}).View(context.WithoutCancel(t.Context()))
}
