package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// What a new user met first.

func TestSchemaOfAnotherType(t *testing.T) {
	type in struct {
		A string `json:"a"`
	}
	run := func(context.Context, in) (string, error) { return "", nil }
	t.Run("T2 a property that the Go type has no field for", func(t *testing.T) {
		_, err := tool.New(tool.Info{Name: "x", Description: "d", Input: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"}}}`)}, run)
		if err == nil || !strings.Contains(err.Error(), `property "b": tool_test.in has no field for it`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("T2 a schema that says more about the same fields", func(t *testing.T) {
		if _, err := tool.New(tool.Info{Name: "x", Description: "d", Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","maxLength":3}}}`)}, run); err != nil {
			t.Error(err)
		}
	})
	t.Run("T10 nanoseconds by mistake", func(t *testing.T) {
		_, err := tool.New(tool.Info{Name: "x", Description: "d", Timeout: 30}, run)
		if err == nil || !strings.Contains(err.Error(), "30*time.Second") {
			t.Errorf("got %v", err)
		}
		if _, err := tool.New(tool.Info{Name: "x", Description: "d", Timeout: time.Second}, run); err != nil {
			t.Error(err)
		}
	})
}

func TestArgsAreNotPrinted(t *testing.T) {
	x, err := tool.New(tool.Info{Name: "x", Description: "d"}, func(_ context.Context, in struct {
		A string `json:"a"`
	},
	) (string, error) {
		return in.A, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	args, err := x.Admit(json.RawMessage(`{"a":"hidden"}`))
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(tool.Request{Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("G4 printing or marshalling names them and does not show them", func(t *testing.T) {
		for _, text := range []string{fmt.Sprint(args), fmt.Sprintf("%s %+v", args, args), string(asJSON)} {
			if strings.Contains(text, "hidden") || !strings.Contains(text, "[arguments: 14 bytes]") {
				t.Errorf("got %s", text)
			}
		}
	})
}
