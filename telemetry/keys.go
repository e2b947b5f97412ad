package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// Every key and every name of a metric stands here: those of the GenAI conventions
// change, and 1.41.0 is the last version of package semconv that has them.

// Keys of the conventions.
const (
	keyOperation    = semconv.GenAIOperationNameKey
	keyProvider     = semconv.GenAIProviderNameKey
	keyAgent        = semconv.GenAIAgentNameKey
	keyConversation = semconv.GenAIConversationIDKey
	keyTool         = semconv.GenAIToolNameKey
	keyToolCall     = semconv.GenAIToolCallIDKey
	keyToolType     = semconv.GenAIToolTypeKey
	keyArguments    = semconv.GenAIToolCallArgumentsKey
	keyResult       = semconv.GenAIToolCallResultKey
	keyModel        = semconv.GenAIRequestModelKey
	keyAnswered     = semconv.GenAIResponseModelKey
	keyFinish       = semconv.GenAIResponseFinishReasonsKey
	keyInput        = semconv.GenAIUsageInputTokensKey
	keyOutput       = semconv.GenAIUsageOutputTokensKey
	keyCached       = semconv.GenAIUsageCacheReadInputTokensKey
	keyTokenType    = semconv.GenAITokenTypeKey
	keyError        = semconv.ErrorTypeKey
	schemaURL       = semconv.SchemaURL
)

// Keys of Ferrule.
const (
	keySource   = attribute.Key("ferrule.source")      // of the tool; "" is the program itself
	keyTrust    = attribute.Key("ferrule.trust")       // of the source
	keyCall     = attribute.Key("ferrule.call.id")     // Ferrule's own
	keyTurn     = attribute.Key("ferrule.turn")        // of the session
	keyDecision = attribute.Key("ferrule.decision")    // allow, ask or deny: the last
	keyBy       = attribute.Key("ferrule.decision.by") // whose word it was
	keyRule     = attribute.Key("ferrule.rule")        // which rule said so, where it is the operator's
	keyOutcome  = attribute.Key("ferrule.outcome")     // ok, or the kind of error
	keyRan      = attribute.Key("ferrule.run.duration")
	keyWaited   = attribute.Key("ferrule.wait.duration")
	keyRetries  = attribute.Key("ferrule.retries")
	keyWhy      = attribute.Key("ferrule.agent.end") // how a run ended
	keyEvent    = attribute.Key("ferrule.event")
	keyServer   = attribute.Key("ferrule.server")
	keyState    = attribute.Key("ferrule.server.state")
)

// Metrics of the conventions, and of Ferrule.
const (
	metricOperation = "gen_ai.client.operation.duration"
	metricTokens    = "gen_ai.client.token.usage" //nolint:gosec // tokens of models
	metricCalls     = "ferrule.call.duration"
	metricWait      = "ferrule.call.wait.duration"
	metricRunning   = "ferrule.calls.running"
	metricWaiting   = "ferrule.calls.waiting"
	metricEvents    = "ferrule.call.events"
	metricServer    = "ferrule.server.up"
	metricRestarts  = "ferrule.server.restarts"
)

// Words of the conventions.
const (
	executeTool = "execute_tool"
	invokeAgent = "invoke_agent"
	chat        = "chat"
	other       = "_OTHER" // a value that stands for any that is not known
)

// providerOf is the word of the conventions for a format of requests.
func providerOf(format string) string {
	switch format {
	case "anthropic":
		return "anthropic"
	case "gemini":
		return "gcp.gemini"
	case "openai-chat", "openai-responses":
		return "openai"
	}
	return other
}

// finishOf is why an answer ended, in the words of the conventions; "": there is none,
// or it broke off.
func finishOf(stop string) string {
	switch stop {
	case "":
		return ""
	case "end", "pause":
		return "stop"
	case "calls":
		return "tool_call"
	case "length":
		return "length"
	case "refusal":
		return "content_filter"
	}
	return "other" // of which they have none
}

// secondsOfCalls and secondsOfPeople are the bounds of buckets.
func secondsOfCalls() []float64 {
	return []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}
}

func secondsOfPeople() []float64 {
	return []float64{1, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}
}

// The bounds of these two are those of the conventions.

func secondsOfModels() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

func countsOfTokens() []float64 {
	return []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
}
