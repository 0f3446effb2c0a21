package main

import (
	"context"
	"encoding/json"
	"strings"
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

// rounds are the durations of the discovery rounds. After each round the server
// offers the tools known so far. Each round continues where the previous one
// stopped; the next start continues after the last one.
var rounds = []time.Duration{6 * time.Second, 12 * time.Second, 24 * time.Second, 60 * time.Second, 120 * time.Second}

// listWait bounds how long tools/list waits for a newer version than the host
// has.
var listWait = 8 * time.Second

// A catalog holds the tools on offer. The tools of blocks are there from the
// start; discovery adds others in one or more rounds. The goroutine of discover
// publishes, and those of requests read. A published list and its tools are never
// changed, only replaced.
type catalog struct {
	options tool.Options
	done    chan struct{} // closed when discovery has finished

	mu        sync.Mutex
	version   int                   // guarded by mu; number of publish calls
	published chan struct{}         // guarded by mu; closed and replaced at each publish
	blocks    []*tool.Tool          // guarded by mu; from tool blocks
	tools     []*tool.Tool          // guarded by mu; all of them
	named     map[string]*tool.Tool // guarded by mu; tools by name
	program   *model.Program        // guarded by mu; nil until discovery has a result
	final     bool                  // guarded by mu; this is the last version
	err       error                 // guarded by mu; the error of discovery
}

func newCatalog(set *settings, p programs) *catalog {
	c := &catalog{
		done: make(chan struct{}), published: make(chan struct{}),
		options: tool.Options{
			Globals: set.Globals, Omit: set.Omit, Commands: set.Only, Read: set.Read,
			Write: set.Write, Destructive: set.Destructive,
			Idempotent: set.Idempotent, Stdin: set.Stdin != nil && *set.Stdin, NoStdin: set.Stdin != nil && !*set.Stdin,
			Brief: set.Describe != "full", Common: set.common(), Only: set.Options,
			Dangerous: set.Dangerous,
		},
	}
	if set.Common == nil {
		c.options.Budget = tool.BudgetDefault
	}
	about(&c.options, set, p.program)
	if set.Args != "" {
		c.options.Free, _ = tool.Whole(set.Args) // Validate has checked it
	}
	for i := range set.Tools {
		o := c.options
		if own, ok := p.own[&set.Tools[i]]; ok {
			about(&o, set, own)
		}
		c.blocks = append(c.blocks, tool.FromBlock(&set.Tools[i], o))
	}
	c.publish(nil, nil, !set.discovers())
	if !set.discovers() {
		close(c.done)
	}
	return c
}

// about sets the options that depend on the program and its directory.
func about(o *tool.Options, set *settings, p program) {
	o.Command, o.Executable = p.command, p.path
	o.Rules = danger.For(p.command, p.path)
	dir, err := confine.New(p.dir)
	o.Bounded = err != nil || !dir.All()
	o.Confined = set.Paths == tool.PathsCwd && o.Bounded
}

// publish replaces the tools by those of blocks and the discovered ones. A tool
// from a block replaces a discovered tool with the same name. final marks the
// last version.
func (c *catalog) publish(p *model.Program, discovered []*tool.Tool, final bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.final, c.program, c.tools, c.named = final, p, nil, map[string]*tool.Tool{}
	for _, tools := range [][]*tool.Tool{c.blocks, discovered} {
		for _, t := range tools {
			if c.named[t.Name] == nil {
				c.named[t.Name] = t
				c.tools = append(c.tools, t)
			}
		}
	}
	c.version++
	close(c.published)
	c.published = make(chan struct{})
}

// discover discovers the commands of the program in rounds. It calls changed
// after each new version. newServer runs it once, in a goroutine of its own; it
// returns when discovery is complete, or soon after ctx ends.
func (c *catalog) discover(ctx context.Context, options discover.Options, log hclog.Logger, changed func()) {
	defer changed()
	defer close(c.done)
	for i, time := range rounds {
		options.Time = time
		p, err := discover.Run(ctx, options)
		if err != nil {
			c.fail(err)
			if ctx.Err() == nil {
				log.Warn("discovering commands", "error", err)
			}
			return
		}
		if !p.Short || i == len(rounds)-1 {
			c.finish(p, log)
			return
		}
		log.Debug("discovery continues", "commands", p.Commands, "explained", p.Explained)
		if p.Explained > 0 {
			c.publish(p, tool.FromProgram(p, c.options), false)
			changed()
		}
	}
}

// finish publishes the result of the last round.
func (c *catalog) finish(p *model.Program, log hclog.Logger) {
	for _, why := range p.Incomplete {
		log.Warn("not everything was discovered", "reason", why)
	}
	if err := c.options.Unused(p); err != nil {
		log.Warn("options that the program does not have", "error", err)
		if len(p.Incomplete) == 0 { // otherwise they may belong to commands that were not asked
			c.fail(err)
			return
		}
	}
	tools := tool.FromProgram(p, c.options)
	if skipped := c.options.Skipped(p); len(skipped) > 0 {
		log.Warn("dangerous commands are left out", "commands", commandList(skipped))
		if len(tools) == 0 {
			c.fail(allDangerous(p.Name, skipped))
			return
		}
	}
	c.publish(p, tools, true)
}

// fail ends a discovery without a result.
func (c *catalog) fail(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	c.publish(nil, nil, true)
}

// ready reports whether discovery has finished.
func (c *catalog) ready() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// await waits up to listWait for a version newer than has, or for the end of
// discovery.
func (c *catalog) await(ctx context.Context, has int) {
	t := time.NewTimer(listWait)
	defer t.Stop()
	for {
		c.mu.Lock()
		newer, published := c.final || c.version > has && c.program != nil, c.published
		c.mu.Unlock()
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

// A listing is the list of tools in one version.
type listing struct {
	version int
	tools   []json.RawMessage
	about   json.RawMessage // the model of the program; nil if it was not requested or is incomplete
	more    *unfinished     // nil if the list is complete
}

// unfinished reports the state of a discovery that has not finished.
type unfinished struct {
	Known int `json:"known"`
	Total int `json:"total"`
	// Ended is true if only the next start continues the discovery.
	Ended bool `json:"ended,omitempty"`
}

// list returns the tools as JSON. It fails if discovery failed and there are no
// tools.
func (c *catalog) list(withModel bool) (*listing, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && len(c.tools) == 0 {
		return nil, c.err
	}
	l := &listing{version: c.version, tools: []json.RawMessage{}}
	for _, t := range c.tools {
		l.tools = append(l.tools, t.JSON(withModel))
	}
	if withModel && c.final && c.program != nil {
		l.about = tool.Groups(c.program, c.options.Skipped(c.program))
	}
	switch {
	case c.program != nil && c.program.Short:
		l.more = &unfinished{Known: c.program.Explained, Total: c.program.Commands, Ended: c.final}
	case !c.final:
		l.more = &unfinished{}
	}
	return l, nil
}

// findWait bounds how long tools/call waits for an unknown tool to be
// discovered.
const findWait = 25 * time.Second

// find returns the tool with a name, or nil. It waits for discovery if the tool
// is not known yet.
func (c *catalog) find(ctx context.Context, name string) *tool.Tool {
	ctx, cancel := context.WithTimeout(ctx, findWait)
	defer cancel()
	for {
		c.mu.Lock()
		t, final, published := c.named[name], c.final, c.published
		c.mu.Unlock()
		if t != nil || final {
			return t
		}
		select {
		case <-published:
		case <-ctx.Done():
			return nil
		}
	}
}

// current returns the current version, whether it is the last one, and a
// channel that is closed when the version changes.
func (c *catalog) current() (version int, last bool, published <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version, c.final, c.published
}

// maxNamed bounds how many commands a message lists.
const maxNamed = 12

// commandList lists commands for a message.
func commandList(skipped []danger.Finding) string {
	var all []string
	for i, f := range skipped {
		if i == maxNamed {
			all = append(all, "…")
			break
		}
		all = append(all, strings.Join(f.Command, " "))
	}
	return strings.Join(all, ", ")
}

// allDangerous returns the error for a program without any harmless command.
func allDangerous(program string, skipped []danger.Finding) error {
	f := skipped[0]
	why := f.Effect.String()
	if source := strings.TrimSuffix(f.Evidence, "; tried"); source != "" {
		why += ": " + source
	}
	e := sdk.AttrErrorf("dangerous", "nothing of %s is offered: %s is dangerous (%s)",
		program, strings.Join(f.Command, " "), why)
	command := strings.Join(f.Command, " ")
	e.Hint = "write tool blocks with fixed arguments, or allow it with dangerous = [\"" + command +
		"\"] (junctor wrap --dangerous \"" + command + "\")"
	return e
}
