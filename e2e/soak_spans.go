package main

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// collector takes what a gateway tells of itself by OTLP, and counts it.
type collector struct {
	address        string
	stop           <-chan struct{}
	spans, metrics atomic.Int64 // metrics: how often they came
}

func collect(ctx context.Context, stop <-chan struct{}) (*collector, error) {
	address, err := freeAddress(ctx)
	return &collector{address: address, stop: stop}, err
}

// configuration is what the gateway is told of it.
func (c *collector) configuration() object {
	return object{"otlp": "http://" + c.address, "interval": "10s", "prometheus": true}
}

// comeAndGo listens, with pauses in which nobody does.
func (c *collector) comeAndGo(ctx context.Context) error {
	for n := 0; ; n++ {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", c.address)
		if err != nil {
			return err
		}
		server := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
		served := make(chan error, 1)
		go func() { served <- server.Serve(ln) }()
		more := c.wait(45 * time.Second)
		_ = server.Close()
		<-served
		if !more || !c.wait(10*time.Second) {
			return nil
		}
	}
}

func (c *collector) wait(d time.Duration) bool {
	select {
	case <-c.stop:
		return false
	case <-time.After(d):
		return true
	}
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if in, err = gzip.NewReader(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	body, err := io.ReadAll(in)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case r.URL.Path == "/v1/traces":
		c.spans.Add(int64(spansIn(body)))
	case r.URL.Path == "/v1/metrics":
		c.metrics.Add(1)
	}
}

// spansIn counts the spans of an ExportTraceServiceRequest: field 1 has those of a
// resource, field 2 of that those of a scope, field 2 of that one span each.
func spansIn(message []byte) (n int) {
	for resource := range fields(message, 1) {
		for scope := range fields(resource, 2) {
			for range fields(scope, 2) {
				n++
			}
		}
	}
	return n
}

// fields are the values of one number in a message of protocol buffers that are bytes.
func fields(message []byte, number uint64) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(message) > 0 {
			key, n := binary.Uvarint(message)
			if n <= 0 {
				return
			}
			message = message[n:]
			var length uint64
			switch key & 7 {
			case 0:
				_, n := binary.Uvarint(message)
				if n <= 0 {
					return
				}
				length = uint64(n)
			case 1:
				length = 8
			case 2:
				size, n := binary.Uvarint(message)
				if n <= 0 {
					return
				}
				if message = message[n:]; size > uint64(len(message)) {
					return
				}
				if key>>3 == number && !yield(message[:size]) {
					return
				}
				length = size
			case 5:
				length = 4
			default:
				return
			}
			if length > uint64(len(message)) {
				return
			}
			message = message[length:]
		}
	}
}
