package tool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// MaxKept bounds max_output and max_stderr, in bytes. A result holds the output
// twice and must fit into a message.
const MaxKept = 64 << 20

// A RunSettings has the settings for a run that the transport and a tool block share.
// Unset ones of a block are those of the transport. Check is called when settings are validated.
type RunSettings struct {
	Command   []string
	Env       map[string]string
	Timeout   *time.Duration
	MaxOutput *int
	OKCodes   []int // nil if unset
	DataCodes []int
	Limits    *Limits
}

// Check returns the errors of the settings. prefix precedes their paths.
func (s *RunSettings) Check(prefix string) []error {
	var errs []error
	failf := func(path, format string, args ...any) {
		errs = append(errs, sdk.AttrErrorf(prefix+path, format, args...))
	}
	if s.Command != nil && (len(s.Command) == 0 || s.Command[0] == "") {
		failf("command", "names no program")
	}
	for i, word := range s.Command {
		if strings.ContainsRune(word, 0) {
			failf(fmt.Sprintf("command[%d]", i), "contains NUL")
		}
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			failf(fmt.Sprintf("env[%q]", name), "is not an environment variable: a name must not contain an equals sign or NUL, a value must not contain NUL")
		}
	}
	if s.Timeout != nil && *s.Timeout <= 0 {
		failf("timeout", "must be longer than 0s")
	}
	if s.MaxOutput != nil && *s.MaxOutput < 1 {
		failf("max_output", "must be at least 1")
	}
	if s.MaxOutput != nil && *s.MaxOutput > MaxKept {
		failf("max_output", "must be at most %d", MaxKept)
	}
	if s.OKCodes != nil && len(s.OKCodes) == 0 {
		failf("ok_codes", "is empty, so every run would be an error")
	}
	for _, codes := range []struct {
		path string
		list []int
	}{{"ok_codes", s.OKCodes}, {"data_codes", s.DataCodes}} {
		for i, code := range codes.list {
			if code < 0 || code > 255 {
				failf(fmt.Sprintf("%s[%d]", codes.path, i), "must be an exit code, from 0 to 255")
			}
		}
	}
	return append(errs, s.Limits.Check(prefix+"limits")...)
}

// run returns the settings of the block for a run.
func (b *Block) run() RunSettings {
	return RunSettings{
		Command: b.Command, Env: b.Env, Timeout: b.Timeout, MaxOutput: b.MaxOutput, OKCodes: b.OKCodes,
		DataCodes: b.DataCodes, Limits: b.Limits,
	}
}

// Elsewhere reports whether the block runs another program than the transport, in
// another directory or with another environment.
func (b *Block) Elsewhere() bool { return b.Command != nil || b.Cwd != "" || len(b.Env) > 0 }

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
	unit, known := map[string]uint64{
		"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[s[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !known || n > 1<<63/unit {
		return 0, errors.New(`must be a size such as "512MiB"`)
	}
	return n * unit, nil
}
