package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
)

type settings struct {
	Command []string `hcl:"command" doc:"The program and the arguments that every run begins with. A name is looked for in PATH; a relative path is relative to cwd."`

	Only    []string `hcl:"only,optional" doc:"The commands to offer, with all below them, such as \"container *\" or \"logs\". Without it all are."`
	Except  []string `hcl:"except,optional" doc:"The commands not to offer, with all below them."`
	Depth   int      `hcl:"depth" doc:"How many words a command may have to be discovered." default:"3"`
	Probe   string   `hcl:"probe,optional" doc:"auto runs the program to discover what it can do; explicit never does, and offers only tool blocks. Where there are tool blocks the default is explicit, else auto." enum:"auto,explicit"`
	Globals []string `hcl:"globals,optional" doc:"Options of the program as a whole, or of a command above, that its commands offer too, such as \"--namespace\" or \"log-*\". Without it none."`
	Omit    []string `hcl:"omit,optional" doc:"Options that are not offered, such as \"--force\"."`

	Describe string   `hcl:"describe,optional" doc:"How much discovered tools say of themselves: brief has the first sentence of each description, full has all of it, up to 200 characters an option. The default is brief." enum:"brief,full"`
	Common   int      `hcl:"common" doc:"How many options a discovered tool offers: those that the usage or an example of its help has, then those that the help names most often. 0 is all." default:"20"`
	Options  []string `hcl:"options,optional" doc:"The options to offer, such as \"log --oneline\", \"log *\" or, for every command, \"--format\". Commands that it says nothing about offer the common ones."`

	Dangerous []string `hcl:"dangerous,optional" doc:"Options and commands that are offered although they run programs, reach files anywhere or load configuration, such as \"--output\", \"log --output\" or \"exec\". Without it none."`
	Paths     string   `hcl:"paths" doc:"cwd refuses arguments that are paths out of cwd, with symbolic links resolved; any lets them name any file." default:"cwd" enum:"cwd,any"`

	Read        []string `hcl:"read,optional" doc:"Commands that only read, with all below them."`
	Write       []string `hcl:"write,optional" doc:"Commands that write but destroy nothing, with all below them."`
	Destructive []string `hcl:"destructive,optional" doc:"Commands that destroy, with all below them. It counts more than write, and that more than read."`
	Idempotent  []string `hcl:"idempotent,optional" doc:"Commands for which twice is the same as once, with all below them."`

	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the program." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables of junctor's own environment that the program gets, where they are set. Without it the program gets PATH, HOME, the locale and the like." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"Where the program runs. A relative path is relative to the configuration file's directory, which is the default." default:""`

	Timeout  time.Duration `hcl:"timeout" doc:"How long one run may take." default:"60s"`
	Parallel int           `hcl:"parallel" doc:"How many runs there may be at the same time; further ones wait." default:"8"`
	Limits   *limits       `hcl:"limits,block" doc:"What each process of a run may use. Only Linux has these limits."`

	Stdin     bool   `hcl:"stdin" doc:"Whether discovered tools have a parameter stdin, which the program reads from its standard input." default:"false"`
	Args      string `hcl:"args,optional" doc:"A regular expression. With it discovered tools have a list args of further arguments, each of which must match it whole. One that begins with a dash must be meant by the expression: \".*\" admits none."`
	Output    string `hcl:"output" doc:"How standard output is read: auto is text where it is UTF-8 and binary else; json and jsonl are parsed." default:"auto" enum:"auto,text,json,jsonl,binary"`
	MaxOutput int    `hcl:"max_output" doc:"How many bytes of standard output are kept, half from the beginning and half from the end." default:"1048576"`
	MaxStderr int    `hcl:"max_stderr" doc:"How many bytes of standard error are kept, most of them from the end." default:"8192"`
	OKCodes   []int  `hcl:"ok_codes" doc:"The exit codes that mean success." default:"[0]"`
	DataCodes []int  `hcl:"data_codes,optional" doc:"Further exit codes that are an answer and no error, such as the 1 of grep."`

	Tools []tool.Block `hcl:"tool,block" doc:"A tool written by hand. Nothing can be added to its arguments but what stands here."`
}

type limits struct {
	CPU       time.Duration `hcl:"cpu" doc:"Computing time, in whole seconds." default:"0s"`
	Memory    string        `hcl:"memory,optional" doc:"Address space, such as \"512MiB\"."`
	Files     int           `hcl:"files" doc:"Files open at the same time." default:"0"`
	Processes int           `hcl:"processes" doc:"Processes of this user in all, which the system does not hold against root." default:"0"`
}

// The most that may be kept of what a program prints. It must fit into a
// message, twice.
const mostKept = 64 << 20

// Validate says everything that the schema cannot.
func (s *settings) Validate() error {
	var errs []error
	failf := func(path, format string, args ...any) { errs = append(errs, sdk.AttrErrorf(path, format, args...)) }
	if len(s.Command) == 0 || s.Command[0] == "" {
		failf("command", "names no program")
	}
	for i, word := range s.Command {
		if strings.ContainsRune(word, 0) {
			failf(fmt.Sprintf("command[%d]", i), "contains NUL")
		}
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			failf(fmt.Sprintf("env[%q]", name), "is no environment variable: a name has no equals sign, and nothing has NUL")
		}
	}
	if s.Probe == "explicit" && len(s.Tools) == 0 {
		failf("probe", "is explicit, so tool blocks are needed")
	}
	for _, n := range []struct {
		path         string
		value, least int
	}{{"depth", s.Depth, 1}, {"parallel", s.Parallel, 1}, {"max_output", s.MaxOutput, 1}, {"max_stderr", s.MaxStderr, 0}, {"common", s.Common, 0}} {
		if n.value < n.least {
			failf(n.path, "must be at least %d", n.least)
		}
	}
	for _, n := range []struct {
		path  string
		value int
	}{{"max_output", s.MaxOutput}, {"max_stderr", s.MaxStderr}} {
		if n.value > mostKept {
			failf(n.path, "must be at most %d", mostKept)
		}
	}
	if len(s.OKCodes) == 0 {
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
	if s.Timeout <= 0 {
		failf("timeout", "must be longer than 0s")
	}
	if s.Args != "" {
		if _, err := tool.Whole(s.Args); err != nil {
			failf("args", "is no regular expression: %v", err)
		}
	}
	errs = append(errs, s.checkDiscovery()...)
	errs = append(errs, s.Limits.check()...)
	return errors.Join(append(errs, tool.CheckBlocks(s.Tools))...)
}

// checkDiscovery looks at what says how commands are discovered and offered.
func (s *settings) checkDiscovery() []error {
	var errs []error
	for _, patterns := range []struct {
		name string
		list []string
	}{
		{"only", s.Only}, {"except", s.Except}, {"globals", s.Globals}, {"omit", s.Omit}, {"options", s.Options}, {"dangerous", s.Dangerous},
		{"read", s.Read}, {"write", s.Write}, {"destructive", s.Destructive}, {"idempotent", s.Idempotent},
	} {
		for i, p := range patterns.list {
			if err := tool.CheckGlob(p); err != nil {
				errs = append(errs, sdk.AttrErrorf(fmt.Sprintf("%s[%d]", patterns.name, i), "%v", err))
			}
		}
		if len(patterns.list) > 0 && !s.discovers() && patterns.name != "dangerous" {
			errs = append(errs, sdk.AttrErrorf(patterns.name, "is about discovered commands, and where tool blocks stand there are none unless probe is \"auto\""))
		}
	}
	if !s.discovers() && s.Describe != "" {
		errs = append(errs, sdk.AttrErrorf("describe", "is about discovered commands; a tool block has the descriptions that stand in it"))
	}
	if !s.discovers() && s.Args != "" {
		errs = append(errs, sdk.AttrErrorf("args", "is about discovered commands; a tool block has what it needs in argv"))
	}
	if !s.discovers() && s.Stdin {
		errs = append(errs, sdk.AttrErrorf("stdin", "is about discovered commands; a tool block has a stdin of its own"))
	}
	return errs
}

// discovers reports whether the program is run to find out what it can do.
func (s *settings) discovers() bool {
	return s.Probe == "auto" || s.Probe == "" && len(s.Tools) == 0
}

// dir is where the program runs.
func (s *settings) dir(of *sdk.Server) string {
	if filepath.IsAbs(s.Cwd) {
		return s.Cwd
	}
	return filepath.Join(of.Dir, s.Cwd)
}

func (l *limits) check() []error {
	if l == nil {
		return nil
	}
	var errs []error
	if _, err := parseSize(l.Memory); err != nil {
		errs = append(errs, sdk.AttrErrorf("limits.memory", "%v", err))
	}
	if l.Files < 0 {
		errs = append(errs, sdk.AttrErrorf("limits.files", "must be at least 0"))
	}
	if l.Processes < 0 {
		errs = append(errs, sdk.AttrErrorf("limits.processes", "must be at least 0"))
	}
	return errs
}

func (l *limits) process() process.Limits {
	if l == nil {
		return process.Limits{}
	}
	memory, _ := parseSize(l.Memory) // which Validate has checked
	return process.Limits{CPU: l.CPU, Memory: memory, Files: uint64(l.Files), Processes: uint64(l.Processes)}
}

// parseSize reads a number of bytes, such as 4096 or 512MiB.
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
