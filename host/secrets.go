package host

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
)

// keyringPlugin is the bundled plugin for the key rings of desktops.
const keyringPlugin = "keyring"

// keyringEnv lists the environment variables that lead the plugin to a key ring.
var keyringEnv = []string{
	"DBUS_SESSION_BUS_ADDRESS",
	"XDG_RUNTIME_DIR",
	"GNUPGHOME",
	"PASSWORD_STORE_DIR",
	"PASSWORD_STORE_GPG_OPTS",
}

// Secrets holds the stored secrets of the user. A generation has it and hands it on to the next
// one while the store is the same; otherwise closeReplaced closes it. Its methods may be called
// concurrently.
type Secrets struct {
	*secret.Keeper
	vault *plugin.Vault // the store of a plugin; may be nil
	// reveal is called with each secret that a configuration uses, so that all output masks it.
	reveal func(secret string)
}

// Close closes the plugin's store, if there is one.
func (s *Secrets) Close() {
	if s != nil && s.vault != nil {
		s.vault.Close()
	}
}

// NewSecrets returns the secrets without a configured store. They are in the key ring
// of this machine or, without a key ring, in an encrypted file. The caller closes them.
func NewSecrets(o Options, sup *plugin.Supervisor) *Secrets {
	var vault *plugin.Vault
	if path, err := plugin.Find("builtin/"+keyringPlugin, keyringPlugin, plugin.Dirs(o.Lookup)); err == nil {
		vault = sup.Vault(plugin.StoreRequest{
			Spec:      plugin.Spec{Name: keyringPlugin, Path: path, Env: keyringEnv},
			Component: keyringPlugin,
			Settings:  []byte("{}"),
			Dir:       storeDir(o, keyringPlugin),
		})
	}
	return secretsIn(o, vault, "the key ring", config.SecretFile{PasswordFD: -1}, vault == nil, false)
}

// openSecrets returns the secrets in the store of the configuration. o has the sources of
// the password. The start and the reload call it.
func (c connector) openSecrets(o Options) *Secrets {
	s := c.openStore(o)
	s.reveal = c.p.redactor.keep
	return s
}

// openStore returns the secrets in the store of the configuration.
func (c connector) openStore(o Options) *Secrets {
	store := c.g.Config.SecretStore
	switch {
	case store == nil:
		return NewSecrets(o, c.p.Supervisor)
	case store.File != nil:
		return secretsIn(o, nil, "", *store.File, true, true)
	}
	spec := c.g.pluginSpec(store.Plugin, "")
	if c.g.plugin(store.Plugin).Source == "builtin/"+keyringPlugin {
		spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], keyringEnv...)
	}
	vault := c.p.Supervisor.Vault(plugin.StoreRequest{
		Spec:      spec,
		Component: store.Component,
		Settings:  store.Settings,
		Dir:       storeDir(o, store.Plugin),
		Lacks:     c.g.Config.AbsentInput(&store.Block),
		Place:     func(path string) string { return store.PositionOf(path).String() },
	})
	return secretsIn(o, vault, "secret store \""+store.Kind+"\"", config.SecretFile{}, false, true)
}

// storeInput returns a text that changes with the secret store of the configuration.
func (g *generation) storeInput() string {
	s := g.Config.SecretStore
	if s == nil {
		return ""
	}
	var program []string
	if s.File == nil {
		program = g.program(g.plugin(s.Plugin))
	}
	text, err := json.Marshal([]any{
		s.Kind,
		s.Plugin,
		s.Component,
		string(g.Config.Unresolved(s.Settings)),
		s.File,
		program,
	})
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// secretsIn returns the secrets in a plugin's vault, in an encrypted file, or in the
// vault with the file as its replacement.
func secretsIn(o Options, vault *plugin.Vault, name string, f config.SecretFile, fileOnly, strict bool) *Secrets {
	warn := func(msg, hint string) { o.Log.Warn(msg, "hint", hint) }
	if o.Warn != nil {
		warn = o.Warn
	}
	options := secret.Options{Strict: strict, Warn: warn, Once: o.Warn != nil}
	if o.Dirs.Data != "" {
		options.Stamps = filepath.Join(o.Dirs.Data, "stamps")
	}
	if !fileOnly {
		options.Stores = append(options.Stores, secret.Named{Name: name, Store: vault})
	}
	if path := secretFile(o, f); path != "" && (fileOnly || !strict) {
		options.Stores = append(options.Stores, secret.Named{
			Name:  "the encrypted file " + path,
			Store: encryptedFile(o, f, path, warn),
		})
	}
	return &Secrets{Keeper: secret.New(options), vault: vault, reveal: func(string) {}}
}

// encryptedFile returns the store in a file.
func encryptedFile(o Options, f config.SecretFile, path string, warn func(msg, hint string)) *secret.File {
	password := secret.PasswordOptions{
		File:   f.PasswordFile,
		FD:     max(f.PasswordFD, 0),
		Lookup: o.Lookup,
		Prompt: o.Password,
	}
	if f.PasswordFile == "" && f.PasswordFD <= 0 && o.Dirs.Data != "" {
		password.Kept = secret.KeptPath(filepath.Dir(secretFile(o, config.SecretFile{})), path)
	}
	return secret.OpenFile(secret.FileOptions{
		Path:     path,
		Warn:     warn,
		Kept:     password.Kept,
		Password: secret.Passwords(password),
	})
}

// secretFile returns the path of the encrypted file, or "" without a data directory.
func secretFile(o Options, f config.SecretFile) string {
	if f.Path != "" || o.Dirs.Data == "" {
		return f.Path
	}
	return filepath.Join(o.Dirs.Data, "secrets", "secrets.age") // its own directory, which only this user can write to
}

func storeDir(o Options, name string) string {
	if o.Dirs.Data == "" {
		return ""
	}
	return filepath.Join(o.Dirs.Data, "stores", name)
}

// unlockFor returns a function that asks the person at the terminal for the password of the
// secrets that a server needs, before the server starts; nil if it needs none or there is no
// terminal.
func (c connector) unlockFor(s *config.Server) func(context.Context) error {
	if c.g.opts.Password == nil || !c.g.needsSecrets(s) {
		return nil
	}
	return func(ctx context.Context) error {
		if c.g.authNeedsSecrets(s) {
			_ = c.g.secrets.Check(ctx) // the provider reports what it misses
		}
		if _, err := c.g.resolveSecrets(ctx, s.Transport.Settings, c.g.transportRecipient(s)); err != nil {
			return locate(s, err)
		}
		return nil
	}
}

// secretLookup returns a function that finds a secret of the user for a recipient.
// All output masks the secrets that it returns.
func (g *generation) secretLookup(ctx context.Context, r secret.Recipient) func(name string) (string, error) {
	return func(name string) (string, error) {
		value, err := g.secrets.User().GetFor(ctx, name, r, func() []secret.Recipient { return g.recipients(name) })
		if err != nil {
			return "", err
		}
		g.secrets.reveal(string(value))
		return string(value), nil
	}
}

// resolveSecrets replaces keyring() by the secrets in the settings of a block.
func (g *generation) resolveSecrets(ctx context.Context, settings []byte, r secret.Recipient) ([]byte, error) {
	return g.Config.Resolve(settings, g.secretLookup(ctx, r))
}

// unattendedTime limits UnattendedSecrets.
const unattendedTime = 5 * time.Second

// UnattendedSecrets opens the secrets as a process does that a client or a service starts:
// without a person who types the password, and without the variables that lead to it. It
// returns nil if that works, or if no enabled server needs a secret.
func UnattendedSecrets(ctx context.Context, a *App) error {
	g := a.current.Load()
	if !slices.ContainsFunc(g.Config.Servers, g.needsSecrets) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, unattendedTime)
	defer cancel()
	o := *g.opts
	o.Password, o.Warn = nil, func(string, string) {}
	o.Lookup = func(name string) (string, bool) {
		if slices.Contains(secret.PasswordVariables, name) {
			return "", false
		}
		return g.opts.Lookup(name)
	}
	s := a.connector().openSecrets(o)
	defer s.Close()
	return s.Check(ctx)
}

// needsSecrets reports whether an enabled server uses stored secrets or a stored login.
func (g *generation) needsSecrets(s *config.Server) bool {
	return s.Enabled && (g.authNeedsSecrets(s) || len(g.Config.SecretsIn(string(s.Transport.Settings))) > 0)
}

// authNeedsSecrets reports whether the auth block of a server does.
func (g *generation) authNeedsSecrets(s *config.Server) bool {
	return s.Auth != nil && (s.Auth.Kind == "oauth" || len(g.Config.SecretsIn(string(s.Auth.Settings))) > 0)
}
