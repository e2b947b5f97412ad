package scripted

import (
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// since is what the model was sent after its last answer, one below the other.
func since(messages []provider.Message) string {
	first := len(messages)
	for first > 0 && messages[first-1].Role != provider.Assistant {
		first--
	}
	var b strings.Builder
	for _, m := range messages[first:] {
		for _, p := range m.Parts {
			switch {
			case p.Kind == provider.PartText:
				fmt.Fprintf(&b, "user: %s\n", p.Text)
			case p.Kind == provider.PartMedia && p.Media != nil:
				fmt.Fprintf(&b, "user: %s\n", tool.TextOf([]tool.Content{*p.Media}))
			case p.Kind == provider.PartResult && p.Result != nil:
				word := "result"
				if p.Result.Error {
					word = "failed"
				}
				fmt.Fprintf(&b, "%s %s #%s: %s\n", word, p.Result.Name, p.Result.CallID, tool.TextOf(p.Result.Content))
			}
		}
	}
	return b.String()
}

// valid reports why providers would refuse a conversation: it does not begin or end
// with the user, an id stands twice, a call has no result before the next answer, or a
// result no call. One whose last answer was a pause ends with that.
func valid(messages []provider.Message, paused bool) error {
	if len(messages) == 0 {
		return fmt.Errorf("got no messages, want what a person says")
	}
	if got := messages[0].Role; got != provider.User {
		return fmt.Errorf("message 1: got role %q, want %q", got, provider.User)
	}
	if got := messages[len(messages)-1].Role; got != provider.User && !paused {
		return fmt.Errorf("message %d, the last: got role %q, want %q", len(messages), got, provider.User)
	}
	seen := make(map[string]bool) // ids of calls: whether they have a result
	open := make(map[string]bool) // those of the last answer that have none
	for i, m := range messages {
		if m.Role == provider.Assistant {
			if id := anyOf(open); id != "" {
				return fmt.Errorf("message %d: got an answer, want the result of %q first", i+1, id)
			}
		}
		for _, p := range m.Parts {
			switch {
			case p.Kind == provider.PartCall && p.Call != nil:
				if m.Role != provider.Assistant {
					return fmt.Errorf("message %d: got a call of role %q, want %q", i+1, m.Role, provider.Assistant)
				}
				if seen[p.Call.ID] || p.Call.ID == "" {
					return fmt.Errorf("message %d: got a call of %s with id %q, want an id of its own", i+1, p.Call.Name, p.Call.ID)
				}
				seen[p.Call.ID], open[p.Call.ID] = true, true
			case p.Kind == provider.PartResult && p.Result != nil:
				if !open[p.Result.CallID] || m.Role != provider.User {
					return fmt.Errorf("message %d: got a result of role %q for %q, want one of the user for each call of the answer before it", i+1, m.Role, p.Result.CallID)
				}
				delete(open, p.Result.CallID)
			}
		}
	}
	if id := anyOf(open); id != "" {
		return fmt.Errorf("message %d, the last: got no result of %q, want one for each call", len(messages), id)
	}
	return nil
}

// anyOf is the first of some ids; "": there is none.
func anyOf(ids map[string]bool) (first string) {
	for id := range ids {
		if first == "" || id < first {
			first = id
		}
	}
	return first
}
