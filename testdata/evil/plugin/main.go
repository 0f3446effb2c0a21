// Command plugin is a plugin with one mistake. The part of its file name after
// the last dash selects the mistake. "junctor-plugin-evil-silent" prints no
// handshake. With the prefix "socket", the mistake is made on a socket instead
// of a stream of the broker, as in "junctor-plugin-evil-socketnoend". The
// variable EVIL holds an argument.
//
// With any other name, such as "junctor-plugin-evil", it is a normal plugin
// made with the SDK. Its transport misbehaves as the settings of a server say.
package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// early holds the mistakes before or instead of the handshake.
var early = map[string]func(){}

// describing holds the mistakes of the command describe.
var describing = map[string]func(){}

// argument returns the variable EVIL.
func argument() string { return os.Getenv("EVIL") }

func main() {
	name := filepath.Base(os.Args[0])
	mode, sockets := strings.CutPrefix(name[strings.LastIndexByte(name, '-')+1:], "socket")
	if len(os.Args) > 1 && os.Args[1] == "describe" {
		if f := describing[mode]; f != nil {
			f()
			return
		}
	} else if f := early[mode]; f != nil {
		f()
		return
	} else if wrong[mode] || streams[mode] != nil {
		serveWrong(mode, sockets)
		return
	}
	serve.Main(manifest())
}

// manifest returns the plugin without mistakes.
func manifest() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "evil", Version: "1.2.3", Description: "Does one thing wrong.",
		Transports:   map[string]sdk.Transport{"evil": sdk.NewTransport(open)},
		Auths:        map[string]sdk.Auth{"evil": sdk.NewAuth(startAuth)},
		SecretStores: map[string]sdk.SecretStore{"evil": sdk.NewSecretStore(openVault)},
	}
}
