package main

import (
	"strings"
	"testing"
)

func TestPeersWork(t *testing.T) {
	for _, p := range peers() {
		list, err := p.works(t.Context())
		if err != nil {
			t.Error(err)
			continue
		}
		for _, w := range list {
			if err := w.one(); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			if w.ratio != 0 || w.allocs != -1 {
				t.Errorf("%s has a bound", w.name)
			}
		}
		if v := p.version(); !strings.HasPrefix(v, "v") && v != "of this tree" {
			t.Errorf("%s: got the version %q of %s", p.name, v, p.module)
		}
	}
}

func TestRepliesAreRead(t *testing.T) {
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{`{"path":"x","count":4,"done":true}`, true},
		{`{"done":false,"count":0,"path":""}`, true},
		{`{"error":"no such file"}`, false},
		{`"done"`, false},
		{`null`, false},
		{``, false},
	} {
		if got, ok := (result{text: tt.text}).reply(); ok != tt.ok {
			t.Errorf("%s: got %+v, %v, want %v", tt.text, got, ok, tt.ok)
		}
	}
}

func TestPeerTable(t *testing.T) {
	one, ten := row{Ratio: 2, Allocs: 30}, row{Ratio: 15.5, Allocs: 210}
	got := peerTable([]measured{
		{peer{name: "some", note: "by Run"}, one, ten, nil},
		{peer{name: "other", note: "by Do"}, one, ten, []row{{Ratio: 1.25, Allocs: 7}}},
	})
	want := "| some unknown version | 2.00, 30 | 1.55, 210 | by Run; each further call: 1.50 |\n" +
		"| other unknown version | 2.00, 30 | 1.55, 210 | by Do; each further call: 1.50; a call outside of a turn: 1.25, 7 |\n"
	if !strings.HasSuffix(got, "|---|\n"+want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
