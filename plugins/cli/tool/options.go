package tool

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Options configure the tools of a program. The lists are patterns for paths,
// see [discover.Match], or for options.
type Options struct {
	Globals []string // options of parent commands to offer
	Omit    []string // options not to offer

	Commands                             []string // patterns for the commands that were selected; empty for all
	Read, Write, Destructive, Idempotent []string // patterns for paths

	Stdin   bool // every tool has a parameter stdin
	NoStdin bool // no tool has; without both, those have it whose programs read standard input
	Free    *regexp.Regexp

	Brief  bool     // shorten descriptions
	Only   []string // options to offer, as "PATH OPTION" or "OPTION"; empty for the common ones
	Common int      // number of options of a tool if Only does not apply; 0 for all
	// Estimated tokens of the options of a program's only tool, in place of Common if more fit; may be 0.
	Budget int
	single bool // the program has one tool, and a Budget applies
	tools  int  // number of tools of the program

	Command    []string      // the program with its fixed arguments; may be nil
	Executable string        // its resolved file, if known
	Rules      *danger.Rules // what is dangerous; nil for nothing
	Dangerous  []string      // dangerous options and commands to offer
	Confined   bool          // paths must stay within the working directory
	Bounded    bool          // the working directory is not the root of the file system
}

// The values of the attribute paths.
const (
	PathsCwd = "cwd"
	PathsAny = "any"
)

// admits reports whether Dangerous names an option or argument: "--output", or
// "log --output" for one command.
func (o *Options) admits(words, names []string) bool {
	for _, pattern := range o.Dangerous {
		fields := strings.Fields(pattern)
		if len(fields) == 0 || !isArgument(fields[len(fields)-1]) {
			continue
		}
		last := len(fields) - 1
		if last > 0 && !discover.Match(strings.Join(fields[:last], " "), words) {
			continue
		}
		for _, name := range names {
			if ok, err := path.Match(fields[last], name); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// admitsCommand reports whether Dangerous names a command.
func (o *Options) admitsCommand(words []string) bool {
	return slices.ContainsFunc(o.Dangerous, func(pattern string) bool {
		fields := strings.Fields(pattern)
		return len(fields) > 0 && !isArgument(fields[len(fields)-1]) && discover.Match(pattern, words)
	})
}

func isArgument(word string) bool {
	return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "<")
}

// words returns the path of a command for comparison with patterns. For the
// root it is the program's name, as in the name of its tool.
func (o *Options) words(p *model.Program, c *model.Command) []string {
	if len(c.Path) == 0 {
		return []string{p.Name}
	}
	return c.Path
}

// runnable returns the runnable commands that have been asked, each once and
// parents first.
func runnable(p *model.Program) []*model.Command {
	var all []*model.Command
	seen := map[string]bool{}
	var walk func(c *model.Command)
	walk = func(c *model.Command) {
		key := strings.Join(c.Path, "\x00")
		if c.Runnable && !c.Unasked && !seen[key] || len(c.Path) == 0 && len(c.Commands) == 0 {
			seen[key] = true
			all = append(all, c)
		}
		for _, sub := range c.Commands {
			walk(sub)
		}
	}
	if p.Root != nil {
		walk(p.Root)
	}
	return all
}
