package process

import (
	"fmt"
	"os"
	"strings"
)

// RunVariable is set in the environment of every process under a host, to a
// value that names the host: its number and when it started. A program that
// starts others through this package hands it on.
const RunVariable = "JUNCTOR_RUN_ID"

// Run names this process as the host of a run.
func Run() string { return fmt.Sprintf("%d.%s", os.Getpid(), started(os.Getpid())) }

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
