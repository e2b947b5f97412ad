package mcptool

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/secret"
)

func TestHubScrubs(t *testing.T) {
	const key = "hunter2-hunter2-hunter2"
	t.Setenv("FERRULE_TEST_KEY", key)
	vault, err := secret.NewVault(map[string]secret.Entry{"key": {Source: secret.Env("FERRULE_TEST_KEY"), Tools: []string{"server:s"}}})
	if err != nil {
		t.Fatal(err)
	}
	var value string
	if err := vault.Use(t.Context(), "server:s", []string{"key"}, "key", func(b []byte) error {
		value = string(b)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := child(t, "blabbing", "API_KEY="+value)
	s.Name = "s"
	h := &Hub{
		Runtime: &ferrule.Runtime{Guard: unguarded(), Secrets: vault}, Servers: []Server{s},
		Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	start(t, h)
	why := h.Status()[0].Why
	closeHub(t, h)
	for what, got := range map[string]string{"the log": out.String(), "the status": why} {
		t.Run("K3 what a server says of its secrets is not in "+what, func(t *testing.T) {
			if strings.Contains(got, key[:5]) { // also cut
				t.Errorf("got %s", got)
			}
			if !strings.Contains(got, "[secret") {
				t.Errorf("got %s, want that there was one", got)
			}
		})
	}
	t.Run("K3 an attribute that is no text is looked through", func(t *testing.T) {
		out.Reset()
		h.log().With(slog.Any("a", []string{key})).Info(key, slog.Group("g", slog.Any("b", &Fault{Message: key})))
		if got := out.String(); strings.Contains(got, key) || strings.Count(got, "[secret key]") != 3 {
			t.Errorf("got %s, want it three times without the value", got)
		}
	})
}
