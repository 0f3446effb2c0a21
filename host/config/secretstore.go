package config

import (
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A SecretStore is the secret_store block. If a configuration has one, the host
// uses no other store.
type SecretStore struct {
	Block             // for the kind "file" only Kind, Dir and At are set
	File  *SecretFile // nil: not of the kind "file"
}

// A SecretFile is an encrypted file. Without PasswordFile and PasswordFD the host
// prompts for the password.
type SecretFile struct {
	// Absolute.
	Path string `hcl:"path" format:"path" unset:"in Junctor's data directory" doc:"The encrypted file."`
	// Absolute; from env() for systemd, which passes the directory of its credentials in a variable.
	PasswordFile string `hcl:"password_file" format:"path" input:"true" unset:"a terminal asks for the password" doc:"The file with the password."`
	// Not standard input, output and error.
	PasswordFD int `hcl:"password_fd" default:"-1" unset:"none" min:"3" max:"1023" conflicts:"password_file" doc:"In place of 'password_file': a descriptor that was open when Junctor started."`
}

// fileKind is the kind of store that the host implements without a plugin.
const fileKind = "file"

// A storeDraft is a SecretStore whose block is not decoded yet.
type storeDraft struct {
	pluginRef
	file *SecretFile
}

// secretStore reads the secret_store block. All files together hold at most one. It
// does not decode a body that belongs to a plugin. It returns nil without a block.
func (t *pluginTable) secretStore(of *scope) *storeDraft {
	s, found := of.only(of.top["secret_store"])
	switch {
	case !found:
		return nil
	case s.Label != fileKind:
		return &storeDraft{pluginRef: t.resolve(s, stores)}
	}
	d := &storeDraft{pluginRef: pluginRef{blockReader: s}, file: &SecretFile{}}
	language.Decode(s.Reader, d.file)
	return d
}

// finish decodes the body. It returns nil without a store.
func (d *storeDraft) finish() *SecretStore {
	switch {
	case d == nil:
		return nil
	case d.file != nil:
		return &SecretStore{Block: Block{Kind: d.Label, Dir: d.dir(), At: source.StartOf(d.Head)}, File: d.file}
	}
	b, ok := d.decode()
	if !ok {
		return nil
	}
	if d.of.ev.Keyring.AbsentIn(string(b.Settings)) == nil && d.of.ev.Keyring.Contains(string(b.Settings)) {
		d.ErrorAt(d.Head, `use env("NAME") or file("path")`,
			"a secret store cannot be opened with a secret of keyring(), which it keeps itself")
	}
	return &SecretStore{Block: b}
}
