package sandbox

import (
	"math"
	"time"
)

const none = math.MaxInt64

// orDefaults replaces 0 by the default and -1 by a number that nothing reaches.
func (l Limits) orDefaults() Limits {
	return Limits{
		Time:      time.Duration(orDefault(int64(l.Time), int64(10*time.Minute))),
		Memory:    orDefault(l.Memory, 4<<30),
		Processes: int(min(orDefault(int64(l.Processes), 512), math.MaxInt32)),
		Files:     int(min(orDefault(int64(l.Files), 4096), math.MaxInt32)),
		FileSize:  orDefault(l.FileSize, 4<<30),
		Output:    orDefault(l.Output, 64<<20),
	}
}

func orDefault(given, otherwise int64) int64 {
	switch {
	case given < 0:
		return none
	case given == 0:
		return otherwise
	}
	return given
}

// lowered is l, where less does not ask for less.
func (l Limits) lowered(less Limits) Limits {
	if less.Time > 0 {
		l.Time = min(l.Time, less.Time)
	}
	if less.Memory > 0 {
		l.Memory = min(l.Memory, less.Memory)
	}
	if less.Processes > 0 {
		l.Processes = min(l.Processes, less.Processes)
	}
	if less.Output > 0 {
		l.Output = min(l.Output, less.Output)
	}
	return l
}
