package tool

import "github.com/junctor-mcp/junctor/plugins/cli/model"

// MaxFile bounds the text of an argument that goes into a file, in bytes.
const MaxFile = 4 << 20

// outName is the slot for the file that the program writes, if no argument has this name.
const outName = "out"

// files checks the elements of argv with files, and marks the arguments that are in files.
func (c *blockBuilder) files() {
	outs := 0
	plain := map[string]bool{} // arguments whose values are placed themselves
	for i := range c.t.Template {
		e := &c.t.Template[i]
		slots, files := 0, 0
		for j := range e.Parts {
			p := &e.Parts[j]
			if p.Slot == outName && !p.File && c.t.Parameter(outName) == nil {
				p.Slot, p.Out = "", true
			}
			switch {
			case p.Out:
				outs, files, slots = outs+1, files+1, slots+1
				c.t.Writes = true
			case p.File:
				files, slots = files+1, slots+1
				c.file(e, p.Slot)
			case p.Slot != "":
				slots++
				plain[p.Slot] = true
			}
			if p.Out && e.Group != 0 {
				c.failf(e.at, "{out} cannot be in a nested list: the program would not get it if the list is left out")
			}
		}
		if outs > 1 && files > 0 {
			c.failf(e.at, "{out} may occur once")
			outs = 1
		}
		if files > 0 && slots > 1 {
			c.failf(e.at, "a file cannot share an element with another argument")
		}
	}
	for i := range c.t.Template {
		e := &c.t.Template[i]
		for _, p := range e.Parts {
			if p.File && plain[p.Slot] {
				c.failf(e.at, "the argument %q is placed itself elsewhere; it is either a file or a value", p.Slot)
			}
		}
	}
}

// file marks an argument that is in a file.
func (c *blockBuilder) file(e *Element, name string) {
	p := c.t.Parameter(name)
	switch {
	case p == nil || p.Role == OptionRole: // reported elsewhere
	case p.Value.Kind != model.String || p.Repeatable || p.Map != nil:
		c.failf(e.at, "a file holds one text, so the argument %q must be a string", name)
	default:
		p.File = true
	}
}
