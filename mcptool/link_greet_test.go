package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func testIntroduction() introduction {
	return introduction{
		version: newVersion, info: json.RawMessage(`{"name":"tester","version":"2"}`), capabilities: json.RawMessage(`{"roots":{}}`),
	}
}

func TestGreet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		server *testServer
		era    era
		want   string // era, version, name; "": an error
		other  bool   // that says that the server has the other era
	}{
		{"M1 the old era", &testServer{old: true}, oldEra, `0 2025-11-25 {"name":"test","version":"1"}`, false},
		{"M1 the oldest version", &testServer{old: true, version: "2024-11-05"}, oldEra, `0 2024-11-05 {"name":"test","version":"1"}`, false},
		{"M1 the new era", &testServer{new: true}, newEra, `1 2026-07-28 {"name":"test","version":"1"}`, false},
		{"both, greeted in the old", &testServer{}, oldEra, `0 2025-11-25 {"name":"test","version":"1"}`, false},
		{"both, greeted in the new", &testServer{}, newEra, `1 2026-07-28 {"name":"test","version":"1"}`, false},
		{"M1 only the new era, greeted in the old", &testServer{new: true}, oldEra, "", true},
		{"M1 only the old era, greeted in the new", &testServer{old: true}, newEra, "", true},
		{"initialize answered with the new version", &testServer{version: newVersion}, oldEra, "", true},
		{"a version that nobody knows", &testServer{version: "1999-01-01"}, oldEra, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.instructions = "be kind"
			l := tt.server.pipe(t, listener{})
			said, err := greet(t.Context(), l, tt.era, testIntroduction())
			if tt.want == "" {
				if err == nil || errors.Is(err, errOtherEra) != tt.other {
					t.Errorf("got %v, want an error that says other era: %v", err, tt.other)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d %s %s", said.era, said.version, said.info); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if said.instructions != "be kind" || string(said.capabilities) != `{"tools":{"listChanged":true}}` {
				t.Errorf("got %q, %s", said.instructions, said.capabilities)
			}
			if tt.era == newEra {
				return
			}
			want := `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"tester","version":"2"}}`
			if got := tt.server.await(t, methodInitialize, 1); string(got.params) != want {
				t.Errorf("got %s, want %s", got.params, want)
			}
			tt.server.await(t, notificationInitialized, 1)
		})
	}
}

// A client of an old version is introduced with that.
func TestGreetVersion(t *testing.T) {
	t.Parallel()
	s := &testServer{}
	in := testIntroduction()
	in.version = "2025-03-26"
	said, err := greet(t.Context(), s.pipe(t, listener{}), oldEra, in)
	if err != nil || said.version != "2025-03-26" {
		t.Errorf("got %v, %v, want version 2025-03-26", said, err)
	}
}

// answers is a connection that answers with what a test says.
type answers func(method string) (json.RawMessage, error)

func (f answers) do(_ context.Context, method string, _ json.RawMessage, _ *listener) (json.RawMessage, error) {
	return f(method)
}
func (f answers) notify(context.Context, string, json.RawMessage) error { return nil }

func TestGreetFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection refused")
	tests := []struct {
		era   era
		err   error
		other bool
	}{
		{newEra, &Fault{Code: codeNoMethod}, true},
		{newEra, &Fault{Code: codeUnsupportedVersion}, true},
		{newEra, &Fault{Code: -32000, Message: "Server not initialized"}, true},
		{newEra, broken, false},
		{oldEra, &Fault{Code: codeNoMethod}, true},
		{oldEra, &Fault{Code: codeUnsupportedVersion}, true},
		{oldEra, &Fault{Code: codeInvalidParams}, true},
		{oldEra, &Fault{Code: codeInternal, Message: "no database"}, false},
		{oldEra, broken, false},
	}
	for _, tt := range tests {
		_, err := greet(t.Context(), answers(func(string) (json.RawMessage, error) { return nil, tt.err }), tt.era, introduction{})
		if !errors.Is(err, tt.err) || errors.Is(err, errOtherEra) != tt.other {
			t.Errorf("era %d, %v: got %v, want that it says other era: %v", tt.era, tt.err, err, tt.other)
		}
	}
	for _, result := range []string{`{}`, `{"supportedVersions":5}`, `{"supportedVersions":["2025-11-25"]}`} {
		_, err := greet(t.Context(), answers(func(string) (json.RawMessage, error) { return json.RawMessage(result), nil }), newEra, introduction{})
		if !errors.Is(err, errOtherEra) {
			t.Errorf("%s: got %v, want %v", result, err, errOtherEra)
		}
	}
}

func TestGreetEither(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		server *testServer
		first  era
		want   era
		took   time.Duration
	}{
		{"both, old wanted", &testServer{}, oldEra, oldEra, 0},
		{"both, new wanted", &testServer{}, newEra, newEra, 0},
		{"M1 only old, new wanted", &testServer{old: true}, newEra, oldEra, 0},
		{"M1 only new, old wanted", &testServer{new: true}, oldEra, newEra, 0},
		{"M1 silent before initialize, new wanted", &testServer{old: true, deaf: true}, newEra, oldEra, greetPatience},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				said, err := greetEither(t.Context(), tt.server.pipe(t, listener{}), tt.first, testIntroduction(), greetPatience)
				if err != nil || said.era != tt.want {
					t.Fatalf("got %v, %v, want era %d", said, err, tt.want)
				}
				if took := time.Since(begin); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
				if tt.want == oldEra {
					tt.server.await(t, notificationInitialized, 1)
				}
			})
		})
	}
	t.Run("without patience a server is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &testServer{old: true, deaf: true}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if _, err := greetEither(ctx, s.pipe(t, listener{}), newEra, testIntroduction(), 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want that the time is over", err)
			}
			if said, err := greetEither(t.Context(), (&testServer{old: true}).pipe(t, listener{}), newEra, testIntroduction(), 0); err != nil || said.era != oldEra {
				t.Errorf("got %v, %v, want the old era", said, err)
			}
		})
	})
	t.Run("a server that begins slowly is heard in the new era all the same", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, listener{})
			var said *greeting
			p.asks.Go(func() {
				var err error
				if said, err = greetEither(t.Context(), p.link, newEra, testIntroduction(), greetPatience); err != nil {
					t.Error(err)
				}
			})
			discover, initialize := p.hear(), p.hear()
			p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, initialize.id)
			p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, discover.id, (&testServer{}).discovered())
			p.asks.Wait()
			if said == nil || said.era != newEra {
				t.Errorf("got %v, want the new era", said)
			}
		})
	})
	// Whichever of the two answers is taken first, initialize is not sent again.
	for _, order := range []string{"discover first", "initialize first", "at once"} {
		t.Run("a server that speaks neither, "+order, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, listener{})
				var failed error
				p.asks.Go(func() { _, failed = greetEither(t.Context(), p.link, newEra, testIntroduction(), greetPatience) })
				discover, initialize := p.hear(), p.hear()
				noNew := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, discover.id)
				noOld := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no database"}}`, initialize.id)
				switch order {
				case "at once":
					p.say("[%s,%s]", noNew, noOld)
				case "initialize first":
					noNew, noOld = noOld, noNew
					fallthrough
				default:
					p.say("%s", noNew)
					synctest.Wait()
					p.say("%s", noOld)
				}
				p.asks.Wait()
				if failed == nil || !strings.Contains(failed.Error(), "no such method") || !strings.Contains(failed.Error(), "no database") || errors.Is(failed, errOtherEra) {
					t.Errorf("got %v, want both answers", failed)
				}
			})
		})
	}
	t.Run("ctx ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, listener{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p.asks.Go(func() { p.hear(); p.hear() })
			if _, err := greetEither(ctx, p.link, newEra, testIntroduction(), greetPatience); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want that the time is over", err)
			}
		})
	})
}
