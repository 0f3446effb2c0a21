package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/redact"
	"github.com/junctor-mcp/junctor/sdk"
)

// A blockSource is the source of a block, for diagnostics after the load: package host reports the
// complaints of a running plugin at the lines of the block. It keeps the files of the load alive.
type blockSource struct {
	source *source.File
	body   *hclsyntax.Body
	head   hcl.Range
	in     string // the enclosing block, for messages

	fallback fallback // attributes that the block inherits
	files    *source.Set
}

// SettingsDiagnostics is [Block.SettingsDiagnostics] for the server's transport.
func (s *Server) SettingsDiagnostics(complaints []*sdk.Error) source.Diagnostics {
	return s.Transport.SettingsDiagnostics(complaints)
}

// SettingsDiagnostics converts a plugin's complaints about the settings of the block to
// diagnostics, sorted by place.
func (b *Block) SettingsDiagnostics(complaints []*sdk.Error) source.Diagnostics {
	if len(complaints) == 0 {
		return nil
	}
	secrets := slices.Concat(b.origin.files.Hidden(), hiddenTexts(b.Settings, b.Shown))
	var ds source.Diagnostics
	for _, c := range complaints[:min(len(complaints), source.MaxDiagnostics)] {
		ds = append(ds, b.settingsDiagnostic(c, secrets))
	}
	slices.SortStableFunc(ds, func(a, b source.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	if rest := len(complaints) - len(ds); rest > 0 {
		ds = append(ds, source.MoreProblems(rest, true))
	}
	return ds
}

// settingsDiagnostic converts one complaint. It masks secrets, because a plugin may quote
// any setting.
func (b *Block) settingsDiagnostic(c *sdk.Error, secrets []string) source.Diagnostic {
	at := b.locate(c.Path)
	summary, detail, _ := strings.Cut(strings.TrimSpace(c.Error()), "\n")
	d := source.Diagnostic{
		Summary: redact.Scrub(summary, secrets), Detail: redact.Scrub(detail, secrets),
		Hint: redact.Scrub(c.Hint, secrets),
		In:   b.origin.in, At: source.StartOf(at), End: source.EndOf(at), Code: fault.UpstreamSettings,
	}
	for _, line := range c.Output {
		d.Output = append(d.Output, redact.Scrub(line, secrets))
	}
	d.AddSnippet(cmp.Or(b.origin.files.File(at.Filename), b.origin.source), at)
	return d
}

// hiddenTexts lists the texts and numbers in settings that are masked in shown.
func hiddenTexts(settings, shown []byte) []string {
	var texts []string
	var walk func(full, shown any)
	walk = func(full, shown any) {
		switch full := full.(type) {
		case map[string]any:
			visible, _ := shown.(map[string]any)
			for name, member := range full {
				if visible == nil {
					texts = append(texts, name)
				}
				walk(member, visible[name])
			}
		case []any:
			visible, _ := shown.([]any)
			for i, element := range full {
				if i < len(visible) {
					walk(element, visible[i])
				} else {
					walk(element, nil)
				}
			}
		case string:
			if full != shown {
				texts = append(texts, full)
			}
		case json.Number:
			if full != shown {
				texts = append(texts, full.String())
			}
		}
	}
	walk(decoded(settings), decoded(shown))
	return texts
}

// decoded decodes a JSON document that this package encoded. Numbers keep their text.
func decoded(document []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// PositionOf returns the place of a setting by its path, such as headers["Host"] or
// retry[0].max. If the setting is not written in the file, PositionOf returns the place
// of the nearest enclosing one.
func (b *Block) PositionOf(path string) source.Position { return source.StartOf(b.locate(path)) }

func (b *Block) locate(path string) hcl.Range {
	if b.origin.body == nil {
		return hcl.Range{Filename: b.At.File, Start: hcl.Pos{Line: b.At.Line, Column: b.At.Column}}
	}
	steps := language.ParsePath(path)
	if a := b.origin.inherited(steps); a != nil {
		return language.Locate(a.Expr, steps[1:])
	}
	return language.LocateIn(b.origin.body, b.origin.head, steps)
}

// inherited returns the attribute of the defaults block that a setting comes from. It
// returns nil if the block itself sets it.
func (o blockSource) inherited(steps []language.Step) *hclsyntax.Attribute {
	if len(steps) == 0 {
		return nil
	}
	own, inherited := o.body.Attributes[steps[0].Name], o.fallback[steps[0].Name]
	switch {
	case own == nil || inherited == nil:
		return inherited
	case len(steps) > 1 && language.Member(own.Expr, steps[1]) == nil &&
		language.Member(inherited.Expr, steps[1]) != nil:
		return inherited // one member of a map
	}
	return nil
}
