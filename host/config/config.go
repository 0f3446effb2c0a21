package config

import (
	"encoding/json"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/redact"
)

// A Config is a configuration that was read, decoded and checked. It is not
// modified after [Load] returns it, so any goroutine may read it. A reload makes another one.
type Config struct {
	Path      string   // the file or directory that was loaded
	Files     []string // in the order they were read
	Plugins   []Plugin // required ones, bundled ones in use and plugin blocks; sorted by name
	Servers   []*Server
	Gateway   Gateway
	Console   *Console     `json:",omitempty"` // nil: there is no console
	Telemetry Telemetry    `json:",omitzero"`
	Policy    policy.Rules `json:",omitzero"`
	Tests     []PolicyTest `json:",omitempty"`
	Managed   Managed      `json:",omitzero"`
	Audit     Audit        `json:",omitzero"`
	Notify    *Notify      `json:",omitempty"` // nil: no notices are sent

	Under    []string       `json:",omitempty"` // paths of the weaker layers, the strongest first
	Policies []policy.Rules `json:",omitempty"` // of the weaker layers; the strictest of all counts
	Shadowed []Shadowed     `json:",omitempty"` // blocks that stronger layers replace

	// Unread names the blocks about the whole process that are not read as a whole, because an
	// input is absent; see Options.AbsentInputs.
	Unread []string `json:",omitempty"`

	Locks map[string]*lockfile.File `json:"-"` // the lock files, by path

	// SecretStore keeps the stored secrets; nil: the default store of the machine.
	SecretStore *SecretStore

	secrets  *redact.Scrubber
	keyring  *expression.Keyring // for Resolve
	included []string            // absolute paths of the files that file() has read
	named    []string            // absolute paths in attributes of the host's blocks

	lookup func(string) (string, bool) // a variable of Junctor
}

// A Shadowed is a server block that is not used, because a stronger layer has a server of its
// name.
type Shadowed struct {
	Server string
	At     source.Position
}

// A Plugin is a plugin under its local name. Each has its own processes, also if
// several run the same program.
type Plugin struct {
	Name      string
	Source    string   // "builtin/NAME", or the absolute path of a file or directory
	Use       string   // the plugin whose program it runs; Name unless the plugin block sets "use"
	Version   string   // constraint on the version, already checked; may be empty
	SHA256    string   // of the program, 64 lower-case hex digits; may be empty
	Isolation string   // "shared" or "server"
	Env       []string // names of the host's environment variables that the process gets
	// The lock file that may pin the program; empty: the configuration does, or it is bundled.
	Lock   string `json:",omitempty"`
	Locked bool   `json:",omitempty"` // SHA256 comes from Lock
	At     source.Position
}

// A Block is a block whose body belongs to a plugin, decoded with the plugin's
// schema: a transport, an auth provider or a secret store.
type Block struct {
	Kind      string   // the label in the file
	Plugin    string   // the plugin's local name
	Component string   // the component's name in the plugin's manifest
	Settings  []byte   // JSON for the plugin, with secrets; Config.Resolve inserts those of keyring()
	Shown     []byte   // the same with every sensitive value replaced by "(sensitive)"
	EnvNames  []string // host variables that the settings pass on, sorted
	Dir       string   // absolute directory of the file with the block
	At        source.Position

	files  []string    // absolute
	origin blockSource // for Locate and SettingsDiagnostics
}

// Files returns the absolute paths of the files in settings of the format
// "watched_file". An auth provider reads credentials from them, so the host checks
// them for changes before each request.
func (b *Block) Files() []string { return b.files }

// A View changes how one tool is offered.
type View struct {
	Tool           string // the upstream's name of the tool
	Name           string // the offered name; empty: unchanged
	Description    string // the offered description, if HasDescription
	HasDescription bool
	Hidden         bool
	Pin            map[string]json.RawMessage // arguments always sent, and hidden from the schema
	Default        map[string]json.RawMessage // arguments sent if the client omits them
	At             source.Position
	Places         map[string]source.Position `json:",omitempty"` // of each argument in Pin and Default

	shownPin, shownDefault json.RawMessage // the same with every sensitive value replaced
}

// ToolPlaces returns the places of all patterns, views, pins and defaults of
// tools. The key is [Position.String].
func (c *Config) ToolPlaces() map[string]source.Position {
	places := map[string]source.Position{}
	for _, s := range c.Servers {
		for _, list := range [][]Pattern{s.Tools.Allow, s.Tools.Deny, s.Tools.Read, s.Tools.Write, s.Tools.Idempotent,
			s.Tools.Confirm} {
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

// Conceal masks every secret of the configuration in a text, such as a plugin's log.
// Secrets are the texts that env() and file() returned, tokens, and the values of
// sensitive settings.
func (c *Config) Conceal(text string) string { return c.secrets.Replace(text) }

// HasSecret reports whether a text has a secret of the configuration that is no short word.
func (c *Config) HasSecret(text string) bool { return c.secrets.Finds(text) }

// SecretUses lists the secrets that the configuration uses, in the order of the
// files.
func (c *Config) SecretUses() []expression.SecretUse { return c.keyring.Uses() }

// Resolve replaces the placeholders of keyring() in a block's settings by the
// secrets. The settings must belong to c. Resolve calls lookup once for each secret
// and returns its error with the place of the keyring() call.
func (c *Config) Resolve(settings []byte, lookup func(name string) (string, error)) ([]byte, error) {
	text, err := c.keyring.SubstituteJSON(string(settings), lookup)
	return []byte(text), err
}

// SecretsIn lists the names of the secrets of keyring() in a block's settings or in a
// token, each once.
func (c *Config) SecretsIn(settings string) []string {
	return c.keyring.SecretsIn(settings)
}

// Unresolved returns a text that identifies a block's settings without the values of
// the secrets of keyring(). It is equal in every load.
func (c *Config) Unresolved(settings []byte) []byte {
	text, secrets := c.keyring.Normalize(settings)
	return append(text, strings.Join(secrets, "\n")...)
}

// AbsentInput returns an error if one of several blocks needs an input that was not there when
// the configuration was read; see [Options].AbsentInputs. Blocks may be nil.
func (c *Config) AbsentInput(blocks ...*Block) error {
	for _, b := range blocks {
		if b == nil {
			continue
		}
		if e := c.keyring.AbsentIn(string(b.Settings)); e != nil {
			return e.Fault()
		}
	}
	return nil
}

// Keyring returns the placeholders of stored secrets in the configuration.
func (c *Config) Keyring() *expression.Keyring { return c.keyring }
