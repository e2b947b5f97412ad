package mcptool

import (
	"encoding/json"
	"slices"
	"testing"
)

// The tests here are of what must not get past the rules.

func TestGatewayNotificationsOfClients(t *testing.T) {
	t.Parallel()
	methods := func(ts *testServer) []string {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		var all []string
		for _, m := range ts.got {
			if m.isNotification() {
				all = append(all, m.method)
			}
		}
		return all
	}
	server := func() *testServer {
		return &testServer{old: true, methods: map[string]method{
			"tools/list": lists(plainTool("t")),
			"tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil },
		}}
	}
	tell := func(t *testing.T, servers map[string]*testServer, ts *testServer) []string {
		t.Helper()
		k := meet(t, gatewayOf(t, allowing(), servers), oldEra)
		k.must("tools/call", `{"name":"s__t"}`) // now it has a connection
		for _, method := range []string{"tools/call", "Tools/Call", " notifications/x", "notifications/tasks/status", "notifications/x", "notifications/roots/list_changed"} {
			k.c.handle(t.Context(), message{method: method, params: json.RawMessage(`{"name":"t"}`)}, nil)
		}
		ts.await(t, "notifications/roots/list_changed", 1)
		return slices.DeleteFunc(methods(ts), func(m string) bool { return m == notificationInitialized })
	}
	t.Run("M2 only notifications are passed on as such", func(t *testing.T) {
		t.Parallel()
		ts := server()
		if got, want := tell(t, map[string]*testServer{"s": ts}, ts), []string{"notifications/x", "notifications/roots/list_changed"}; !slices.Equal(got, want) {
			t.Errorf("the server was told %q, want %q", got, want)
		}
	})
	t.Run("M2 one of two servers is not alone", func(t *testing.T) {
		t.Parallel()
		ts := server()
		if got, want := tell(t, map[string]*testServer{"s": ts, "r": server()}, ts), []string{"notifications/roots/list_changed"}; !slices.Equal(got, want) {
			t.Errorf("the server was told %q, want %q", got, want)
		}
	})
}
