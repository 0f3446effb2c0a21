package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// A Call is what a run of a program gets.
type Call struct {
	Stdin *string // the text of standard input; nil if there is none
	Files []File  // to be written before the run
	Out   string  // the name of the file that the program writes; empty if there is none

	argv []string
}

// A File is a file with the text of an argument.
type File struct {
	Name string
	Text string
}

// place stands for the directory of files in an argument list. No argument and no
// configuration can have it.
const place = "\x00"

// Argv returns the argument list, without the program and its fixed arguments. dir is the
// directory of the files.
func (c *Call) Argv(dir string) []string {
	var argv []string
	for _, e := range c.argv {
		argv = append(argv, strings.ReplaceAll(e, place, dir+string(filepath.Separator)))
	}
	return argv
}

// addFiles puts values into files and returns their paths.
func (c *Call) addFiles(part tool.Part, values []value) []value {
	var paths []value
	for _, v := range values {
		name := withEnding("junctor-in-"+part.Slot, part.Ext)
		known := func(f File) bool { return strings.EqualFold(f.Name, name) && (f.Name != name || f.Text != v.text) }
		for n := 2; slices.ContainsFunc(c.Files, known); n++ {
			name = withEnding(fmt.Sprintf("junctor-in-%s-%d", part.Slot, n), part.Ext)
		}
		if !slices.Contains(c.Files, File{Name: name, Text: v.text}) {
			c.Files = append(c.Files, File{Name: name, Text: v.text})
		}
		paths = append(paths, value{text: place + name, path: v.path})
	}
	return paths
}

// out returns the path of the file that the program writes.
func (c *Call) out(ending string) string {
	c.Out = withEnding("junctor-out", ending)
	return place + c.Out
}

func withEnding(name, ending string) string {
	if ending == "" {
		return name
	}
	return name + "." + ending
}
