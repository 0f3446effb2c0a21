package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
)

// gatewayRecipient stands for the gateway's own tokens, which no server gets.
const gatewayRecipient = "gateway"

// ConfigID names the configuration in grants of secrets: its canonical path, or
// nothing for the user's own.
func (a *App) ConfigID() string {
	if a.opts.Config.Own {
		return ""
	}
	path, err := a.opts.Config.Canonical()
	if err != nil {
		return a.opts.Config.Path // it was there when it was loaded
	}
	return path
}

// transportRecipient returns the recipient of the secrets in a transport block.
func (a *generation) transportRecipient(s *config.Server) secret.Recipient {
	return a.recipient(s.Name, a.serverDestination(s))
}

// authRecipient returns the recipient of the secrets in an auth block: the provider,
// with the programs and addresses in the block, for the server that it serves.
func (a *generation) authRecipient(s *config.Server) secret.Recipient {
	return a.recipient(s.Name, a.serverDestination(s), a.destination(s.Auth))
}

func (a *App) recipient(server string, to ...string) secret.Recipient {
	sum := sha256.Sum256([]byte(strings.Join(to, "\x00")))
	return secret.Recipient{Config: a.ConfigID(), Server: server, To: hex.EncodeToString(sum[:16])}
}

// component names a block's plugin by where it comes from, which two
// configurations cannot call the same by accident.
func (a *generation) component(b *config.Block) string {
	return a.plugin(b.Plugin).Source + "#" + b.Component
}

// serverDestination describes how a server is reached: its transport, and the origin
// or the command line.
func (a *generation) serverDestination(s *config.Server) string { return a.destination(&s.Transport) }

// destination describes where the settings of a block go. For a bundled plugin that
// is its command line, or the origins of its URL and of its token issuer. Another
// plugin may use any setting for anything, so all of them count.
func (a *generation) destination(b *config.Block) string {
	component := a.component(b)
	if !strings.HasPrefix(component, plugin.BuiltinSource) {
		return component + " " + string(a.Config.Unresolved(b.Settings))
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
	_ = json.Unmarshal(b.Settings, &settings) // other types are no address and no command line
	var to []string
	if len(settings.Command) > 0 {
		line, err := json.Marshal([][]string{settings.Command, settings.Args})
		if err != nil {
			panic(err) // texts only
		}
		to = append([]string{string(line), settings.Cwd}, codeVariables(settings.Env)...)
	} else {
		to = []string{origin(settings.URL), origin(settings.Issuer), string(settings.TLS)}
	}
	for len(to) > 0 && to[len(to)-1] == "" {
		to = to[:len(to)-1]
	}
	return component + " " + string(a.Config.Unresolved([]byte(strings.Join(to, "\x01"))))
}

// origin returns scheme and host of a URL, and any other text unchanged.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// codeVariable finds the variables of the environment by which well-known programs
// run other code than they are told to.
var codeVariable = regexp.MustCompile(`(?i)^(PATH|(LD|DYLD|GIT|NPM_CONFIG|UV|PIP)_.*|NODE_(OPTIONS|PATH)|(PYTHON|PERL5|RUBY).*|(BASH_)?ENV|_?JAVA.*|JDK_.*|CLASSPATH|DOTNET_.*)$`)

// codeVariables lists those variables of an environment, sorted.
func codeVariables(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if codeVariable.MatchString(name) {
			all = append(all, name+"="+env[name])
		}
	}
	return all
}

// recipients lists the recipients that the configuration names for a secret.
func (a *generation) recipients(name string) []secret.Recipient {
	var all []secret.Recipient
	add := func(settings string, r secret.Recipient) {
		for _, used := range a.Config.SecretsIn(settings) {
			if used == name {
				all = append(all, r)
			}
		}
	}
	for _, s := range a.Config.Servers {
		if !s.Enabled {
			continue
		}
		add(string(s.Transport.Settings), a.transportRecipient(s))
		if s.Auth != nil {
			add(string(s.Auth.Settings), a.authRecipient(s))
		}
	}
	for _, auth := range a.Config.Gateway.HTTP.Auth {
		if t, ok := auth.Settings.(config.StaticToken); ok {
			add(t.Token, a.recipient(gatewayRecipient))
		}
	}
	return all
}
