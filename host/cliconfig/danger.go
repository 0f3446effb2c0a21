package cliconfig

import (
	"fmt"
	"slices"
	"strings"
)

// A Finding is an option or a command with a dangerous effect.
type Finding struct {
	Names   []string `json:"names,omitempty"`   // of an option
	Command []string `json:"command,omitempty"` // of a whole command
	Does    string   `json:"does"`              // such as "runs a program"
}

// spelling returns the name of the finding in the attribute dangerous.
func (f *Finding) spelling() string {
	if len(f.Names) > 0 {
		return f.Names[0]
	}
	return fmt.Sprintf("%q", strings.Join(f.Command, " "))
}

// listLine is the maximum length of a line in a list of findings, in bytes.
const listLine = 90

// findings lists findings by effect, in lines that begin with head.
func findings(head string, all []Finding) []string {
	var order []string
	by := map[string][]string{}
	for i := range all {
		does := all[i].Does
		if by[does] == nil {
			order = append(order, does)
		}
		if s := all[i].spelling(); !slices.Contains(by[does], s) {
			by[does] = append(by[does], s)
		}
	}
	var lines []string
	for _, does := range order {
		line := ""
		for i, s := range by[does] {
			if i > 0 && len(line)+len(s) > listLine {
				lines = append(lines, head+line+" ("+does+")")
				line = ""
			}
			if line != "" {
				line += ", "
			}
			line += s
		}
		lines = append(lines, head+line+" ("+does+")")
	}
	return lines
}

// dangers returns the remarks about dangerous options of a tool.
func (t *Tool) dangers() []string {
	lines := findings("dangerous, left out: ", t.Dangerous)
	return append(lines, findings("dangerous, offered: ", t.Offered)...)
}
