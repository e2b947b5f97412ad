// Package reply reads what a provider replied to a request over HTTP. The models on
// the vendors' SDKs share it: an SDK sends, and waits and sends again where it may; what
// came in the end is read here, by a [provider.Format].
package reply
