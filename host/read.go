package host

import (
	"context"
	"fmt"
	"time"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/sdk"
)

// read reads the configuration. The generation is nil exactly when a diagnostic is an
// error. It gets a number. It blocks while plugins describe themselves. It changes nothing that
// is in effect but the masks of secrets: the caller drops the generation's mask if the
// generation does not take effect. Load and Reload call it.
func (p *Process) read(ctx context.Context, content *review.Content, number int) (*generation, source.Diagnostics) {
	o := p.opts
	g := &generation{
		opts:      o,
		number:    number,
		loaded:    time.Now(),
		reviewed:  content != nil,
		manifests: map[string]Described{},
	}
	cfg, diags := config.Load(ctx, config.Options{
		Path:    o.Config.Path,
		Text:    o.Config.Text,
		Content: content,
		Lookup:  o.Lookup,
		Describe: func(ctx context.Context, of config.Plugin) (sdk.Manifest, error) {
			d, err := p.describe(ctx, of)
			if err != nil {
				if o.Unusable != nil {
					o.Unusable(of, err)
				}
				return sdk.Manifest{}, err
			}
			g.manifests[of.Use] = d
			return d.Manifest, nil
		},
		All:          o.AllPlugins,
		NoListener:   o.NoListener,
		NoNotices:    o.OneShot && o.NoListener,
		AbsentInputs: o.AbsentInputs,
		Managed:      o.Managed,
		Pasted:       pastedServers,
		Under:        o.Config.UnderPaths(),
	})
	if cfg == nil {
		return nil, diags
	}
	g.Config = cfg
	g.mask = p.redactor.use(cfg.Conceal, cfg.HasSecret) // before anything is started with its secrets
	return g, diags
}

// describe finds a plugin's program and asks it for its manifest.
func (p *Process) describe(ctx context.Context, of config.Plugin) (Described, error) {
	path, err := plugin.Find(of.Source, of.Use, plugin.Dirs(p.opts.Lookup))
	if err != nil {
		return Described{}, err
	}
	d := Described{Path: path}
	switch {
	case p.opts.StartNothing:
		d.Manifest, d.Digest, err = p.Supervisor.DescribeCached(path, of.SHA256)
	case p.opts.AllPlugins: // the digests are shown
		d.Manifest, d.Digest, err = p.Supervisor.Describe(ctx, path, of.SHA256)
	default:
		d.Manifest, d.Digest, err = p.Supervisor.DescribeUnverified(ctx, path, of.SHA256)
	}
	if err == nil {
		err = plugin.Check(d.Manifest, of.Source, of.Use, path)
	}
	if of.Locked && fault.Is(err, fault.PluginChecksum) {
		err = fault.As(err).WithHint("%s", lockfile.PluginHint(of.Name))
	}
	return d, err
}

// maxPasted is the maximum number of servers that a hint shows.
const maxPasted = 10

// pastedServers converts the JSON configuration of a client into HCL without its secrets.
func pastedServers(text []byte) string {
	file, err := clientconfig.ReadContent(text, nil)
	if err != nil {
		return ""
	}
	more := len(file.Servers) - maxPasted
	file.Servers = file.Servers[:min(len(file.Servers), maxPasted)]
	blocks := string(clientimport.Convert(file, clientimport.Environment{}).Blocks())
	if more > 0 {
		blocks += fmt.Sprintf("\n# and %d more", more)
	}
	return blocks
}
