package provider

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestReadError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   Error
	}{
		{"Anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, Error{529, "overloaded_error", "Overloaded", true, 0}},
		{"Anthropic refuses", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, Error{400, "invalid_request_error", "no", false, 0}},
		{"OpenAI", 429, `{"error":{"message":"slow","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, Error{429, "rate_limit_exceeded", "slow", true, 0}},
		{"OpenAI without a code", 400, `{"error":{"message":"no","type":"invalid_request_error","code":null}}`, Error{400, "invalid_request_error", "no", false, 0}},
		{"only money helps", 429, `{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`, Error{429, "insufficient_quota", "pay", false, 0}},
		{"Gemini", 503, `{"error":{"code":503,"message":"later","status":"UNAVAILABLE"}}`, Error{503, "UNAVAILABLE", "later", true, 0}},
		{"Gemini's array", 429, `[{"error":{"code":429,"message":"later","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"1.5s"}]}}]`, Error{429, "RESOURCE_EXHAUSTED", "later", true, 1500 * time.Millisecond}},
		{"a sentence", 404, `{"error":"model not found"}`, Error{404, "", "model not found", false, 0}},
		{"a detail", 422, `{"detail":"bad field"}`, Error{422, "", "bad field", false, 0}},
		{"other JSON", 500, `{"x":1}`, Error{500, "", `{"x":1}`, true, 0}},
		{"plain text", 502, " bad\n gateway ", Error{502, "", "bad gateway", true, 0}},
		{"a page", 504, "<!DOCTYPE html><html><head><TITLE>504 Gateway &amp; Time-out</TITLE></head><body>much</body></html>", Error{504, "", "504 Gateway & Time-out", true, 0}},
		{"nothing", 408, "", Error{408, "", "request timeout", true, 0}},
		{"a conflict", 409, "", Error{409, "", "conflict", true, 0}},
		{"no rights", 401, "", Error{401, "", "unauthorized", false, 0}},
	} {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ReadError(tt.status, nil, []byte(tt.body)); *got != tt.want {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
		})
	}
	if got := ReadError(500, nil, []byte(strings.Repeat("é", 9000))); len(got.Text) > 500 || len(got.Text) < 490 {
		t.Errorf("got a text of %d bytes, want about 500", len(got.Text))
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "-1", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT", 0},
	} {
		if got := ReadError(429, http.Header{tt.name: {tt.value}}, nil).After; got != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
	in := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if got := ReadError(429, http.Header{"Retry-After": {in}}, nil).After; got < 50*time.Minute || got > time.Hour {
		t.Errorf("a date in an hour is %s", got)
	}
	if ReadError(500, http.Header{"X-Should-Retry": {"false"}}, nil).Again || !ReadError(400, http.Header{"X-Should-Retry": {"true"}}, nil).Again {
		t.Error("X-Should-Retry is not heeded")
	}
}
