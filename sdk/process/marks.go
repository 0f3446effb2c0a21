package process

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// RunVariable is an environment variable that names the host of a process. The
// value is the host's process id, a dot, and text that distinguishes processes
// that had the same id. Start passes it on to descendants.
const RunVariable = "JUNCTOR_RUN_ID"

// MarkVariable is an environment variable with a unique value for each process
// started here. It identifies the descendants that the process leaves behind.
const MarkVariable = "JUNCTOR_SPAWN"

// releasedMark is the value of MarkVariable for released processes. Their
// descendants inherit it.
const releasedMark = "released"

// released reports whether any process was started with Command.Release.
var released atomic.Bool

// Run returns the name of this process as a host, for RunVariable. The processes of one run share
// it.
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

// CarriesMark reports whether an environment shows that its process, or one that it descends
// from, was started by this package, by whichever host. Released processes belong to the user
// and have no such mark. A process that executes with another environment loses the mark;
// [IsDescendant] does not depend on it.
func CarriesMark(environ []string) bool {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if name == RunVariable || name == MarkVariable && value != releasedMark {
			return true
		}
	}
	return false
}
