// Package secret keeps secrets at rest: what people save by hand, and what auth
// providers must not forget.
//
// A [Keeper] has one or more stores, best first: usually the key ring of the
// desktop, which is a plugin, and a [File], which is one encrypted file. The
// first one that is there keeps everything; a store that is there and cannot be
// used now is an error and never a reason to begin a second one, for then a
// person would look for a secret in the wrong place.
//
// Nobody sees the store itself. An auth provider gets a [Scope], whose names
// are its own: a key is made of who asks and for which server, resource and
// tenant, so a changed address finds nothing. A person gets [User]. Names are
// hashed: a store may fold letters, or have ideas about slashes.
//
// Nothing here prints a secret, and nothing is kept in memory but the key of
// the file that is open.
package secret
