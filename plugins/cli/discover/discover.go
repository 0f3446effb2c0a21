// Package discover runs a program to learn its commands and options.
//
// It only asks for help: its questions are --help and the words that the
// program's own texts name for this purpose. It runs a program without
// arguments only if its help says that this lists the commands. A question runs without a
// terminal, pager, standard input or home directory. No process that it starts
// outlives its answer. Package help reads the answers; this package decides
// what to ask next and merges the answers.
//
// Files, from the top: discover.go, explore.go, identity.go, root.go, ask.go, group.go, follow.go,
// manual.go, judge.go, filter.go, complement.go, merge.go, walk.go, protocol.go, suggest.go,
// probe.go, answers.go, cache.go, inode_unix.go, inode_other.go, node.go, hint.go, form.go,
// match.go, workspace.go, options.go.
//
// discover.go, explore.go and walk.go are the order of work: identity.go and root.go look at the
// program, group.go, ask.go and form.go ask the commands of a level, follow.go, manual.go and
// complement.go ask further sources. judge.go, merge.go and hint.go read answers; filter.go and
// match.go apply what the configuration chooses. probe.go runs the program in a workspace
// (workspace.go). answers.go keeps single answers, and cache.go whole models.
//
// Package main calls [Run] once for each round. Run blocks until the model is complete or its time
// is over. It asks up to Parallel commands at a time: walk.each runs their goroutines and waits for
// them. A node is changed by the goroutine that asks it and by no other until each returns; what
// commands share is in walk and group, behind their mutexes.
package discover

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

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

// failed replaces the error of a pattern that matches nothing, if the program
// itself failed: then no commands are known.
func failed(p *model.Program, err error) error {
	if p.Failure == "" {
		return err
	}
	e := sdk.AttrErrorf("command", "%s", p.Failure)
	e.Code, e.Hint = sdk.Unavailable,
		"run the program with --help; set the variables that it needs with env or pass_env"
	return e
}
