package invocation

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/trust"
)

// TrustVariable names the variable that trusts configurations in CI: PATH:SHA256 pairs.
const TrustVariable = "JUNCTOR_TRUST"

// TrustStore returns the store of trusted configurations.
func (inv *Invocation) TrustStore() (trust.Store, error) {
	if err := inv.FindDirs(); err != nil {
		return trust.Store{}, err
	}
	if inv.Dirs.Data == "" {
		return trust.Store{}, nil
	}
	return trust.Store{Dir: filepath.Join(inv.Dirs.Data, "trust")}, nil
}

// Review reads a configuration without evaluating it or starting anything.
func (inv *Invocation) Review(at config.Location) (*trust.Review, source.Diagnostics, error) {
	dirs := plugin.Dirs(inv.Lookup)
	return trust.Read(at, inv.Lookup,
		func(p config.Plugin) (string, error) { return plugin.Find(p.Source, p.Use, dirs) })
}

// Trusted returns the content of a configuration that was found and that the user trusts. It
// returns nil for a configuration that was named, which needs no trust. Otherwise it asks at
// a terminal, unless may is false, and fails without one. The diagnostics say why the text
// cannot be read.
func (inv *Invocation) Trusted(ctx context.Context, at config.Location, n Needs, may bool) (
	*review.Content, source.Diagnostics, error,
) {
	if !at.Found {
		return nil, nil, nil
	}
	store, known, err := inv.Known(at)
	if err != nil {
		return nil, nil, err
	}
	if n.completing && known == nil && inv.Get(TrustVariable) == "" {
		// Completion does not hash programs after each key.
		return nil, nil, fault.New(fault.ConfigUntrusted, "%s is not trusted", at.Path)
	}
	r, diags, err := inv.Review(at)
	if err != nil || r == nil {
		return nil, diags, err
	}
	r.Content.Named = at.Named
	if r.Trusted(known, inv.Get(TrustVariable)) {
		return r.Content, nil, nil
	}
	if r.SameSettings(known) {
		if n.completing {
			return r.Content, nil, nil
		}
		return r.Content, nil, store.Put(r.Record(time.Now()))
	}
	if !may || !inv.CanAsk() {
		return nil, diags, untrusted(inv, r, known)
	}
	if err := AskTrust(ctx, inv, r, known); err != nil {
		return nil, nil, err
	}
	return r.Content, nil, store.Put(r.Record(time.Now()))
}

// Known returns the store of trusted configurations and the record for a location, or nil.
func (inv *Invocation) Known(at config.Location) (trust.Store, *trust.Record, error) {
	store, err := inv.TrustStore()
	if err != nil {
		return store, nil, err
	}
	path, err := at.Canonical()
	if err != nil {
		return store, nil, err
	}
	known, err := store.Get(path)
	return store, known, err
}

// untrusted returns the error for a configuration that is not trusted.
func untrusted(inv *Invocation, r *trust.Review, known *trust.Record) error {
	text := "%s was found in the current directory and is not trusted"
	if here, err := os.Getwd(); err == nil && !sameDirectory(here, filepath.Dir(r.Path)) {
		text = "%s was found in a directory above and is not trusted"
	}
	if known != nil {
		text = "%s has changed since it was trusted"
	}
	if inv.Get(TrustVariable) != "" {
		text += "; " + TrustVariable + " names another path or digest"
		return fault.New(fault.ConfigUntrusted, text, r.Path).
			WithHint("read it; `junctor trust --json` prints the value of %s for it", TrustVariable)
	}
	return fault.New(fault.ConfigUntrusted, text, r.Path).
		WithHint("nothing in it was run or looked up; read it, then run `junctor trust`")
}

// AskTrust shows what a configuration would do and asks whether to trust it.
func AskTrust(ctx context.Context, inv *Invocation, r *trust.Review, known *trust.Record) error {
	ShowReview(inv, r, known)
	yes, err := inv.AskYes(ctx, "Trust this configuration?")
	if err == nil && !yes {
		err = untrusted(inv, r, known)
	}
	return err
}

// ShowReview prints the effects of a configuration, or their changes since it was trusted.
func ShowReview(inv *Invocation, r *trust.Review, known *trust.Record) {
	w := terminal.SafeWriter(inv.Stderr)
	if known == nil {
		fmt.Fprintf(w, "%s is not trusted yet. With your rights it would:\n\n", r.Path)
		for _, item := range r.Items() {
			fmt.Fprintf(w, "  %s\n", item)
		}
	} else {
		showChange(inv, w, r, known)
	}
	if names := replacedServers(inv, r); len(names) > 0 {
		fmt.Fprintf(w, "\nIt replaces servers of your own configuration, with their rules about tools: %s.\n",
			terminal.Shortened(names))
	}
	if names := replacedBlocks(inv, r); len(names) > 0 {
		fmt.Fprintf(w, "\nIts blocks take the place of those in your own configuration: %s.\n",
			strings.Join(names, ", "))
	}
	fmt.Fprintf(w, "\nIn all: %s.\nScripts and packages that these programs run are not shown.\n",
		CountByKind(r.Items()))
	for _, p := range r.Programs {
		if p.Problem != "" {
			fmt.Fprintf(w, "The plugin %s cannot be used: %s\n", p.Plugin, p.Problem)
		}
	}
}

// replacedServers returns the servers of the user's own configuration that a reviewed one
// replaces.
func replacedServers(inv *Invocation, r *trust.Review) []string {
	return inBoth(inv, r, configedit.Servers)
}

// strongestCounts lists the types of blocks of which that of the Strongest layer counts.
var strongestCounts = []string{"console", "gateway", "notify", "telemetry"}

// replacedBlocks returns the types of the blocks in the user's own configuration that those of a
// reviewed one replace.
func replacedBlocks(inv *Invocation, r *trust.Review) []string {
	return slices.DeleteFunc(inBoth(inv, r, configedit.Types),
		func(name string) bool { return !slices.Contains(strongestCounts, name) })
}

// inBoth returns the names that both a reviewed configuration and the user's own one have.
func inBoth(inv *Invocation, r *trust.Review,
	namesOf func(text []byte, path string) ([]string, error)) (names []string) {
	path := config.OwnPath(inv.Lookup)
	own, err := os.ReadFile(path)
	if err != nil || path == r.Path {
		return nil
	}
	mine, err := namesOf(own, path)
	if err != nil {
		return nil
	}
	theirs, err := namesOf(r.Content.Text(r.Content.Path), r.Path)
	if err != nil {
		return nil
	}
	for _, name := range theirs {
		if slices.Contains(mine, name) {
			names = append(names, name)
		}
	}
	return names
}

// CountByKind counts the items of an outline by their first word. The summary shows all kinds even if
// the list is longer than the screen.
func CountByKind(items []string) string {
	var kinds, counts []string
	count := map[string]int{}
	for _, item := range items {
		kind, _, _ := strings.Cut(item, " ")
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		counts = append(counts, fmt.Sprintf("%s %d", kind, count[kind]))
	}
	return strings.Join(counts, ", ")
}

func showChange(inv *Invocation, w io.Writer, r *trust.Review, known *trust.Record) {
	c := r.Since(known)
	fmt.Fprintf(w, "%s has changed since it was trusted on %s.\n", r.Path, known.At.Local().Format(time.DateTime))
	if len(c.Files) > 0 {
		fmt.Fprintf(w, "changed files: %s\n", strings.Join(c.Files, ", "))
	}
	fmt.Fprintln(w)
	for _, item := range c.Added {
		fmt.Fprintf(w, "+ %s\n", item)
	}
	for _, item := range c.Removed {
		fmt.Fprintf(w, "- %s\n", item)
	}
	if len(c.Added)+len(c.Removed) == 0 {
		fmt.Fprint(w, "It would run, read and contact the same as before. Its rules or descriptions may differ.\n")
	}
}

// sameDirectory reports whether two paths lead to one directory.
func sameDirectory(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}
