package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// arguments reads all arguments. Names are case-sensitive. An argument that is
// null counts as absent.
func (d *decoder) arguments(raw json.RawMessage) (all map[string]*argument, free []string, stdin *string) {
	all = map[string]*argument{}
	members := map[string]json.RawMessage{}
	if !isNull(raw) && json.Unmarshal(raw, &members) != nil {
		d.failf("", "must be an object")
		return all, nil, nil
	}
	d.members = members
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
			if text, ok := d.text(name, raw); ok && d.input(text) {
				stdin = &text
			}
		case name == tool.FreeName && d.tool.Free != nil:
			free = d.free(raw)
		default:
			d.failf(printable(name), "is not an argument of this tool")
		}
	}
	for i := range d.tool.Parameters {
		p := &d.tool.Parameters[i]
		if _, ok := members[p.Name]; p.Required && (!ok || isNull(members[p.Name])) {
			d.failf(p.Name, "is required")
		} else if p.OrStdin && (!d.given(p.Name) || all[p.Name].empty()) && !d.gives(tool.StdinName) &&
			!d.tool.Gives(p.StdinUnless, d.given) {
			d.failf(p.Name, "is required%s: without it the program reads standard input, which is empty", d.except(p))
		} else if p.Unless != nil && (!d.given(p.Name) || all[p.Name].empty()) &&
			!slices.ContainsFunc(p.Unless, d.chosen) {
			d.failf(p.Name, "is required, except with %s", strings.Join(p.Unless, " or "))
		}
	}
	if d.tool.StdinRequired && !d.given(tool.StdinName) {
		d.failf(tool.StdinName, "is required")
	}
	d.conflicts(all)
	return all, free, stdin
}

// except names what a call may give in place of a file.
func (d *decoder) except(p *tool.Parameter) string {
	others := slices.Clone(p.StdinUnless)
	if d.tool.Stdin {
		others = append(others, tool.StdinName)
	}
	if len(others) == 0 {
		return ""
	}
	return ", except with " + strings.Join(others, " or ")
}

// chosen reports whether the call gives an argument, other than as false or as an empty list.
func (d *decoder) chosen(name string) bool {
	return d.given(name) &&
		!slices.Contains([]string{"false", "0", "[]", "{}"}, string(bytes.TrimSpace(d.members[name])))
}

// input checks the text of standard input.
func (d *decoder) input(text string) bool {
	if reason := d.tool.StdinRejection(text); reason != "" {
		d.failf(tool.StdinName, "%s", reason)
		return false
	}
	if !d.tool.NamesOnStdin {
		return true
	}
	if strings.ContainsAny(text, "'\"\\") {
		d.failf(tool.StdinName, "must have no quotes and backslashes: its words become arguments")
		return false
	}
	for _, separators := range []string{"\x00", "\x00\n", "\x00 \t\r\n\v\f"} {
		for word := range strings.FieldsFuncSeq(text,
			func(r rune) bool { return strings.ContainsRune(separators, r) }) {
			if strings.HasPrefix(word, "-") {
				d.failf(tool.StdinName, "must have no word with a leading dash: its words become arguments")
				return false
			}
			if !d.check(nil, tool.StdinName, word) {
				return false
			}
		}
	}
	return true
}

// printable shortens and quotes a name that the model chose, for messages.
func printable(name string) string {
	if len(name) > 64 {
		name = name[:64] + "…"
	}
	return strings.Trim(strconv.QuoteToGraphic(strings.ToValidUTF8(name, "\uFFFD")), `"`)
}

// parameter reads the argument of one parameter. It returns nil if the argument is
// rejected.
func (d *decoder) parameter(p *tool.Parameter, raw json.RawMessage) *argument {
	before := len(d.problems)
	g := &argument{param: p}
	switch {
	case p.Value.Kind == model.Bool:
		if json.Unmarshal(raw, &g.flag) != nil {
			d.failf(p.Name, "must be true or false")
		}
	case p.Value.Kind == model.Count:
		text, err := plainNumber(raw, true)
		n, convErr := strconv.Atoi(text)
		if g.times = n; err != nil || convErr != nil || n < 0 || n > tool.MaxCount {
			d.failf(p.Name, "must be a whole number from 0 to %d", tool.MaxCount)
		}
	case p.Value.Kind == model.Map:
		g.values = d.pairs(p, raw)
	case p.Value.Kind == model.Expression:
		g.values = d.expression(p, raw)
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
		if p.Tuple() && len(elements) != p.Value.Arity {
			d.failf(p.Name, "must have %d values", p.Value.Arity)
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

// joined joins the values with the separator of the parameter, if it has one. It
// returns nil if a value contains the separator.
func (g *argument) joined(d *decoder) *argument {
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
	text := strings.Join(texts, separator)
	if len(texts) > 1 && !d.wholeList(g.param, g.param.Name, text) {
		return nil
	}
	g.values = []value{{text: text, bare: len(texts) == 0, path: g.param.Name}}
	return g
}

// one reads one value. ok is false if the value was rejected, or if it is false
// for an option with an optional value.
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
	if p.File && len(text) > tool.MaxFile {
		d.failf(path, "must have at most %d bytes", tool.MaxFile)
		return v, false
	}
	if p.Map != nil {
		return value{text: text, path: path}, true // it is not placed itself
	}
	ok = d.check(p, path, text)
	if len(d.checks) > 0 && p.Path && p.Value.Kind == model.Path && !p.Content.Address && confine.Schemed(text) {
		text = "./" + text // a file with this name exists, and the program must not take it for an address
	}
	number := p.Value.Kind == model.Integer || p.Value.Kind == model.Number
	stdin := text == "-" && p.MayBeStdin() && d.gives(tool.StdinName)
	return value{text: text, path: path, number: number, stdin: stdin}, ok
}

// pairs reads an object of strings. It returns key=value for each member, sorted
// by key.
func (d *decoder) pairs(p *tool.Parameter, raw json.RawMessage) []value {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		d.failf(p.Name, "must be an object")
		return nil
	}
	var all []value
	for _, key := range slices.Sorted(maps.Keys(members)) {
		path := p.Name + "." + printable(key)
		text, ok := d.text(path, members[key])
		switch err := p.Fits(text); {
		case !ok:
		case err != nil:
			d.failf(path, "%v", err)
		case key == "" || strings.ContainsAny(key, "=\x00"):
			d.failf(path, "is not a valid key: it is empty or contains an equals sign or NUL")
		case p.Content.Map && !variable.MatchString(key):
			d.failf(path, "is not the name of a variable")
		case d.check(p, path, text) && d.check(p, path, key+"="+text):
			all = append(all, value{text: key + "=" + text, path: path})
		}
	}
	return all
}

// free reads the list of free arguments.
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

// conflicts rejects arguments that exclude each other.
func (d *decoder) conflicts(all map[string]*argument) {
	for _, set := range d.tool.Conflicts {
		var present []string
		for _, name := range set {
			if g := all[name]; g != nil && (g.flag || g.times > 0 || len(g.values) > 0 && !g.values[0].negated) {
				present = append(present, name)
			}
		}
		if len(present) > 1 {
			d.failf(present[1], "cannot be given together with %s", present[0])
		}
	}
}

var (
	errNumber = errors.New("must be a number")
	errWhole  = errors.New("must be a whole number")
)

// maxNumberLen bounds a number without an exponent, in characters.
const maxNumberLen = 64

// plainNumber returns a JSON number without an exponent. It keeps the digits of a
// number that has none, so no precision is lost. It fails if raw is not a number,
// or is not whole although whole is set.
func plainNumber(raw json.RawMessage, whole bool) (string, error) {
	text := string(bytes.TrimSpace(raw))
	if text == "" || !strings.ContainsAny(text[:1], "-0123456789") || !json.Valid([]byte(text)) {
		if whole {
			return "", errWhole
		}
		return "", errNumber
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return "", errNumber
		case whole && (f != math.Trunc(f) || math.Abs(f) > 1<<53):
			return "", errWhole
		case whole || strings.ContainsAny(text, "eE"):
			text = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	if text == "-0" {
		text = "0"
	}
	if len(text) > maxNumberLen {
		return "", fmt.Errorf("must be a number of at most %d digits", maxNumberLen)
	}
	return text, nil
}
