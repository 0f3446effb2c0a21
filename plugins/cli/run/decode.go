package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// An ArgumentError is everything that is wrong with the arguments of a call.
type ArgumentError struct{ Problems []Problem }

// A Problem is one argument that was refused. It never shows the value.
type Problem struct {
	Path   string // such as paths[2]; empty: the arguments as a whole
	Reason string
}

func (e *ArgumentError) Error() string {
	var b strings.Builder
	b.WriteString("the arguments were refused:")
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n- %s", strings.TrimPrefix(p.Path+": "+p.Reason, ": "))
	}
	return b.String()
}

// A given is the value of one parameter as text, ready to be placed.
type given struct {
	param  *tool.Parameter
	flag   bool    // of a bool
	times  int     // of a count
	values []value // of everything else
}

// A value is one value; bare is an option without its value, negated one that
// was said no to.
type value struct {
	text          string
	bare, negated bool
	path          string
}

// A decoder reads the arguments of a call.
type decoder struct {
	tool     *tool.Tool
	checks   []Check
	problems []Problem
}

func (d *decoder) failf(path, format string, args ...any) {
	d.problems = append(d.problems, Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// arguments reads all of them. Names are known only as they are spelled, and
// null is the same as nothing.
func (d *decoder) arguments(raw json.RawMessage) (all map[string]*given, free []string, stdin *string) {
	all = map[string]*given{}
	members := map[string]json.RawMessage{}
	if !isNull(raw) && json.Unmarshal(raw, &members) != nil {
		d.failf("", "must be an object")
		return all, nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		raw := members[name]
		p := d.tool.Parameter(name)
		switch {
		case p != nil && isNull(raw), p == nil && isNull(raw) && d.special(name):
		case p != nil:
			if g := d.parameter(p, raw); g != nil {
				all[name] = g
			}
		case name == tool.StdinName && d.tool.Stdin:
			text, ok := d.text(name, raw)
			if ok {
				stdin = &text
			}
		case name == tool.FreeName && d.tool.Free != nil:
			free = d.free(raw)
		default:
			d.failf(shown(name), "is not an argument of this tool")
		}
	}
	for i := range d.tool.Parameters {
		p := &d.tool.Parameters[i]
		if _, ok := members[p.Name]; p.Required && (!ok || isNull(members[p.Name])) {
			d.failf(p.Name, "is required")
		}
	}
	d.conflicts(all)
	return all, free, stdin
}

func (d *decoder) special(name string) bool {
	return name == tool.StdinName && d.tool.Stdin || name == tool.FreeName && d.tool.Free != nil
}

// shown is a stranger's name in a message.
func shown(name string) string {
	if len(name) > 64 {
		name = name[:64] + "…"
	}
	return strings.Trim(strconv.QuoteToGraphic(strings.ToValidUTF8(name, "\uFFFD")), `"`)
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

func (d *decoder) parameter(p *tool.Parameter, raw json.RawMessage) *given {
	before := len(d.problems)
	g := &given{param: p}
	switch {
	case p.Value.Kind == model.Bool:
		if json.Unmarshal(raw, &g.flag) != nil {
			d.failf(p.Name, "must be true or false")
		}
	case p.Value.Kind == model.Count:
		text, err := plainNumber(raw, true)
		n, convErr := strconv.Atoi(text)
		if g.times = n; err != nil || convErr != nil || n < 0 || n > tool.MostCounts {
			d.failf(p.Name, "must be a whole number from 0 to %d", tool.MostCounts)
		}
	case p.Value.Kind == model.Map:
		g.values = d.pairs(p, raw)
	case p.Several():
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			d.failf(p.Name, "must be a list")
			return nil
		}
		for i, raw := range elements {
			if v, ok := d.one(p, fmt.Sprintf("%s[%d]", p.Name, i), raw); ok {
				g.values = append(g.values, v)
			}
		}
		if p.Required && len(elements) == 0 {
			d.failf(p.Name, "must not be empty")
		}
	default:
		if v, ok := d.one(p, p.Name, raw); ok {
			g.values = []value{v}
		}
	}
	if len(d.problems) > before {
		return nil
	}
	return g.joined(d)
}

// joined makes one value of several where the program wants that.
func (g *given) joined(d *decoder) *given {
	separator := g.param.Value.Separator
	if separator == "" || len(g.values) == 0 || !g.param.Several() && g.param.Value.Kind != model.Map {
		return g
	}
	var texts []string
	for _, v := range g.values {
		switch {
		case v.bare:
			continue
		case strings.Contains(v.text, separator):
			d.failf(v.path, "must not contain %q, which separates elements", separator)
			return nil
		}
		texts = append(texts, v.text)
	}
	g.values = []value{{text: strings.Join(texts, separator), bare: len(texts) == 0, path: g.param.Name}}
	return g
}

// one reads one value. ok is false when there is none: it was refused, or it is
// the false of an option whose value may be left out.
func (d *decoder) one(p *tool.Parameter, path string, raw json.RawMessage) (v value, ok bool) {
	if p.Value.Optional && p.Role == tool.OptionRole {
		var on bool
		if !isNull(raw) && json.Unmarshal(raw, &on) == nil {
			negated := !on && p.No() != ""
			return value{bare: true, negated: negated, path: path}, on || negated
		}
	}
	var text string
	switch p.Value.Kind {
	case model.Integer, model.Number:
		var err error
		if text, err = plainNumber(raw, p.Value.Kind == model.Integer); err != nil {
			d.failf(path, "%v", err)
			return v, false
		}
	default:
		if text, ok = d.text(path, raw); !ok {
			return v, false
		}
	}
	if err := p.Fits(text); err != nil {
		d.failf(path, "%v", err)
		return v, false
	}
	return value{text: text, path: path}, d.check(p, path, text)
}

func (d *decoder) text(path string, raw json.RawMessage) (text string, ok bool) {
	if isNull(raw) || json.Unmarshal(raw, &text) != nil {
		d.failf(path, "must be a string")
		return "", false
	}
	return text, true
}

// pairs reads an object of strings, as key=value in the order of the keys.
func (d *decoder) pairs(p *tool.Parameter, raw json.RawMessage) []value {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		d.failf(p.Name, "must be an object")
		return nil
	}
	var all []value
	for _, key := range slices.Sorted(maps.Keys(members)) {
		path := p.Name + "." + shown(key)
		text, ok := d.text(path, members[key])
		switch err := p.Fits(text); {
		case !ok:
		case err != nil:
			d.failf(path, "%v", err)
		case key == "" || strings.ContainsAny(key, "=\x00"):
			d.failf(path, "is no key: it is empty or contains an equals sign or NUL")
		case d.check(p, path, text) && d.check(p, path, key+"="+text):
			all = append(all, value{text: key + "=" + text, path: path})
		}
	}
	return all
}

func (d *decoder) free(raw json.RawMessage) []string {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		d.failf(tool.FreeName, "must be a list")
		return nil
	}
	var all []string
	for i, raw := range elements {
		path := fmt.Sprintf("%s[%d]", tool.FreeName, i)
		text, ok := d.text(path, raw)
		switch {
		case !ok:
		case strings.ContainsRune(text, 0):
			d.failf(path, "must not contain NUL")
		case !admits(d.tool.Free, text):
			d.failf(path, "is not allowed by the pattern of args")
		case strings.HasPrefix(text, "-") && d.tool.Bans(text):
			d.failf(path, "is a dangerous option; the attribute dangerous would allow it")
		case d.check(nil, path, text):
			all = append(all, text)
		}
	}
	return all
}

// conflicts refuses what cannot stand together.
func (d *decoder) conflicts(all map[string]*given) {
	for _, set := range d.tool.Conflicts {
		var present []string
		for _, name := range set {
			if g := all[name]; g != nil && (g.flag || g.times > 0 || len(g.values) > 0 && !g.values[0].negated) {
				present = append(present, name)
			}
		}
		if len(present) > 1 {
			d.failf(present[1], "cannot be given beside %s", present[0])
		}
	}
}
