package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// explore builds the tree of commands. It reports whether the time was too
// short. Run calls it once.
func explore(ctx context.Context, o *Options, path string, program *model.Program,
	answers *answerStore) (timed bool, err error) {
	box, err := newWorkspace(o)
	if err != nil {
		return false, fmt.Errorf("making a directory for probes: %w", err)
	}
	defer box.remove()
	w := &walk{
		o: o, program: program, prober: newProber(o, path, box, answers), selected: newSelection(o.Only, o.Except),
		nodes: 1, followed: map[string]bool{},
		helped: map[form]int{}, acted: map[form]int{},
	}
	if w.top = fixedWords(o.Command[1:]); w.top != nil {
		w.prober.fixed = nil // they are part of every path
	}
	w.man = w.manProber()
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	root, err := w.learnRoot(limited, box)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case limited.Err() != nil: // the root may be known only in part
		program.Root = &model.Command{Path: []string{}, Source: "none"}
		program.Incomplete = append(program.Incomplete,
			fmt.Sprintf("The time limit of %s was reached before the program itself had answered.", o.Time))
		return true, nil
	case err != nil:
		return false, &sdk.Error{Code: sdk.Unavailable, Reason: "not_started", Path: "command",
			Message: fmt.Sprintf("starting %s: %v", path, err)}
	}
	program.Root = root.cmd
	all, late := w.learnBelow(limited, root)
	unread := 0
	if len(late) == 0 {
		unread = w.deepen(limited, all[1:])
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	w.inherit(all)
	admitAnything(all)
	w.finish(all, late)
	root.cmd.Path = nil
	eachCommand(root.cmd, nil, func(c *model.Command, _ [][]string) { c.Path = c.Path[len(w.top):] })
	o.Log.Debug("discovered the commands of the program", "program", program.Name, "commands", w.nodes,
		"questions", w.prober.asked.Load(), "took", time.Since(begun).Round(time.Millisecond))
	program.Commands, program.Explained = len(all), len(all)-len(late)-unread
	return len(late)+unread > 0 || slices.ContainsFunc(all,
		func(n *node) bool { return n.slow && !n.known && !n.settled }), nil
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

// admitAnything gives commands without a usage a list of arguments, because they may take
// some.
func admitAnything(nodes []*node) {
	for _, n := range nodes {
		if c := n.cmd; n.known && c.NoUsage && len(c.Options) > 0 && c.Runnable &&
			len(c.Positionals)+len(c.Commands) == 0 {
			c.Positionals = anything()
		}
	}
}

// deepen asks further questions about commands that have answered: first the
// hints in their help, starting with the commands with the fewest options, then
// the man pages. It returns the number of texts that there was no time for.
func (w *walk) deepen(ctx context.Context, nodes []*node) (unread int) {
	terse := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return len(n.later) == 0 || !n.isTerse() })
	slices.SortStableFunc(terse, func(a, b *node) int { return len(a.cmd.Options) - len(b.cmd.Options) })
	var read atomic.Int64
	w.each(len(terse), func(i int) {
		if w.follow(ctx, terse[i], terse[i].later); ctx.Err() == nil {
			read.Add(1)
		}
	})
	unread = len(terse) - int(read.Load()) + w.readManual(ctx, nodes)
	if unread == 0 && ctx.Err() != nil {
		unread = 1 // the man pages have not even been listed
	}
	if unread > 0 {
		w.program.Incomplete = append(w.program.Incomplete,
			fmt.Sprintf("The time limit of %s was reached before all man pages and longer help texts were read.",
				w.o.Time))
	}
	return min(unread, len(nodes))
}

// learnBelow learns the commands below the root, level by level. It returns all nodes, and
// those for which there was no time.
func (w *walk) learnBelow(ctx context.Context, root *node) (all, late []*node) {
	all = []*node{root}
	for depth, level := 1, all; len(level) > 0; depth++ {
		var next []*node
		var groups []*group
		for _, parent := range level {
			if children := w.attach(parent, depth); len(children) > 0 {
				groups = append(groups, newGroup(w, children))
				next = append(next, children...)
			}
		}
		late = append(late, w.learnLevel(ctx, groups)...)
		all = append(all, next...)
		level = next
	}
	return all, late
}

// attach creates nodes for the commands found below parent, if they are
// selected and within the limits.
func (w *walk) attach(parent *node, depth int) []*node {
	if len(parent.found) == 0 {
		return nil
	}
	if depth > w.o.Depth {
		w.deep = append(w.deep, spell(parent.cmd.Path))
		return nil
	}
	var children []*node
	for _, c := range parent.found {
		words := below(parent.words, c)
		if !w.selected.leadsTo(words) {
			// It stays in the tree until the end, so that the error for a
			// pattern that matches nothing can suggest it.
			parent.cmd.Commands = append(parent.cmd.Commands, c)
			continue
		}
		if w.nodes >= w.o.Nodes {
			w.cut = append(w.cut, spell(c.Path))
			continue
		}
		w.nodes++
		parent.cmd.Commands = append(parent.cmd.Commands, c)
		child := &node{cmd: c, parent: parent, words: words, found: c.Commands}
		c.Commands = nil
		children = append(children, child)
	}
	return children
}

// learnLevel asks the commands of one level. It returns those that there was no
// time for.
func (w *walk) learnLevel(ctx context.Context, groups []*group) (late []*node) {
	// The samples of each group are asked first, one after the other. Their
	// answers decide how the others are asked.
	w.each(len(groups), func(i int) {
		for _, n := range groups[i].samples {
			w.learn(ctx, groups[i], n)
		}
	})
	type question struct {
		g *group
		n *node
	}
	var rest []question
	for _, g := range groups {
		for _, n := range g.nodes {
			if !slices.Contains(g.samples, n) {
				rest = append(rest, question{g, n})
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b question) int {
		return max(risk(lastWord(a.n.cmd)), writing) - max(risk(lastWord(b.n.cmd)), writing) // drastic names last
	})
	w.each(len(rest), func(i int) { w.learn(ctx, rest[i].g, rest[i].n) })
	for _, g := range groups {
		for _, n := range g.nodes {
			// A command that was slow among others is asked again, alone.
			if n.again && ctx.Err() == nil {
				n.alone = true
				w.learn(ctx, g, n)
			}
			if !n.asked {
				late = append(late, n)
			}
			if n.asked && !n.known && n.helpOf == nil && g.sharedHelp() == nil && n.parent.manOnly[lastWord(n.cmd)] {
				w.drop(n)
				continue
			}
			if !n.known {
				n.helpOf = cmp.Or(n.helpOf, g.sharedHelp())
				n.assume()
				n.cmd.Unasked = !n.asked
			}
		}
	}
	return late
}

// drop removes a command that only the man page lists and that this build of
// the program does not have.
func (w *walk) drop(n *node) {
	n.parent.cmd.Commands = slices.DeleteFunc(n.parent.cmd.Commands, func(c *model.Command) bool { return c == n.cmd })
	n.found = nil
	w.nodes--
}

// finish adds to Incomplete what is missing.
func (w *walk) finish(nodes, late []*node) {
	say := func(names []string, format string) {
		if len(names) > 0 {
			w.program.Incomplete = append(w.program.Incomplete, fmt.Sprintf(format, listed(names, 8)))
		}
	}
	var names []string
	for _, n := range late {
		names = append(names, spell(n.cmd.Path))
	}
	say(names, fmt.Sprintf("The time limit of %s was reached before these commands were asked: %%s.", w.o.Time))
	say(w.cut, fmt.Sprintf("There are more than %d commands; left out: %%s.", w.o.Nodes))
	say(w.deep, fmt.Sprintf("Commands of more than %d words were not discovered; there are such commands below %%s.",
		w.o.Depth))
	names = nil
	for _, n := range nodes {
		if n.slow && !n.known {
			names = append(names, spell(n.cmd.Path))
		}
	}
	say(names, fmt.Sprintf("These commands did not answer within %s: %%s.", w.o.ProbeTime))
	names = nil
	for _, n := range w.unsure {
		if name := spell(n.cmd.Path); !n.known && n.helpOf == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	say(names, "Not asked, because the program might run the command instead of printing its help: %s.")
}

// inherit adds options to the commands: those that every command accepts, and,
// to a command that printed the help of a parent, the options of that parent.
func (w *walk) inherit(nodes []*node) {
	for _, n := range nodes {
		options := w.shared
		if n.helpOf != nil && !n.known {
			options = slices.Concat(n.helpOf.cmd.Options, options)
		}
		for _, o := range options {
			if findOption(n.cmd, o.Names) == nil {
				o.Inherited = n.parent != nil && !(n.helpOf == n.parent && n.helpOf.cmd.RestOptions)
				n.cmd.Options = append(n.cmd.Options, o)
			}
		}
	}
}
