// Package before keeps the environment of the process as it was. A module that
// guard/leaks uses sets variables when it is loaded, which every program that is
// started later would inherit: with them git reads no configuration of its user.
//
// Packages without imports of others are initialised first, in the order of their
// paths, and so before the packages of that module, which wait for others.
package before

import "os"

// Variable is one of the environment, as it was before.
type Variable struct {
	name, value string
	set         bool
}

// names are what is set when that module is loaded, and behind them what makes it
// panic then if it has a value that it does not know.
const engine = "BETTERLEAKS_REGEX_ENGINE"

//nolint:gochecknoglobals // what was before can be seen only while packages are initialised
var saved = save("GIT_CONFIG_GLOBAL", "GIT_TERMINAL_PROMPT", "GIT_NO_REPLACE_OBJECTS", "GIT_CONFIG_NOSYSTEM", engine)

func save(names ...string) []Variable {
	var all []Variable
	for _, name := range names {
		value, set := os.LookupEnv(name)
		all = append(all, Variable{name, value, set})
	}
	_ = os.Unsetenv(engine)
	return all
}

// Restore sets the variables to what they were.
func Restore() error {
	for _, v := range saved {
		var err error
		if v.set {
			err = os.Setenv(v.name, v.value)
		} else {
			err = os.Unsetenv(v.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
