package lockfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/hcltext"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// The limits of a lock file: about 35 000 tools.
const (
	// MaxBytes is the size of the largest lock file.
	MaxBytes  = 4 << 20
	maxServer = 1 << 20 // bytes about one server, so that it leaves space for others
	maxTokens = 500_000
)

var limits = hcltext.Limits{Bytes: MaxBytes, Tokens: maxTokens}

// Parse parses the text of the lock file at a path. It evaluates nothing and reads no file. With
// problems, which name the path, the File has what could be read.
func Parse(path string, text []byte) (*File, []language.Problem) {
	sum := sha256.Sum256(text)
	r := &reader{file: New(path)}
	r.file.SHA256 = hex.EncodeToString(sum[:])
	scanned := hcltext.Scan(path, text, limits)
	if wrong := scanned.Problem; wrong != nil {
		return r.file, []language.Problem{{At: wrong.At, Summary: wrong.Summary, Hint: wrong.Hint}}
	}
	body, diags := scanned.Parse()
	if diags.HasErrors() {
		for _, d := range diags {
			at := hcl.Range{Filename: path}
			if d.Subject != nil {
				at = *d.Subject
			}
			r.refuse(at, "%s", d.Summary)
		}
		return r.file, r.problems
	}
	r.texts(body)
	for _, b := range r.blocks(body, "server", "plugin") {
		if b.Type == "server" {
			r.server(b)
		} else {
			r.plugin(b)
		}
	}
	return r.file, r.problems
}

// Unreadable returns the problem of a lock file that is there, but cannot be read.
func Unreadable(path string, err error) language.Problem {
	return language.Problem{
		At: hcl.Range{Filename: path}, Summary: "cannot read the lock file: " + err.Error(), Hint: hint,
	}
}

// hint is the hint for a lock file that cannot be read.
const hint = "restore the file from version control, or remove it and run `junctor lock`"

// A reader reads the blocks of a lock file.
type reader struct {
	file     *File
	problems []language.Problem
}

func (r *reader) refuse(at hcl.Range, format string, args ...any) {
	summary := "lock file: " + fmt.Sprintf(format, args...)
	r.problems = append(r.problems, language.Problem{At: at, Summary: summary, Hint: hint})
}

// blocks returns the blocks of the given types. Each of them has one label, and no two of a
// type have the same.
func (r *reader) blocks(body *hclsyntax.Body, types ...string) (all []*hclsyntax.Block) {
	seen := map[string]bool{}
	for _, b := range body.Blocks {
		switch {
		case !slices.Contains(types, b.Type):
			r.refuse(b.TypeRange, "unknown block %q", b.Type)
		case len(b.Labels) != 1:
			r.refuse(b.TypeRange, "a block %q has one label", b.Type)
		case seen[b.Type+" "+b.Labels[0]]:
			r.refuse(b.LabelRanges[0], "%s %q is there twice", b.Type, b.Labels[0])
		default:
			seen[b.Type+" "+b.Labels[0]] = true
			all = append(all, b)
		}
	}
	return all
}

// texts returns the attributes of a block, which are texts, in the order of their names.
func (r *reader) texts(body *hclsyntax.Body, known ...string) map[string]string {
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		a := body.Attributes[name]
		text, ok := language.Literal(a.Expr)
		switch {
		case !slices.Contains(known, name):
			r.refuse(a.NameRange, "unknown attribute %q", name)
		case !ok:
			r.refuse(a.SrcRange, "%q is a text in quotes", name)
		default:
			all[name] = text
		}
	}
	return all
}

// hexDigest matches a SHA-256 in lower-case hexadecimal digits.
var hexDigest = lazyregexp.New(`^[0-9a-f]{64}$`)

// digest returns the attribute sha256 of a block.
func (r *reader) digest(b *hclsyntax.Block, texts map[string]string) (string, bool) {
	if !hexDigest.MatchString(texts["sha256"]) {
		r.refuse(b.TypeRange, "%s %q needs sha256, 64 lower-case hexadecimal digits", b.Type, b.Labels[0])
		return "", false
	}
	return texts["sha256"], true
}

func (r *reader) server(b *hclsyntax.Block) {
	pins := map[string]string{}
	r.file.Servers[b.Labels[0]] = pins
	r.texts(b.Body)
	for _, tool := range r.blocks(b.Body, "tool") {
		if sum, ok := r.digest(tool, r.texts(tool.Body, "sha256")); ok {
			pins[tool.Labels[0]] = sum
		}
		r.blocks(tool.Body)
	}
}

func (r *reader) plugin(b *hclsyntax.Block) {
	p := Plugin{Version: r.texts(b.Body, "version")["version"], SHA256: map[string]string{}}
	for _, platform := range r.blocks(b.Body, "platform") {
		if sum, ok := r.digest(platform, r.texts(platform.Body, "sha256")); ok {
			p.SHA256[platform.Labels[0]] = sum
		}
		r.blocks(platform.Body)
	}
	r.file.Plugins[b.Labels[0]] = p
}
