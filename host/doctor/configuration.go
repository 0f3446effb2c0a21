package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

func replaceQuotes(word string) string { return strings.ReplaceAll(word, "'", `'\''`) }

// Configuration returns a check that reports the diagnostics of a configuration. err is why
// it was not loaded; nil: it was, or the diagnostics say why not.
func Configuration(diags source.Diagnostics, err error) Check {
	return Check{"configuration", func(context.Context) (found []Finding) {
		for _, d := range diags {
			found = append(found, ofDiagnostic(d))
		}
		if err != nil {
			found = append(found, ofError("configuration", err))
		}
		return found
	}}
}

// ofDiagnostic returns a diagnostic as a finding.
func ofDiagnostic(d source.Diagnostic) Finding {
	f := Finding{Check: "configuration", Severity: Warning, Message: d.Summary, At: d.At.String(), Remedy: d.Hint}
	if d.Severity == source.Error {
		f.Severity = Error
	}
	switch {
	case d.Code == fault.ConfigExposed:
		if mode, path, ok := chmod(d.Hint); ok {
			f.Mend = tighten(mode, path)
		}
	case strings.HasPrefix(string(d.Code), "plugin."):
		f.Check = "plugins"
	}
	if f.Remedy == "" {
		f.Remedy = "correct " + f.At + ", then run `junctor validate`"
	}
	return f
}

// ofError returns an error as a finding of severity Error.
func ofError(check string, err error) Finding {
	f := fault.As(err)
	one := Finding{Check: check, Severity: Error, Server: f.Server, Message: f.Message, At: f.At, Remedy: f.Hint}
	switch f.Code {
	case fault.ConfigUntrusted:
		one.Check = "trust"
	case fault.ConfigMissing:
		one.Remedy = "run `junctor init` to write one; " + f.Hint
	}
	if one.Remedy == "" {
		one.Remedy = fmt.Sprintf("see %s in docs/errors.md", f.Code)
	}
	return one
}

// A Trusted is a configuration that a person trusted.
type Trusted struct {
	Path  string
	State string // "trusted", "changed" or "gone"
}

// Trust returns a check of the trusted configurations. One that has changed is reported when
// it is used.
func Trust(list func() ([]Trusted, error)) Check {
	return Check{"trust", func(context.Context) (found []Finding) {
		all, err := list()
		if err != nil {
			return []Finding{ofError("trust", err)}
		}
		for _, t := range all {
			if t.State == "gone" {
				found = append(found, Finding{Severity: Warning, Message: "a trusted configuration is gone: " + t.Path,
					Remedy: "run `junctor trust --revoke " + quote(t.Path) +
						"`: a new file there would need no question if it were the same"})
			}
		}
		return found
	}}
}

// Layers returns a check of the blocks that have no effect: servers that a stronger layer
// replaces, and servers that the managed configuration does not allow.
func Layers(c *config.Config) Check {
	return Check{"layers", func(context.Context) (found []Finding) {
		for _, s := range c.Servers {
			if s.Blocked != "" {
				message, hint := s.WhyBlocked()
				found = append(found, Finding{
					Severity: Warning, Server: s.Name, Message: message, At: s.At.String(),
					Remedy: hint + ", or run `junctor remove " + quote(s.Name) + "`",
				})
			}
		}
		return found
	}}
}
