package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// An origin is what a block came from: what it takes to point at a
// place in it long after the load.
type origin struct {
	source  *source
	body    *hclsyntax.Body
	head    hcl.Range
	in      string   // the block around it, for messages
	secrets []string // what env() and file() returned

	fallback fallback           // what the defaults block has for it
	sources  map[string]*source // by name
}

// Refused makes diagnostics of what a plugin said against the settings of the
// server's transport; see [Block.Refused].
func (s *Server) Refused(complaints []*sdk.Error) Diagnostics { return s.Transport.Refused(complaints) }

// Refused makes diagnostics of what the plugin said against the settings of the
// block, in the order of their places.
func (b *Block) Refused(complaints []*sdk.Error) Diagnostics {
	if len(complaints) == 0 {
		return nil
	}
	secrets := slices.Concat(b.origin.secrets, hiddenTexts(b.Settings, b.Shown))
	var ds Diagnostics
	for _, c := range complaints[:min(len(complaints), MaxDiagnostics)] {
		ds = append(ds, b.refused(c, secrets))
	}
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	if rest := len(complaints) - len(ds); rest > 0 {
		ds = append(ds, more(rest, true))
	}
	return ds
}

// refused is one complaint. It may quote any setting, so secrets are taken out.
func (b *Block) refused(c *sdk.Error, secrets []string) Diagnostic {
	at := b.locate(c.Path)
	summary, detail, _ := strings.Cut(strings.TrimSpace(c.Error()), "\n")
	d := Diagnostic{
		Summary: scrubbed(summary, secrets), Detail: scrubbed(detail, secrets), Hint: scrubbed(c.Hint, secrets),
		In: b.origin.in, At: startOf(at), End: endOf(at), Code: fault.UpstreamSettings,
	}
	for _, line := range c.Output {
		d.Output = append(d.Output, scrubbed(line, secrets))
	}
	d.quote(cmp.Or(b.origin.sources[at.Filename], b.origin.source), at)
	return d
}

// hiddenTexts lists the texts and numbers in the settings that people do not
// see in what is shown of them.
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

// decoded is a JSON document that this package made, numbers as they stand.
func decoded(document []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}
