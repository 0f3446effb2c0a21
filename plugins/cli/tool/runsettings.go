package tool

import (
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// MaxKept bounds max_output and max_stderr, in bytes. A result holds the output
// twice and must fit into a message.
const MaxKept = 64 << 20

// A RunSettings has the settings for a run that the transport and a tool block share.
// Unset ones of a block are those of the transport.
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
		Command: b.Command, Env: b.Env, Timeout: b.Timeout, MaxOutput: b.MaxOutput, OKCodes: b.OKCodes, DataCodes: b.DataCodes, Limits: b.Limits,
	}
}

// Elsewhere reports whether the block runs another program than the transport, in
// another directory or with another environment.
func (b *Block) Elsewhere() bool { return b.Command != nil || b.Cwd != "" || len(b.Env) > 0 }
