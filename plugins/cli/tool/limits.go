package tool

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// Limits are the block limits of the transport or of a tool.
type Limits struct {
	CPU       time.Duration `hcl:"cpu" doc:"CPU time, in whole seconds." default:"0s"`
	Memory    string        `hcl:"memory,optional" doc:"Address space, such as \"512MiB\"."`
	Files     int           `hcl:"files" doc:"Number of open files." default:"0"`
	Processes int           `hcl:"processes" doc:"Number of processes of this user in total. The system does not apply it to root." default:"0"`
}

// Check returns the errors of the block. path is its path in the settings, such as
// limits. A nil *Limits has none.
func (l *Limits) Check(path string) []error {
	if l == nil {
		return nil
	}
	var errs []error
	if _, err := parseSize(l.Memory); err != nil {
		errs = append(errs, sdk.AttrErrorf(path+".memory", "%v", err))
	}
	if l.Files < 0 {
		errs = append(errs, sdk.AttrErrorf(path+".files", "must be at least 0"))
	}
	if l.Processes < 0 {
		errs = append(errs, sdk.AttrErrorf(path+".processes", "must be at least 0"))
	}
	return errs
}

// Process returns the limits of a block that passed Check.
func (l *Limits) Process() process.Limits {
	if l == nil {
		return process.Limits{}
	}
	memory, _ := parseSize(l.Memory)
	return process.Limits{CPU: l.CPU, Memory: memory, Files: uint64(l.Files), Processes: uint64(l.Processes)}
}

// parseSize parses a number of bytes, such as 4096 or 512MiB.
func parseSize(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(s, "KMGTiB")
	unit, known := map[string]uint64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[s[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !known || n > 1<<63/unit {
		return 0, errors.New(`must be a size such as "512MiB"`)
	}
	return n * unit, nil
}
