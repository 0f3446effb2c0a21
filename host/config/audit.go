package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// An Audit is the audit block. Without one, nothing is recorded.
type Audit struct {
	Given     bool
	Managed   bool // it is that of the managed configuration
	At        Position
	File      string        `json:",omitempty"` // absolute; empty: in Junctor's data directory
	Output    string        // "file", "stdout" or "stderr"
	Sync      string        // "normal" or "full"
	OnFull    string        // "drop" or "refuse"
	Retention time.Duration // of rows
	MaxSize   int           // of the file in bytes; 0: not limited
	SignKey   string        `json:",omitempty"` // path of the key that signs heads
	Forward   []string      `json:"-"`          // targets of copies; a path may be a secret
	// ForwardHeaders are those of requests to an HTTPS target, and ForwardCA is the path of the
	// certificates for targets over TLS.
	ForwardHeaders map[string]string `json:"-"`
	ForwardCA      string            `json:",omitempty"`
	Arguments      string            // "digest" or "full"
	Results        string            // "none" or "full"
	// Redact lists globs for SERVER/TOOL: their arguments and results are never stored.
	Redact []string `json:",omitempty"`
}

const (
	defaultRetention = 90 * language.Day
	leastRetention   = time.Hour
	mostRetention    = 10 * 366 * language.Day
	leastAuditSize   = 1 << 20
)

// mostAuditSize is the largest max_size: 100 GiB where an int can hold that.
var mostAuditSize = int(min(100<<30, int64(math.MaxInt)>>20<<20))

var auditForm = language.Form{Entries: append([]language.Entry{
	{Name: "file", Values: language.Texts("a path"), Unset: "`audit.db` in the data directory", Doc: "The SQLite file; not in a directory of plugins, nor where other users can write."},
	{Name: "output", Values: language.Words("file", "stdout", "stderr"), Unset: "`\"file\"`", Doc: "`\"stdout\"` or `\"stderr\"`: JSON lines instead of a file; `\"stdout\"` only with `serve --http`."},
	{Name: "sync", Values: language.Words("normal", "full"), Unset: "`\"normal\"`", Doc: "`\"full\"`: a request is answered after its row is on the disk."},
	{Name: "on_full", Values: language.Words("drop", "refuse"), Unset: "`\"drop\"`", Doc: "`\"refuse\"`: requests that cannot be recorded get `audit.unavailable`."},
	{Name: "retention", Values: language.Texts("a duration such as `\"90d\"`, from `\"1h\"` to ten years"), Unset: "`\"90d\"`", Doc: "How long rows are kept; `d` is 24 hours."},
	{Name: "max_size", Values: language.Sizes(leastAuditSize, mostAuditSize), Unset: "none", Doc: "The size of the file; older rows move to archives."},
	{Name: "sign_key", Values: language.Texts("a path"), Unset: "none", Doc: "A private key (ed25519, PEM) that signs the heads of the chain."},
	{Name: "arguments", Values: language.Words("digest", "full"), Unset: "`\"digest\"`", Doc: "`\"full\"` stores arguments, masked."},
	{Name: "results", Values: language.Words("none", "full"), Unset: "`\"none\"`", Doc: "`\"full\"` stores results, masked."},
	{Name: "redact", Values: language.TextLists("a list of `\"SERVER/TOOL\"`"), Unset: "none", Doc: "Patterns of tools whose arguments and results are never stored. Of a call that waits for an approval, only those who may approve it see the arguments."},
}, forwardEntries...)}

// auditLayer returns the layer whose audit block counts: the strongest one that has a block. That
// of a configuration that was found does not count beside one of the user: a project must not end
// or redirect the record of what the user's servers did.
func (l *loader) auditLayer() *scope {
	if l.Content == nil || l.Content.Named {
		return l.strongest("audit")
	}
	for _, own := range l.layers[1:] {
		if len(own.top["audit"]) == 0 {
			continue
		}
		for _, b := range l.layers[0].top["audit"] {
			l.openBlock(b, "").WarnAt(b.TypeRange, "name the configuration with --config to use its audit block",
				"the audit block of this project is not used: your own configuration decides what is recorded")
		}
		return own
	}
	return l.layers[0]
}

// audit reads the audit block. Each layer has at most one, and that of auditLayer counts. The
// block of the managed configuration takes the place of all.
func (l *loader) audit() (a Audit) {
	managed := l.managedBlocks("audit")
	l.inScope(l.auditLayer(), func() {
		blocks := l.top["audit"]
		for i, b := range blocks {
			r := l.openBlock(b, "")
			if i > 0 {
				r.Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
				continue
			}
			if a = r.auditBlock(); len(managed) > 0 {
				r.WarnAt(b.TypeRange, "remove it", "the managed configuration has an audit block, so this one is not used")
			}
		}
	})
	if len(managed) > 0 {
		a = l.openBlock(managed[0], "").auditBlock()
		a.Managed = true
	}
	return a
}

func (r blockReader) auditBlock() Audit {
	r.Check(auditForm)
	a := Audit{
		Given: true, At: startOf(r.Head), File: r.Path("file"), Output: r.Choice("output", "file", "stdout", "stderr"), Sync: r.Choice("sync", "normal", "full"),
		OnFull: r.Choice("on_full", "drop", "refuse"), Retention: r.Days("retention", defaultRetention, leastRetention, mostRetention),
		MaxSize:   r.Size("max_size", 0, leastAuditSize, mostAuditSize),
		SignKey:   r.Path("sign_key"),
		Arguments: r.Choice("arguments", "digest", "full"), Results: r.Choice("results", "none", "full"), Redact: r.redacted(),
	}
	a.Forward = forwardTargets(r, a.Output)
	a.ForwardHeaders, a.ForwardCA = forwardHeaders(r, a.Forward), r.Path("forward_ca")
	for _, name := range []string{"file", "sync", "retention", "max_size", "sign_key"} {
		if a.Output != "file" && r.IsSet(name) {
			r.ErrorAt(r.ValueAt(name, r.Head), `remove it, or write output = "file"`, "%q is about a file, and output is %q", name, a.Output)
		}
	}
	if len(a.Redact) > 0 && a.Arguments == "digest" && a.Results == "none" && !asksApprovals(r.loader) {
		r.WarnAt(r.ValueAt("redact", r.Head), `it is for arguments = "full" and results = "full"`, `"redact" has no effect, because neither arguments nor results are stored, and no confirm rule shows them`)
	}
	return a
}

// redacted reads the tools whose arguments are never stored.
func (r blockReader) redacted() (globs []string) {
	for _, one := range r.Texts("redact") {
		server, tool, both := strings.Cut(one.Text, "/")
		if !both || server == "" || tool == "" {
			r.ErrorAt(one.At, `write "SERVER/TOOL", with * for any text, such as "vault/*"`, "%q is not of the form SERVER/TOOL", one.Text)
			continue
		}
		if slices.Contains(globs, one.Text) {
			r.ErrorAt(one.At, "", "%q appears twice", one.Text)
			continue
		}
		globs = append(globs, one.Text)
	}
	return globs
}
