package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/hcltext"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// LockName is the name of the lock file beside a configuration. It is HCL, but not part of
// the configuration.
const LockName = "junctor.lock.hcl"

// The limits of a lock file: about 35 000 tools.
const (
	maxLock       = 4 << 20 // bytes
	maxLockServer = 1 << 20 // bytes about one server, so that it leaves space for others
	maxLockTokens = 500_000
)

var lockLimits = hcltext.Limits{Bytes: maxLock, Tokens: maxLockTokens}

// The words for Server.Definitions.
const (
	DefinitionsAny      = "any"       // the tools of the server may change
	DefinitionsFirstUse = "first_use" // a tool is pinned when it is first seen
	DefinitionsLocked   = "locked"    // a tool without a pin is held back
)

// A Lock is the content of a lock file: the pins of the definitions of tools and of the
// programs of plugins.
type Lock struct {
	Path    string // of the file, which may not exist
	SHA256  string // of the text that ReadLock read; empty without a file
	Servers map[string]map[string]string
	Plugins map[string]LockedPlugin
}

// A LockedPlugin is the pin of the program of a plugin.
type LockedPlugin struct {
	Version string            // of the program that was pinned last; for people
	SHA256  map[string]string // by platform, such as "linux_amd64"
}

// NewLock returns an empty lock file.
func NewLock(path string) *Lock {
	return &Lock{Path: path, Servers: map[string]map[string]string{}, Plugins: map[string]LockedPlugin{}}
}

// LockPath returns the path of the lock file beside the configuration at a path, a file or a
// directory.
func LockPath(path string) string { return filepath.Join(source.RootOf(path), LockName) }

// ReadLock reads a lock file. It returns an empty Lock if there is no file.
func ReadLock(path string) (*Lock, source.Diagnostics) {
	files := source.NewSet(languageWords())
	lock := readLock(files, path)
	if f := files.File(path); f != nil {
		lock.SHA256 = textDigest(f.Text)
	}
	return lock, files.Diagnostics()
}

// readLocks reads the lock files of the layers and of the managed configuration. Those of
// texts that are edited are not read.
func (l *loader) readLocks() {
	l.locks = map[string]*Lock{}
	if l.Static {
		return
	}
	for i := range l.layers {
		if path := l.lockPath(i, false); path != "" {
			l.locks[path] = l.lockOf(i, path)
		}
	}
	if path := l.lockPath(0, true); l.managed != nil && l.locks[path] == nil {
		l.locks[path] = readLock(l.files, path)
	}
}

// lockPath returns the path of the lock file of a layer, or of the managed configuration; ""
// for a configuration that is not in a file.
func (o *Options) lockPath(layer int, managed bool) string {
	switch {
	case managed:
		return LockPath(o.Managed)
	case layer > 0:
		return LockPath(o.Under[layer-1])
	case o.Text != nil:
		return ""
	}
	return LockPath(o.Path)
}

// lockOf returns the lock file of a layer: that of the strongest one as it was reviewed.
func (l *loader) lockOf(layer int, path string) *Lock {
	switch {
	case layer > 0 || l.Content == nil:
		return readLock(l.files, path)
	case l.Content.lockErr == nil:
		return parseLock(l.files, path, l.Content.lock)
	}
	return lockProblem(l.files, path, l.Content.lockErr)
}

// Platform returns the name of this platform in lock files, such as "linux_amd64".
func Platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// PluginHint is the hint for a plugin whose program is not the one of the lock file.
func PluginHint(name string) string {
	return "if you replaced the program intentionally, run `junctor lock --accept plugin." + name + "`; otherwise do not run it"
}

// readLock is ReadLock; it records problems in a set.
func readLock(files *source.Set, path string) *Lock {
	text, err := source.ReadFile(path, maxLock)
	if err != nil {
		return lockProblem(files, path, err)
	}
	if exposed := source.OwnershipProblem(path); exposed != nil {
		files.Problem(*exposed)
		return NewLock(path)
	}
	return parseLock(files, path, text)
}

// lockProblem reports a lock file that cannot be read, and returns an empty one. A file that is
// absent is no problem.
func lockProblem(files *source.Set, path string, err error) *Lock {
	if !errors.Is(err, fs.ErrNotExist) {
		files.Problem(language.Problem{At: hcl.Range{Filename: path}, Summary: "cannot read the lock file: " + err.Error(), Hint: lockHint})
	}
	return NewLock(path)
}

// setLock sets the lock file of a server whose tools are pinned.
func (l *loader) setLock(d *draft) {
	if d.Definitions == DefinitionsAny || !d.Enabled {
		return
	}
	if d.Lock = l.lockPath(d.Layer, d.Managed); d.Lock == "" {
		l.files.Problem(language.Problem{
			At: d.block.Head, Summary: fmt.Sprintf("server %q: definitions = %q needs a lock file beside the configuration, which is not in a file", d.Name, d.Definitions),
			Hint: "write the configuration to a file and name it with --config, or remove definitions",
		})
	}
}

// parseLock parses the text of a lock file. It evaluates nothing.
func parseLock(files *source.Set, path string, text []byte) *Lock {
	files.Attach(path, text)
	r := lockReader{files: files, lock: NewLock(path)}
	scanned := hcltext.Scan(path, text, lockLimits)
	if wrong := source.ScanProblem(scanned); wrong != nil {
		files.Problem(*wrong)
		return r.lock
	}
	body, diags := scanned.Parse()
	if diags.HasErrors() {
		for _, d := range diags {
			files.Problem(language.Problem{At: rangeOf(d.Subject, path), Summary: "lock file: " + d.Summary, Hint: lockHint})
		}
		return r.lock
	}
	r.texts(body)
	for _, b := range r.blocks(body, "server", "plugin") {
		if b.Type == "server" {
			r.server(b)
		} else {
			r.plugin(b)
		}
	}
	return r.lock
}

func rangeOf(r *hcl.Range, path string) hcl.Range {
	if r == nil {
		return hcl.Range{Filename: path}
	}
	return *r
}

// lockHint is the hint for a lock file that cannot be read.
const lockHint = "restore the file from version control, or remove it and run `junctor lock`"

// A lockReader reads the blocks of a lock file.
type lockReader struct {
	files *source.Set
	lock  *Lock
}

func (r lockReader) refuse(at hcl.Range, format string, args ...any) {
	r.files.Problem(language.Problem{At: at, Summary: "lock file: " + fmt.Sprintf(format, args...), Hint: lockHint})
}

// blocks returns the blocks of the given types. Each of them has one label, and no two of a
// type have the same.
func (r lockReader) blocks(body *hclsyntax.Body, types ...string) (all []*hclsyntax.Block) {
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
func (r lockReader) texts(body *hclsyntax.Body, known ...string) map[string]string {
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
func (r lockReader) digest(b *hclsyntax.Block, texts map[string]string) (string, bool) {
	if !hexDigest.MatchString(texts["sha256"]) {
		r.refuse(b.TypeRange, "%s %q needs sha256, 64 lower-case hexadecimal digits", b.Type, b.Labels[0])
		return "", false
	}
	return texts["sha256"], true
}

func (r lockReader) server(b *hclsyntax.Block) {
	pins := map[string]string{}
	r.lock.Servers[b.Labels[0]] = pins
	r.texts(b.Body)
	for _, tool := range r.blocks(b.Body, "tool") {
		if sum, ok := r.digest(tool, r.texts(tool.Body, "sha256")); ok {
			pins[tool.Labels[0]] = sum
		}
		r.blocks(tool.Body)
	}
}

func (r lockReader) plugin(b *hclsyntax.Block) {
	p := LockedPlugin{Version: r.texts(b.Body, "version")["version"], SHA256: map[string]string{}}
	for _, platform := range r.blocks(b.Body, "platform") {
		if sum, ok := r.digest(platform, r.texts(platform.Body, "sha256")); ok {
			p.SHA256[platform.Labels[0]] = sum
		}
		r.blocks(platform.Body)
	}
	r.lock.Plugins[b.Labels[0]] = p
}

// Fits reports whether the lock file can be read again, and no server uses more than its part.
func (k *Lock) Fits() bool {
	for _, tools := range k.Servers {
		size := 0
		for name := range tools {
			size += lockedTool + len(lockText(name))
		}
		if size > maxLockServer {
			return false
		}
	}
	return hcltext.Scan(k.Path, k.HCL(), lockLimits).Problem == nil
}

// lockedTool is the size in bytes of a tool in a lock file, without its name.
const lockedTool = 96

// lockHead begins a lock file.
const lockHead = "# Written by Junctor: digests of the tools and plugins that were accepted. Keep it beside the configuration.\n" +
	"# `junctor diff` shows what differs, and `junctor lock --accept` accepts it.\n"

// HCL returns the text of the lock file. Its blocks are sorted, so that two versions can be
// compared.
func (k *Lock) HCL() []byte {
	b := []byte(lockHead)
	digest := func(kind, label, sum string) {
		b = fmt.Appendf(b, "  %s %s {\n    sha256 = %s\n  }\n", kind, lockText(label), lockText(sum))
	}
	for _, name := range slices.Sorted(maps.Keys(k.Plugins)) {
		p := k.Plugins[name]
		b = fmt.Appendf(b, "\nplugin %s {\n", lockText(name))
		if p.Version != "" {
			b = fmt.Appendf(b, "  version = %s\n", lockText(p.Version))
		}
		for _, platform := range slices.Sorted(maps.Keys(p.SHA256)) {
			digest("platform", platform, p.SHA256[platform])
		}
		b = append(b, "}\n"...)
	}
	for _, name := range slices.Sorted(maps.Keys(k.Servers)) {
		b = fmt.Appendf(b, "\nserver %s {\n", lockText(name))
		for _, tool := range slices.Sorted(maps.Keys(k.Servers[name])) {
			digest("tool", tool, k.Servers[name][tool])
		}
		b = append(b, "}\n"...)
	}
	return b
}

// lockText returns a text in quotes. It escapes all but printable ASCII: hclwrite normalizes
// Unicode, so that two names of a server would become one. It also escapes the signs that begin
// templates: each of them is a token, and their number is limited.
func lockText(text string) string {
	b := []byte{'"'}
	for _, r := range text {
		switch {
		case r > 0xffff:
			b = fmt.Appendf(b, `\U%08x`, r)
		case r < ' ' || r > '~' || r == '"' || r == '\\' || r == '$' || r == '%':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, byte(r))
		}
	}
	return string(append(b, '"'))
}
