package reply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// silence is how long a server may send nothing: what the vendors' SDKs give an answer
// that is not streamed. Some models think for minutes before their first byte.
const silence = Watch(10 * time.Minute)

// Watch is how requests are sent whose server is given up when it sends nothing for so
// long, before the answer or within it; 0: 10 minutes, less: never. Pings count as bytes,
// and time in which nobody reads does not.
type Watch time.Duration

// RoundTrip sends by http.DefaultTransport.
func (idle Watch) RoundTrip(r *http.Request) (*http.Response, error) {
	if idle < 0 {
		return http.DefaultTransport.RoundTrip(r)
	}
	ctx, stop := context.WithCancel(r.Context())
	w := &watched{idle: time.Duration(cmp.Or(idle, silence)), stop: stop}
	w.timer = time.AfterFunc(w.idle, func() {
		w.silent.Store(true)
		stop()
	})
	res, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
	w.timer.Stop()
	if err != nil {
		stop()
		return nil, w.why(err)
	}
	w.ReadCloser, res.Body = res.Body, w
	return res, nil
}

// watched is the body of a response. Its timer runs while it is read.
type watched struct {
	io.ReadCloser
	idle   time.Duration
	timer  *time.Timer
	silent atomic.Bool // the timer ran out
	stop   context.CancelFunc
}

func (w *watched) Read(b []byte) (int, error) {
	w.timer.Reset(w.idle)
	n, err := w.ReadCloser.Read(b)
	w.timer.Stop()
	return n, w.why(err)
}

func (w *watched) Close() error {
	w.stop()
	return w.ReadCloser.Close()
}

// why is the reason for an error.
func (w *watched) why(err error) error {
	if err == nil || errors.Is(err, io.EOF) || !w.silent.Load() {
		return err
	}
	return fmt.Errorf("got nothing for %v, want bytes of the answer: the server hangs, or the way to it; ask again, or let Model.Idle be longer", w.idle)
}
