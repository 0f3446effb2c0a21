package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/pick"
	"github.com/junctor-mcp/junctor/plugins/cli/run"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/plugins/cli/wall"
	"github.com/junctor-mcp/junctor/sdk"
)

type settings struct {
	Command []string `hcl:"command" doc:"The program and its fixed arguments, which every run begins with. A name is looked for in PATH; a relative path is relative to cwd."`

	Only    []string `hcl:"only,optional" doc:"The commands to offer, with all commands below them, such as \"container *\" or \"logs\". By default all."`
	Except  []string `hcl:"except,optional" doc:"The commands not to offer, with all commands below them."`
	Depth   int      `hcl:"depth" doc:"The number of words up to which commands are discovered." default:"3"`
	Probe   string   `hcl:"probe,optional" doc:"auto runs the program to discover what it can do; explicit never does, and offers only tool blocks. The default is explicit if there are tool blocks, else auto." enum:"auto,explicit"`
	Globals []string `hcl:"globals,optional" doc:"Options of the program as a whole, or of a command above, that its commands offer too, such as \"--server\" or \"log-*\". By default those that select what to work on, such as \"--namespace\" or \"--repo\"."`
	Omit    []string `hcl:"omit,optional" doc:"Options not to offer, such as \"--force\"."`

	Describe string   `hcl:"describe,optional" doc:"The length of the descriptions of discovered tools: brief has the first sentence of each description, full has up to 200 characters for each option. The default is brief." enum:"brief,full"`
	Common   *int     `hcl:"common,optional" doc:"How many options a discovered tool offers. Options in the usage or in an example of the help come first, then those with a letter and a long name, then those that the help mentions most often. 0 is all. The default is 20, and for the only tool of a program as many as take about 2500 tokens."`
	Options  []string `hcl:"options,optional" doc:"The options to offer, such as \"log --oneline\", \"log *\" or, for every command, \"--format\". Commands that no element matches offer the common options."`

	Dangerous []string `hcl:"dangerous,optional" doc:"Options and commands to offer although they run programs, access files outside cwd or load configuration, such as \"--output\", \"log --output\" or \"exec\". By default none."`
	Paths     string   `hcl:"paths" doc:"cwd rejects arguments that are paths outside cwd, with symbolic links resolved; any allows every path." default:"cwd" enum:"cwd,any"`

	Read        []string `hcl:"read,optional" doc:"Commands that only read, with all commands below them."`
	Write       []string `hcl:"write,optional" doc:"Commands that write but destroy nothing, with all commands below them."`
	Destructive []string `hcl:"destructive,optional" doc:"Commands that destroy, with all commands below them. destructive overrides write, and write overrides read."`
	Idempotent  []string `hcl:"idempotent,optional" doc:"Commands with the same effect when they run twice, with all commands below them."`

	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the program." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables of junctor's own environment that the program gets if they are set. Without it the program gets PATH, HOME, the locale and the like." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"The working directory of the program. A relative path is relative to the configuration file's directory, which is the default." default:""`

	Timeout  time.Duration  `hcl:"timeout" doc:"How long one run may take." default:"60s"`
	Parallel int            `hcl:"parallel" doc:"How many runs are allowed at the same time; further runs wait." default:"8"`
	Sandbox  *wall.Settings `hcl:"sandbox,block" doc:"What the program may reach beside the system's files and cwd. Linux enforces it with Landlock and seccomp. With the block, the server does not start where the kernel cannot enforce it."`
	Limits   *tool.Limits   `hcl:"limits,block" doc:"Resource limits for each process of a run. Only Linux supports them."`

	Stdin     *bool  `hcl:"stdin,optional" doc:"Whether discovered tools have a parameter stdin with the text of standard input. By default those have it whose help says that the program reads data from standard input."`
	Args      string `hcl:"args,optional" doc:"A regular expression. With it discovered tools have a list args of further arguments, each of which it must match completely. It admits an argument with a leading dash only if it names the dash: \".*\" admits none."`
	Output    string `hcl:"output" doc:"How standard output is read: auto is text if it is UTF-8, else binary; json and jsonl are parsed, and an error if they are not JSON; lines, tsv (fields between tabs) and table (columns below a header) become lists; image and audio are content that a model sees or hears." default:"auto" enum:"auto,text,json,jsonl,lines,tsv,table,image,audio,binary"`
	Select    string `hcl:"select,optional" doc:"The part of JSON output that is the result, such as \".items[].name\": members (.name or [\"any name\"]), elements ([0]) and every element of a list ([])."`
	MaxOutput int    `hcl:"max_output" doc:"How many bytes of standard output are kept, half from the beginning and half from the end." default:"1048576"`
	MaxStderr int    `hcl:"max_stderr" doc:"How many bytes of standard error are kept, most of them from the end." default:"8192"`
	OKCodes   []int  `hcl:"ok_codes" doc:"The exit codes that mean success." default:"[0]"`
	DataCodes []int  `hcl:"data_codes,optional" doc:"Further exit codes that are an answer and not an error, such as 1 of grep."`

	Tools []tool.Block `hcl:"tool,block" doc:"A tool written by hand. Calls cannot add arguments that the block does not declare."`
}

// Validate checks what the schema cannot express.
func (s *settings) Validate() error {
	var errs []error
	failf := func(path, format string, args ...any) { errs = append(errs, sdk.AttrErrorf(path, format, args...)) }
	shared := tool.RunSettings{
		Command: append([]string{}, s.Command...), Env: s.Env, Timeout: &s.Timeout, MaxOutput: &s.MaxOutput,
		OKCodes: append([]int{}, s.OKCodes...), DataCodes: s.DataCodes, Limits: s.Limits,
	}
	errs = append(errs, shared.Check("")...)
	if s.Probe == "explicit" && len(s.Tools) == 0 {
		failf("probe", "is explicit, which requires at least one tool block")
	}
	for _, n := range []struct {
		path         string
		value, least int
	}{{"depth", s.Depth, 1}, {"parallel", s.Parallel, 1}, {"max_stderr", s.MaxStderr, 0}, {"common", s.common(), 0}} {
		if n.value < n.least {
			failf(n.path, "must be at least %d", n.least)
		}
	}
	if s.MaxStderr > tool.MaxKept {
		failf("max_stderr", "must be at most %d", tool.MaxKept)
	}
	if s.Args != "" {
		if _, err := tool.Whole(s.Args); err != nil {
			failf("args", "is not a regular expression: %v", err)
		}
	}
	errs = append(errs, s.checkDiscovery()...)
	errs = append(errs, s.Sandbox.Check()...)
	errs = append(errs, checkSelect("", s.Select, s.Output))
	for i := range s.Tools {
		if b := &s.Tools[i]; b.Select != "" {
			errs = append(errs, checkSelect(tool.BlockPath(i)+".", b.Select, cmp.Or(b.Output, s.Output)))
		}
	}
	return errors.Join(append(errs, tool.CheckBlocks(s.Tools, s.Command, s.Dangerous...))...)
}

// common returns the number of options of a discovered tool.
func (s *settings) common() int {
	if s.Common == nil {
		return tool.CommonDefault
	}
	return *s.Common
}

// checkSelect checks an attribute select beside its output. prefix precedes its path.
func checkSelect(prefix, path, output string) error {
	if path == "" {
		return nil
	}
	if _, err := pick.Parse(path); err != nil {
		return sdk.AttrErrorf(prefix+"select", "%v", err)
	}
	if output != run.JSON && output != run.JSONL {
		return sdk.AttrErrorf(prefix+"select", "selects from JSON: set output = \"json\" or \"jsonl\" beside it")
	}
	return nil
}

// checkDiscovery checks the attributes for discovered commands.
func (s *settings) checkDiscovery() []error {
	var errs []error
	for _, patterns := range []struct {
		name string
		list []string
	}{
		{"only", s.Only}, {"except", s.Except}, {"globals", s.Globals}, {"omit", s.Omit}, {"options", s.Options},
		{"dangerous", s.Dangerous},
		{"read", s.Read}, {"write", s.Write}, {"destructive", s.Destructive}, {"idempotent", s.Idempotent},
	} {
		for i, p := range patterns.list {
			if err := tool.CheckGlob(p); err != nil {
				errs = append(errs, sdk.AttrErrorf(fmt.Sprintf("%s[%d]", patterns.name, i), "%v", err))
			}
			if patterns.name == "dangerous" && strings.TrimSpace(p) == "*" {
				e := sdk.AttrErrorf(fmt.Sprintf("dangerous[%d]", i),
					"\"*\" does not say whether commands or options are meant")
				e.Hint = "name what is needed; \"**\" is every command, \"-*\" every option and \"<*>\" every refused value of a positional"
				errs = append(errs, e)
			}
		}
		if len(patterns.list) > 0 && !s.discovers() && patterns.name != "dangerous" {
			errs = append(errs, sdk.AttrErrorf(patterns.name,
				"applies to discovered commands only; with tool blocks there are none unless probe is \"auto\""))
		}
	}
	if !s.discovers() && s.Describe != "" {
		errs = append(errs,
			sdk.AttrErrorf("describe", "applies to discovered commands only; a tool block has its own descriptions"))
	}
	if !s.discovers() && s.Args != "" {
		errs = append(errs, sdk.AttrErrorf("args",
			"applies to discovered commands only; write the arguments of a tool block into its argv"))
	}
	if !s.discovers() && s.Stdin != nil && *s.Stdin {
		errs = append(errs,
			sdk.AttrErrorf("stdin", "applies to discovered commands only; a tool block has its own attribute stdin"))
	}
	return errs
}

// discovers reports whether the program is run to discover its commands.
func (s *settings) discovers() bool {
	return s.Probe == "auto" || s.Probe == "" && len(s.Tools) == 0
}

// directory returns the working directory for a setting cwd.
func directory(of *sdk.Server, cwd string) string {
	if filepath.IsAbs(cwd) {
		return filepath.Clean(cwd) // the wall knows the path without ".."
	}
	return filepath.Join(of.Dir, cwd)
}
