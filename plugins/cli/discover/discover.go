// Package discover runs a program to learn what it can do.
//
// It asks for help and for nothing else: the words it uses are those that the
// program's own texts name, or --help. Every question is put in an environment
// that has no terminal, no pager, no input and no home, and whatever a question
// starts is gone when it is answered. What comes back is read by package help;
// this package decides what to ask next, and joins the answers.
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
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// Options say what to learn about, and how much may be spent on it. A limit
// that is zero has its default.
type Options struct {
	Command []string // the program and the arguments that every call begins with
	Env     []string // what probes inherit, as NAME=value; not all of it is handed on
	Dir     string   // what a relative path in Command is relative to
	Depth   int      // how many words a command may have; 0 is 3

	// Only and Except choose commands, as [Match] does. Empty: all of them.
	Only, Except []string

	CacheDir string // where results are kept; empty: nowhere
	Log      hclog.Logger

	ProbeTime   time.Duration // for one question; 0 is 5 s
	Time        time.Duration // for all; 0 is 60 s
	ProbeOutput int           // bytes read from each stream of an answer; 0 is 4 MiB
	Nodes       int           // commands; 0 is 2 000
	Parallel    int           // questions at a time; 0 is the number of processors and two more
}

func (o *Options) setDefaults() {
	setDefault(&o.Depth, 3)
	setDefault(&o.ProbeTime, 5*time.Second)
	setDefault(&o.Time, 60*time.Second)
	setDefault(&o.ProbeOutput, 4<<20)
	setDefault(&o.Nodes, 2000)
	setDefault(&o.Parallel, cap(running))
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Run learns what a program can do. What it could not find out in time stands
// in the result's Incomplete; it is an error only when the program cannot be
// run, when nothing is left of it under Only and Except, or when ctx is done.
//
// When the time is over the result is Short, and the answers so far are in
// CacheDir: the next Run, in this process or another one, goes on from there.
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
		o.Log.Debug("what the program can do was known", "program", p.Name)
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
		answers.remove() // what it needs of the environment may be there the next time
	}
	switch err := choose(program, &o); {
	case err != nil && program.Short: // what is wanted may be what was not found yet
		program.Root, program.Explained = &model.Command{Path: []string{}, Source: "none"}, 0
	case err != nil:
		return nil, failed(program, err)
	case !program.Short && program.Failure == "":
		cache.store(key, program)
		answers.remove()
	}
	return program, nil
}

// choose applies Only and Except.
func choose(program *model.Program, o *Options) error {
	root, warnings, err := Filter(program.Root, o.Only, o.Except)
	if err != nil {
		return err
	}
	program.Root = root
	program.Incomplete = append(program.Incomplete, warnings...)
	return nil
}

// programName is what people call a program: its file without what only the
// system needs.
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

// calledName is the name that the program's own texts use: with an interpreter
// that is the script's.
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

// fixedWords are the fixed arguments when all of them may name a command. Then
// they are the beginning of its path: "docker container" is asked about with
// what works in all of docker.
func fixedWords(args []string) []string {
	for _, a := range args {
		if !isName(a) || strings.Contains(a, ".") {
			return nil
		}
	}
	return args
}
