// Command junctor-plugin-keyring keeps secrets in the key ring of the desktop:
// Secret Service or KWallet on Linux, Keychain on macOS, the credential manager
// on Windows. On request it uses the key ring of the kernel, or pass.
//
// Package dbusguard hides the session bus from this process, which only
// validates, queues and waits ([vault]). Each operation runs in a worker,
// another process of the same program ([work]). A worker that takes too long is
// killed: a bus may not answer, and a key ring may wait for the user.
//
// vault.go is the side of the plugin, work.go and ring.go that of the worker; the files ready and
// keychain are for one system each. The items in key rings outlive the version: ring.go must read
// what older versions wrote.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/junctor-mcp/junctor/plugins/keyring/dbusguard"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// version is the version of the plugin; see CHANGELOG.md.
const version = "0.1.0"

type settings struct {
	Backend    string `hcl:"backend" doc:"Key ring to use. auto is the one of the system: secret-service on Linux, keychain on macOS, wincred on Windows, pass elsewhere." enum:"auto,secret-service,kwallet,keychain,wincred,keyctl,pass" default:"auto"`
	Collection string `hcl:"collection,optional" doc:"The collection of secret-service, or the wallet of kwallet, that holds the secrets; it must exist. The default is login or kdewallet, which are unlocked with the session."`
}

// native maps systems to their key ring.
var native = map[string]string{"linux": "secret-service", "darwin": "keychain", "windows": "wincred"}

// systems maps backends to the systems that have them. Backends that exist
// everywhere are missing.
var systems = map[string][]string{
	"secret-service": {"linux"}, "kwallet": {"linux"}, "keyctl": {"linux"}, "keychain": {"darwin"},
	"wincred": {"windows"},
}

// backend returns the selected backend.
func (s *settings) backend() string {
	if s.Backend != "auto" {
		return s.Backend
	}
	if name, ok := native[runtime.GOOS]; ok {
		return name
	}
	return "pass"
}

func (s *settings) collection() string {
	if s.Collection == "" {
		return map[string]string{"secret-service": "login", "kwallet": "kdewallet"}[s.backend()]
	}
	return s.Collection
}

// Validate rejects settings that cannot work on this system.
func (s *settings) Validate() error {
	b := s.backend()
	if where, some := systems[b]; some && !slices.Contains(where, runtime.GOOS) {
		return sdk.AttrErrorf("backend", "%s is on %s only, not on %s", b, where[0], runtime.GOOS)
	}
	if s.Collection != "" && b != "secret-service" && b != "kwallet" {
		return sdk.AttrErrorf("collection", "%s has no collections", b)
	}
	return nil
}

func open(_ context.Context, _ *sdk.StoreServer, s *settings) (sdk.Vault, error) {
	if s.backend() == "keychain" && !keychain {
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "absent",
			Message: "this build cannot use the macOS keychain: it was built without cgo",
			Hint:    "build junctor-plugin-keyring on a Mac with CGO_ENABLED=1",
		}
	}
	return newVault(s.backend(), s.collection()), nil
}

// description mentions a missing keychain.
func description() string {
	if runtime.GOOS == "darwin" && !keychain {
		return "Keeps secrets in a key ring. This build was made without cgo and cannot use the macOS keychain."
	}
	return "Keeps secrets in the key ring of the desktop."
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:         "keyring",
		Version:      version,
		Description:  description(),
		SecretStores: map[string]sdk.SecretStore{"keyring": sdk.NewSecretStore(open)},
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == dbusguard.Worker {
		if err := work(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	serve.Main(plugin())
}
