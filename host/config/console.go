package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Console is the console block: the pages for operators. Package host starts the listener from it;
// package host/console serves the pages.
type Console struct {
	At     source.Position
	Listen string `hcl:"listen" default:"127.0.0.1:7576" accepts:"'\"HOST:PORT\"'" doc:"Where the pages are served. It cannot be the address of 'gateway.http' or of 'telemetry.metrics'."`
	// Hosts are in lower case.
	Hosts []string `hcl:"hosts" accepts:"a list of hosts" unset:"none" doc:"Further values of the 'Host' header, with or without a port, such as the public name of a proxy." json:",omitempty"`

	// Admins and Viewers are subjects and groups of clients that auth blocks of the gateway
	// admit.
	Admins  consolePeople `hcl:"admins" accepts:"a list of subjects" unset:"none" doc:"Subjects of clients that the 'auth' blocks of 'gateway.http' admit. They see the pages and act." json:",omitempty"`
	Viewers consolePeople `hcl:"viewers" accepts:"a list of subjects" unset:"none" doc:"Subjects that see the pages." json:",omitempty"`

	// TLS is nil without a block.
	TLS *TLS `hcl:"tls,block" doc:"TLS, and the certificates of people." json:",omitempty"`
	// Plaintext is for an address behind a proxy with TLS.
	Plaintext bool `hcl:"allow_plaintext" doc:"Allows a public address without 'tls', because a proxy in front has TLS." json:",omitempty"`

	_ []consoleRole `hcl:"admin,block" doc:"Further people who see the pages and act."`
	_ []consoleRole `hcl:"viewer,block" doc:"Further people who see the pages."`
}

// A consoleRole is an admin or a viewer block of the console.
type consoleRole struct {
	Subjects []string `hcl:"subjects" accepts:"a list of subjects" unset:"none" doc:"Subjects of clients."`
	Groups   []string `hcl:"groups" accepts:"a list of groups" unset:"none" doc:"Groups of clients."`
	ofClients
}

// consolePeople are the people with one role of the console.
type consolePeople []policy.Holder

// ReadSetting implements [language.Setting]. It also reads the blocks of the role.
func (all *consolePeople) ReadSetting(r language.Reader, name string) {
	for _, subject := range subjects(r, name) {
		*all = append(*all, policy.Holder{Kind: "subject", Name: subject})
	}
	for _, b := range r.Body.Blocks {
		if b.Type != strings.TrimSuffix(name, "s") {
			continue
		}
		var one consoleRole
		language.Decode(r.Nested(b), &one)
		*all = append(*all, peopleIn(r.Nested(b), "subject", "group")...)
	}
}

// Validate implements [language.Validator].
func (c *Console) Validate(r language.Reader) {
	c.At = source.StartOf(r.Head)
	c.Hosts = checkHosts(r, "hosts", c.Hosts)
}

// Public adds the people with roles.
func (c *Console) Public(settings map[string]any) {
	settings["admins"], settings["viewers"] = holderTexts(c.Admins), holderTexts(c.Viewers)
}

const consoleHint = `write HOST:PORT, such as "127.0.0.1:7576"`

// readConsole reads the console block of a layer. It returns nil without one. Its files
// together hold at most one.
func readConsole(of *scope, gateway HTTP, metrics *Metrics) *Console {
	r, found := of.only(of.top["console"])
	if !found {
		return nil
	}
	c := &Console{}
	language.Decode(r.Reader, c)
	at := r.ValueAt("listen", r.Head)
	if text, _, set := r.Text("listen"); set {
		listen, err := parseListen(text, r.dir())
		switch {
		case err != nil:
			r.ErrorAt(at, consoleHint, "%s %v", addressInFile(text), err)
			return c
		case isSocket(listen):
			r.ErrorAt(at, consoleHint, "%s is a unix socket, which no browser opens", addressInFile(text))
			return c
		}
		c.Listen = listen
	}
	if gateway.Given && gateway.Listen == c.Listen {
		r.ErrorAt(at, "choose another port", "the console and gateway.http listen at the same address, %s", c.Listen)
	}
	if metrics != nil && metrics.Listen == c.Listen {
		r.ErrorAt(at, "choose another port",
			"the console and telemetry.metrics listen at the same address, %s", c.Listen)
	}
	checkConsoleAddress(r, c, at, gateway)
	checkConsoleSubjects(r, c, gateway)
	return c
}

// subjects reads names of clients. An empty list names none.
func subjects(r language.Reader, attribute string) []string {
	if items := r.Texts(attribute); items != nil && len(items) == 0 {
		return nil
	}
	return inbound.ReadNames(r, attribute)
}

// checkConsoleAddress reports the unsafe combinations of the address and other settings.
func checkConsoleAddress(r blockReader, c *Console, at hcl.Range, gateway HTTP) {
	if isLocal(c.Listen) {
		return
	}
	called := addressInFile(c.Listen)
	if len(gateway.Auth) == 0 {
		r.ErrorAt(at, authHint+", or listen on 127.0.0.1",
			"%s is not a loopback address, so the console needs the auth blocks of gateway.http", called)
	}
	switch {
	case c.TLS != nil:
	case c.Plaintext:
		r.WarnAt(r.ValueAt("allow_plaintext", r.Head), "make sure that only a proxy with TLS can connect to it",
			"%s is not a loopback address and has no TLS: tokens and pages can be read on the way", called)
	default:
		r.ErrorAt(at,
			"write tls { ... } in console { ... }, or allow_plaintext = true if something in front of it has TLS",
			"%s is not a loopback address, so it must have TLS", called)
	}
	if len(c.Admins)+len(c.Viewers) == 0 {
		r.ErrorAt(at, `write admins = ["alice"], or listen on 127.0.0.1`,
			"%s is not a loopback address, so the console needs admins or viewers: there is no one-time link", called)
	}
}

// checkConsoleSubjects reports subjects that no auth block of the gateway admits.
func checkConsoleSubjects(r blockReader, c *Console, gateway HTTP) {
	known, open := map[string]bool{}, false
	for _, a := range gateway.Auth {
		if a.Settings == nil {
			return // a problem is reported already
		}
		clients := a.Settings.Clients()
		open = open || clients.OpenSubjects
		for _, p := range clients.Principals {
			known[p.Subject] = true
		}
	}
	for _, attribute := range []string{"admins", "viewers"} {
		for _, e := range r.Texts(attribute) {
			if open || known[e.Text] {
				continue
			}
			hint := authHint
			if len(known) > 0 {
				hint = language.NearHint(e.Text, slices.Sorted(maps.Keys(known)))
			}
			r.WarnAt(e.At, hint, "no auth block of gateway.http admits %q, so it cannot sign in", e.Text)
		}
	}
	for _, h := range c.Viewers {
		if slices.Contains(c.Admins, h) && r.IsSet("viewers") {
			r.WarnAt(r.Body.Attributes["viewers"].NameRange, "remove it from viewers", "%q is an admin already", h.Name)
		}
	}
	checkConsoleIssuers(r, c, gateway)
}

// checkConsoleIssuers reports names of the console that several issuers could give their
// clients.
func checkConsoleIssuers(r blockReader, c *Console, gateway HTTP) {
	all := inbound.Vouches(gateway.Auth)
	for _, h := range slices.Concat(c.Admins, c.Viewers) {
		if h.Issuer != "" {
			continue
		}
		can := inbound.Vouchers(all, h.Kind, h.Name)
		if len(can) > 1 {
			r.ErrorAt(r.Head, fmt.Sprintf(`write admin { %ss = [%q] issuer = "..." }, or viewer, with the one that is meant; issuer = "*" says that all are`,
				h.Kind, h.Name),
				"the console admits the %s %q, and each of %s can name it", h.Kind, h.Name, strings.Join(can, ", "))
			return
		}
	}
}
