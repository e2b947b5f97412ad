package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// world is what the parts run in.
type world struct {
	tools   tools
	direct  bool
	runs    int
	calls   int
	every   bool    // the inspector makes every call
	only    string  // server, of those that are compared; "": all
	by      string  // client; "": all
	minutes float64 // of the soak
	rate    float64 // its calls a second
	program string  // ferrule
	data    string
	log     io.Writer
	dir     string // removed at the end

	mu      sync.Mutex
	running []*process
}

// open makes the folder that everything is written to, and builds what is run.
func (w *world) open(ctx context.Context) (err error) {
	if w.dir, err = os.MkdirTemp("", "ferrule-e2e"); err != nil {
		return err
	}
	if w.program != "" || w.direct {
		return nil
	}
	w.program, err = w.build(ctx, "./cmd/ferrule")
	return err
}

// build compiles a program of this repository.
func (w *world) build(ctx context.Context, pkg string) (string, error) {
	program := filepath.Join(w.dir, "bin", filepath.Base(pkg)+exe())
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, pkg).CombinedOutput() //nolint:gosec // a package of ours
	if err != nil {
		return "", fmt.Errorf("go build %s: %w: %s", pkg, err, out)
	}
	return program, nil
}

// close ends what still runs and removes what was written.
func (w *world) close() {
	w.rest()
	_ = os.RemoveAll(w.dir)
}

// rest ends what still runs.
func (w *world) rest() {
	w.mu.Lock()
	running := w.running
	w.running = nil
	w.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range running {
		all.Go(p.stop)
	}
	all.Wait()
}

// start runs a program until the part ends, or stop.
func (w *world) start(name string, cmd *exec.Cmd) (*process, error) {
	if cmd.Env == nil {
		cmd.Env = w.tools.environment()
	}
	p, err := start(name, cmd)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.running = append(w.running, p)
	w.mu.Unlock()
	return p, nil
}

// folder makes an empty folder.
func (w *world) folder(name string) (string, error) { return os.MkdirTemp(w.dir, name+"-") }

// freeAddress is a port of loopback that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// reachable waits until a process listens.
func reachable(ctx context.Context, p *process, url string) error {
	return until(ctx, p, 20*time.Second, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

// until tries again and again, while the process runs.
func until(ctx context.Context, p *process, most time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		once, stop := context.WithTimeout(ctx, 3*time.Second)
		err := try(once)
		stop()
		if err == nil {
			return nil
		}
		if gone := p.ended(); gone != nil {
			return gone
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w: %s", p.name, most, err, p.said)
		case <-p.done:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// everythingFromNPM starts server-everything over streamable HTTP.
func (w *world) everythingFromNPM(address string) (*process, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(w.tools.node(), w.tools.script("servers", "@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp") //nolint:gosec,noctx // installed by us; it is stopped, not killed
	cmd.Env = append(w.tools.environment(), "PORT="+port, "HOST=127.0.0.1")
	return w.start("server-everything", cmd)
}
