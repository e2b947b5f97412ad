//go:build unix

package mcptool

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"
)

// watch is what a sentry does, in words that every shell knows: it keeps the
// numbers of groups that begin (+) and end (-), and kills those that are left when
// its input ends.
const watch = `trap '' HUP INT TERM
all=' '
while read -r what group; do
	case $what in
	+) all="$all$group " ;;
	-) case $all in *" $group "*) all="${all%% $group *} ${all#* $group }" ;; esac ;;
	esac
done
for group in $all; do kill -KILL "-$group"; done`

const (
	// tellTime is how long a sentry may take to read what it is told, and departTime
	// how long it may take to end: one that was stopped does not.
	tellTime   = time.Second
	departTime = 2 * time.Second
)

// sentry is a process that outlives this one by a moment. It is a shell, as a
// library cannot run the program that it is in again.
type sentry struct {
	process *os.Process
	pipe    *os.File      // its input
	gone    chan struct{} // closed when it has ended
}

// startSentry starts one. Who has started it waits for it.
func startSentry() (*sentry, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		w.Close()
		return nil, err
	}
	defer nowhere.Close()
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", watch, "ferrule-sentry"}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{r, nowhere, nowhere},
		Sys: &syscall.SysProcAttr{Setsid: true}, // what is typed at a terminal, or ends our group, does not end it
	})
	if err != nil {
		w.Close()
		return nil, err
	}
	return &sentry{p, w, make(chan struct{})}, nil
}

// wait waits for its end, whoever ends it.
func (s *sentry) wait() {
	_, _ = s.process.Wait() // it has nothing to say
	close(s.gone)
}

func (s *sentry) begun(group int) error { return s.tell("+", group) }
func (s *sentry) ended(group int) error { return s.tell("-", group) }

func (s *sentry) tell(what string, group int) error {
	late := s.pipe.SetWriteDeadline(time.Now().Add(tellTime))
	_, err := s.pipe.WriteString(what + " " + strconv.Itoa(group) + "\n")
	return errors.Join(late, err)
}

// close lets it end what is left, until it has ended.
func (s *sentry) close() {
	s.pipe.Close()
	timer := time.NewTimer(departTime)
	defer timer.Stop()
	select {
	case <-s.gone:
	case <-timer.C:
		s.kill()
	}
}

// kill ends it before it can end anything.
func (s *sentry) kill() {
	_ = s.process.Kill() // it may be gone
	<-s.gone
	s.pipe.Close()
}
