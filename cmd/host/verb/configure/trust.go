package configure

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/trust"
)

// trustOptions are the argument and the flags of trust.
type trustOptions struct {
	inv               *invocation.Invocation
	path              string // of a configuration, or of its directory
	list, revoke, yes bool
}

// Trust returns the verb trust.
func Trust(inv *invocation.Invocation) *cobra.Command {
	o := &trustOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "trust [PATH]",
		Short: "Trust the configuration in a directory",
		Long: `Show what a configuration would run, read and contact, and ask whether to trust it. A junctor.hcl that is found in
the current directory, or in one above it, is used only after that, because you may not have written it. When it changes, or a file
that it includes, or a plugin's program that it names, Junctor shows what is new and asks again. It does not ask about
comments, layout, timeouts and idle times in a file of yours. The behaviour of the programs that the configuration runs
is not covered.

PATH is a configuration or its directory; that of the current directory if not given. Where there is no terminal, --yes trusts
it. In CI, JUNCTOR_TRUST=PATH:SHA256 trusts one content of one configuration; --json prints both.`,
		Example: "  junctor trust\n  junctor trust --list\n  junctor trust --revoke ~/src/project",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = "."
			if len(args) > 0 {
				o.path = args[0]
			} else if at, err := config.Find("", inv.Lookup); err == nil && at.Found {
				o.path = at.Path // also one of a directory above
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.list, "list", false, "list the configurations that are trusted")
	f.BoolVar(&o.revoke, "revoke", false, "stop trusting the configuration")
	f.BoolVarP(&o.yes, "yes", "y", false, "trust it without asking")
	cmd.MarkFlagsMutuallyExclusive("list", "revoke", "yes")
	return cmd
}

func (o *trustOptions) run(ctx context.Context) error {
	switch {
	case o.list:
		return trustList(o.inv)
	case o.revoke:
		return trustRevoke(o.inv, o.path)
	}
	return trustOne(ctx, o.inv, o.path, o.yes)
}

// configurationAt returns the configuration at a path, which may be its directory.
func configurationAt(path string) config.Location {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if inside := filepath.Join(path, config.FoundName); clientfiles.FileExists(inside) {
			path = inside
		}
	}
	return config.Location{Path: path, Found: true}
}

// trustJSON is the JSON form of a configuration and its trust.
type trustJSON struct {
	Path    string     `json:"path"`
	SHA256  string     `json:"sha256"`
	Trusted bool       `json:"trusted"`
	Since   *time.Time `json:"since,omitempty"`
	State   string     `json:"state,omitempty"`
	Items   []string   `json:"items,omitempty"`
}

func trustOne(ctx context.Context, inv *invocation.Invocation, path string, yes bool) error {
	at := configurationAt(path)
	if !clientfiles.FileExists(at.Path) {
		return fault.New(fault.ConfigMissing, "there is no configuration at %s", at.Path).
			WithHint("junctor trust takes a file, or a directory with %s", config.FoundName)
	}
	r, diags, err := inv.Review(at)
	if err != nil {
		return err
	}
	if r == nil {
		diags.Render(terminal.SafeWriter(inv.Stderr))
		return terminal.Reported(diags.Err())
	}
	store, known, err := inv.Known(at)
	if err != nil {
		return err
	}
	if known != nil && known.Digest == r.Digest {
		return printTrust(inv, r, "was trusted already")
	}
	switch {
	case r.SameSettings(known):
	case yes:
		invocation.ShowReview(inv, r, known)
	case inv.CanAsk():
		err = invocation.AskTrust(ctx, inv, r, known)
	default:
		invocation.ShowReview(inv, r, known)
		err = fault.New(fault.Usage, "there is no terminal for the question").
			WithHint("read the configuration, then run `junctor trust --yes`")
	}
	if err != nil {
		return err
	}
	if err := store.Put(r.Record(time.Now())); err != nil {
		return err
	}
	return printTrust(inv, r, "is trusted")
}

func printTrust(inv *invocation.Invocation, r *trust.Review, what string) error {
	if inv.Machine() {
		return inv.PrintJSON(trustJSON{Path: r.Path, SHA256: r.Digest, Trusted: true, Items: r.Items()})
	}
	inv.Printf("%s %s\nin CI: %s=%s:%s\n", r.Path, what, invocation.TrustVariable, r.Path, r.Digest)
	return nil
}

func trustRevoke(inv *invocation.Invocation, path string) error {
	at := configurationAt(path)
	canonical, err := at.Canonical()
	if err != nil { // the file may not exist any more
		if canonical, err = filepath.Abs(at.Path); err != nil {
			return err
		}
	}
	store, err := inv.TrustStore()
	if err != nil {
		return err
	}
	was, err := store.Remove(canonical)
	switch {
	case err != nil:
		return err
	case !was:
		return fault.New(fault.Usage, "%s was not trusted", canonical).
			WithHint("`junctor trust --list` lists the trusted ones")
	case inv.Machine():
		return inv.PrintJSON(trustJSON{Path: canonical})
	}
	inv.Printf("%s is no longer trusted\n", canonical)
	return nil
}

func trustList(inv *invocation.Invocation) error {
	store, err := inv.TrustStore()
	if err != nil {
		return err
	}
	records, err := store.List()
	if err != nil {
		return err
	}
	list := []trustJSON{}
	for _, r := range records {
		list = append(list,
			trustJSON{Path: r.Path, SHA256: r.Digest, Trusted: true, Since: &r.At, State: trustState(inv, r)})
	}
	if inv.Machine() {
		return inv.PrintJSON(list)
	}
	var rows [][]string
	for _, t := range list {
		rows = append(rows, []string{t.State, t.Since.Local().Format(time.DateTime), t.Path})
	}
	if len(rows) == 0 {
		inv.Printf("no configuration is trusted\n")
	}
	inv.Table([]string{"STATE", "SINCE", "PATH"}, rows)
	return nil
}

// trustState returns the state of a trusted configuration.
func trustState(inv *invocation.Invocation, r trust.Record) string {
	if !clientfiles.FileExists(r.Path) {
		return "gone"
	}
	now, _, err := inv.Review(config.Location{Path: r.Path, Found: true})
	if err != nil || now == nil || now.Digest != r.Digest {
		return "changed"
	}
	return "trusted"
}
