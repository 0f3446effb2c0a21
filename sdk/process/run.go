package process

import (
	"os"
	"strconv"
	"strings"
)

// RunVariable is an environment variable that names the host of a process. The
// value is the host's process id, a dot, and text that distinguishes processes
// that had the same id. Start passes it on to descendants.
const RunVariable = "JUNCTOR_RUN_ID"

// Run returns the name of this process as a host, for RunVariable.
func Run() string {
	run, err := identity(os.Getpid())
	if err != nil {
		return strconv.Itoa(os.Getpid()) + "." // Gone never reports such a name
	}
	return run
}

// SameSpace reports whether two names of hosts belong to processes whose ids can be
// compared. Those of a container and of the system around it cannot.
func SameSpace(a, b string) bool { return namespace(a) == namespace(b) }

// withRun adds this process's RunVariable to env unless env has one.
func withRun(env []string) []string {
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
