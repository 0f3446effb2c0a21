package clientconfig

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
)

// MostBytes is the maximum size of a client's file. The one of Claude Code contains its
// history and has several megabytes.
const MostBytes = 64 << 20

// Fragment returns a new file that contains only the entry.
func (c *Client) Fragment(t Target) ([]byte, error) {
	if err := c.check(t); err != nil {
		return nil, err
	}
	return c.fragment(t), nil
}

func (c *Client) fragment(t Target) []byte {
	if c.format == formatTOML {
		return []byte(c.table(t, "\n"))
	}
	file := append([]member{}, c.head...)
	if c.asks(t) {
		file = append(file, member{"inputs", [][]member{input(t)}})
	}
	file = append(file, member{c.within, []member{{t.Name, c.entry(t)}}})
	return []byte(plainStyle.render(file, "") + "\n")
}

// asks reports whether the entry needs a question in "inputs".
func (c *Client) asks(t Target) bool { return c.prompt && !t.Local() && t.Token != "" }

// Merge adds the entry to a file or replaces it there. It returns text unchanged if the
// file already has the entry. It fails with a [*SyntaxError] if the file cannot be
// edited, and with an [*UnfitError] if the client does not support the target.
func (c *Client) Merge(text []byte, t Target) ([]byte, error) {
	if err := c.check(t); err != nil {
		return nil, err
	}
	if len(text) > MostBytes {
		return nil, syntax(text, 0, "larger than %d MiB", MostBytes>>20)
	}
	if c.format == formatTOML {
		return c.mergeTOML(text, t)
	}
	return c.mergeJSON(text, t)
}

func (c *Client) mergeJSON(text []byte, t Target) ([]byte, error) {
	d, err := read(text, c.comment)
	if err != nil {
		return nil, err
	}
	if d.root == nil { // an empty file or one with only comments
		return append(onItsOwnLine(text), c.fragment(t)...), nil
	}
	want, err := c.wanted(d, t)
	if err != nil {
		return nil, err
	}
	have, _ := d.root.plain(text).(map[string]any)
	after := text
	if !reflect.DeepEqual(have[c.within], want[c.within]) {
		after = d.set([]string{c.within, t.Name}, c.entry(t))
	}
	if !reflect.DeepEqual(have["inputs"], want["inputs"]) {
		if d, err = read(after, c.comment); err != nil {
			return nil, err
		}
		after = d.ask(input(t))
	}
	// Check the result, because the file belongs to the user.
	if again, err := parse(after, c.comment); err != nil || !reflect.DeepEqual(again.plain(after), any(want)) {
		return nil, errMore
	}
	return after, nil
}

// errMore reports a bug in the editor.
var errMore = errors.New("editing the file would change more than the entry")

// ask adds a question to "inputs".
func (d *document) ask(question []member) []byte {
	if inputs, _ := d.root.find("inputs"); inputs != nil {
		return d.add(inputs, "", question)
	}
	return d.add(d.root, quote("inputs")+": ", [][]member{question})
}

// wanted returns the intended content of the file. It fails if the file has other types
// in the places that would change.
func (c *Client) wanted(d *document, t Target) (map[string]any, error) {
	servers, err := d.member(d.root, "the file", c.within, '{')
	if err != nil {
		return nil, err
	}
	file := d.root.plain(d.text).(map[string]any)
	entries := map[string]any{}
	if servers != nil {
		if _, err := d.member(servers, quote(c.within), t.Name, 0); err != nil {
			return nil, err
		}
		entries = file[c.within].(map[string]any)
	}
	entries[t.Name] = plainOf(c.entry(t))
	file[c.within] = entries
	if !c.asks(t) {
		return file, nil
	}
	if _, err := d.member(d.root, "the file", "inputs", '['); err != nil {
		return nil, err
	}
	asked, _ := file["inputs"].([]any)
	if !slices.ContainsFunc(asked, func(one any) bool { q, _ := one.(map[string]any); return q["id"] == inputID(t) }) {
		file["inputs"] = append(asked, plainOf(input(t)))
	}
	return file, nil
}

// member returns a member of an object, or nil. It fails if the name occurs twice or the
// value is not of the given kind; 0 means any.
func (d *document) member(in *node, called, name string, kind byte) (*node, error) {
	if in.kind != '{' {
		return nil, syntax(d.text, in.start, "%s should be an object", called)
	}
	n, twice := in.find(name)
	switch {
	case twice:
		return nil, syntax(d.text, n.start, "%q occurs twice in %s", name, called)
	case n == nil || kind == 0 || n.kind == kind:
		return n, nil
	case kind == '[':
		return nil, syntax(d.text, n.start, "%q should be an array", name)
	}
	return nil, syntax(d.text, n.start, "%q should be an object", name)
}

// onItsOwnLine returns text with a final line break.
func onItsOwnLine(text []byte) []byte {
	text = bytes.Clone(text)
	if len(text) > 0 && text[len(text)-1] != '\n' && !bytes.Equal(text, bom) {
		text = append(text, '\n')
	}
	return text
}
