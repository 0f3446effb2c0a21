package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/secret"
)

// gatewayRecipient stands for the gateway's own tokens, which no server gets.
const gatewayRecipient = "gateway"

// configID names the configuration in grants: its canonical path, or nothing for
// the user's own.
func (a *App) configID() string {
	if a.opts.Config.Own {
		return ""
	}
	path, err := a.opts.Config.Canonical()
	if err != nil {
		return a.opts.Config.Path // it was there when it was loaded
	}
	return path
}

// ConfigID is what grants of secrets call a configuration.
func (a *App) ConfigID() string { return a.configID() }

// transportRecipient is what gets the secrets in a server's transport block.
func (a *App) transportRecipient(s *config.Server) secret.Recipient {
	return a.recipient(s.Name, a.reach(s))
}

// authRecipient is what gets the secrets in a server's auth block: the provider,
// for the server that it serves.
func (a *App) authRecipient(s *config.Server) secret.Recipient {
	return a.recipient(s.Name, a.reach(s), a.component(s.Auth))
}

func (a *App) recipient(server string, to ...string) secret.Recipient {
	sum := sha256.Sum256([]byte(strings.Join(to, "\x00")))
	return secret.Recipient{Config: a.configID(), Server: server, To: hex.EncodeToString(sum[:16])}
}

// component names a block's plugin by where it comes from, which two
// configurations cannot call the same by accident.
func (a *App) component(b *config.Block) string {
	return a.plugin(b.Plugin).Source + "#" + b.Component
}

// reach says how a server is reached: through which transport, and by which
// origin or which command line.
func (a *App) reach(s *config.Server) string {
	var settings struct {
		URL     string   `json:"url"`
		Command []string `json:"command"`
		Args    []string `json:"args"`
	}
	plain := a.Config.Unresolved(s.Transport.Settings)
	_ = json.Unmarshal(s.Transport.Settings, &settings) // other types are no address and no command line
	component := a.component(&s.Transport)
	if u, err := url.Parse(settings.URL); err == nil && u.Host != "" {
		return component + " " + u.Scheme + "://" + u.Host
	}
	if len(settings.Command) > 0 {
		line, err := json.Marshal([][]string{settings.Command, settings.Args})
		if err != nil {
			panic(err) // texts only
		}
		return component + " " + string(a.Config.Unresolved(line))
	}
	return component + " " + string(plain)
}

// Recipients lists what the configuration would give a secret to.
func (a *App) Recipients(name string) []secret.Recipient {
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
