package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A SecretStore is the secret_store block: where secrets are kept. With one,
// nothing else is tried.
type SecretStore struct {
	Block             // of the kind "file" only Kind, Dir and At
	File  *SecretFile // of the kind "file", else nil
}

// A SecretFile is an encrypted file. The password is asked for where neither a
// file nor a descriptor is named.
type SecretFile struct {
	Path         string // absolute; empty: the usual place
	PasswordFile string // absolute; empty: none
	PasswordFD   int    // -1: none
}

// fileKind is the store that the host itself is.
const fileKind = "file"

// Standard input, output and error are descriptors of another kind.
const (
	leastFD = 3
	mostFD  = 1023
)

var secretFileForm = form{attributes: []string{"path", "password_file", "password_fd"}}

// A storeDraft is a SecretStore in the making.
type storeDraft struct {
	pluginRef
	file *SecretFile
}

// secretStore reads the secret_store block, of which all files together hold
// one, apart from a body that belongs to a plugin. It is nil without a block.
func (l *loader) secretStore(blocks []*hclsyntax.Block) *storeDraft {
	if len(blocks) == 0 {
		return nil
	}
	for _, b := range blocks[1:] {
		l.section(b, "").twice(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
	}
	s := l.section(blocks[0], "")
	if s.label == fileKind {
		return &storeDraft{pluginRef: pluginRef{blockReader: s}, file: s.secretFile()}
	}
	return &storeDraft{pluginRef: s.use(stores)}
}

// secretFile reads the block of the kind "file".
func (s blockReader) secretFile() *SecretFile {
	s.check(secretFileForm)
	f := &SecretFile{Path: s.path("path"), PasswordFile: s.passwordFile(), PasswordFD: s.whole("password_fd", -1, leastFD, mostFD)}
	if s.stands("password_file") && s.stands("password_fd") {
		s.wrong(s.body.Attributes["password_fd"].NameRange, "keep one of them", `"password_fd" cannot stand beside "password_file"`)
	}
	return f
}

// passwordFile is a path that may come from the environment, where systemd says
// in which directory its credentials are.
func (s blockReader) passwordFile() string {
	v, a, set := s.value("password_file", cty.String)
	if !set {
		return ""
	}
	v, _ = v.Unmark()
	if v.AsString() == "" {
		s.wrong(a.Expr.Range(), "", `"password_file" is empty`)
		return ""
	}
	return s.absolute(a, v.AsString())
}

// finish decodes the body. It is nil without a store.
func (d *storeDraft) finish() *SecretStore {
	switch {
	case d == nil:
		return nil
	case d.file != nil:
		return &SecretStore{Block: Block{Kind: d.label, Dir: d.byName[d.head.Filename].dir, At: startOf(d.head)}, File: d.file}
	}
	b, ok := d.decode()
	if !ok {
		return nil
	}
	if d.keyring.stands(string(b.Settings)) {
		d.wrong(d.head, `use env("NAME") or file("path")`, "a secret store cannot be opened with a secret of keyring(), which it keeps itself")
	}
	return &SecretStore{Block: b}
}
