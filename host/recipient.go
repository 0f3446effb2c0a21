package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
)

// gatewayRecipient is the recipient of the tokens of the gateway's own clients. The functions
// of this file are pure. Grants of secrets at rest name these recipients, so their texts must
// stay.
const gatewayRecipient = "gateway"

// ConfigID identifies the strongest layer of the configuration in grants of secrets. It is
// the canonical path, or "" for the user's own configuration. A reload reads the same
// location.
func (a *App) ConfigID() string { return a.process.opts.layerID(0) }

// layerID is ConfigID for a layer of the configuration; see config.Server.
func (o *Options) layerID(layer int) string {
	at := o.Config
	if layer > 0 {
		at = at.Under[layer-1]
	}
	if at.Own {
		return ""
	}
	path, err := at.Canonical()
	if err != nil {
		return at.Path // the file has been removed since it was loaded
	}
	return path
}

// transportRecipient returns the recipient of the secrets in a transport block.
func (g *generation) transportRecipient(s *config.Server) secret.Recipient {
	return g.opts.recipient(s.Layer, s.Name, g.serverDestination(s))
}

// authRecipient returns the recipient of the secrets in an auth block: the provider,
// with the programs and addresses in the block, for the server that it serves.
func (g *generation) authRecipient(s *config.Server) secret.Recipient {
	return g.opts.recipient(s.Layer, s.Name, g.serverDestination(s), g.destination(s.Auth))
}

func (o *Options) recipient(layer int, server string, to ...string) secret.Recipient {
	sum := sha256.Sum256([]byte(strings.Join(to, "\x00")))
	return secret.Recipient{Config: o.layerID(layer), Server: server, To: hex.EncodeToString(sum[:16])}
}

// component identifies the component of a block by the source of its plugin. The
// plugin's name may mean another program in another configuration.
func (g *generation) component(b *config.Block) string {
	return g.plugin(b.Plugin).Source + "#" + b.Component
}

// serverDestination identifies a server by its transport and its origin or command
// line.
func (g *generation) serverDestination(s *config.Server) string { return g.destination(&s.Transport) }

// destination identifies the program or host that receives the settings of a block.
// For a bundled plugin that is the command line, or the origins of the URL and of the
// token issuer. Any setting of another plugin may name a receiver, so all count.
func (g *generation) destination(b *config.Block) string {
	component := g.component(b)
	if !strings.HasPrefix(component, plugin.BuiltinSource) {
		return component + " " + string(g.Config.Unresolved(b.Settings))
	}
	var settings struct {
		URL     string            `json:"url"`
		Issuer  string            `json:"issuer"`
		TLS     json.RawMessage   `json:"tls"`
		Command []string          `json:"command"`
		Args    []string          `json:"args"`
		Cwd     string            `json:"cwd"`
		Env     map[string]string `json:"env"`
	}
	_ = json.Unmarshal(b.Settings, &settings) // settings of other types are ignored
	var to []string
	if len(settings.Command) > 0 {
		line, err := json.Marshal([][]string{settings.Command, settings.Args})
		if err != nil {
			panic(err) // impossible: strings can be encoded
		}
		to = append([]string{string(line), settings.Cwd}, codeVariables(settings.Env)...)
		to = append(to, toolPrograms(b, config.ToolCommand{
			Command: slices.Concat(settings.Command, settings.Args),
			Cwd:     settings.Cwd,
			Env:     settings.Env,
		})...)
	} else {
		to = []string{origin(settings.URL), origin(settings.Issuer), string(settings.TLS)}
	}
	for len(to) > 0 && to[len(to)-1] == "" {
		to = to[:len(to)-1]
	}
	return component + " " + string(g.Config.Unresolved([]byte(strings.Join(to, "\x01"))))
}

// toolPrograms identifies the programs of the tool blocks of a block that differ from the
// program of the block. They get the same variables.
func toolPrograms(b *config.Block, own config.ToolCommand) []string {
	identify := func(c config.ToolCommand) string {
		text, err := json.Marshal([]any{c.Command, c.Cwd, codeVariables(c.Env)})
		if err != nil {
			panic(err) // impossible: strings can be encoded
		}
		return string(text)
	}
	all := []string{identify(own)}
	for _, t := range b.ToolCommands() {
		if one := identify(t); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all[1:]
}

// origin returns the scheme and host of a URL. It returns any other text unchanged.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// codeVariables lists the variables of an environment that choose code, sorted.
func codeVariables(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if command.ChoosesCode(name) {
			all = append(all, name+"="+env[name])
		}
	}
	return all
}

// recipients is App.Recipients for one generation.
func (g *generation) recipients(name string) []secret.Recipient {
	var all []secret.Recipient
	add := func(settings string, r secret.Recipient) {
		for _, used := range g.Config.SecretsIn(settings) {
			if used == name {
				all = append(all, r)
			}
		}
	}
	for _, s := range g.Config.Servers {
		if !s.Enabled {
			continue
		}
		add(string(s.Transport.Settings), g.transportRecipient(s))
		if s.Auth != nil {
			add(string(s.Auth.Settings), g.authRecipient(s))
		}
	}
	if n := g.Config.Notify; n != nil {
		add(n.Secret, g.notifyRecipient())
	}
	for _, auth := range g.Config.Gateway.HTTP.Auth {
		add(auth.Settings.SecretText(), g.opts.recipient(g.Config.Gateway.Layer, gatewayRecipient))
	}
	return all
}
