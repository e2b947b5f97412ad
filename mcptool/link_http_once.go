package mcptool

import (
	"io"
	"net/http"
	"sync"
)

// onceBody is the body of a request, which can be read once (M6: net/http sends a
// request again by itself, on another connection, where it can have its body
// again).
//
// A message whose last byte was never read was not sent: no server can run a
// message without its closing brace. It is so for a connection that was found
// closed, too: net/http writes the headers before it reads such a body.
type onceBody struct {
	mu   sync.Mutex
	rest []byte
	shut bool
}

func (b *onceBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return 0, http.ErrBodyReadAfterClose
	}
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *onceBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	return nil
}

// cut says whether the body was not read to its end, and sees to it that it
// never is: the transport may still hold it when it has given up.
func (b *onceBody) cut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	return len(b.rest) > 0
}
