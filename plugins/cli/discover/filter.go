package discover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// choose applies Only and Except to the tree of commands. Run calls it on the whole model.
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

// Filter returns a copy of a tree with only the selected commands: those that a
// pattern of only matches, or all if only is empty, without those that a
// pattern of except matches. A command that is not selected but has selected
// commands below it stays and is not Runnable. Filter warns of each pattern
// that matches nothing. It fails if no pattern of only matches or if no command
// is left.
func Filter(root *model.Command, only, except []string) (filtered *model.Command, warnings []string, err error) {
	unmatched := missing(root, only)
	if len(only) > 0 && len(unmatched) == len(only) {
		return nil, nil, noMatch(root, only)
	}
	for _, p := range unmatched {
		warnings = append(warnings, "only: "+quoted(p)+" matches no command"+didYouMean(similarCommands(root, p))+".")
	}
	for _, p := range missing(root, except) {
		warnings = append(warnings, "except: "+quoted(p)+" matches no command"+didYouMean(similarCommands(root, p))+".")
	}
	filtered = newSelection(only, except).prune(root, nil)
	if filtered == nil {
		return nil, nil, nothingLeft(only, except)
	}
	return filtered, warnings, nil
}

// missing returns the patterns that match no command.
func missing(root *model.Command, patterns []string) []string {
	var missing []string
	for _, p := range patterns {
		pattern, found := strings.Fields(p), false
		eachCommand(root, nil, func(_ *model.Command, words [][]string) {
			found = found || len(pattern) > 0 && matches(pattern, words)
		})
		if !found {
			missing = append(missing, p)
		}
	}
	return missing
}

// misspelled returns the error for a pattern that matches none of all commands. Without its
// command fewer tools would be offered, or more.
func misspelled(root *model.Command, o *Options) error {
	for _, list := range []struct {
		name     string
		patterns []string
	}{{"only", o.Only}, {"except", o.Except}} {
		wrong := missing(root, list.patterns)
		if len(wrong) == 0 || list.name == "only" && len(wrong) == len(list.patterns) { // which Filter names
			continue
		}
		e := sdk.AttrErrorf(fmt.Sprintf("%s[%d]", list.name, slices.Index(list.patterns, wrong[0])),
			"no command matches %s", quoted(wrong[0]))
		e.Hint = Suggest(root, wrong[0])
		return e
	}
	return nil
}

// noMatch returns the error for an only that selects nothing.
func noMatch(root *model.Command, only []string) error {
	if len(root.Commands) == 0 {
		e := sdk.AttrErrorf("only", "%s cannot match: the program has no sub-commands", quotedList(only))
		e.Hint = "remove only"
		return e
	}
	e := sdk.AttrErrorf("only", "no command matches %s", quotedList(only))
	var near []string
	for _, p := range only {
		for _, n := range similarCommands(root, p) {
			if !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	if len(near) > 0 {
		e.Hint = "did you mean " + quotedList(near) + "?"
		return e
	}
	var names []string
	for _, c := range root.Commands {
		names = append(names, lastWord(c))
	}
	e.Hint = "the commands are " + listed(names, 12)
	return e
}

// nothingLeft returns the error for an except that leaves no command.
func nothingLeft(only, except []string) error {
	e := sdk.AttrErrorf("except", "%s leaves no command", quotedList(except))
	if len(only) > 0 {
		e.Message += " of those that only selects"
	}
	return e
}
