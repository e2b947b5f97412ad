package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is what a provider says went wrong, in an answer or in the middle of a stream.
type Error struct {
	Status int    // of HTTP; 0: not known, as in a stream
	Code   string // the provider's own word: overloaded_error, rate_limit_exceeded
	Text   string // the provider's own sentence
	// Again: the same request may work later.
	Again bool
	After time.Duration // 0: no wish
}

// Error says it in a line.
func (e *Error) Error() string {
	switch {
	case e.Code == "" && e.Text == "":
		return "provider: an error without a text"
	case e.Code == "":
		return "provider: " + e.Text
	case e.Text == "":
		return "provider: " + e.Code
	}
	return "provider: " + e.Code + ": " + e.Text
}

// ReadError reads an answer of HTTP that says what went wrong, of any provider:
// JSON in the forms they use, plain text, or the page of a proxy. Header may be nil.
func ReadError(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status}
	if !e.fromJSON(body) {
		e.Text = plainText(body)
	}
	if e.Text == "" && e.Code == "" {
		e.Text = strings.ToLower(http.StatusText(status))
	}
	e.Again = mayWorkLater(e.Status, e.Code)
	switch header.Get("X-Should-Retry") { // what Anthropic and OpenAI say to their SDKs
	case "true":
		e.Again = true
	case "false":
		e.Again = false
	}
	if after := retryAfter(header, time.Now()); after > 0 {
		e.After = after
	}
	return e
}

// errorBody is what providers put into an error, in any of their forms.
type errorBody struct {
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a word or a number
	Status  json.RawMessage `json:"status"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Details []struct {
		RetryDelay string `json:"retryDelay"`
	} `json:"details"`
	Error json.RawMessage `json:"error"` // an object or a sentence
}

// fromJSON reads the forms that are JSON, and reports whether it was one.
func (e *Error) fromJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' { // as Gemini streams without events
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil || len(list) == 0 {
			return false
		}
		text = list[0]
	}
	if !isObject(text) {
		return false
	}
	var b errorBody
	_ = json.Unmarshal(text, &b) // what has another type than expected is left out
	if isObject(b.Error) {
		inner := errorBody{}
		_ = json.Unmarshal(b.Error, &inner)
		b = inner
	} else if s := jsonText(b.Error); s != "" {
		e.Code = jsonText(b.Code)
		e.Text = cmp.Or(jsonText(b.Message), s)
		return true
	}
	e.Code = cmp.Or(jsonText(b.Code), jsonText(b.Status), b.Type)
	e.Text = cmp.Or(jsonText(b.Message), jsonText(b.Detail))
	if n, err := strconv.Atoi(string(b.Code)); err == nil && e.Status == 0 && n >= 400 && n < 600 {
		e.Status = n
	}
	for _, d := range b.Details {
		if after, err := time.ParseDuration(d.RetryDelay); err == nil && after > 0 {
			e.After = after
		}
	}
	return e.Code != "" || e.Text != ""
}

// jsonText is a JSON string, or "" for any other value.
func jsonText(v json.RawMessage) string {
	var s string
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// plainText is what a body says that is no JSON: the title of a page, or its first
// words.
func plainText(body []byte) string {
	s := strings.ToValidUTF8(string(body[:min(len(body), 4096)]), "")
	if lower := strings.ToLower(s); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
		_, title, _ := cutFold(s, lower, "<title>")
		title, _, _ = strings.Cut(title, "<")
		s = html.UnescapeString(title)
	}
	s = strings.Join(strings.Fields(s), " ")
	const most = 500
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") // without half a letter
	}
	return s
}

// cutFold cuts s where its lower case has mark.
func cutFold(s, lower, mark string) (before, after string, found bool) {
	i := strings.Index(lower, mark)
	if i < 0 || len(lower) != len(s) {
		return s, "", false
	}
	return s[:i], s[i+len(mark):], true
}

// mayWorkLater reports whether the same request may work later.
func mayWorkLater(status int, code string) bool {
	switch strings.ToLower(code) {
	case "insufficient_quota", "billing_hard_limit_reached":
		return false // 429 as well, but only money helps
	case "overloaded_error", "rate_limit_error", "api_error", "timeout_error", // Anthropic
		"rate_limit_exceeded", "server_error", "server_is_overloaded", "slow_down", // OpenAI
		"resource_exhausted", "unavailable", "internal", "deadline_exceeded", "aborted": // Gemini
		if status == 0 {
			return true
		}
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		529: // Anthropic's overloaded
		return true
	}
	return false
}

// retryAfter is how long a server wants to be left alone.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms, time.Millisecond)
	}
	v := header.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return span(s, time.Second)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// span is n units, within a day: what is more or less than that is no wish to heed.
func span(n float64, unit time.Duration) time.Duration {
	if !(n > 0 && n <= float64(24*time.Hour/unit)) {
		return 0
	}
	return time.Duration(n * float64(unit))
}
