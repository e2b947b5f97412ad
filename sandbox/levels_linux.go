package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// startersFor finds what starts commands at a level.
func startersFor(box *Box, level Level) (starter, error) {
	switch level {
	case InProcess:
		return &plainly{}, nil
	case Process:
		if why := noProcess(); why != "" {
			return nil, &Unavailable{level, why}
		}
		return &keeping{box: box, plain: box.config.noNamespaces}, nil
	case Namespace:
		path, why := bubblewrap()
		if why != "" {
			return nil, &Unavailable{level, why}
		}
		return &keeping{box: box, bubblewrap: path, plain: box.config.noNamespaces}, nil
	case Container:
		return newContainers(box)
	}
	return nil, &Unavailable{level, "there is no such level"}
}

// noProcess says why level Process cannot be had.
func noProcess() string {
	if landlockVersion() == 0 {
		return "this kernel has no Landlock, or it is switched off (want Linux 5.13 or later with landlock in its list of security modules); " + allowNone
	}
	if _, err := newFilter(allowed{}); err != nil {
		return err.Error() + "; " + allowNone
	}
	return ""
}

// bubblewrap finds the program, and tries whether it works: it needs namespaces,
// which not every system gives to everybody.
func bubblewrap() (path, why string) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", "the program bwrap (bubblewrap) is not installed"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true").CombinedOutput()
	if err != nil {
		return "", fmt.Sprintf("bwrap (bubblewrap) does not work here: %v %s", err, strings.TrimSpace(string(out)))
	}
	return path, ""
}
