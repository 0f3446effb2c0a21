package cliconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/sdk"
)

// Server returns a server block for a transport with settings, in the order of the schema,
// followed by the tool blocks of p. p may be nil.
func Server(name, transport string, schema sdk.Schema, settings map[string]json.RawMessage,
	p *Program) ([]byte, error) {
	file := hclwrite.NewEmptyFile()
	if p != nil {
		comment(file.Body(), summary(p)...)
	}
	body := file.Body().AppendNewBlock("server", []string{name}).Body().AppendNewBlock("transport",
		[]string{transport}).Body()
	if err := attributes(body, schema, settings); err != nil {
		return nil, err
	}
	if err := nested(body, schema, map[string]json.RawMessage{"sandbox": settings["sandbox"]}); err != nil {
		return nil, err
	}
	if p == nil {
		return file.Bytes(), nil
	}
	for _, t := range p.Tools {
		body.AppendNewline()
		comment(body, remarks(&t)...)
		if err := nested(body, schema,
			map[string]json.RawMessage{"tool": bytes.Join([][]byte{[]byte("["), t.Block, []byte("]")},
				nil)}); err != nil {
			return nil, err
		}
	}
	return hclwrite.Format(file.Bytes()), nil
}

// summary returns a comment about the program and what is missing.
func summary(p *Program) []string {
	lines := []string{
		fmt.Sprintf("%s, as described by its help. Review what it may do before you use this; junctor wrap --check",
			p.Name),
		"reports later changes of the program.",
	}
	if p.Version != "" {
		lines = append(lines, "version: "+p.Version)
	}
	if p.Digest != "" {
		lines = append(lines, "sha256:  "+p.Digest)
	}
	lines = append(lines, findings("dangerous, left out: ", p.Dangerous)...)
	lines = append(lines, p.outer()...)
	lines = append(lines, p.Sandbox...)
	lines = append(lines, proposed(p.Tools)...)
	for _, why := range p.Incomplete {
		lines = append(lines, "incomplete: "+why)
	}
	return lines
}

// outer returns a comment about the options of the whole program that no block has.
func (p *Program) outer() []string {
	var all []string
	for i := range p.Tools {
		for _, name := range p.Tools[i].Outer {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	var lines []string
	line := "options of the whole program, left out: "
	for i, name := range all {
		if i > 0 {
			line += ", "
		}
		if len(line)+len(name) > commentMost-len(", ") {
			lines, line = append(lines, strings.TrimSpace(line)), "  "
		}
		line += name
	}
	return append(lines, line,
		"junctor wrap --global "+all[0]+" adds one; without tool blocks, globals = [\""+all[0]+"\"] does")
}

// leftOutShown is the maximum number of omitted options in a remark.
const leftOutShown = 8

// effect says how the access of a tool is known.
func (t *Tool) effect() string {
	switch t.AccessFrom {
	case "", "unknown":
		return "its effect is unknown, so it counts as writing"
	case "configuration":
		return "access as configured"
	case "table":
		return "access from the table of known programs"
	case "danger":
		return "counts as writing because of a dangerous option, or paths outside of cwd"
	case "verb":
		if t.looksReading() {
			return "its name looks like reading, but it counts as writing"
		}
	}
	return "access guessed from the " + t.AccessFrom
}

// looksReading reports whether only the name of the command suggests that it reads. The block
// then has no access "read": a guess must not end up in a review that reads over it.
func (t *Tool) looksReading() bool { return t.AccessFrom == "verb" && t.access() == "write" }

// pattern returns the pattern that selects the command of a tool.
func (t *Tool) pattern() string {
	if len(t.Command.Path) == 0 {
		return t.Name
	}
	return strings.Join(t.Command.Path, " ")
}

// remarks returns a comment about the source and the reliability of a tool.
func remarks(t *Tool) []string {
	// It is 100 only for all of it.
	line := fmt.Sprintf("from %s, %d %% understood", t.Command.Source, int(100*t.Command.Confidence+1e-9))
	lines := []string{line + "; " + t.effect()}
	if t.looksReading() {
		lines = append(lines,
			fmt.Sprintf("if it only reads: access = \"read\" here, or junctor wrap --read %q", t.pattern()))
	}
	lines = append(lines, t.dangers()...)
	if len(t.Written) > 0 {
		lines = append(lines, "writes files below cwd: "+strings.Join(t.Written, ", "))
	}
	if n := len(t.LeftOut); n > 0 {
		lines = append(lines, fmt.Sprintf("options left out (--common 0 includes them): %d, such as %s",
			n, strings.Join(t.LeftOut[:min(n, leftOutShown)], " ")))
	}
	if t.Ordered {
		lines = append(lines,
			"left out: its expression, in which the order matters; write a tool block for each one that you need")
	}
	if len(t.DataCodes) > 0 {
		lines = append(lines,
			fmt.Sprintf("exit status %s is a result and no error", strings.Trim(fmt.Sprint(t.DataCodes), "[]")))
	}
	lines = append(lines, t.Tried.remarks()...)
	for _, u := range t.Command.Unparsed {
		lines = append(lines, "not understood: "+strings.TrimSpace(u))
	}
	return lines
}

// commentMost is the maximum length of a comment line, in characters.
const commentMost = 160

func comment(body *hclwrite.Body, lines ...string) {
	for _, line := range lines {
		line = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(line, "\uFFFD"))
		line = truncate.Runes(line, commentMost)
		body.AppendUnstructuredTokens(hclwrite.Tokens{{Type: '#', Bytes: []byte("# " + line + "\n")}})
	}
}

// attributes writes the attributes that are set and differ from their defaults.
func attributes(body *hclwrite.Body, schema sdk.Schema, set map[string]json.RawMessage) error {
	for _, a := range schema.Attributes {
		raw := set[a.Name]
		if len(raw) == 0 || string(raw) == "null" || bytes.Equal(raw, a.Default) {
			continue
		}
		typ, err := ctyjson.ImpliedType(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		v, err := ctyjson.Unmarshal(raw, typ)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		body.SetAttributeValue(a.Name, printable(v))
	}
	return nil
}

// printable removes characters that cannot be reviewed, because an editor does not show them
// or shows others instead.
func printable(v cty.Value) cty.Value {
	clean, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if v.Type() != cty.String || v.IsNull() {
			return v, nil
		}
		return cty.StringVal(strings.Map(func(r rune) rune {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, v.AsString())), nil
	})
	if err != nil {
		return v
	}
	return clean
}

// nested writes the blocks of the schema that occur in set.
func nested(body *hclwrite.Body, schema sdk.Schema, set map[string]json.RawMessage) error {
	for _, b := range schema.Blocks {
		raw := set[b.Name]
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var all []map[string]json.RawMessage
		if !b.List {
			raw = bytes.Join([][]byte{[]byte("["), raw, []byte("]")}, nil)
		}
		if err := json.Unmarshal(raw, &all); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		for _, one := range all {
			var labels []string
			if b.Label != "" {
				labels = make([]string, 1)
				if err := json.Unmarshal(one[b.Label], &labels[0]); err != nil {
					return fmt.Errorf("%s: its label: %w", b.Name, err)
				}
			}
			inner := body.AppendNewBlock(b.Name, labels).Body()
			if err := attributes(inner, b.Schema, one); err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
			if err := nested(inner, b.Schema, one); err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
		}
	}
	return nil
}
