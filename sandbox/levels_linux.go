package sandbox

import (
	"os/exec"
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
	if _, err := newFilter(false); err != nil {
		return err.Error() + "; " + allowNone
	}
	return ""
}

// bubblewrap finds the program, or says why it cannot be used.
func bubblewrap() (path, why string) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", "the program bwrap (bubblewrap) is not installed"
	}
	return path, ""
}
