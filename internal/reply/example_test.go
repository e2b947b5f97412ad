package reply_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/reply"
	"github.com/ferrule-dev/ferrule/provider"
)

// What a provider says went wrong is an error with its words, and without the key.
func ExampleRead() {
	request, _ := http.NewRequest(http.MethodPost, "http://localhost/v1/messages", nil)
	request.Header.Set("X-Api-Key", "sk-0123456789")
	_, err := reply.Read(context.Background(), provider.Anthropic{}, &http.Response{
		StatusCode: http.StatusUnauthorized,
		Request:    request,
		Body:       io.NopCloser(strings.NewReader(`{"type":"error","error":{"type":"authentication_error","message":"no such key: sk-0123456789"}}`)),
	}, nil, nil)
	fmt.Println(err)
	said, ok := errors.AsType[*provider.Error](err)
	fmt.Println(ok && said.Again)
	// Output:
	// anthropic: HTTP 401: provider: authentication_error: no such key: [secret]
	// false
}
