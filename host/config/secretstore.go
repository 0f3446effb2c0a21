package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
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
	Path         string // absolute; empty: in Junctor's data directory
	PasswordFile string // absolute; empty: none
	PasswordFD   int    // -1: none
}

// fileKind is the kind of store that the host implements without a plugin.
const fileKind = "file"

// The bounds of password_fd exclude standard input, output and error.
const (
	leastFD = 3
	mostFD  = 1023
)

var secretFileForm = language.Form{Entries: []language.Entry{
	{Name: "path", Values: language.Texts("a path"), Unset: "in Junctor's data directory", Doc: "The encrypted file."},
	{Name: "password_file", Values: language.Texts("a path"), Unset: "a terminal asks for the password", Doc: "The file with the password."},
	{Name: "password_fd", Values: language.Integers(leastFD, mostFD), Unset: "none", Doc: "In place of `password_file`: a descriptor that was open when Junctor started."},
}}

// A storeDraft is a SecretStore whose block is not decoded yet.
type storeDraft struct {
	pluginRef
	file *SecretFile
}

// secretStore reads the secret_store block. All files together hold at most one. It
// does not decode a body that belongs to a plugin. It returns nil without a block.
func (l *loader) secretStore(blocks []*hclsyntax.Block) *storeDraft {
	if len(blocks) == 0 {
		return nil
	}
	for _, b := range blocks[1:] {
		l.openBlock(b, "").Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
	}
	s := l.openBlock(blocks[0], "")
	if s.Label == fileKind {
		return &storeDraft{pluginRef: pluginRef{blockReader: s}, file: s.secretFile()}
	}
	return &storeDraft{pluginRef: s.resolvePlugin(stores)}
}

// secretFile reads the block of the kind "file".
func (r blockReader) secretFile() *SecretFile {
	r.Check(&secretFileForm)
	f := &SecretFile{Path: r.Path("path"), PasswordFile: r.passwordFile(), PasswordFD: r.Integer("password_fd", -1, leastFD, mostFD)}
	if r.IsSet("password_file") && r.IsSet("password_fd") {
		r.ErrorAt(r.Body.Attributes["password_fd"].NameRange, "keep one of them", `"password_fd" cannot be set together with "password_file"`)
	}
	return f
}

// passwordFile reads a path. Unlike other paths it may come from env(), because
// systemd passes the directory of its credentials in a variable.
func (r blockReader) passwordFile() string {
	v, a, set := r.Value("password_file", cty.String)
	if !set {
		return ""
	}
	v, _ = v.Unmark()
	if v.AsString() == "" {
		r.ErrorAt(a.Expr.Range(), "", `"password_file" is empty`)
		return ""
	}
	return r.Absolute(a, v.AsString())
}

// finish decodes the body. It returns nil without a store.
func (d *storeDraft) finish() *SecretStore {
	switch {
	case d == nil:
		return nil
	case d.file != nil:
		return &SecretStore{Block: Block{Kind: d.Label, Dir: d.byName[d.Head.Filename].dir, At: startOf(d.Head)}, File: d.file}
	}
	b, ok := d.decode()
	if !ok {
		return nil
	}
	if d.keyring.absentIn(string(b.Settings)) == nil && d.keyring.contains(string(b.Settings)) {
		d.ErrorAt(d.Head, `use env("NAME") or file("path")`, "a secret store cannot be opened with a secret of keyring(), which it keeps itself")
	}
	return &SecretStore{Block: b}
}
