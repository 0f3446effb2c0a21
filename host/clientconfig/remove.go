package clientconfig

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
)

// Remove removes entries from a file, by their names. All else stays as it is, also the
// comments around them. Names that the file does not have are ignored. It fails with a
// [*SyntaxError] if the file cannot be edited.
func (c *Client) Remove(text []byte, names []string) ([]byte, error) {
	if len(text) > MostBytes {
		return nil, syntax(text, 0, "larger than %d MiB", MostBytes>>20)
	}
	if c.format == formatTOML {
		return c.removeTOML(text, names)
	}
	d, err := read(text, c.comment)
	if err != nil || d.root == nil {
		return text, err
	}
	servers, err := d.member(d.root, "the file", c.within, '{')
	if err != nil || servers == nil {
		return text, err
	}
	want, _ := d.root.plain(text).(map[string]any)
	entries, _ := want[c.within].(map[string]any)
	for _, name := range names {
		if _, err := d.member(servers, quote(c.within), name, 0); err != nil {
			return nil, err
		}
		delete(entries, name)
	}
	after := d.remove(servers, names)
	if again, err := parse(after, c.comment); err != nil || !reflect.DeepEqual(again.plain(after), any(want)) {
		return nil, errMore
	}
	return after, nil
}

// remove removes the members of an object with some names, each with the comma behind it. If
// the last member is among them, the comma before it goes too.
func (d *document) remove(in *node, names []string) []byte {
	var edits []edit
	kept := -1 // the last member that stays
	for i, name := range in.names {
		if !slices.Contains(names, name) {
			kept = i
			continue
		}
		start, end := in.starts[i], in.items[i].end
		if comma, ok := d.commaAfter(end); ok {
			if len(bytes.TrimSpace(d.text[end:comma])) == 0 {
				end = comma + 1
			} else { // a comment is between them
				edits = append(edits, edit{comma, comma + 1, ""})
			}
		}
		start, end = d.wholeLines(start, end)
		edits = append(edits, edit{start, end, ""})
	}
	if last := len(in.names) - 1; kept >= 0 && kept < last && !in.comma {
		if comma, ok := d.commaAfter(in.items[kept].end); ok {
			edits = append(edits, edit{comma, comma + 1, ""})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	return apply(d.text, edits...)
}

// commaAfter finds the comma behind a value.
func (d *document) commaAfter(end int) (offset int, ok bool) {
	_, n := commentsIn(d.text[end:])
	rest := bytes.TrimLeft(d.text[end+n:], " \t\r\n")
	return len(d.text) - len(rest), len(rest) > 0 && rest[0] == ','
}

// wholeLines extends a range to whole lines if nothing else is on them.
func (d *document) wholeLines(start, end int) (int, int) {
	first := bytes.LastIndexByte(d.text[:start], '\n') + 1
	last := len(d.text)
	if n := bytes.IndexByte(d.text[end:], '\n'); n >= 0 {
		last = end + n + 1
	}
	if first == 0 || len(bytes.TrimSpace(d.text[first:start])) > 0 || len(bytes.TrimSpace(d.text[end:last])) > 0 {
		return start, end
	}
	return first, last
}

func (c *Client) removeTOML(text []byte, names []string) ([]byte, error) {
	body := bytes.TrimPrefix(text, bom)
	mark := text[:len(text)-len(body)]
	want, err := readTOML(body)
	if err != nil {
		return nil, err
	}
	servers, _ := want[c.within].(map[string]any)
	after := body
	for _, name := range names {
		own := []string{c.within, name}
		if servers[name] == nil {
			continue
		}
		if at, ok := elsewhere(body, own); ok {
			return nil, syntax(body, at, "[%s] cannot be removed, because this line defines it in another way",
				strings.Join(own, "."))
		}
		delete(servers, name)
		var edits []edit
		for _, s := range tables(after, own) {
			edits = append(edits, edit{s.start, s.end, ""})
		}
		after = apply(after, edits...)
	}
	if len(servers) == 0 {
		delete(want, c.within)
	}
	again, err := readTOML(after)
	if left, ok := again[c.within].(map[string]any); ok && len(left) == 0 {
		delete(again, c.within) // an empty table may stay
	}
	if err != nil || !reflect.DeepEqual(again, want) {
		return nil, errMore
	}
	return append(bytes.Clone(mark), after...), nil
}
