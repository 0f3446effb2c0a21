package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// Settings returns a digest like [Content.Digest] that a change of comments, of the layout and of
// how long a server may take does not change. All that a server may do, and all that clients
// may do with it, is in the digest: a program that changes the file of its own rights changes it.
func (c *Content) Settings() string {
	h := sha256.New()
	for _, f := range c.Files() {
		digest := f.SHA256
		if settings, ok := c.settings[f.Name]; ok {
			digest = settings
		}
		h.Write([]byte("file\x00" + f.Name + "\x00" + digest + "\n"))
	}
	c.writePrograms(h)
	return hex.EncodeToString(h.Sum(nil))
}

// keepSettings takes note of the settings in a file of the configuration.
func (c *Content) keepSettings(s *source.File, module string) {
	c.settings[c.relative(source.AbsoluteIn(cmp.Or(module, c.Root), filepath.Base(s.Name)))] = settingsDigest(s)
}

// settingsDigest returns a digest of the tokens of a file, without comments and layout and without
// the harmless settings.
func settingsDigest(s *source.File) string {
	h, skipped := sha256.New(), harmless(s.Body)
	for _, t := range s.Tokens {
		within := func(r hcl.Range) bool { return r.Start.Byte <= t.Range.Start.Byte && t.Range.End.Byte <= r.End.Byte }
		if t.Type == hclsyntax.TokenComment || t.Type == hclsyntax.TokenNewline ||
			slices.ContainsFunc(skipped, within) {
			continue
		}
		sum := sha256.Sum256(t.Bytes)
		h.Write(append(sum[:], byte(t.Type>>24), byte(t.Type>>16), byte(t.Type>>8), byte(t.Type)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// harmless returns where the settings are that say how long a server may take, or run unused:
// literals in server blocks and in defaults.
func harmless(body *hclsyntax.Body) (all []hcl.Range) {
	for _, b := range body.Blocks {
		if b.Type != "server" && b.Type != "defaults" {
			continue
		}
		if a := b.Body.Attributes["idle"]; a != nil {
			if _, ok := language.Literal(a.Expr); ok {
				all = append(all, a.SrcRange)
			}
		}
		for _, inner := range b.Body.Blocks {
			if inner.Type != "timeouts" {
				continue
			}
			literals := len(inner.Body.Blocks) == 0
			for _, a := range inner.Body.Attributes {
				_, ok := language.Literal(a.Expr)
				literals = literals && ok
			}
			if literals {
				all = append(all, hcl.RangeBetween(inner.TypeRange, inner.CloseBraceRange))
			}
		}
	}
	return all
}
