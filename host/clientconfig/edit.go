package clientconfig

import (
	"bytes"
	"slices"
)

// An edit replaces text[start:end].
type edit struct {
	start, end int
	text       string
}

// apply applies edits, in ascending order of their offsets in the original text.
func apply(text []byte, edits ...edit) []byte {
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(text[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(text[at:])
	return out.Bytes()
}

// A document is a JSON file that is edited byte by byte. hujson could patch values too, but
// it moves comments and does not know the layout of the file. It belongs to one call of Merge or
// Remove.
type document struct {
	text  []byte
	root  *node
	style style
}

// read parses a JSON file for editing.
func read(text []byte, comment bool) (*document, error) {
	root, err := parse(text, comment)
	if err != nil {
		return nil, err
	}
	return &document{text: text, root: root, style: styleOf(text, root)}, nil
}

// set sets the value at a path and returns the new text. It creates missing objects on the
// path. The existing ones must be objects.
func (d *document) set(path []string, value any) []byte {
	at := d.root
	for i, name := range path {
		next, _ := at.find(name)
		if next != nil {
			at = next
			continue
		}
		for _, inner := range slices.Backward(path[i+1:]) {
			value = []member{{inner, value}}
		}
		return d.add(at, quote(name)+": ", value)
	}
	text := d.style.render(value, d.indentOf(at))
	if d.oneLine(at) && len(at.items) > 0 {
		text = compact(value) // keep it on one line
	}
	return apply(d.text, edit{at.start, at.end, text})
}

// add appends an item to an object or an array, in the layout of the other items. A comment
// after the last item stays with that item.
func (d *document) add(in *node, name string, value any) []byte {
	indent := d.indentOf(in) + d.style.unit
	if len(in.items) == 0 {
		text, end := d.style.newline+indent+name+d.style.render(value, indent), in.tail
		if d.oneLine(in) {
			text += d.style.newline + d.indentOf(in)
		}
		if d.oneLine(in) && in.tail == in.start+1 { // it contains only white space
			end = in.end - 1
		}
		return apply(d.text, edit{in.tail, end, text})
	}
	if own, alone := indentAt(d.text, in.starts[len(in.starts)-1]); alone {
		indent = own
	}
	text := d.style.newline + indent + name + d.style.render(value, indent)
	if d.oneLine(in) {
		text = " " + name + compact(value)
	}
	last := in.items[len(in.items)-1].end
	if in.comma {
		return apply(d.text, edit{in.tail, in.tail, text + ","})
	}
	return apply(d.text, edit{last, last, ","}, edit{in.tail, in.tail, text})
}

// indentOf returns the white space at the beginning of the line in which a node starts.
func (d *document) indentOf(n *node) string {
	start := bytes.LastIndexByte(d.text[:n.start], '\n') + 1
	rest := bytes.TrimLeft(d.text[start:], " \t")
	return string(d.text[start : len(d.text)-len(rest)])
}

func (d *document) oneLine(n *node) bool { return !bytes.ContainsRune(d.text[n.start:n.end], '\n') }
