// Package secret stores secrets at rest: those that users save, and the state of
// auth providers.
//
// A [Keeper] has one or more stores in order of preference: usually the key ring of
// the desktop, which is a plugin, and a [File], which is one encrypted file. The
// first store that exists holds everything. A store that exists but fails is an
// error. The Keeper then does not use the next store, because users would look for
// a secret in the wrong place.
//
// Auth providers use a [Keeper.Scope] and users a [User]; neither can access the
// other's keys. The key of a scope is derived from the plugin, server, resource and
// tenant, so a server with a changed address finds nothing. Names are hashed, since
// a store may fold case or treat slashes specially.
//
// The package prints no secrets. It keeps only the key of the open file in memory.
//
// Package host makes a Keeper for the secret store of a configuration and gives its scopes to
// auth providers and its User to the command line. The methods of Keeper, Scope, User and File
// may be called concurrently, and block while a plugin or a person answers; other processes are
// excluded with locks of files.
//
// keeper.go chooses the store, store.go has what is common to stores; owner.go, user.go and
// grant.go say which keys belong to whom. file.go, disk*.go and envelope.go are the encrypted
// file, and password.go, passwordfile.go and kept.go its password. versions.go tells other
// processes of changes.
//
// Keys, grants and the file are at rest: digests, the prefix and the format must stay, or users
// lose their secrets.
//
// Files, from the top: kept.go, grant.go, user.go, owner.go, keeper.go, versions.go, file.go,
// password.go, passwordfile.go, disk.go, envelope.go, store.go, disk_unix.go, disk_windows.go.
package secret
