// Package discover runs a program to learn its commands and options.
//
// It only asks for help: its questions are --help and the words that the
// program's own texts name for this purpose. It runs a program without
// arguments only if its help says that this lists the commands. A question runs without a
// terminal, pager, standard input or home directory. No process that it starts
// outlives its answer. Package help reads the answers; this package decides
// what to ask next and merges the answers.
package discover

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/stdio"
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

func (o *Options) setDefaults() {
	setDefault(&o.Depth, 3)
	setDefault(&o.ProbeTime, 5*time.Second)
	setDefault(&o.Time, 60*time.Second)
	setDefault(&o.ProbeOutput, 4<<20)
	setDefault(&o.Nodes, 2000)
	setDefault(&o.Parallel, cap(processSlots))
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Run discovers the commands and options of a program. The result's Incomplete
// lists parts that are missing. Run fails if the program cannot be run, if Only
// and Except select no command, or if ctx is done.
//
// When the time is over the result is Short and CacheDir holds the answers so
// far. The next Run, in this process or another one, continues from there.
func Run(ctx context.Context, o Options) (*model.Program, error) {
	o.setDefaults()
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, sdk.AttrErrorf("command", "names no program")
	}
	path, err := stdio.Resolve(o.Command[0], o.Dir, o.Env)
	if err != nil {
		return nil, err
	}
	cache := cache{dir: o.CacheDir}
	digest, err := cache.digest(path)
	if err != nil {
		return nil, &sdk.Error{Code: sdk.Unavailable, Path: "command", Message: "reading " + path + ": " + err.Error()}
	}
	key := cache.keyOf(&o, digest)
	if p, ok := cache.load(key); ok {
		o.Log.Debug("the model of the program was cached", "program", p.Name)
		return p, nil
	}
	program := &model.Program{Name: calledName(path, &o), Digest: digest}
	answers := openAnswers(cache, cache.keyOfAnswers(&o, digest))
	program.Short, err = explore(ctx, &o, path, program, answers)
	if err != nil {
		return nil, err
	}
	if program.Short {
		cache.trimAnswers()
	}
	if program.Failure != "" {
		answers.remove() // the environment may have changed until the next run
	}
	switch err := choose(program, &o); {
	case err != nil && program.Short: // the selected commands may not be discovered yet
		program.Root, program.Explained = &model.Command{Path: []string{}, Source: "none"}, 0
	case err != nil:
		return nil, failed(program, err)
	case !program.Short && program.Failure == "":
		cache.store(key, program)
		answers.remove()
	}
	return program, nil
}

// choose applies Only and Except to the tree of commands.
func choose(program *model.Program, o *Options) error {
	if !program.Short && program.Failure == "" && len(program.Incomplete) == 0 { // every command is known
		if err := misspelled(program.Root, o); err != nil {
			return err
		}
	}
	root, warnings, err := Filter(program.Root, o.Only, o.Except)
	if err != nil {
		return err
	}
	program.Root = root
	program.Incomplete = append(program.Incomplete, warnings...)
	return nil
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

// fixedWords returns the fixed arguments if all of them may name a command,
// else nil. They are then the first words of every path: "docker container" is
// asked with the forms that work in all of docker.
func fixedWords(args []string) []string {
	for _, a := range args {
		if !isName(a) || strings.Contains(a, ".") {
			return nil
		}
	}
	return args
}
