package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// An Audit is the audit block. Without one, nothing is recorded. Package host opens the log from it
// (host/auditlog.go); package host/audit writes it.
type Audit struct {
	Given   bool
	Managed bool // it is that of the managed configuration
	At      source.Position

	File      string        `hcl:"file" format:"path" unset:"'audit.db' in the data directory" doc:"The SQLite file; not in a directory of plugins, nor where other users can write." json:",omitempty"`
	Output    string        `hcl:"output" words:"file,stdout,stderr" doc:"'\"stdout\"' or '\"stderr\"': JSON lines instead of a file; '\"stdout\"' only with 'serve --http'."`
	Sync      string        `hcl:"sync" words:"normal,full" doc:"'\"full\"': a request is answered after its row is on the disk."`
	OnFull    string        `hcl:"on_full" words:"drop,refuse" doc:"'\"refuse\"': requests that cannot be recorded get 'audit.unavailable'."`
	Retention time.Duration `hcl:"retention" format:"days" default:"90d" min:"1h" max:"3660d" accepts:"a duration such as '\"90d\"', from '\"1h\"' to ten years" doc:"How long rows are kept; 'd' is 24 hours."`
	MaxSize   int           `hcl:"max_size" format:"size" unset:"none" min:"1MiB" max:"100GiB" doc:"The size of the file; older rows move to archives."`
	SignKey   string        `hcl:"sign_key" format:"path" unset:"none" doc:"A private key (ed25519, PEM) that signs the heads of the chain." json:",omitempty"`
	Arguments string        `hcl:"arguments" words:"digest,full" doc:"'\"full\"' stores arguments, masked."`
	Results   string        `hcl:"results" words:"none,full" doc:"'\"full\"' stores results, masked."`
	Redact    []string      `hcl:"redact" accepts:"a list of '\"SERVER/TOOL\"'" unset:"none" doc:"Patterns of tools whose arguments and results are never stored. Of a call that waits for an approval, only those who may approve it see the arguments." json:",omitempty"`

	Forward        []string          `hcl:"forward" accepts:"a list of targets" unset:"none" secret:"true" doc:"Where a copy of each row goes: '\"unix:///dev/log\"', '\"udp://HOST:PORT\"', '\"tcp://HOST:PORT\"' or '\"tls://HOST:PORT\"' for syslog, '\"https://HOST/PATH\"', or '\"stderr\"'. It may come from 'env()' or 'file()'; only schemes and hosts are printed." json:"-"`
	ForwardHeaders map[string]string `hcl:"forward_headers" accepts:"a map of texts" unset:"none" secret:"true" doc:"Headers of the requests to an 'https' target, such as 'Authorization', with 'env()' or 'file()'. The targets then have one host." json:"-"`
	ForwardCA      string            `hcl:"forward_ca" format:"path" unset:"those of the system" doc:"Certificates of authorities (PEM) for 'tls' and 'https' targets, in place of those of the system." json:",omitempty"`
}

// Validate implements [language.Validator].
func (a *Audit) Validate(r language.Reader) {
	a.Given, a.At = true, source.StartOf(r.Head)
	for _, name := range []string{"file", "sync", "retention", "max_size", "sign_key"} {
		if a.Output != "file" && r.IsSet(name) {
			r.ErrorAt(r.ValueAt(name, r.Head), `remove it, or write output = "file"`,
				"%q is about a file, and output is %q", name, a.Output)
		}
	}
	a.checkRedact(r)
	a.checkForward(r)
	if a.ForwardHeaders != nil {
		a.checkForwardHeaders(r)
	}
}

// checkRedact reports what is no pattern of a tool.
func (a *Audit) checkRedact(r language.Reader) {
	patterns := a.Redact
	a.Redact = nil
	for i, text := range patterns {
		at := r.ItemAt("redact", i)
		server, tool, both := strings.Cut(text, "/")
		switch {
		case !both || server == "" || tool == "":
			r.ErrorAt(at, `write "SERVER/TOOL", with * for any text, such as "vault/*"`,
				"%q is not of the form SERVER/TOOL", text)
		case slices.Contains(a.Redact, text):
			r.ErrorAt(at, "", "%q appears twice", text)
		default:
			a.Redact = append(a.Redact, text)
		}
	}
}

// Public adds the targets of copies, without what may be a secret.
func (a *Audit) Public(settings map[string]any) {
	settings["managed"] = a.Managed
	settings["forward"] = forwardNames(a.Forward)
	settings["forward_headers"] = slices.Sorted(maps.Keys(a.ForwardHeaders))
}

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
			l.layers[0].open(b, "").WarnAt(b.TypeRange, "name the configuration with --config to use its audit block",
				"the audit block of this project is not used: your own configuration decides what is recorded")
		}
		return own
	}
	return l.layers[0]
}

// audit reads the audit block. Each layer has at most one, and that of auditLayer counts. The
// block of the managed configuration takes the place of all.
func (l *loader) audit() (a Audit) {
	managed, asks := l.managedBlocks("audit"), asksApprovals(l.layers)
	of := l.auditLayer()
	if r, found := of.only(of.top["audit"]); found {
		a = readAuditBlock(r, asks)
		if len(managed) > 0 {
			r.WarnAt(r.Head, "remove it", "the managed configuration has an audit block, so this one is not used")
		}
	}
	if len(managed) > 0 {
		a = readAuditBlock(l.managed.open(managed[0], ""), asks)
		a.Managed = true
	}
	return a
}

// readAuditBlock reads an audit block.
func readAuditBlock(r blockReader, asks bool) (a Audit) {
	language.Decode(r.Reader, &a)
	if len(a.Redact) > 0 && a.Arguments == "digest" && a.Results == "none" && !asks {
		r.WarnAt(r.ValueAt("redact", r.Head), `it is for arguments = "full" and results = "full"`,
			`"redact" has no effect, because neither arguments nor results are stored, and no confirm rule shows them`)
	}
	return a
}
