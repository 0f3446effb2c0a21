package operate

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// loadTime is the time for reading the configuration, with the manifests of plugins.
const loadTime = 2500 * time.Millisecond

// An examined is a configuration with what is around it on this machine, which doctor examines.
type examined struct {
	inv     *invocation.Invocation
	app     *host.App // nil: the configuration cannot be loaded
	diags   source.Diagnostics
	err     error // why there are neither app nor diags
	running []*control.Status
	failed  []error
	found   []doctor.Finding // while it was read
}

// examine reads the configuration, unless it is not trusted, and asks the running processes.
func examine(ctx context.Context, inv *invocation.Invocation) *examined {
	p := &examined{inv: inv}
	if err := inv.FindDirs(); err != nil {
		f := fault.As(err)
		p.found = append(p.found,
			doctor.Finding{Check: "directories", Severity: doctor.Error, Message: f.Message, Remedy: f.Hint})
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	var work sync.WaitGroup
	work.Go(func() { p.ask(ctx) })
	p.load(ctx)
	work.Wait()
	return p
}

// ask asks the running processes of this user.
func (p *examined) ask(ctx context.Context) {
	answers, failed := control.StatusOfAll(ctx, control.Find(p.inv.Dirs.Runs))
	for _, a := range answers {
		p.running = append(p.running, a.Status)
	}
	p.failed = failed
}

// load loads the configuration, without asking the user for anything.
func (p *examined) load(ctx context.Context) {
	inv := p.inv
	at, content, diags, err := inv.Locate(ctx, invocation.Needs{}, false)
	if p.diags, p.err = diags, err; err != nil || diags.HasErrors() {
		return
	}
	if err := process.Adopt(); err != nil {
		inv.Log.Warn("processes that plugins leave behind will not be ended", "error", err)
	}
	o := inv.Options(invocation.Needs{AllPlugins: true, Listening: true})
	o.Config, o.Content, o.Password = at, content, nil
	o.Warn = func(string, string) {} // the checks find it
	p.app, p.diags = host.Load(ctx, o)
	inv.Use(p.app)
}

// checks returns all checks that can be made.
func (p *examined) checks() []doctor.Check {
	inv := p.inv
	d := inv.Dirs
	checks := []doctor.Check{
		doctor.Configuration(p.diags, p.err),
		doctor.Trust(p.trusted),
		doctor.Proxies(inv.Lookup),
		doctor.Processes(p.running, p.failed, p.inv.Version),
		doctor.Clients(p.exports(), os.Environ()),
	}
	if d.Run != "" {
		checks = append(checks, doctor.Leftovers(d.Runs), doctor.Private(p.private(), p.named()),
			doctor.Directories([]doctor.Directory{{What: "data", Path: d.Data}, {What: "cache", Path: string(d.Cache)},
				{What: "run", Path: d.Run}}))
	}
	servers, wrapped := 0, 0
	if p.app != nil {
		c := p.app.Config()
		servers = len(c.Servers)
		for _, s := range p.enabled() {
			if s.Transport.Component == items.CliTransport {
				wrapped++
			}
		}
		checks = append(checks, doctor.Layers(c), doctor.Programs(doctor.ProgramsOf(p.app.Config())),
			doctor.Shared(doctor.ProgramsOf(p.app.Config())),
			doctor.Plugins(p.plugins(), sdk.Version, wire.Majors()[0]), doctor.Ports(p.listeners(), p.pids()),
			doctor.Servers(p.own()))
		if a := c.Audit; a.File != "" {
			checks = append(checks,
				doctor.Directories([]doctor.Directory{{What: "audit log's", Path: filepath.Dir(a.File), Mixed: true}}))
		}
		checks = append(checks, doctor.Remotes(p.remotes())...)
		checks = append(checks, doctor.Certificates(certificatesOf(c)))
		checks = append(checks, doctor.Issuers(issuersOf(c))...)
		checks = append(checks, doctor.Secrets(p.store(), p.secrets()))
		checks = append(checks, doctor.Logins(p.logins())...)
	}
	return append(checks, doctor.SystemLimits(doctor.ReadLimits, servers), doctor.Sandbox(sandbox.Probe(), wrapped))
}

// trusted lists the configurations that are trusted.
func (p *examined) trusted() (all []doctor.Trusted, err error) {
	store, err := p.inv.TrustStore()
	if err != nil || !isDirectory(p.inv.Dirs.Data) {
		return nil, err
	}
	records, err := store.List()
	for _, r := range records {
		t := doctor.Trusted{Path: r.Path, State: "trusted"}
		if !clientfiles.FileExists(r.Path) {
			t.State = "gone"
		}
		all = append(all, t)
	}
	return all, err
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// private lists Junctor's files and directories that only the user may access.
func (p *examined) private() []string {
	data := p.inv.Dirs.Data
	if data == "" {
		return nil
	}
	encrypted := filepath.Join(data, "secrets", "secrets.age")
	return []string{filepath.Dir(encrypted), encrypted, secret.KeptPath(filepath.Dir(encrypted), encrypted),
		filepath.Join(data, "approvals"), filepath.Join(data, "trust"), filepath.Join(data, "stores")}
}

// named lists the files in the configuration that only the user may access.
func (p *examined) named() []string {
	if p.app == nil {
		return nil
	}
	return p.app.Config().Keys()
}

// enabled returns the servers that are used.
func (p *examined) enabled() []*config.Server {
	return slices.DeleteFunc(slices.Clone(p.app.Config().Servers), func(s *config.Server) bool { return !s.Enabled })
}

// remotes lists the servers that are reached by URL.
func (p *examined) remotes() (all []doctor.Remote) {
	for _, s := range p.enabled() {
		address := host.Address(s)
		if address == "" {
			continue
		}
		var set struct {
			TLS struct {
				CA   string `json:"ca"`
				Skip bool   `json:"skip_verify"`
			} `json:"tls"`
		}
		_ = json.Unmarshal(s.Transport.Settings, &set) // other settings have no tls
		if set.TLS.CA != "" && !filepath.IsAbs(set.TLS.CA) {
			set.TLS.CA = filepath.Join(s.Transport.Dir, set.TLS.CA)
		}
		all = append(all, doctor.Remote{Server: s.Name, URL: address, CA: doctor.ReadCA(set.TLS.CA), Skip: set.TLS.Skip,
			At: s.Transport.PositionOf("url").String()})
	}
	return all
}

func (p *examined) plugins() (all []doctor.Plugin) {
	for _, c := range p.app.Config().Plugins {
		if d, ok := p.app.Described(c); ok {
			all = append(all, doctor.Plugin{Name: c.Name, Path: d.Path, SDK: d.Manifest.SDK,
				Protocols: d.Manifest.Protocols, Bundled: strings.HasPrefix(c.Source, "builtin/")})
		}
	}
	return all
}

func (p *examined) listeners() (all []doctor.Listener) {
	if h := p.app.Config().Gateway.HTTP; h.Given {
		all = append(all, doctor.Listener{Setting: "gateway.http", Address: h.Listen, At: h.At.String()})
	}
	if m := p.app.Config().Telemetry.Metrics; m != nil {
		all = append(all, doctor.Listener{Setting: "telemetry.metrics", Address: m.Listen, At: m.At.String()})
	}
	if w := p.app.Config().Console; w != nil {
		all = append(all, doctor.Listener{Setting: "console", Address: w.Listen, At: w.At.String()})
	}
	return all
}

// own lists the running processes of this configuration.
func (p *examined) own() (all []*control.Status) {
	own := processes.RealPath(p.app.Config().Path)
	for _, s := range p.running {
		if processes.RealPath(s.Generation.Path) == own {
			all = append(all, s)
		}
	}
	return all
}

// pids lists the process ids of own.
func (p *examined) pids() (all []int) {
	for _, s := range p.own() {
		all = append(all, s.PID)
	}
	return all
}

// store returns a function that opens the secret store, or nil if nothing needs it.
func (p *examined) store() func(context.Context) error {
	c := p.app.Config()
	needed := c.SecretStore != nil || len(c.SecretUses()) > 0 ||
		slices.ContainsFunc(p.enabled(), func(s *config.Server) bool { return s.Auth != nil && s.Auth.Kind == "oauth" })
	if !needed {
		return nil
	}
	return p.app.Secrets().Check
}

// secrets lists the secrets of keyring().
func (p *examined) secrets() (all []doctor.Secret) {
	seen := map[string]bool{}
	for _, use := range p.app.Config().SecretUses() {
		recipients := p.app.Recipients(use.Name)
		if seen[use.Name] || len(recipients) == 0 {
			continue // a disabled server uses it
		}
		seen[use.Name] = true
		all = append(all,
			doctor.Secret{Name: use.Name, At: use.At.String(), Granted: func(ctx context.Context) (bool, error) {
				user := p.app.Secrets().User()
				value, err := user.Get(ctx, use.Name)
				clear(value)
				if err != nil {
					return false, err
				}
				granted, err := user.Granted(ctx, use.Name)
				return err == nil && !slices.ContainsFunc(recipients, func(r secret.Recipient) bool {
					return !slices.Contains(granted, r) && !slices.Contains(granted, secret.Pending(r.Config))
				}), err
			}})
	}
	return all
}

func (p *examined) logins() (all []doctor.Login) {
	for _, s := range p.enabled() {
		if s.Auth == nil || host.Tenant(s, authn.Local()) != "" {
			continue // each client has a login of its own
		}
		all = append(all, doctor.Login{Server: s.Name, At: s.Auth.At.String(),
			State: func(ctx context.Context) (doctor.LoginState, error) {
				state, err := p.app.AuthState(ctx, s, "")
				return doctor.LoginState{State: state.State, Expires: state.Expires, Ends: state.Ends}, err
			}})
	}
	return all
}

// facts are what a report says besides the findings.
func (p *examined) facts() []doctor.Fact {
	all := []doctor.Fact{
		{Name: "version", Value: p.inv.Version}, {Name: "go", Value: runtime.Version()},
		{Name: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "sandbox", Value: sandbox.Probe().String()},
	}
	for _, s := range p.running {
		all = append(all, doctor.Fact{Name: "running", Value: s.Version + " over " + s.Transport})
	}
	if p.app == nil {
		return all
	}
	kinds := map[string]int{}
	for _, s := range p.enabled() {
		kinds[s.Transport.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, doctor.Fact{Name: "servers", Value: terminal.Count(kinds[kind], kind+" server")})
	}
	for _, c := range p.app.Config().Plugins {
		if d, ok := p.app.Described(c); ok {
			all = append(all, doctor.Fact{Name: "plugin",
				Value: d.Manifest.Name + " " + d.Manifest.Version + ", SDK " + d.Manifest.SDK})
		}
	}
	return all
}

// mask returns what the report must not tell.
func (p *examined) mask() doctor.Mask {
	var m doctor.Mask
	m.Home, _ = os.UserHomeDir()
	if me, err := user.Current(); err == nil {
		m.Users = append(m.Users, me.Username, me.Name)
	}
	m.Users = append(m.Users, p.inv.Get("USER"), p.inv.Get("SUDO_USER"))
	if name, err := os.Hostname(); err == nil {
		m.Hosts = append(m.Hosts, name)
	}
	if p.app == nil {
		return m
	}
	m.Hide = p.app.Hide
	for _, s := range p.enabled() {
		if u, err := url.Parse(host.Address(s)); err == nil {
			m.Hosts = append(m.Hosts, u.Host, u.Hostname())
		}
	}
	slices.SortFunc(m.Hosts, func(a, b string) int { return len(b) - len(a) })
	return m
}
