package cliconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// Server writes a server block whose transport has the settings, in the order of
// the schema, and behind them what is known of the program.
func Server(name, transport string, schema sdk.Schema, settings map[string]json.RawMessage, p *Program) ([]byte, error) {
	file := hclwrite.NewEmptyFile()
	if p != nil {
		comment(file.Body(), summary(p)...)
	}
	body := file.Body().AppendNewBlock("server", []string{name}).Body().AppendNewBlock("transport", []string{transport}).Body()
	if err := attributes(body, schema, settings); err != nil {
		return nil, err
	}
	if p == nil {
		return file.Bytes(), nil
	}
	for _, t := range p.Tools {
		body.AppendNewline()
		comment(body, remarks(&t)...)
		if err := nested(body, schema, map[string]json.RawMessage{"tool": bytes.Join([][]byte{[]byte("["), t.Block, []byte("]")}, nil)}); err != nil {
			return nil, err
		}
	}
	return hclwrite.Format(file.Bytes()), nil
}

// summary says which program it was and what could not be looked at.
func summary(p *Program) []string {
	lines := []string{fmt.Sprintf("%s, as it describes itself. Review what it may do before you use this; junctor wrap --check", p.Name),
		"says later whether it still does."}
	if p.Version != "" {
		lines = append(lines, "version: "+p.Version)
	}
	if p.Digest != "" {
		lines = append(lines, "sha256:  "+p.Digest)
	}
	lines = append(lines, findings("dangerous, left out: ", p.Dangerous)...)
	for _, why := range p.Incomplete {
		lines = append(lines, "incomplete: "+why)
	}
	return lines
}

// leftOutShown is how many options that were left out a remark names.
const leftOutShown = 8

// remarks say how sure one can be of a tool.
func remarks(t *Tool) []string {
	line := fmt.Sprintf("from %s, %.0f %% understood", t.Command.Source, 100*t.Command.Confidence)
	switch t.AccessFrom {
	case "", "unknown":
		line += "; what it does to the world is not known, so it counts as writing"
	case "configuration":
		line += "; access as configured"
	case "table":
		line += "; access as known of the program"
	case "danger":
		line += "; it counts as writing because of a dangerous option, or paths outside of cwd"
	default:
		line += "; access guessed from the " + t.AccessFrom
	}
	lines := append([]string{line}, t.dangers()...)
	if n := len(t.LeftOut); n > 0 {
		lines = append(lines, fmt.Sprintf("options left out, which --common 0 would write: %d, such as %s", n, strings.Join(t.LeftOut[:min(n, leftOutShown)], " ")))
	}
	if t.Ordered {
		lines = append(lines, "left out: its expression, whose parts act in their order; write a tool block for each that is needed")
	}
	if len(t.DataCodes) > 0 {
		lines = append(lines, fmt.Sprintf("exit status %s is an answer and no error", strings.Trim(fmt.Sprint(t.DataCodes), "[]")))
	}
	if t.Tried != "" {
		lines = append(lines, t.Tried)
	}
	for _, u := range t.Command.Unparsed {
		lines = append(lines, "not understood: "+strings.TrimSpace(u))
	}
	return lines
}

// commentMost is how long a line of a comment may be.
const commentMost = 160

func comment(body *hclwrite.Body, lines ...string) {
	for _, line := range lines {
		line = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(line, "\uFFFD"))
		if r := []rune(line); len(r) > commentMost {
			line = string(r[:commentMost]) + "…"
		}
		body.AppendUnstructuredTokens(hclwrite.Tokens{{Type: '#', Bytes: []byte("# " + line + "\n")}})
	}
}

// attributes writes what is set and is not the default.
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

// printable takes characters out of texts that could not be reviewed, because
// an editor does not show them or shows others in their place.
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

// nested writes the blocks of a schema that stand in set.
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
