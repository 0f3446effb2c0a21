package clientconfig

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// table returns the entry as a TOML table.
func (c *Client) table(t Target, newline string) string {
	var b strings.Builder
	b.WriteString("[" + c.within + "." + t.Name + "]" + newline)
	for _, m := range c.entry(t) {
		b.WriteString(m.name + " = " + inline(m.value) + newline)
	}
	return b.String()
}

// inline encodes a value as TOML on one line.
func inline(v any) string {
	members, ok := v.([]member)
	if !ok {
		return compact(v)
	}
	var all []string
	for _, m := range members {
		all = append(all, quote(m.name)+" = "+inline(m.value))
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

func (c *Client) mergeTOML(text []byte, t Target) ([]byte, error) {
	body, mark := text, []byte(nil)
	if rest, ok := bytes.CutPrefix(text, bom); ok {
		body, mark = rest, bom
	}
	want, err := readTOML(body)
	if err != nil {
		return nil, err
	}
	own := []string{c.within, t.Name}
	if at, ok := elsewhere(body, own); ok {
		return nil, syntax(body, at,
			"[%s] cannot be added, because this line defines it in another way; write it as a table first",
			strings.Join(own, "."))
	}
	servers, _ := want[c.within].(map[string]any)
	if servers == nil {
		servers = map[string]any{}
	}
	if reflect.DeepEqual(servers[t.Name], plainOf(c.entry(t))) {
		return text, nil
	}
	servers[t.Name] = plainOf(c.entry(t))
	want[c.within] = servers
	after := c.replaceTable(body, own, t)
	if again, err := readTOML(after); err != nil || !reflect.DeepEqual(again, want) {
		return nil, errMore
	}
	return append(bytes.Clone(mark), after...), nil
}

// replaceTable replaces the table and its subtables, or appends the table.
func (c *Client) replaceTable(body []byte, own []string, t Target) []byte {
	newline := styleOf(body, nil).newline
	table := c.table(t, newline)
	var edits []edit
	for _, s := range tables(body, own) {
		edits = append(edits, edit{s.start, s.end, table})
		table = ""
	}
	if edits != nil {
		return apply(body, edits...)
	}
	after := onItsOwnLine(body)
	if len(bytes.TrimSpace(after)) > 0 {
		after = append(after, newline...)
	}
	return append(after, table...)
}

// readTOML decodes a file.
func readTOML(body []byte) (map[string]any, error) {
	if err := checkTOMLKeys(body); err != nil {
		return nil, err
	}
	all := map[string]any{}
	err := toml.Unmarshal(body, &all)
	if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := bad.Position()
		return nil, &SyntaxError{Line: line, Column: column, What: strings.TrimPrefix(bad.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &SyntaxError{Line: 1, Column: 1, What: err.Error()}
	}
	return all, nil
}

// A span is a range of bytes in a text.
type span struct{ start, end int }

// tables returns the ranges of a table and its subtables, each from its header to its
// last line. Blank lines and comments before the next header belong to the next table.
func tables(body []byte, own []string) (spans []span) {
	open := false
	for _, e := range expressions(body) {
		if e.kind != unstable.Table && e.kind != unstable.ArrayTable {
			continue
		}
		if open {
			spans[len(spans)-1].end = e.line
		}
		if open = below(e.key, own); open {
			spans = append(spans, span{e.line, len(body)})
		}
	}
	for i := range spans {
		spans[i].end = lastLine(body, spans[i])
	}
	return spans
}

// lastLine returns the end of the last line that is neither blank nor a comment.
func lastLine(body []byte, s span) int {
	for s.end > s.start {
		start := bytes.LastIndexByte(body[:s.end-1], '\n') + 1
		line := bytes.TrimSpace(body[start:s.end])
		if len(line) > 0 && line[0] != '#' {
			break
		}
		s.end = start
	}
	return s.end
}

// elsewhere finds the first place where a table is not defined by a header, but by a
// dotted key or inside another value.
func elsewhere(body []byte, own []string) (offset int, found bool) {
	var in []string
	for _, e := range expressions(body) {
		if e.kind == unstable.Table || e.kind == unstable.ArrayTable {
			in = e.key
			if e.kind == unstable.ArrayTable && below(own, e.key) {
				return e.line, true
			}
			continue
		}
		full := append(slices.Clone(in), e.key...)
		if !below(in, own) && (below(full, own) || below(own, full)) {
			return e.line, true
		}
	}
	return 0, false
}

// below reports whether a key is equal to another one or below it.
func below(key, other []string) bool {
	return len(key) >= len(other) && slices.Equal(key[:len(other)], other)
}

// An expression is a table header, or a key with its value.
type expression struct {
	kind unstable.Kind
	key  []string
	line int // offset of the start of its line
}

// expressions returns the expressions of a valid file.
func expressions(body []byte) (all []expression) {
	var p unstable.Parser
	p.Reset(body)
	for p.NextExpression() {
		e := expression{kind: p.Expression().Kind}
		for key := p.Expression().Key(); key.Next(); {
			n := key.Node()
			if e.key == nil {
				e.line = bytes.LastIndexByte(body[:n.Raw.Offset], '\n') + 1
			}
			e.key = append(e.key, string(n.Data))
		}
		all = append(all, e)
	}
	return all
}
