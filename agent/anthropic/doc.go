// Package anthropic is a model for package agent: Claude, through Anthropic's SDK.
//
//	a := &agent.Agent{Runtime: rt, Model: &anthropic.Model{Model: "claude-opus-4-5"}}
//
// The SDK finds the key (ANTHROPIC_API_KEY, or another of its ways), sends the request,
// and sends it again after 408, 409, 429 and 5xx and where the connection broke before
// anything came: twice, or as [option.WithMaxRetries] says, as long after as the server
// wishes. What is sent and what comes is written and read by [provider.Anthropic]; of the
// SDK's own types for content none is used.
//
// An address of one's own is an option, too:
//
//	&anthropic.Model{Options: []option.RequestOption{option.WithBaseURL("https://proxy.example/")}}
//
// Only ctx bounds how long an answer takes, and how long is waited to ask again;
// Idle bounds how long the server is silent.
//
// [option.WithMaxRetries]: https://pkg.go.dev/github.com/anthropics/anthropic-sdk-go/option#WithMaxRetries
package anthropic
