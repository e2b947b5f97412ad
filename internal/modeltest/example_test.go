package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/ferrule-dev/ferrule/internal/modeltest"
)

// The connection breaks in the middle of an event.
func ExampleCut() {
	server := httptest.NewServer(modeltest.Cut([]byte("data: {\"text\":\"half\"}\n\n"), 14))
	defer server.Close()
	res, err := http.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it is broken
	fmt.Printf("%q %v\n", body, err)
	// Output:
	// "data: {\"text\":" unexpected EOF
}
