// Command plugin is a plugin that does one thing wrong. Which one, the name of
// its file says after the last dash: "junctor-plugin-evil-silent" prints no
// handshake, and "junctor-plugin-evil-socketnoend" does on a socket of its own
// what "junctor-plugin-evil-noend" does on a stream of the broker's. What else
// it needs to know stands in the variable EVIL.
//
// Under any other name, such as "junctor-plugin-evil", it is an ordinary plugin
// made with the SDK, whose transport misbehaves as the settings of a server say.
package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// early are the ways to be wrong before the handshake, or instead of it.
var early = map[string]func(){}

// describing are the ways to be wrong when asked to describe itself.
var describing = map[string]func(){}

// argument is what the test gave in EVIL.
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

// manifest is the plugin as it describes itself.
func manifest() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "evil", Version: "1.2.3", Description: "Does one thing wrong.",
		Transports:   map[string]sdk.Transport{"evil": sdk.NewTransport(open)},
		Auths:        map[string]sdk.Auth{"evil": sdk.NewAuth(startAuth)},
		SecretStores: map[string]sdk.SecretStore{"evil": sdk.NewSecretStore(openVault)},
	}
}
