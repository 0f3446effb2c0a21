package run

// template builds the list for a tool from a tool block. Prepare calls it in place of command for
// a tool with a Template.
func (b *builder) template() {
	_, from := b.tool.Arguments()
	protected := false
	b.add(b.tool.Forced...)
	for i, n := 0, 1; i < len(b.tool.Template); i += n {
		e := b.tool.Template[i]
		n = 1
		switch {
		case e.Options:
			b.now.element = i
			b.options()
		case e.Group == 0:
			b.element(i, protected, -1)
			protected = protected || i >= from && e.Terminates() && !b.tool.NoTerminator
		default:
			for i+n < len(b.tool.Template) && b.tool.Template[i+n].Group == e.Group {
				n++
			}
			protected = b.group(i, n, protected)
		}
	}
	if len(b.problems) == 0 {
		b.readPrograms(b.tool, 0, len(b.tool.Template))
	}
}

// group places the elements of a group once for each value of its list, or once if
// it has none, or not at all if one of its slots is empty. It reports whether "--"
// precedes what follows.
func (b *builder) group(first, n int, protected bool) bool {
	elements, times := b.tool.Template[first:first+n], 1
	for i := range elements {
		for _, name := range elements[i].Slots() {
			n := len(b.slot(name))
			if n == 0 {
				return protected
			}
			times = max(times, n)
		}
	}
	for value := range times {
		for i := range elements {
			b.element(first+i, protected, value)
			protected = protected || elements[i].Terminates() && !b.tool.NoTerminator
		}
	}
	return protected
}

// element fills the slots of one element of the template and places it. An element with a slot
// without a value is left out. An element with a list is placed once for each
// value, or with its value at an index only.
func (b *builder) element(i int, protected bool, index int) {
	e := b.tool.Template[i]
	b.now.element = i
	if p := b.tool.Parameter(e.Parts[0].Slot); p != nil && p.Map != nil {
		b.mapped(p, b.slotAt(p.Name, index))
		return
	}
	filled := []value{{}}
	for _, part := range e.Parts {
		if part.Slot == "" {
			text := part.Text
			if part.Out {
				text = b.call.out(part.Ext)
			}
			for i := range filled {
				filled[i].text += text
			}
			continue
		}
		values := b.slotAt(part.Slot, index)
		if part.File {
			values = b.call.addFiles(part, values)
		}
		var next []value
		for _, f := range filled {
			for _, v := range values {
				next = append(next, value{text: f.text + v.text, path: v.path})
			}
		}
		filled = next
	}
	b.whole(&e, filled)
	if p := b.tool.Parameter(e.Parts[0].Slot); p != nil && p.Expression != nil {
		b.place(filled)
		return
	}
	if e.Parts[0].Slot != "" && !e.Parts[0].File && !protected {
		b.positionals(filled)
		return
	}
	b.place(filled)
}
