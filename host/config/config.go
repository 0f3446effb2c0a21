package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Config is a configuration that was read, decoded and checked. Nobody
// changes it after [Load] returned it.
type Config struct {
	Path    string   // the file or directory that was loaded
	Files   []string // in the order they were read
	Plugins []Plugin // required ones, bundled ones in use and plugin blocks; sorted by name
	Servers []*Server
	Gateway Gateway

	// SecretStore is where secrets are kept; nil: wherever this machine can.
	SecretStore *SecretStore

	secrets *strings.Replacer
	keyring keyring // for Resolve
}

// A Plugin is one process's worth of a plugin, under its local name.
type Plugin struct {
	Name      string
	Source    string   // "builtin/NAME", or the absolute path of a file or directory
	Use       string   // whose program it runs; its own name unless a plugin block borrows another's
	Version   string   // constraint on the version, already met; may be empty
	SHA256    string   // of the program, 64 lower-case hex digits; may be empty
	Isolation string   // "shared" or "server"
	Env       []string // names of the host's environment variables that the process may see
	At        Position
}

// A Block is a block whose body belongs to a plugin, decoded with the plugin's
// schema: a transport, an auth provider or a secret store.
type Block struct {
	Kind      string   // the label as it stands in the file
	Plugin    string   // the plugin's local name
	Component string   // what the plugin's manifest calls it
	Settings  []byte   // JSON for the plugin, secrets included; those of keyring() are to be put in by Config.Resolve
	Shown     []byte   // the same for people, every sensitive value "(sensitive)"
	EnvNames  []string // host variables the plugin asked to be passed, sorted
	Dir       string   // absolute directory of the file the block stands in
	At        Position

	files  []string // absolute
	origin origin   // for Locate and Refused
}

// Files are those from which an auth provider has what it presents, and which
// are worth a look before each request.
func (b *Block) Files() []string { return b.files }

// A View changes how one tool is offered.
type View struct {
	Tool           string // the upstream's name for it
	Name           string // the name to offer; empty: unchanged
	Description    string // the description to offer, if HasDescription
	HasDescription bool
	Hidden         bool
	Pin            map[string]json.RawMessage // arguments always sent, and hidden from the schema
	Default        map[string]json.RawMessage // arguments sent when the client leaves them out
	At             Position
	Places         map[string]Position `json:",omitempty"` // of each argument that is pinned or has a default
}

// ToolPlaces returns every place that says something of a server's tools, by its
// text.
func (c *Config) ToolPlaces() map[string]Position {
	places := map[string]Position{}
	for _, s := range c.Servers {
		for _, list := range [][]Pattern{s.Tools.Allow, s.Tools.Deny, s.Tools.Read, s.Tools.Write, s.Tools.Idempotent} {
			for _, p := range list {
				places[p.At.String()] = p.At
			}
		}
		for _, v := range s.Views {
			places[v.At.String()] = v.At
			for _, at := range v.Places {
				places[at.String()] = at
			}
		}
	}
	return places
}

// A Position is a place in the configuration, File as the user named it. Line
// and column count from 1; a Line of 0 means the file as a whole.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

func startOf(r hcl.Range) Position {
	return Position{File: r.Filename, Line: r.Start.Line, Column: r.Start.Column}
}

func endOf(r hcl.Range) Position {
	return Position{File: r.Filename, Line: r.End.Line, Column: r.End.Column}
}
