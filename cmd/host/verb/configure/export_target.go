package configure

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver"
)

// target returns the target of a client. It loads the configuration only if needed.
func (o *exportOptions) target(ctx context.Context, c *clientconfig.Client) (clientconfig.Target, error) {
	inv := o.inv
	if o.stdio || !o.remote && !c.Remote(false) {
		return o.stdioTarget(ctx)
	}
	t := clientconfig.Target{Name: o.name, Token: o.token}
	var err error
	if given := strings.TrimSpace(o.http); given != "" {
		if t.URL, err = endpoint(given); err != nil {
			return t, err
		}
		if o.tokenGiven {
			return t, nil
		}
		if _, err := config.Find(inv.ConfigPath(), inv.Lookup); err != nil {
			return t, nil // a gateway without a local configuration; its tokens are unknown
		}
	}
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return t, err
	}
	h := app.Config().Gateway.HTTP
	if !o.tokenGiven {
		t.Token = tokenVariable(h)
	}
	switch {
	case !o.remote && !h.Given:
		return o.stdioTarget(ctx)
	case !o.remote && !c.Remote(t.Token != ""):
		inv.Remark("%s takes no token from an environment variable, so it starts its own junctor", c.Title)
		return o.stdioTarget(ctx)
	case t.URL == "":
		t.URL, err = listenURL(inv, h)
	}
	return t, err
}

// stdioTarget returns the target that starts junctor serve.
func (o *exportOptions) stdioTarget(ctx context.Context) (clientconfig.Target, error) {
	inv := o.inv
	t := clientconfig.Target{Name: o.name}
	at, err := config.FindLayers(inv.Layers, inv.Lookup)
	if err != nil {
		return t, err
	}
	if at.Text != nil {
		return t, fault.New(fault.Usage, "the configuration is in %s, which the client does not have",
			config.InlineVariable).
			WithHint("name a file with --config")
	}
	program, err := os.Executable()
	if err != nil {
		return t, err
	}
	t.Command = []string{program, "serve"}
	for _, layer := range slices.Backward(append([]config.Location{at}, at.Under...)) {
		path, err := filepath.Abs(layer.Path)
		if err != nil {
			return t, err
		}
		t.Command = append(t.Command, "--config", path)
	}
	if t.Env, err = variablesOf(inv, o.env); err != nil {
		return t, err
	}
	warnLocked(ctx, inv)
	if !t.Has(homeVariable) {
		noteHome(inv)
	}
	return t, nil
}

// noteTwice names the servers that a client starts itself and through Junctor.
func (o *exportOptions) noteTwice(c *clientconfig.Client, t clientconfig.Target, text []byte) {
	file, err := clientconfig.ReadContent(text, c)
	if err != nil || !t.Local() {
		return
	}
	var here []string
	for i, word := range t.Command[:len(t.Command)-1] {
		if word != "--config" {
			continue
		}
		path := t.Command[i+1]
		hcl, err := os.ReadFile(path)
		if err != nil {
			continue // a directory
		}
		names, _ := configedit.Servers(hcl, path)
		here = append(here, names...)
	}
	var twice []string
	for _, s := range clientimport.Others(file.Servers) {
		if slices.Contains(here, s.Name) {
			twice = append(twice, s.Name)
		}
	}
	if len(twice) == 0 {
		return
	}
	scope := ""
	if o.scope != string(clientconfig.User) {
		scope = " --scope " + o.scope
	}
	o.inv.Remark(
		"%s has entries of its own for %s, which Junctor has too, so it starts them twice: junctor import %s%s "+
			"--write --replace removes them", c.Title, strings.Join(twice, ", "), c.Name, scope,
	)
}

// variablesOf returns the variables of --env. A name without a value has that of this
// shell.
func variablesOf(inv *invocation.Invocation, given []string) (all []clientconfig.Variable, err error) {
	for _, word := range given {
		name, value, set := strings.Cut(word, "=")
		if !set {
			if value, set = inv.Lookup(name); !set {
				return nil, fault.New(fault.Usage, "the variable %q is not set", name).
					WithHint("set it, or write --env NAME=VALUE")
			}
		}
		all = append(all, clientconfig.Variable{Name: name, Value: value})
	}
	return all, nil
}

// tokenVariable returns the variable of the client's token: the one that the gateway reads,
// or the default.
func tokenVariable(h config.HTTP) string {
	for _, a := range h.Auth {
		if t, ok := a.Settings.(inbound.StaticToken); ok && t.Variable != "" {
			return t.Variable
		}
	}
	if len(h.Auth) > 0 {
		return clientconfig.TokenVariable
	}
	return ""
}

// endpoint checks an address that the user typed, and adds the default path.
func endpoint(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return "", fault.New(fault.Usage, "--http=%s is not the address of a gateway", given).
			WithHint("write --http=https://HOST[:PORT][/PATH], without a name, a password or a query")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = httpserver.EndpointPath
	}
	return u.String(), nil
}

// overNetwork reports whether requests to an address leave this machine without TLS.
func overNetwork(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

// listenURL returns the URL of the configured listener.
func listenURL(inv *invocation.Invocation, h config.HTTP) (string, error) {
	host, port, err := net.SplitHostPort(h.Listen)
	if err != nil || strings.HasPrefix(h.Listen, "unix:") {
		return "", fault.New(fault.Usage, "the gateway listens on %s, where this client cannot reach it", h.Listen).
			WithHint("--http=URL names the address of the proxy in front of it; --stdio starts junctor serve instead")
	}
	if port == "0" {
		return "", fault.New(fault.Usage, "the gateway listens on a random port").
			WithHint("set a port in listen, or use --http=URL")
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if len(h.Hosts) > 0 {
			host = h.Hosts[0]
		} else {
			inv.Remark("the gateway listens on every address of this machine; " +
				"--http=URL names the one that clients elsewhere use")
		}
	}
	scheme := "http"
	if h.TLS != nil {
		scheme = "https"
	}
	if h.Plaintext && h.TLS == nil {
		inv.Remark("a proxy in front of the gateway provides TLS; --http=URL names its address")
	}
	if _, _, err := net.SplitHostPort(host); err != nil { // an entry of hosts may have a port
		host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	return (&url.URL{Scheme: scheme, Host: host, Path: httpserver.EndpointPath}).String(), nil
}
