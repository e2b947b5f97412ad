package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// tags marks the processes of each command, so that what one leaves behind can be
// found and ended while others go on. Sessions and process groups do not do: a
// process chooses its own. Environments can be cleared, and there is not always a
// control group that one may write to.
//
// The mark is the limit on file locks, RLIMIT_LOCKS. It has limited nothing since
// Linux 2.4; it is inherited by every child and kept by exec; a process without
// privilege can only lower it, and the seccomp filter takes that away too. The
// keeper lowers its own by one before it starts a command.
type tags struct{ first, next uint64 }

// newTags begins at a random number below what this process has, so that the
// commands of two keepers on one machine have different ones.
func newTags() (*tags, error) {
	have, err := tagOf(0)
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	have = min(have, 1<<62)
	first := have/2 + binary.NativeEndian.Uint64(random[:])%(have/2+1)
	t := &tags{first: first, next: first}
	_, err = t.take()
	return t, err
}

// take gives the tag of the process that is forked next.
func (t *tags) take() (uint64, error) {
	t.next--
	limit := unix.Rlimit{Cur: t.next, Max: t.next}
	return t.next, unix.Prlimit(0, unix.RLIMIT_LOCKS, &limit, nil)
}

// has says whether a tag was given out here.
func (t *tags) has(tag uint64) bool { return t.next <= tag && tag <= t.first }

// tagOf is the tag of a process, or of this one for 0.
func tagOf(pid int) (uint64, error) {
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit)
	return limit.Cur, err
}

// processes are all process numbers that can be seen.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			if pid, err := strconv.Atoi(name); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// tagged are the processes with a tag that fits, without this one.
func tagged(fits func(tag uint64) bool) []int {
	var pids []int
	for _, pid := range processes() {
		if pid == os.Getpid() {
			continue
		}
		if tag, err := tagOf(pid); err == nil && fits(tag) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isZombie says whether a process has ended and waits for its parent to notice.
func isZombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err != nil || bytes.Contains(text, []byte("\nState:\tZ"))
}

// killAll kills processes.
func killAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // it may be gone already
	}
}

// memoryOf is the bytes that a process holds for itself: its own pages and those
// of shared memory. Pages of files belong to the machine.
func memoryOf(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	return field(text, "\nRssAnon:") + field(text, "\nRssShmem:")
}

// field is the number of kilobytes behind a name, as bytes.
func field(text []byte, name string) int64 {
	at := indexAfter(text, name)
	if at < 0 {
		return 0
	}
	var n int64
	for _, c := range text[at:] {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		case c == ' ' || c == '\t':
		default:
			return n << 10
		}
	}
	return n << 10
}
