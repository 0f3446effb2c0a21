package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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
	defaultRetention = 90 * day
	leastRetention   = time.Hour
	mostRetention    = 10 * 366 * day
	leastAuditSize   = 1 << 20
	day              = 24 * time.Hour
)

// mostAuditSize is the largest max_size: 100 GiB where an int can hold that.
var mostAuditSize = int(min(100<<30, int64(math.MaxInt)>>20<<20))

var auditForm = form{entries: append([]entry{
	{name: "file", values: texts("a path"), unset: "`audit.db` in the data directory", doc: "The SQLite file; not in a directory of plugins, nor where other users can write."},
	{name: "output", values: words("file", "stdout", "stderr"), unset: "`\"file\"`", doc: "`\"stdout\"` or `\"stderr\"`: JSON lines instead of a file; `\"stdout\"` only with `serve --http`."},
	{name: "sync", values: words("normal", "full"), unset: "`\"normal\"`", doc: "`\"full\"`: a request is answered after its row is on the disk."},
	{name: "on_full", values: words("drop", "refuse"), unset: "`\"drop\"`", doc: "`\"refuse\"`: requests that cannot be recorded get `audit.unavailable`."},
	{name: "retention", values: texts("a duration such as `\"90d\"`, from `\"1h\"` to ten years"), unset: "`\"90d\"`", doc: "How long rows are kept; `d` is 24 hours."},
	{name: "max_size", values: sizes(leastAuditSize, mostAuditSize), unset: "none", doc: "The size of the file; older rows move to archives."},
	{name: "sign_key", values: texts("a path"), unset: "none", doc: "A private key (ed25519, PEM) that signs the heads of the chain."},
	{name: "arguments", values: words("digest", "full"), unset: "`\"digest\"`", doc: "`\"full\"` stores arguments, masked."},
	{name: "results", values: words("none", "full"), unset: "`\"none\"`", doc: "`\"full\"` stores results, masked."},
	{name: "redact", values: textLists("a list of `\"SERVER/TOOL\"`"), unset: "none", doc: "Patterns of tools whose arguments and results are never stored. Of a call that waits for an approval, only those who may approve it see the arguments."},
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
			l.openBlock(b, "").warnAt(b.TypeRange, "name the configuration with --config to use its audit block",
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
				r.duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
				continue
			}
			if a = r.auditBlock(); len(managed) > 0 {
				r.warnAt(b.TypeRange, "remove it", "the managed configuration has an audit block, so this one is not used")
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
	r.check(auditForm)
	a := Audit{
		Given: true, At: startOf(r.head), File: r.path("file"), Output: r.choice("output", "file", "stdout", "stderr"), Sync: r.choice("sync", "normal", "full"),
		OnFull: r.choice("on_full", "drop", "refuse"), Retention: r.days("retention", defaultRetention, leastRetention, mostRetention),
		MaxSize:   r.size("max_size", 0, leastAuditSize, mostAuditSize),
		SignKey:   r.path("sign_key"),
		Arguments: r.choice("arguments", "digest", "full"), Results: r.choice("results", "none", "full"), Redact: r.redacted(),
	}
	a.Forward = forwardTargets(r, a.Output)
	a.ForwardHeaders, a.ForwardCA = forwardHeaders(r, a.Forward), r.path("forward_ca")
	for _, name := range []string{"file", "sync", "retention", "max_size", "sign_key"} {
		if a.Output != "file" && r.isSet(name) {
			r.errorAt(r.valueAt(name, r.head), `remove it, or write output = "file"`, "%q is about a file, and output is %q", name, a.Output)
		}
	}
	if len(a.Redact) > 0 && a.Arguments == "digest" && a.Results == "none" && !asksApprovals(r.loader) {
		r.warnAt(r.valueAt("redact", r.head), `it is for arguments = "full" and results = "full"`, `"redact" has no effect, because neither arguments nor results are stored, and no confirm rule shows them`)
	}
	return a
}

// redacted reads the tools whose arguments are never stored.
func (r blockReader) redacted() (globs []string) {
	for _, one := range r.publicStrings("redact") {
		server, tool, both := strings.Cut(one.text, "/")
		if !both || server == "" || tool == "" {
			r.errorAt(one.at, `write "SERVER/TOOL", with * for any text, such as "vault/*"`, "%q is not of the form SERVER/TOOL", one.text)
			continue
		}
		if slices.Contains(globs, one.text) {
			r.errorAt(one.at, "", "%q appears twice", one.text)
			continue
		}
		globs = append(globs, one.text)
	}
	return globs
}

// days reads a duration that may have the unit d.
func (r blockReader) days(name string, unset, least, most time.Duration) time.Duration {
	text, a, set := r.publicString(name)
	if !set {
		return unset
	}
	d, err := parseDays(text)
	switch {
	case err != nil:
		r.errorAt(a.Expr.Range(), "", `%q must be a duration such as "90d" or "12h"%s`, name, gotText(text, false))
	case d < least || d > most:
		r.errorAt(a.Expr.Range(), "", "%q must be at least %s and at most %s", name, daysText(least), daysText(most))
	default:
		return d
	}
	return unset
}

// parseDays parses a number of days such as "90d", or a duration of Go.
func parseDays(text string) (time.Duration, error) {
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if strings.HasPrefix(number, "+") {
		err = strconv.ErrSyntax
	}
	return time.Duration(n) * day, err
}

// daysText formats a duration as in a configuration.
func daysText(d time.Duration) string {
	if d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return shortDuration(d)
}
