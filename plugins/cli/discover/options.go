package discover

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Options describe the program and limit the discovery. A limit that is zero
// has its default.
type Options struct {
	Command []string // the program and its fixed arguments
	Env     []string // the environment of the program as NAME=value; probes get a part of it
	Dir     string   // the directory for relative paths in Command
	Depth   int      // the number of words up to which commands are discovered; 0 is 3

	// Only and Except select commands by patterns; see [Match]. Empty Only
	// selects all commands.
	Only, Except []string

	// Rules returns what a question may reach: work is its directory, and dir, if
	// not empty, that of the fixed arguments. If it is nil, questions reach
	// everything.
	Rules func(work, dir string) *sandbox.Rules

	CacheDir string // where results are kept; empty keeps none
	Log      hclog.Logger

	ProbeTime   time.Duration // limit for one question; 0 is 5 s
	Time        time.Duration // limit for one Run; 0 is 60 s
	ProbeOutput int           // bytes read from each stream of an answer; 0 is 4 MiB
	Nodes       int           // number of commands; 0 is 2000
	Parallel    int           // concurrent questions; 0 is the number of processors plus two
}

// programName returns the base name of an executable without a file extension.
func programName(path string) string {
	name := filepath.Base(path)
	switch ext := filepath.Ext(name); ext {
	case ".exe", ".cmd", ".bat", ".sh", ".py", ".js", ".mjs", ".rb", ".pl":
		if len(ext) < len(name) {
			name = name[:len(name)-len(ext)]
		}
	}
	return name
}

// calledName returns the name that the program's help uses for it. With an
// interpreter, that is the name of the script.
func calledName(path string, o *Options) string {
	for _, arg := range o.Command[1:] {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		file := arg
		if !filepath.IsAbs(file) {
			file = filepath.Join(o.Dir, file)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return programName(file)
		}
		break
	}
	return programName(path)
}
