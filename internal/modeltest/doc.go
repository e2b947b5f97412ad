// Package modeltest shows that a model asks as agent.Model wants it: through the
// vendor's real SDK, of a server on this machine that speaks the provider's real format
// and has every fault that networks and providers have.
//
// [Run] is the table. The handlers are for tests of one's own:
//
//	server := modeltest.Serve(t, modeltest.Refuse(529, "{}"), modeltest.Stream(body))
package modeltest
