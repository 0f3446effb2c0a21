package lockfile

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/junctor-mcp/junctor/host/hcltext"
)

// Name is the name of the lock file beside a configuration. It is HCL, but not part of the
// configuration.
const Name = "junctor.lock.hcl"

// A File is the content of a lock file: the pins of the definitions of tools and of the programs
// of plugins. Package pins never changes one that it shares: it makes another.
type File struct {
	Path    string                       // of the file, which may not exist
	SHA256  string                       // of the text that was parsed, in hexadecimal digits; may be empty
	Servers map[string]map[string]string // the digests of tools, by server and tool
	Plugins map[string]Plugin            // by name
}

// A Plugin is the pin of the program of a plugin.
type Plugin struct {
	Version string            // of the program that was pinned last; for people
	SHA256  map[string]string // by platform, such as "linux_amd64"
}

// New returns an empty lock file.
func New(path string) *File {
	return &File{Path: path, Servers: map[string]map[string]string{}, Plugins: map[string]Plugin{}}
}

// Platform returns the name of this platform in lock files, such as "linux_amd64".
func Platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// PluginHint is the hint for a plugin whose program is not the one of the lock file.
func PluginHint(name string) string {
	return "if you replaced the program intentionally, run `junctor lock --accept plugin." + name +
		"`; otherwise do not run it"
}

// Fits reports whether the lock file can be read again, and no server uses more than its part.
func (f *File) Fits() bool {
	for _, tools := range f.Servers {
		size := 0
		for name := range tools {
			size += toolSize + len(quoted(name))
		}
		if size > maxServer {
			return false
		}
	}
	return hcltext.Scan(f.Path, f.HCL(), limits).Problem == nil
}

// toolSize is the size in bytes of a tool in a lock file, without its name.
const toolSize = 96

// head begins a lock file.
const head = "# Written by Junctor: digests of the tools and plugins that were accepted." +
	" Keep it beside the configuration.\n" +
	"# `junctor diff` shows what differs, and `junctor lock --accept` accepts it.\n"

// HCL returns the text of the lock file. Its blocks are sorted, so that two versions can be
// compared.
func (f *File) HCL() []byte {
	b := []byte(head)
	digest := func(kind, label, sum string) {
		b = fmt.Appendf(b, "  %s %s {\n    sha256 = %s\n  }\n", kind, quoted(label), quoted(sum))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Plugins)) {
		p := f.Plugins[name]
		b = fmt.Appendf(b, "\nplugin %s {\n", quoted(name))
		if p.Version != "" {
			b = fmt.Appendf(b, "  version = %s\n", quoted(p.Version))
		}
		for _, platform := range slices.Sorted(maps.Keys(p.SHA256)) {
			digest("platform", platform, p.SHA256[platform])
		}
		b = append(b, "}\n"...)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		b = fmt.Appendf(b, "\nserver %s {\n", quoted(name))
		for _, tool := range slices.Sorted(maps.Keys(f.Servers[name])) {
			digest("tool", tool, f.Servers[name][tool])
		}
		b = append(b, "}\n"...)
	}
	return b
}

// quoted returns a text in quotes. It escapes all but printable ASCII: hclwrite normalizes
// Unicode, so that two names of a server would become one. It also escapes the signs that begin
// templates: each of them is a token, and their number is limited.
func quoted(text string) string {
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
