package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a file", "an abstract name"} {
		t.Run("Y4 a service manager is told: "+name, func(t *testing.T) {
			t.Parallel()
			short, err := os.MkdirTemp("", "n") // the names of sockets are short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(short) })
			address := filepath.Join(short, "s")
			if name != "a file" {
				address = "@" + address
			}
			manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = manager.Close() })
			heard := func() string {
				b := make([]byte, 100)
				if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				n, err := manager.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				return string(b[:n])
			}
			dir, out := t.TempDir(), newPage()
			ctx, cancel := context.WithCancel(t.Context())
			p := &program{stdin: strings.NewReader(""), stdout: out, stderr: out, dir: dir, now: time.Now, helper: helper, environ: []string{notifySocket + "=" + address}}
			over := make(chan int, 1)
			go func() { over <- p.run(ctx, []string{"up", "--address", "127.0.0.1:0"}) }()
			if got := heard(); got != "READY=1" {
				t.Errorf("got %q, want READY=1", got)
			}
			url := out.find(t, `address   (\S+)\n`)
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.Split(url, "/")[2])
			if err != nil {
				t.Errorf("ready, but %v", err)
			} else {
				_ = conn.Close()
			}
			cancel()
			if got := heard(); got != "STOPPING=1" {
				t.Errorf("got %q, want STOPPING=1", got)
			}
			if code := <-over; code != 0 {
				t.Errorf("got %d, want 0", code)
			}
			for _, file := range []string{tokenFile, consoleKeyFile} {
				path := filepath.Join(dir, ".ferrule", file)
				key, err := os.ReadFile(path)
				if err != nil || strings.Contains(out.String(), strings.TrimSpace(string(key))) || !strings.Contains(out.String(), path) {
					t.Errorf("S1 got %v and %s, want the name of %s: a journal keeps what is printed", err, out, path)
				}
			}
		})
	}
	t.Run("Y4 that nobody listens stops nothing", func(t *testing.T) {
		t.Parallel()
		errs := newPage()
		p := &program{stderr: errs, errs: &shown{to: errs}, environ: []string{notifySocket + "=/nowhere/socket"}}
		p.notify(t.Context(), "READY=1")
		if !strings.Contains(errs.String(), "could not be told READY=1") {
			t.Errorf("got %q", errs)
		}
	})
}

// What systemd makes of the units; the score is how exposed it calls a service, from 0 to 10.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		unit, program string
		most          string // tenths
	}{
		{"ferrule.service", "/usr/bin/ferrule", "29"},
		{"ferrule-user.service", "%h/.local/bin/ferrule", "75"},
	} {
		t.Run("Y4 "+tt.unit, func(t *testing.T) {
			t.Parallel()
			analyze := needs(t, "systemd-analyze")
			text, err := os.ReadFile("../../packaging/systemd/" + tt.unit)
			if err != nil || !strings.Contains(string(text), "ExecStart="+tt.program+" up\n") {
				t.Fatalf("got %v, want it to start %s", err, tt.program)
			}
			unit := filepath.Join(t.TempDir(), tt.unit)
			write(t, unit, strings.Replace(string(text), "="+tt.program, "="+testBinary(t), 1)) // which is there
			if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", unit).CombinedOutput(); err != nil || strings.Contains(string(out), tt.unit) {
				t.Errorf("got %v, %s", err, out)
			}
			out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", "--threshold="+tt.most, unit).CombinedOutput()
			if err != nil {
				t.Errorf("got %v, want at most %s tenths:\n%s", err, tt.most, out)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.Log(lines[len(lines)-1])
		})
	}
}
