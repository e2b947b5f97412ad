package cedar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy/cedar"
)

// What a number, a text or a list of the arguments is to a rule.
func TestArguments(t *testing.T) {
	t.Parallel()
	numbers := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	for _, tt := range []struct{ value, condition, want string }{
		{"5", "context.args.x == 5", "allow"},
		{"-5", "context.args.x == -5", "allow"},
		{"-0", "context.args.x == 0", "allow"},
		{"-0.000e7", "context.args.x == 0", "allow"},
		{"0e1000", "context.args.x == 0", "allow"},
		{"5.000", "context.args.x == 5", "allow"},
		{"0.5e1", "context.args.x == 5", "allow"},
		{"500E-2", "context.args.x == 5", "allow"},
		{"5e+0", "context.args.x == 5", "allow"},
		{"5.01", "context.args.x == 5", "deny"},
		{"5e-1", "context.args.x == 5", "deny"},
		{"9223372036854775807", "context.args.x == 9223372036854775807", "allow"},
		{"922337203685477580.7e1", "context.args.x == 9223372036854775807", "allow"},
		{"-9223372036854775808", "context.args.x == -9223372036854775808", "allow"},
		{"9223372036854775808", "context.args.x > 0", "deny"},
		{"-9223372036854775809", "context.args.x < 0", "deny"},
		{"1e19", "context.args.x > 0", "deny"},
		{"1e1000", "context.args.x > 0", "deny"},
		{"1e-1000", "context.args.x > 0", "deny"},
		{`"a\"}\\"`, `context.args.x == "a\"}\\"`, "allow"},
		{`"\ud83d\ude00"`, `context.args.x == "😀"`, "allow"},
		{`""`, `context.args.x == ""`, "allow"},
		{`[ ]`, `context.args.x == []`, "allow"},
		{`[ "a" , [ "]" , "," ] , { "b" : [ ] } ]`, `context.args.x == ["a", ["]", ","], {"b": []}]`, "allow"},
		{`{ "a" : "}" , "b\u0063" : true }`, `context.args.x == {"a": "}", "bc": true}`, "allow"},
		{`{}`, `context.args.x == {}`, "allow"},
		{numbers(4095), "context.args.x == [1]", "allow"},
		{numbers(4096), "context.args.x == [1]", "deny"},
		{`"` + strings.Repeat("a", 32<<10) + `"`, `context.args.x like "a*"`, "allow"},
		{`"` + strings.Repeat("a", 32<<10+1) + `"`, `context.args.x like "a*"`, "deny"}, // it would take too long
		{`{"a":"` + strings.Repeat("a", 32<<10+1) + `"}`, `context.args.x.a like "a*"`, "deny"},
		{`"` + strings.Repeat("a", 32<<10+1) + `"`, `context.args has x && context.args.v like "*x*"`, "allow"},
		{strings.Repeat("[", 60) + strings.Repeat("]", 60), "context.args.x.isEmpty()", "silent"},
		{strings.Repeat("[", 70) + strings.Repeat("]", 70), "context.args.x.isEmpty()", "deny"},
	} {
		s := set(t, cedar.Rules{}, "permit (principal, action, resource) when { "+tt.condition+" };")
		q := request(t, "a", fmt.Sprintf("\n{ \"w\" : { \"x\" : 7 } ,\t\"v\":\"\\\"x\\\":8\", \"x\" : %s , \"y\" : [ \"x\" ] }\r\n", tt.value))
		if got := s.Decide(q); got.Verdict.String() != tt.want {
			t.Errorf("S2 %.60s and %s: got %+v, want %s", tt.value, tt.condition, got, tt.want)
		}
	}
}
