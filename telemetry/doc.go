// Package telemetry tells tools that people have already what happens here: spans by
// the GenAI conventions of OpenTelemetry, and metrics. Both are pushed by OTLP over
// HTTP, and metrics can be fetched by Prometheus too.
//
// A [Telemetry] is made with [New] and given to who does something; each of these
// fields is nil where nothing is kept, and costs nothing then:
//
//	rt.Trace          = t.Call    // a span for each call: execute_tool NAME
//	agent.Trace       = t         // invoke_agent NAME, and below it chat MODEL
//	gateway.TakeTrace = t.Take    // a request of an MCP client is part of its trace
//	hub.GiveTrace     = t.Give    // and a request to an MCP server of ours
//	hub.Status        : t.Servers // how servers stand
//
// A span of a call lasts from its arrival to its result, also of one that never ran:
// error.type is the kind of error. How long a person was waited for, and how long the
// tool ran, are attributes. What a tool does with its context is below that span.
//
// No argument and no result is told, nor any text that could quote one, unless
// [Options].Content says so, and then only what is not too sensitive. Metrics have no
// sessions and no names that nobody registered. Nobody waits for an exporter: what
// cannot be sent in time is dropped, and the log hears of it once.
package telemetry
