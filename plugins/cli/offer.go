package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// rounds are how long the program is looked at before what is known is offered.
// Each round continues where the one before stopped. What is still missing after
// the last one is left to the next start.
var rounds = []time.Duration{6 * time.Second, 12 * time.Second, 24 * time.Second, 60 * time.Second, 120 * time.Second}

// listWait is how long a request for the list waits for more than the host has.
var listWait = 8 * time.Second

// An offer is the tools there are: those of blocks at once, those that are
// discovered later, in one or more rounds.
type offer struct {
	options tool.Options
	done    chan struct{} // closed when nothing more is going to be discovered

	mu        sync.Mutex
	version   int                   // guarded by mu; counts what was published
	published chan struct{}         // guarded by mu; closed and replaced with each version
	blocks    []*tool.Tool          // guarded by mu; written by hand
	tools     []*tool.Tool          // guarded by mu; all of them
	named     map[string]*tool.Tool // guarded by mu
	program   *model.Program        // guarded by mu; nil until something is known
	over      bool                  // guarded by mu; nothing more is going to be published
	err       error                 // guarded by mu; of the discovery
}

func newOffer(set *settings, p program) *offer {
	o := &offer{
		done: make(chan struct{}), published: make(chan struct{}),
		options: tool.Options{
			Globals: set.Globals, Omit: set.Omit, Read: set.Read, Write: set.Write, Destructive: set.Destructive,
			Idempotent: set.Idempotent, Stdin: set.Stdin,
			Brief: set.Describe != "full", Common: set.Common, Only: set.Options,
			Rules: danger.For(set.Command, p.path), Dangerous: set.Dangerous,
		},
	}
	if dir, err := confine.New(p.dir); err != nil || !dir.All() {
		o.options.Bounded = true
	}
	o.options.Confined = set.Paths == tool.PathsCwd && o.options.Bounded
	if set.Args != "" {
		o.options.Free, _ = tool.Whole(set.Args) // which Validate has checked
	}
	o.blocks = tool.FromBlocks(set.Tools, o.options)
	o.publish(nil, nil, !set.discovers())
	if !set.discovers() {
		close(o.done)
	}
	return o
}

// publish replaces what is offered by the tools of blocks and those that were
// discovered. A tool that was written by hand stands for what is discovered
// under the same name. over says that nothing more is published.
func (o *offer) publish(p *model.Program, discovered []*tool.Tool, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over, o.program, o.tools, o.named = over, p, nil, map[string]*tool.Tool{}
	for _, tools := range [][]*tool.Tool{o.blocks, discovered} {
		for _, t := range tools {
			if o.named[t.Name] == nil {
				o.named[t.Name] = t
				o.tools = append(o.tools, t)
			}
		}
	}
	o.version++
	close(o.published)
	o.published = make(chan struct{})
}

// exploration says what is discovered, and how.
func (s *server) exploration(of *sdk.Server) discover.Options {
	return discover.Options{
		Command: s.set.Command, Env: s.program.env, Dir: s.program.dir, Depth: s.set.Depth,
		Only: s.set.Only, Except: s.set.Except, CacheDir: of.Cache, Log: s.log,
	}
}

// discover finds out what the program can do, and calls changed whenever there is
// more to offer.
func (o *offer) discover(ctx context.Context, options discover.Options, log hclog.Logger, changed func()) {
	defer changed()
	defer close(o.done)
	for i, time := range rounds {
		options.Time = time
		p, err := discover.Run(ctx, options)
		if err != nil {
			o.fail(err)
			if ctx.Err() == nil {
				log.Warn("discovering commands", "error", err)
			}
			return
		}
		if !p.Short || i == len(rounds)-1 {
			o.finish(p, log)
			return
		}
		log.Debug("discovery goes on", "commands", p.Commands, "explained", p.Explained)
		if p.Explained > 0 {
			o.publish(p, tool.FromProgram(p, o.options), false)
			changed()
		}
	}
}

// finish offers what was discovered in the end.
func (o *offer) finish(p *model.Program, log hclog.Logger) {
	for _, why := range p.Incomplete {
		log.Warn("not everything was discovered", "reason", why)
	}
	if err := o.options.Unused(p); err != nil {
		log.Warn("options that are not there", "error", err)
		if len(p.Incomplete) == 0 { // or they may be where nobody looked
			o.fail(err)
			return
		}
	}
	tools := tool.FromProgram(p, o.options)
	if skipped := o.options.Skipped(p); len(skipped) > 0 {
		log.Warn("dangerous commands are left out", "commands", spelled(skipped))
		if len(tools) == 0 {
			o.fail(allDangerous(p.Name, skipped))
			return
		}
	}
	o.publish(p, tools, true)
}

// fail ends a discovery that has no result.
func (o *offer) fail(err error) {
	o.mu.Lock()
	o.err = err
	o.mu.Unlock()
	o.publish(nil, nil, true)
}

func (o *offer) ready() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// await waits, for a while, until everything is there, or more than there was in
// the version that the caller has.
func (o *offer) await(ctx context.Context, has int) {
	t := time.NewTimer(listWait)
	defer t.Stop()
	for {
		o.mu.Lock()
		newer, published := o.over || o.version > has && o.program != nil, o.published
		o.mu.Unlock()
		if newer {
			return
		}
		select {
		case <-published:
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// A listing is the list of tools at one moment.
type listing struct {
	version int
	tools   []json.RawMessage
	about   json.RawMessage // what is known of the program; nil: not asked for, or not all of it
	more    *unfinished     // nil: the list is complete
}

// unfinished says how far a discovery is.
type unfinished struct {
	Known int `json:"known"`
	Total int `json:"total"`
	// Ended says that only the next start goes on.
	Ended bool `json:"ended,omitempty"`
}

// list returns the tools as they are shown. The error says why there are none.
func (o *offer) list(withModel bool) (*listing, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && len(o.tools) == 0 {
		return nil, o.err
	}
	l := &listing{version: o.version, tools: []json.RawMessage{}}
	for _, t := range o.tools {
		l.tools = append(l.tools, t.JSON(withModel))
	}
	if withModel && o.over && o.program != nil {
		l.about = tool.Groups(o.program, o.options.Skipped(o.program))
	}
	switch {
	case o.program != nil && o.program.Short:
		l.more = &unfinished{Known: o.program.Explained, Total: o.program.Commands, Ended: o.over}
	case !o.over:
		l.more = &unfinished{}
	}
	return l, nil
}

// findWait is how long a call waits for a tool that is not known yet.
const findWait = 25 * time.Second

// find returns the tool of a name, nil when there is none. It waits for the
// discovery only where that may matter.
func (o *offer) find(ctx context.Context, name string) *tool.Tool {
	ctx, cancel := context.WithTimeout(ctx, findWait)
	defer cancel()
	for {
		o.mu.Lock()
		t, over, published := o.named[name], o.over, o.published
		o.mu.Unlock()
		if t != nil || over {
			return t
		}
		select {
		case <-published:
		case <-ctx.Done():
			return nil
		}
	}
}

// now returns the version that is offered, whether it is the last, and a channel
// that is closed when there is another one.
func (o *offer) now() (version int, last bool, published <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version, o.over, o.published
}
