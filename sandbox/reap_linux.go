package sandbox

import (
	"cmp"
	"errors"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchEvery is how often memory and processes are counted while commands run.
const watchEvery = 20 * time.Millisecond

// reap waits for every child: commands, and what they left behind, which becomes
// a child of the keeper when its parent ends.
func (k *keeper) reap() {
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, 0, &usage)
		switch {
		case errors.Is(err, syscall.ECHILD):
			<-k.forked
			continue
		case err != nil:
			continue
		}
		k.mu.Lock()
		j := k.jobs[pid]
		if j != nil {
			j.ended = true
			j.peak = max(j.peak, usage.Maxrss<<10)
			j.code = status.ExitStatus()
			if status.Signaled() {
				j.code, j.signal = -1, unix.SignalName(status.Signal())
			}
		}
		alone := len(k.jobs) == 1
		k.mu.Unlock()
		switch {
		case j == nil:
		case alone && childless():
			k.finish(j)
		default:
			go func() {
				k.sweep(j)
				k.finish(j)
			}()
		}
	}
}

// childless says that this process has no children. Whatever an ended command
// left behind would be one, or below one.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD)
}

// sweep ends what carries a job's tag until nothing does.
func (k *keeper) sweep(j *job) {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := k.of(j)
		if len(left) == 0 {
			return
		}
		// A group is killed at once, while one that forks can outrun a list. As
		// long as somebody is in it, its number is nobody else's.
		if slices.ContainsFunc(left, func(pid int) bool { group, err := syscall.Getpgid(pid); return err == nil && group == j.pid }) {
			_ = syscall.Kill(-j.pid, syscall.SIGKILL) // it may be gone
		}
		killAll(left, syscall.SIGKILL)
		time.Sleep(pause) // until they are reaped
	}
}

// of is the processes of a job. Without tags nothing is known but its group.
func (k *keeper) of(j *job) []int {
	if k.tags == nil {
		return nil
	}
	return tagged(func(tag uint64) bool { return tag == j.tag })
}

// finish tells the host.
func (k *keeper) finish(j *job) {
	k.mu.Lock()
	if k.jobs[j.pid] == j {
		delete(k.jobs, j.pid)
	}
	m := message{Do: doEnded, ID: j.id, Code: j.code, Signal: j.signal, Why: j.why, Peak: j.peak}
	k.mu.Unlock()
	_ = k.wire.send(m) // a host that is gone needs no word
}

// signal sends a signal to a command: SIGKILL to everything, others to its group.
func (k *keeper) signal(id uint64, sig syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, j := range k.jobs {
		if j.id == id && !j.ended {
			k.send(j, sig)
		}
	}
}

// send sends a signal to a job whose main process has not ended.
func (k *keeper) send(j *job, sig syscall.Signal) {
	switch {
	case sig == syscall.SIGKILL:
		_ = syscall.Kill(-j.pid, sig) // and its descendants when it has ended
	case k.setup.Bubblewrap != "":
		// Bubblewrap would end at once, and all in it; the command is inside.
		for _, pid := range k.of(j) {
			if pid != j.pid {
				_ = syscall.Kill(pid, sig) // it may be gone
			}
		}
	default:
		_ = syscall.Kill(-j.pid, sig) // it may be gone
	}
}

// watch counts what each command uses, and ends those that use too much.
func (k *keeper) watch() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.jobs) == 0 {
		k.watching = false
		return
	}
	time.AfterFunc(watchEvery, k.watch)
	if k.tags == nil {
		return
	}
	byTag := make(map[uint64]*job, len(k.jobs))
	for _, j := range k.jobs {
		byTag[j.tag] = j
	}
	of := make(map[*job][]int, len(k.jobs))
	for _, pid := range processes() {
		tag, err := tagOf(pid)
		j := byTag[tag]
		if err != nil || j == nil {
			continue
		}
		// What multiplies is ended before anything else is looked at: to read how
		// much memory each of thousands has takes longer than they need to double.
		if of[j] = append(of[j], pid); len(of[j]) == j.processes+1 {
			k.exceeded(j, "processes")
		}
	}
	for j, pids := range of {
		if j.why != "" {
			k.exceeded(j, j.why) // again, until it has ended
			continue
		}
		var memory int64
		for _, pid := range pids {
			memory += memoryOf(pid)
		}
		j.peak = max(j.peak, memory)
		if memory > j.memory {
			k.exceeded(j, "memory")
		}
	}
}

// exceeded ends a command for what it has too much of.
func (k *keeper) exceeded(j *job, what string) {
	j.why = cmp.Or(j.why, what)
	if !j.ended {
		k.send(j, syscall.SIGKILL)
	}
}

// endAll ends everything. In a process namespace the kernel does so when the
// keeper, its first process, ends.
func (k *keeper) endAll() {
	if k.mounts != nil {
		return
	}
	k.mu.Lock() // nothing is forked from here on
	for _, j := range k.jobs {
		_ = syscall.Kill(-j.pid, syscall.SIGKILL) // it may be gone
	}
	for deadline := time.Now().Add(5 * time.Second); k.tags != nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		left := tagged(k.tags.has)
		if len(left) == 0 {
			return
		}
		killAll(left, syscall.SIGKILL)
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil) // the loop that does this waits for mu
		}
	}
}
