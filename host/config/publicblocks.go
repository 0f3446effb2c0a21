package config

import (
	"encoding/json"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/forward"
	"github.com/junctor-mcp/junctor/host/policy"
)

// PublicBlocks returns the settings of the blocks audit, console, notify and telemetry as
// JSON, by block and name. Blocks that are not given are left out, and so are secrets:
// of a webhook, only the origin is there. A file outside the directory of the configuration
// is there by its last element, so no path of the machine changes the result.
func (c *Config) PublicBlocks() map[string]map[string]json.RawMessage {
	all := map[string]map[string]json.RawMessage{}
	add := func(block string, settings map[string]any) {
		all[block] = map[string]json.RawMessage{}
		for name, value := range settings {
			all[block][name] = settingJSON(value)
		}
	}
	if a := &c.Audit; a.Given {
		add("audit", language.Public(a, a.At.Portable))
	}
	if o := c.Console; o != nil {
		add("console", language.Public(o, o.At.Portable))
	}
	if n := c.Notify; n != nil {
		add("notify", language.Public(n, n.At.Portable))
	}
	if m := c.Telemetry.Metrics; m != nil {
		add("telemetry", language.Public(&c.Telemetry, m.At.Portable))
	}
	return all
}

// forwardNames returns targets without what may be a secret.
func forwardNames(targets []string) (names []string) {
	for _, one := range targets {
		names = append(names, forward.Name(one))
	}
	return names
}

// holderTexts returns subjects by their names, and others in words.
func holderTexts(all []policy.Holder) (texts []string) {
	for _, h := range all {
		if h == (policy.Holder{Kind: "subject", Name: h.Name}) {
			texts = append(texts, h.Name)
		} else {
			texts = append(texts, h.String())
		}
	}
	return texts
}
