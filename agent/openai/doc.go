// Package openai is a model for package agent: those of OpenAI, through its SDK, and of
// every server that speaks Chat Completions.
//
//	&openai.Model{Model: "gpt-5"} // the Responses API, with OPENAI_API_KEY
//	&openai.Model{Model: "gpt-5", Chat: true}
//
// Compatible servers are asked with Chat and an address; those on one's own machine take
// any key:
//
//	&openai.Model{Chat: true, Model: "qwen3", BaseURL: "http://localhost:11434/v1"}  // Ollama
//	&openai.Model{Chat: true, Model: "…", BaseURL: "http://localhost:8000/v1"}       // vLLM
//	&openai.Model{Chat: true, Model: "any", BaseURL: "http://localhost:8080/v1"}     // llama.cpp
//	&openai.Model{Chat: true, Model: "gemini-2.5-pro",
//		BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
//		Options: []option.RequestOption{option.WithAPIKey(key)}}
//
// Whatever key is in OPENAI_API_KEY goes to that address, unless Options have another
// one: [option.WithAPIKey]("none").
//
// The SDK sends the request, and sends it again after 408, 409, 429 and 5xx and where the
// connection broke before anything came: twice, or as [option.WithMaxRetries] says, as
// long after as the server wishes, if that is at most two minutes. What is sent and what
// comes is written and read by package provider; of the SDK's own types for content none
// is used. A server that does not stream may reply with the whole answer.
//
// Only ctx bounds how long an answer takes; Idle bounds how long the server is silent.
//
// [option.WithAPIKey]: https://pkg.go.dev/github.com/openai/openai-go/v3/option#WithAPIKey
// [option.WithMaxRetries]: https://pkg.go.dev/github.com/openai/openai-go/v3/option#WithMaxRetries
package openai
