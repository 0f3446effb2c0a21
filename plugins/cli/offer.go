package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// exploring is how long the program may be looked at in all.
const exploring = 55 * time.Second

// listWait is how long a request for the list waits for that. The host gives it
// half a minute; what is found later it is told about.
var listWait = 25 * time.Second

// An offer is the tools there are: those of blocks at once, those that are
// discovered later.
type offer struct {
	options tool.Options
	done    chan struct{} // closed when nothing more is going to be discovered

	mu      sync.Mutex
	tools   []*tool.Tool          // guarded by mu
	named   map[string]*tool.Tool // guarded by mu
	program *model.Program        // guarded by mu; nil until discovered
	err     error                 // guarded by mu; of the discovery
}

func newOffer(set *settings) *offer {
	o := &offer{
		done: make(chan struct{}), named: map[string]*tool.Tool{},
		options: tool.Options{
			Globals: set.Globals, Omit: set.Omit, Read: set.Read, Write: set.Write, Destructive: set.Destructive,
			Idempotent: set.Idempotent, Stdin: set.Stdin,
		},
	}
	if set.Args != "" {
		o.options.Free, _ = tool.Whole(set.Args) // which Validate has checked
	}
	o.add(tool.FromBlocks(set.Tools))
	if !set.discovers() {
		close(o.done)
	}
	return o
}

// add adds tools whose names are not taken: one that was written by hand stands
// for what is discovered under the same name.
func (o *offer) add(tools []*tool.Tool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range tools {
		if o.named[t.Name] == nil {
			o.named[t.Name] = t
			o.tools = append(o.tools, t)
		}
	}
}

// exploration says what is discovered, and how.
func (s *server) exploration(of *sdk.Server) discover.Options {
	return discover.Options{
		Command: s.set.Command, Env: s.program.env, Dir: s.program.dir, Depth: s.set.Depth,
		Only: s.set.Only, Except: s.set.Except, CacheDir: of.Cache, Log: s.log, Time: exploring,
	}
}

// discover finds out what the program can do.
func (o *offer) discover(ctx context.Context, options discover.Options, log hclog.Logger) {
	defer close(o.done)
	p, err := discover.Run(ctx, options)
	o.mu.Lock()
	o.program, o.err = p, err
	o.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			log.Warn("discovering commands", "error", err)
		}
		return
	}
	for _, why := range p.Incomplete {
		log.Warn("not everything was discovered", "reason", why)
	}
	if err := o.options.Unused(p); err != nil {
		log.Warn("options that are not there", "error", err)
		if len(p.Incomplete) == 0 { // or they may be where nobody looked
			o.mu.Lock()
			o.err = err
			o.mu.Unlock()
			return
		}
	}
	o.add(tool.FromProgram(p, o.options))
}

func (o *offer) ready() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// await waits, for a while, until everything is there.
func (o *offer) await(ctx context.Context) {
	t := time.NewTimer(listWait)
	defer t.Stop()
	select {
	case <-o.done:
	case <-t.C:
	case <-ctx.Done():
	}
}

// list returns the tools as they are shown, and what is known of the program,
// nil when that is nothing. The error says why there are none.
func (o *offer) list(withModel bool) (tools []json.RawMessage, about json.RawMessage, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && len(o.tools) == 0 {
		return nil, nil, o.err
	}
	tools = []json.RawMessage{}
	for _, t := range o.tools {
		tools = append(tools, t.JSON(withModel))
	}
	if withModel && o.program != nil {
		about = tool.Groups(o.program)
	}
	return tools, about, nil
}

// find returns the tool of a name, nil when there is none. It waits for the
// discovery only where that may matter.
func (o *offer) find(ctx context.Context, name string) *tool.Tool {
	for range 2 {
		o.mu.Lock()
		t := o.named[name]
		o.mu.Unlock()
		if t != nil || o.ready() {
			return t
		}
		o.await(ctx)
	}
	return nil
}
