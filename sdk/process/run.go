package process

import (
	"os"
	"strconv"
	"strings"
)

// RunVariable is set in the environment of every process under a host, to a
// value that names the host: its number, a dot, and what tells it from others
// that had the number. A program that starts others through this package hands
// it on.
const RunVariable = "JUNCTOR_RUN_ID"

// Run names this process as the host of a run.
func Run() string {
	run, err := name(os.Getpid())
	if err != nil {
		return strconv.Itoa(os.Getpid()) + "." // nobody will say that it is gone
	}
	return run
}

// handOn adds the run that this process belongs to, unless env has one.
func handOn(env []string) []string {
	for _, kv := range env {
		if strings.HasPrefix(kv, RunVariable+"=") {
			return env
		}
	}
	if run := os.Getenv(RunVariable); run != "" {
		return append(env, RunVariable+"="+run)
	}
	return env
}
