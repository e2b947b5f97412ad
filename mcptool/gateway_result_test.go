package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestGatewayLongResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long line of text\n", 5000)
	for _, e := range []era{oldEra, newEra} {
		t.Run("O5 a result that is too long is kept, and can be read, "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			ts := &testServer{methods: map[string]method{
				"tools/list": lists(plainTool("log")),
				"tools/call": func(*testCall) (json.RawMessage, error) {
					return setMembers(says(long), pair{"structuredContent", json.RawMessage(`{"text":` + string(quote(long)) + `}`)}), nil
				},
			}}
			rt := allowing()
			rt.Blobs = new(durable.Memory)
			k := meet(t, gatewayOf(t, rt, map[string]*testServer{"s": ts}), e)
			before := k.must("tools/list", `{}`)
			result := k.must("tools/call", `{"name":"s__log"}`)
			if got := callText(result); len(result) > 70_000 || !strings.Contains(got, "read_result") {
				t.Errorf("got %d bytes: %.100s", len(result), got)
			}
			if _, has := member(result, "structuredContent"); has {
				t.Error("structured content that was cut is there")
			}
			list, _ := member(result, "content")
			blocks, _ := items(list)
			link := blocks[len(blocks)-1]
			uri := textMember(link, "uri")
			if textMember(link, "type") != "resource_link" || !strings.HasPrefix(uri, keptScheme) {
				t.Fatalf("last block: got %s, want a link", link)
			}
			page := k.must("resources/read", `{"uri":"`+uri+`"}`)
			contents, _ := member(page, "contents")
			if parts, _ := items(contents); len(parts) != 1 || !strings.Contains(textMember(parts[0], "text"), "a long line of text\na long") || textMember(parts[0], "uri") != uri {
				t.Errorf("read %.200s", page)
			}
			handle := strings.TrimPrefix(uri, keptScheme)
			if got := callText(k.must("tools/call", fmt.Sprintf(`{"name":"read_result","arguments":{"handle":%q}}`, handle))); !strings.HasPrefix(got, `{"text":`) && !strings.HasPrefix(got, "a long") {
				t.Errorf("read_result: got %.100s", got)
			}
			if f := k.fails("resources/read", `{"uri":"`+keptScheme+`nope"}`); f.Code != codeInvalidParams {
				t.Errorf("got %+v", f)
			}
			if after := k.must("tools/list", `{}`); string(after) != string(before) {
				t.Error("M3 the list is another because something was kept")
			}
		})
	}
}

func TestGatewayUntouched(t *testing.T) {
	t.Parallel()
	text := func(s string) []tool.Content { return []tool.Content{tool.Text(s)} }
	failed := func(s string) *tool.Error { return &tool.Error{Kind: tool.Failed, Text: s} }
	for _, tt := range []struct {
		name string
		got  answered
		// What the runtime does to the very result that it got.
		change func(*tool.Result)
		want   bool
	}{
		{"M2 left as it is", answered{result: tool.Result{Content: text("a")}}, func(*tool.Result) {}, true},
		{"M2 a block changed in place", answered{result: tool.Result{Content: text("a")}}, func(r *tool.Result) { r.Content[0].Text = "b" }, false},
		{"M2 another block", answered{result: tool.Result{Content: text("a")}}, func(r *tool.Result) { r.Content = append(r.Content, tool.Text("b")) }, false},
		{"M2 a failure that was none", answered{result: tool.Result{Content: text("a")}}, func(r *tool.Result) { r.Err = failed("no") }, false},
		{"M2 a failure left as it is", answered{result: tool.Result{Content: text("a")}, err: failed("a")}, func(*tool.Result) {}, true},
		{"M2 a failure changed in place", answered{result: tool.Result{Content: text("a")}, err: failed("a")}, func(r *tool.Result) { r.Err.Text = "b" }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &dialogue{}
			d.finished(tt.got)
			res := tt.got.result
			if tt.got.err != nil {
				res.Err = tool.AsError(tt.got.err)
			}
			tt.change(&res)
			if got := d.got.untouched(&res); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestGatewayApproval(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan policy.Question, 1), make(chan policy.Answer, 1)
	rt := &ferrule.Runtime{
		Guard: unguarded(),
		Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Ask, Reason: "test"}, nil
		},
		Answer: func(ctx context.Context, q policy.Question) (policy.Answer, error) {
			asked <- q
			select {
			case a := <-answer:
				return a, nil
			case <-ctx.Done():
				return policy.Answer{}, ctx.Err()
			}
		},
	}
	ts := &testServer{methods: map[string]method{
		"tools/list": lists(plainTool("act")),
		"tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil },
	}}
	k := meet(t, gatewayOf(t, rt, map[string]*testServer{"s": ts}), oldEra)
	for _, tt := range []struct {
		name  string
		allow bool
		want  string
	}{{"a person allows it", true, "done"}, {"a person says no", false, "rejected"}} {
		t.Run("M2 "+tt.name, func(t *testing.T) {
			told := make(chan message, 8)
			done := make(chan *reply)
			go func() {
				done <- k.doAs(t.Context(), k.id(), "tools/call", `{"name":"s__act","_meta":{"progressToken":7}}`, func(m message) { told <- m })
			}()
			<-asked
			if m := <-told; m.method != "notifications/progress" || !strings.Contains(string(m.params), approvalText) || !strings.Contains(string(m.params), `"progressToken":7`) {
				t.Errorf("while it waits: got %s %s", m.method, m.params)
			}
			answer <- policy.Answer{Allow: tt.allow}
			r := <-done
			if got := callText(r.end.result); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if wrong, _ := member(r.end.result, "isError"); (string(wrong) == "true") == tt.allow {
				t.Errorf("isError: got %s", wrong)
			}
		})
	}
}

func TestGatewayApprovalTakesLong(t *testing.T) {
	t.Parallel()
	t.Run("M2 a client that waits for a person hears so every 15 s", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			rt := &ferrule.Runtime{
				Guard: unguarded(),
				Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
					return tool.Decision{Verdict: tool.Ask}, nil
				},
				Answer: func(ctx context.Context, _ policy.Question) (policy.Answer, error) {
					<-ctx.Done()
					return policy.Answer{}, ctx.Err()
				},
			}
			if err := rt.Add(echo(t)); err != nil {
				t.Fatal(err)
			}
			k := meet(t, gatewayOf(t, rt, nil), oldEra)
			told := 0
			done := make(chan *reply)
			go func() {
				done <- k.doAs(t.Context(), json.RawMessage("77"), "tools/call", `{"name":"echo","arguments":{"text":"a"},"_meta":{"progressToken":"p"}}`, func(message) { told++ })
			}()
			time.Sleep(3*approvalEvery + time.Second)
			synctest.Wait()
			k.c.handle(t.Context(), message{method: notificationCancelled, params: json.RawMessage(`{"requestId":77}`)}, nil)
			if r := <-done; r.end != nil || told != 4 {
				t.Errorf("told %d times, want 4; answer %+v", told, r.end)
			}
		})
	})
}

func TestGatewayProgress(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	count, err := tool.Spec[struct{}, string]{
		Info: tool.Info{Name: "count", Description: "Count.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		Run: func(ctx context.Context, _ struct{}) (string, error) {
			tool.From(ctx).Progress(1, 2, "half")
			<-next
			return "counted", nil
		},
	}.Tool()
	if err != nil {
		t.Fatal(err)
	}
	say, err := tool.Spec[struct{}, string]{
		Info: tool.Info{Name: "say", Description: "Say.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		Run: func(ctx context.Context, _ struct{}) (string, error) {
			for _, word := range []string{"one ", "two ", "three"} {
				if _, err := fmt.Fprint(tool.From(ctx).Stdout(), word); err != nil {
					return "", err
				}
			}
			return "said", nil
		},
	}.Tool()
	if err != nil {
		t.Fatal(err)
	}
	rt := &ferrule.Runtime{Guard: unguarded()}
	if err := rt.Add(count, say); err != nil {
		t.Fatal(err)
	}
	k := meet(t, gatewayOf(t, rt, nil), oldEra)
	t.Run("M2 progress of own tools reaches the client", func(t *testing.T) {
		told := make(chan message, 1)
		done := make(chan *reply)
		go func() {
			done <- k.doAs(t.Context(), k.id(), "tools/call", `{"name":"count","_meta":{"progressToken":"p"}}`, func(m message) { told <- m })
		}()
		if m := <-told; string(m.params) != `{"progressToken":"p","progress":1,"total":2,"message":"half"}` {
			t.Errorf("got %s", m.params)
		}
		close(next)
		if r := <-done; callText(r.end.result) != "counted" {
			t.Errorf("got %+v", r.end)
		}
	})
	t.Run("M2 and so does what they write", func(t *testing.T) {
		r := k.do(t.Context(), "tools/call", `{"name":"say","_meta":{"progressToken":"p"}}`)
		var all strings.Builder
		for _, m := range r.notes {
			all.WriteString(textMember(m.params, "message"))
		}
		if all.String() != "one two three" || len(r.notes) > 2 {
			t.Errorf("got %q in %d messages", all.String(), len(r.notes))
		}
	})
	t.Run("M2 progress may be wanted from the second request of a call on", func(t *testing.T) {
		asks, err := tool.Spec[struct{}, string]{
			Info: tool.Info{Name: "asks", Description: "Ask.", Claims: tool.Claims{ReadOnly: true, Local: true}},
			Run: func(ctx context.Context, _ struct{}) (string, error) {
				_, err := exchangeFrom(ctx).request(ctx, "elicitation/create", json.RawMessage(`{"message":"?"}`))
				tool.From(ctx).Progress(1, 2, "half")
				return "asked", err
			},
		}.Tool()
		if err != nil {
			t.Fatal(err)
		}
		rt := &ferrule.Runtime{Guard: unguarded()}
		if err := rt.Add(asks); err != nil {
			t.Fatal(err)
		}
		k := meet(t, gatewayOf(t, rt, nil), newEra)
		params := setMembers(json.RawMessage(comeBack("asks", k.hold("asks"))), pair{"_meta", json.RawMessage(`{"progressToken":"p"}`)})
		r := k.do(t.Context(), "tools/call", string(params))
		if len(r.notes) != 1 || textMember(r.notes[0].params, "message") != "half" {
			t.Errorf("got %v, want half", r.notes)
		}
	})
	t.Run("M2 who wants none is told none", func(t *testing.T) {
		if r := k.do(t.Context(), "tools/call", `{"name":"say"}`); len(r.notes) > 0 {
			t.Errorf("got %v", r.notes)
		}
	})
}
