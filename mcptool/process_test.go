package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// soon is how long a test waits for what must happen.
const soon = 40 * time.Second

func dial(t *testing.T, s Server, wanted era, log *slog.Logger) link {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	l, err := dialStdio(ctx, s, testIntroduction(), wanted, listener{}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

func wantEcho(t *testing.T, l link) {
	t.Helper()
	if got, err := l.do(t.Context(), "echo", json.RawMessage(`{"text":"hello"}`), nil); err != nil || string(got) != `{"text":"hello"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDialStdio(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		role   string
		era    string // of the configuration
		wanted era
		want   era
	}{
		{"M1 a server of both eras is spoken to in the one that is wanted: old", "both", "", oldEra, oldEra},
		{"M1 a server of both eras is spoken to in the one that is wanted: new", "both", "", newEra, newEra},
		{"M1 a server of the old era only", "old", "", newEra, oldEra},
		{"M1 a server of the new era only", "new", "", oldEra, newEra},
		{"M1 a server that is silent before initialize", "deaf", "", newEra, oldEra},
		{"M1 a server that ends when it is asked before initialize", "nervous", "", newEra, oldEra},
		{"M1 a server that prints before it speaks", "garbage", "", newEra, newEra},
		{"the configuration says the old era", "both", "2025", newEra, oldEra},
		{"the configuration says the new era", "both", "2026", oldEra, newEra},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := child(t, tt.role)
			s.Era = tt.era
			l := dial(t, s, tt.wanted, nil)
			if got := l.greeting().era; got != tt.want {
				t.Errorf("got era %d, want %d", got, tt.want)
			}
			wantEcho(t, l)
		})
	}
}

func TestDialStdioFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		server func(t *testing.T) Server
		want   string
	}{
		{"no command", func(*testing.T) Server { return Server{} }, "want a command"},
		{"no such program", func(*testing.T) Server { return Server{Command: []string{"/no/such/program"}} }, "no such"},
		{"an era that nobody knows", func(*testing.T) Server { return Server{Era: "1999"} }, `era: got "1999", want 2025 or 2026`},
		{"it ends at once, and says why", func(t *testing.T) Server { return child(t, "failing") }, "exit status 3; it wrote at last: DATABASE_URL is not set"},
		{"the era that is forced is not its own", func(t *testing.T) Server {
			s := child(t, "old")
			s.Era = "2026"
			return s
		}, errOtherEra.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := dialStdio(t.Context(), tt.server(t), testIntroduction(), newEra, listener{}, nil)
			if err == nil {
				l.close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("M1 a server that never answers is waited for as long as ctx", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := dialStdio(ctx, child(t, "silent"), testIntroduction(), oldEra, listener{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the time is over", err)
		}
	})
}

func TestChild(t *testing.T) {
	t.Parallel()
	t.Run("M6 a server that dies in the middle of a call may have done it", func(t *testing.T) {
		t.Parallel()
		l := dial(t, child(t, "both"), newEra, nil)
		_, err := l.do(t.Context(), "die", nil, nil)
		if err == nil || errors.Is(err, errUnsent) || !strings.Contains(err.Error(), "the server ended: exit status 7; it wrote at last: out of luck") {
			t.Errorf("got %v", err)
		}
		<-l.ended()
		if _, err := l.do(t.Context(), "echo", nil, nil); !errors.Is(err, errUnsent) {
			t.Errorf("got %v, want that it was not sent", err)
		}
	})
	t.Run("M1 a server that answers in another order", func(t *testing.T) {
		t.Parallel()
		l := dial(t, child(t, "both"), oldEra, nil)
		var all sync.WaitGroup
		for method, want := range map[string]string{"first": `{"n":1}`, "second": `{"n":2}`} {
			all.Go(func() {
				if got, err := l.do(t.Context(), method, nil, nil); err != nil || string(got) != want {
					t.Errorf("%s: got %s, %v, want %s", method, got, err, want)
				}
			})
		}
		all.Wait()
	})
	t.Run("M1 a server that prints garbage between its answers", func(t *testing.T) {
		t.Parallel()
		l := dial(t, child(t, "both"), oldEra, nil)
		for range 3 {
			if _, err := l.do(t.Context(), "garbage", nil, nil); err != nil {
				t.Error(err)
			}
		}
		wantEcho(t, l)
	})
	t.Run("M1 a call that is cancelled does not end the server", func(t *testing.T) {
		t.Parallel()
		l := dial(t, child(t, "both"), oldEra, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := l.do(ctx, "wait", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the time is over", err)
		}
		wantEcho(t, l)
	})
	t.Run("M1 a list that has changed is heard", func(t *testing.T) {
		t.Parallel()
		var r record
		l, err := dialStdio(t.Context(), child(t, "both"), testIntroduction(), oldEra, *r.listener(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		if _, err := l.do(t.Context(), "notify", nil, nil); err != nil {
			t.Error(err)
		}
		if got := strings.Join(r.lines, "|"); got != "notifications/tools/list_changed {}" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("M1 a long message", func(t *testing.T) {
		t.Parallel()
		l := dial(t, child(t, "both"), oldEra, nil)
		text := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
		if got, err := l.do(t.Context(), "echo", json.RawMessage(text), nil); err != nil || string(got) != text {
			t.Errorf("got %d bytes, %v, want %d", len(got), err, len(text))
		}
	})
	t.Run("stderr is logged, as far as it is not too much", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		l := dial(t, child(t, "both"), oldEra, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if _, err := l.do(t.Context(), "stderr", nil, nil); err != nil {
			t.Error(err)
		}
		l.close()
		got := out.String()
		if n := strings.Count(got, "wrote to stderr"); n != maxStderrLines {
			t.Errorf("got %d lines, want %d", n, maxStderrLines)
		}
		for _, want := range []string{"line=" + strings.Repeat("x", maxStderrLine) + "\n", "line=short\n", `line="line 97"`, "more to stderr than is logged\" lines=102"} {
			if !strings.Contains(got, want) {
				t.Errorf("the log lacks %s", short(want))
			}
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Setenv("FERRULE_TEST_SECRET", "hunter2")
	t.Setenv("LC_TIME", "de_DE")
	t.Setenv("LANG", "en_GB")
	s := child(t, "both", "GIVEN=1", "LANG=fr_FR")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = dir
	raw, err := dial(t, s, newEra, nil).do(t.Context(), "environ", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Env []string
		Dir string
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	t.Run("N2 a child finds what it was given, PATH, HOME and the locale", func(t *testing.T) {
		for _, want := range []string{"GIVEN=1", "LC_TIME=de_DE", "LANG=fr_FR", "PATH=" + os.Getenv("PATH")} {
			if !slices.Contains(got.Env, want) {
				t.Errorf("the environment lacks %s", want)
			}
		}
		for _, entry := range got.Env {
			key, _, _ := strings.Cut(entry, "=")
			if !slices.Contains([]string{"GIVEN", "PATH", "HOME", "LANG", "LANGUAGE", "PWD", childRole}, key) && !strings.HasPrefix(key, "LC_") {
				t.Errorf("the environment has %s", key)
			}
		}
	})
	if got.Dir != dir {
		t.Errorf("it runs in %s, want %s", got.Dir, dir)
	}
}
