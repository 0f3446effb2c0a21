package configure

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/languageserver"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/sdk"
)

// lspOptions are what lsp reads from and prints to.
type lspOptions struct{ inv *invocation.Invocation }

// LSP returns the verb lsp.
func LSP(inv *invocation.Invocation) *cobra.Command {
	o := &lspOptions{inv: inv}
	return &cobra.Command{
		Use:   "lsp",
		Short: "Serve the Language Server Protocol to an editor",
		Long: `Serve the Language Server Protocol on standard input and output: diagnostics, completion, help and definitions for
configurations. An editor starts it; docs/editors.md shows how.

Each file is a configuration of its own. The files of a directory that --config names are one configuration together.

Texts need not be trusted: nothing but literals is evaluated, no variable, file or secret is read, and no program is
started but the bundled plugins, which are asked to describe themselves. Other plugins are known once junctor validate
has described them.`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *lspOptions) run(ctx context.Context) error {
	inv := o.inv
	sup, err := inv.Supervisor()
	if err != nil {
		return err
	}
	known := &knownPlugins{sup: sup, dirs: plugin.Dirs(inv.Lookup), known: map[pluginKey]knownPlugin{}}
	options := languageserver.Options{
		Version:  inv.Version,
		Log:      inv.Log.Named("lsp"),
		Managed:  inv.Managed,
		Describe: known.describe,
	}
	if own := config.OwnPath(inv.Lookup); filepath.IsAbs(own) {
		if _, err := os.Stat(own); err == nil {
			options.Own = own
		}
	}
	if info, err := os.Stat(inv.ConfigPath()); err == nil && info.IsDir() {
		if options.Directory, err = filepath.Abs(inv.ConfigPath()); err != nil {
			return fault.Because(fault.Usage, err, "%s cannot be used", inv.ConfigPath())
		}
	}
	err = languageserver.Serve(ctx, inv.Stdin, inv.Stdout, options)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fault.Because(fault.EditorSession, err, "the session with the editor failed")
}

// describeAgain is how long the language server keeps what is known of a plugin.
const describeAgain = 5 * time.Second

// knownPlugins describe plugins without starting a program of a configuration. The language server
// calls describe from several goroutines; mu is held while one plugin is described.
type knownPlugins struct {
	sup  *plugin.Supervisor
	dirs []string

	mu    sync.Mutex
	known map[pluginKey]knownPlugin
}

type pluginKey struct{ source, use, sha256 string }

type knownPlugin struct {
	manifest sdk.Manifest
	err      error
	until    time.Time
}

// maxKnown bounds the plugins that are remembered.
const maxKnown = 256

func (k *knownPlugins) describe(ctx context.Context, p config.Plugin) (sdk.Manifest, error) {
	key := pluginKey{p.Source, p.Use, p.SHA256}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.known[key]; ok && time.Now().Before(known.until) {
		return known.manifest, known.err
	}
	m, err := k.read(ctx, p)
	if len(k.known) >= maxKnown {
		clear(k.known)
	}
	k.known[key] = knownPlugin{m, err, time.Now().Add(describeAgain)}
	return m, err
}

// read returns the manifest of a bundled plugin, or that of another one from the cache.
func (k *knownPlugins) read(ctx context.Context, p config.Plugin) (sdk.Manifest, error) {
	if name, bundled := strings.CutPrefix(p.Source, plugin.BuiltinSource); bundled && name == p.Use {
		return describeBundled(ctx, k.sup, k.dirs, name)
	}
	path, err := plugin.Find(p.Source, p.Use, k.dirs)
	if err != nil {
		return sdk.Manifest{}, err
	}
	m, _, err := k.sup.DescribeCached(path, p.SHA256)
	if err == nil {
		err = plugin.Check(m, p.Source, p.Use, path)
	}
	return m, err
}
