// Package plugins has the verbs of the group plugins.
package plugins

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/suggest"
	"github.com/junctor-mcp/junctor/sdk"
)

// Plugin returns the verb plugin.
func Plugin(inv *invocation.Invocation) *cobra.Command {
	group := &cobra.Command{
		Use: "plugin", Short: "List and describe plugins, and show their logs", Args: verb.TakesVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := &logsOptions{inv: inv, lines: 100}
	logs := &cobra.Command{
		Use:               "logs NAME",
		Short:             "Show what a plugin logged, and what its servers printed on standard error",
		Args:              verb.Takes("NAME"),
		ValidArgsFunction: inv.Completes(items.CompletePlugin),
		RunE: func(_ *cobra.Command, args []string) error {
			o.plugin = args[0]
			return o.run()
		},
	}
	logs.Flags().IntVarP(&o.lines, "lines", "n", o.lines, "a `NUMBER`: how many lines at most")
	group.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the plugins of the configuration, and the bundled ones", Args: verb.Takes(),
			RunE: func(cmd *cobra.Command, _ []string) error {
				o := &listOptions{inv: inv}
				return o.run(cmd.Context())
			},
		},
		&cobra.Command{
			Use:   "describe NAME|PATH",
			Short: "Show what a plugin offers and the settings it takes",
			Args:  verb.Takes("NAME|PATH"),
			RunE: func(cmd *cobra.Command, args []string) error {
				o := &describeOptions{inv: inv, plugin: args[0]}
				return o.run(cmd.Context())
			},
		},
		logs,
	)
	return group
}

// pluginJSON is the JSON form of a plugin.
type pluginJSON struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Source       string   `json:"source"`
	Path         string   `json:"path"`
	SHA256       string   `json:"sha256"`
	Protocols    []int    `json:"protocols"`
	Transports   []string `json:"transports"`
	Auths        []string `json:"auths,omitempty"`
	SecretStores []string `json:"secret_stores,omitempty"`
	At           string   `json:"at,omitempty"`
	// Error says why the plugin cannot be used. Unknown fields are empty then.
	Error *fault.Document `json:"error,omitempty"`

	err error
}

// listOptions are what plugin list needs.
type listOptions struct{ inv *invocation.Invocation }

func (o *listOptions) run(ctx context.Context) error {
	inv := o.inv
	known, err := knownPlugins(ctx, inv)
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(known)
	}
	var rows [][]string
	for _, p := range known {
		if p.err != nil {
			rows = append(rows, []string{p.Name, "", "cannot be used", p.Source, ""})
			continue
		}
		offers := slices.Concat(p.Transports, p.Auths, p.SecretStores)
		rows = append(rows, []string{p.Name, p.Version, strings.Join(offers, ", "), p.Source, p.SHA256[:12]})
	}
	inv.Table([]string{"PLUGIN", "VERSION", "OFFERS", "SOURCE", "SHA256"}, rows)
	for _, p := range known {
		if p.err != nil {
			inv.PrintFault("error", p.err)
		}
	}
	return nil
}

// knownPlugins returns the plugins of the configuration, if there is one, and the bundled ones. A
// plugin that cannot be described is listed with its error.
func knownPlugins(ctx context.Context, inv *invocation.Invocation) ([]pluginJSON, error) {
	found := map[string]pluginJSON{}
	needs := invocation.Needs{AllPlugins: true, Unusable: func(p config.Plugin, err error) {
		found[p.Name] = unusable(p.Name, p.Source, p.At.String(), err)
	}}
	app, diags, err := inv.TryLoad(ctx, needs)
	switch {
	case fault.Is(err, fault.ConfigMissing):
	case err != nil:
		return nil, err
	case app == nil && len(found) == 0: // the errors are not about plugins
		diags.Render(terminal.SafeWriter(inv.Stderr))
		return nil, terminal.Reported(diags.Err())
	}
	if app != nil {
		for _, p := range app.Config().Plugins {
			if d, ok := app.Described(p); ok {
				found[p.Name] = listed(p.Name, p.Source, d, p.At.String())
			}
		}
	}
	sup, err := inv.Supervisor()
	if err != nil {
		return nil, err
	}
	for _, dir := range plugin.Dirs(inv.Lookup) {
		paths, err := filepath.Glob(filepath.Join(dir, plugin.FilePrefix+"*"))
		if err != nil {
			continue
		}
		for _, path := range paths {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), plugin.FilePrefix), ".exe")
			if _, ok := found[name]; ok {
				continue
			}
			m, digest, err := sup.Describe(ctx, path, "")
			if err != nil {
				found[name] = unusable(name, plugin.BuiltinSource+name, "", err)
				continue
			}
			found[name] = listed(name, plugin.BuiltinSource+name,
				host.Described{Path: path, Digest: digest, Manifest: m}, "")
		}
	}
	list := []pluginJSON{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name])
	}
	return list, nil
}

func listed(name, source string, d host.Described, at string) pluginJSON {
	return pluginJSON{
		Name:         name,
		Version:      d.Manifest.Version,
		Source:       source,
		Path:         d.Path,
		SHA256:       d.Digest,
		Protocols:    d.Manifest.Protocols,
		Transports:   slices.Sorted(maps.Keys(d.Manifest.Transports)),
		Auths:        slices.Sorted(maps.Keys(d.Manifest.Auths)),
		SecretStores: slices.Sorted(maps.Keys(d.Manifest.SecretStores)),
		At:           at,
	}
}

func unusable(name, source, at string, err error) pluginJSON {
	f := *fault.As(err)
	if f.Plugin == "" {
		f.Plugin = name
	}
	if f.At == "" {
		f.At = at
	}
	return pluginJSON{Name: name, Source: source, At: at, Error: terminal.ErrorOf(&f), err: &f}
}

// describeOptions are the argument of plugin describe.
type describeOptions struct {
	inv    *invocation.Invocation
	plugin string // its name, or the path of its program
}

func (o *describeOptions) run(ctx context.Context) error {
	inv := o.inv
	path, err := pluginPath(ctx, inv, o.plugin)
	if err != nil {
		return err
	}
	sup, err := inv.Supervisor()
	if err != nil {
		return err
	}
	m, digest, err := sup.Describe(ctx, path, "")
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(struct {
			sdk.Manifest
			Path   string `json:"path"`
			SHA256 string `json:"sha256"`
		}{m, path, digest})
	}
	inv.Printf("%s %s\n%s\n\n  program    %s\n  sha256     %s\n  protocols  %v, SDK %s\n",
		m.Name, m.Version, terminal.Indent(m.Description), path, digest, m.Protocols, m.SDK)
	for _, offer := range []struct {
		kind string
		all  map[string]sdk.Schema
	}{{"transport", m.Transports}, {"auth", m.Auths}, {"secret_store", m.SecretStores}} {
		for _, name := range slices.Sorted(maps.Keys(offer.all)) {
			s := offer.all[name]
			inv.Printf("\n%s %q\n", offer.kind, name)
			printSchema(inv, &s, "  ")
		}
	}
	return nil
}

// pluginPath finds the program of a plugin by its name in the configuration, by the name of
// a bundled plugin, or by its path.
func pluginPath(ctx context.Context, inv *invocation.Invocation, word string) (string, error) {
	if strings.ContainsRune(word, filepath.Separator) {
		return plugin.Find(word, filepath.Base(word), nil)
	}
	known, err := knownPlugins(ctx, inv)
	if err != nil {
		return "", err
	}
	var names []string
	for _, p := range known {
		if p.Name == word {
			return p.Path, p.err
		}
		names = append(names, p.Name)
	}
	unknown := fault.New(fault.PluginNotFound, "there is no plugin %q", word)
	return "", verb.WithSuggestion(unknown, suggest.Nearest(word, names),
		"run `junctor plugin list` to list the plugins")
}

// printSchema prints the settings of a block.
func printSchema(inv *invocation.Invocation, s *sdk.Schema, margin string) {
	for _, a := range s.Attributes {
		var about []string
		switch {
		case a.Required:
			about = append(about, "required")
		case len(a.Default) > 0:
			about = append(about, "default "+CompactJSON(a.Default))
		}
		if len(a.Enum) > 0 {
			about = append(about, "one of "+strings.Join(a.Enum, ", "))
		}
		if a.Sensitive {
			about = append(about, "sensitive")
		}
		inv.Printf("%s%s  %s  %s\n%s    %s\n",
			margin, a.Name, TypeName(a.Type), strings.Join(about, ", "), margin, a.Description)
	}
	for _, b := range s.Blocks {
		label := ""
		if b.Label != "" {
			label = " \"" + strings.ToUpper(b.Label) + "\""
		}
		inv.Printf("%s%s%s { }\n%s    %s\n", margin, b.Name, label, margin, b.Schema.Description)
		printSchema(inv, &b.Schema, margin+"    ")
	}
}

// TypeName returns the name of a type of the configuration language. "dynamic" is the name of
// any in schemas.
func TypeName(raw json.RawMessage) string {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) == nil && len(parts) == 2 {
		return strings.Trim(string(parts[0]), `"`) + "(" + TypeName(parts[1]) + ")"
	}
	if name := strings.Trim(string(raw), `"`); name != "dynamic" {
		return name
	}
	return "any"
}

// logsOptions are the argument and the flag of plugin logs.
type logsOptions struct {
	inv    *invocation.Invocation
	plugin string
	lines  int // at most
}

// run prints the last lines of a plugin's log.
func (o *logsOptions) run() error {
	inv, name, n := o.inv, o.plugin, o.lines
	if n < 0 {
		return fault.New(fault.Usage, "the number of lines, %d, is less than 0", n).WithHint("write 0 or more lines")
	}
	if err := inv.FindDirs(); err != nil {
		return err
	}
	path := plugin.LogFile(inv.Dirs.Logs(), name)
	var lines []string
	for _, p := range []string{path + ".1", path} {
		f, err := os.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fault.New(fault.Usage, "reading the log: %s", err)
		}
		s := bufio.NewScanner(f)
		s.Buffer(nil, longestLogLine)
		for s.Scan() {
			if lines = append(lines, s.Text()); len(lines) > 2*n {
				lines = slices.Clone(lines[len(lines)-n:])
			}
		}
		_ = f.Close()
		if err := s.Err(); err != nil {
			return fault.New(fault.Usage, "reading the log %s: %s", p, err)
		}
	}
	if lines == nil {
		return fault.New(fault.PluginNotFound, "plugin %q has logged nothing so far", name).
			WithHint("run `junctor plugin list` to see the names")
	}
	for _, line := range lines[max(0, len(lines)-n):] {
		if inv.Machine() {
			err := inv.PrintRawJSON([]byte(line))
			if err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(inv.Stdout, readableLog(line))
	}
	return nil
}

// longestLogLine is the maximum length of a line in a log, in bytes.
const longestLogLine = 1 << 20

// readableLog formats a line of a log for people.
func readableLog(line string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return terminal.Safe(line)
	}
	text := func(name string) string { s, _ := fields[name].(string); return s }
	var b strings.Builder
	if t, err := time.Parse("2006-01-02T15:04:05.000000Z07:00", text("@timestamp")); err == nil {
		b.WriteString(t.Local().Format("15:04:05.000 "))
	}
	fmt.Fprintf(&b, "%-5s %s", strings.ToUpper(text("@level")), text("@message"))
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(k, "@") {
			fmt.Fprintf(&b, " %s=%v", k, fields[k])
		}
	}
	return terminal.Safe(b.String())
}

// CompactJSON returns JSON without white space.
func CompactJSON(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}
