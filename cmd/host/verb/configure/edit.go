package configure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/arguments"
	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/secrets"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/trust"
)

// writeEdited writes a configuration that a verb has edited, with a backup. The user made
// the change, so trust in the file stays, and a new file is trusted, unless the change is
// foreign: from a file that the user may not have written. It refuses new servers that the managed
// configuration does not allow.
func writeEdited(ctx context.Context, inv *invocation.Invocation, f *clientconfig.File, text []byte,
	foreign bool) (backup string, err error) {
	if _, err := configedit.Servers(text, f.Path); err != nil {
		return "", fault.Because(fault.Internal, err, "nothing was written, because the new text is not valid").
			WithHint("please report this, with the command")
	}
	if err := checkRefused(ctx, inv, f, text); err != nil {
		return "", err
	}
	at := config.Location{Path: f.Path, Found: true}
	before := invocation.TrustedReview(inv, at)
	backup, err = writeConfig(inv, f, text)
	if err != nil {
		return "", clientfiles.Fault(err)
	}
	if filepath.Base(f.Path) != config.FoundName || f.Text != nil && before == nil || foreign {
		return backup, nil // the next use asks, where trust is needed
	}
	after, _, err := inv.Review(at)
	if err != nil || after == nil || !bytes.Equal(after.Content.Text(f.Path), text) || !onlyFileChanged(before, after) {
		return backup, nil // the next use asks
	}
	if err := invocation.TrustAgain(inv, after); err != nil {
		inv.Warn("the edited configuration is not trusted: "+err.Error(), "run `junctor trust`")
	}
	return backup, nil
}

// pinOptions returns the options of a store of pins for a configuration that is not loaded.
func pinOptions(inv *invocation.Invocation, at config.Location) pins.Options {
	o := pins.Options{Log: inv.Log, Cache: inv.Dirs.Cache, KeepTrust: inv.KeepTrust(at)}
	if inv.Dirs.Data != "" {
		o.Locks = filepath.Join(inv.Dirs.Data, "locks")
	}
	return o
}

// onlyFileChanged reports whether nothing but the configuration itself differs between two
// reviews. before is nil for a new file.
func onlyFileChanged(before, after *trust.Review) bool {
	if before == nil {
		return len(after.Programs) == 0 && len(after.Content.Files()) == 1
	}
	record := before.Record(time.Time{})
	return slices.Equal(before.Programs, after.Programs) && len(after.Since(&record).Files) <= 1
}

// edited loads a configuration after an edit, once. It returns nil, and says why, if the
// configuration cannot be used without asking.
func edited(ctx context.Context, inv *invocation.Invocation, path string) (*host.App, error) {
	if inv.App != nil {
		return inv.App, nil
	}
	at, err := config.Find(path, inv.Lookup)
	if err != nil {
		return nil, err
	}
	if filepath.Base(path) == config.FoundName && !ownOrTrusted(inv, path) {
		inv.Remark("%s is not trusted yet: run junctor trust", path)
		return nil, nil
	}
	app, diags, err := inv.LoadAt(ctx, at, nil, invocation.Needs{})
	if err != nil {
		return nil, err
	}
	inv.TellDiagnostics(app, diags)
	if app == nil {
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// storeImported stores the values that were left out of new blocks, and grants them to their
// servers. It returns the secrets that were not stored: the user sets those.
func storeImported(ctx context.Context, inv *invocation.Invocation, path string,
	all []clientimport.Secret) (left []clientimport.Secret) {
	if !slices.ContainsFunc(all, func(s clientimport.Secret) bool { return s.Name != "" && s.Value != "" }) {
		return all
	}
	app, err := edited(ctx, inv, path)
	if err != nil || app == nil {
		return all
	}
	user := app.Secrets().User()
	have, err := user.List(ctx)
	for _, s := range all {
		switch {
		case err != nil || s.Name == "" || s.Value == "":
		case slices.Contains(have, s.Name):
			if value, failed := user.Get(ctx, s.Name); failed == nil && string(value) == s.Value {
				if err = user.Grant(ctx, s.Name, secrets.FirstRecipients(inv, s.Name)...); err == nil {
					continue
				}
			}
			inv.Warn(fmt.Sprintf("there is a secret %s already, which stays", s.Name), "")
		default:
			// Grant first: without the secret a grant has no effect.
			if err = user.Grant(ctx, s.Name, secrets.FirstRecipients(inv, s.Name)...); err == nil {
				err = user.Set(ctx, s.Name, []byte(s.Value))
			}
			if err == nil {
				inv.Remark("%s: %s was stored as the secret %s in %s", s.Server, s.Where, s.Name, app.Secrets().Where())
				continue
			}
		}
		left = append(left, s)
	}
	if err != nil {
		inv.Warn("secrets were not stored: "+err.Error(), fault.As(err).Hint)
	}
	return left
}

// showAdded asks a new server for its tools and shows their names. The verb has the status
// of a failure. If the server wants credentials, showAdded calls wantsLogin, which may be nil.
func showAdded(ctx context.Context, inv *invocation.Invocation, path, name string, wantsLogin func() error) error {
	app, err := edited(ctx, inv, path)
	if err != nil || app == nil {
		return err
	}
	wait := inv.Spin("asking " + name)
	err = app.Catalog.Refresh(ctx, name)[name]
	wait.Stop()
	if err != nil {
		if ctx.Err() != nil {
			inv.Remark("the block stays; junctor remove %s removes it", name)
			return err
		}
		if fault.Is(err, fault.UpstreamAuth) && wantsLogin != nil {
			return wantsLogin()
		}
		inv.Tell(err)
		return terminal.Reported(errors.Join(err, keepFailed(ctx, inv, path, name, err)))
	}
	var tools []*catalog.Tool
	for _, t := range app.Catalog.Snapshot().Tools {
		if t.Server == name && app.Gateway.Visible(authn.Local(), policy.Tool, t.Server, t.Name) {
			tools = append(tools, t)
		}
	}
	inv.Remark("%s", addedTools(name, tools))
	return nil
}

// keepFailed decides whether the block of a new server that failed stays. One whose program
// does not exist is of no use; of another one a setting may be missing, so a person is asked.
func keepFailed(ctx context.Context, inv *invocation.Invocation, path, name string, failed error) error {
	keep := !fault.Is(failed, fault.UpstreamCommandNotFound)
	if keep && inv.CanAsk() {
		var err error
		if keep, err = inv.AskNo(ctx, "Keep the block of "+name+"?"); err != nil {
			return err
		}
	}
	if keep {
		inv.Remark("the block stays; junctor remove %s removes it", name)
		return nil
	}
	return dropServer(ctx, inv, path, name)
}

// dropServer removes the block that was added just now.
func dropServer(ctx context.Context, inv *invocation.Invocation, path, name string) error {
	target, err := clientfiles.Configuration(path, false)
	if err != nil {
		return clientfiles.Fault(err)
	}
	text, err := configedit.Remove(target.Text, target.Path, name)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		if err := os.Remove(target.Path); err != nil {
			return fault.Because(fault.Usage, err, "the empty configuration cannot be removed")
		}
	} else if _, err := writeEdited(ctx, inv, target, text, false); err != nil {
		return err
	}
	inv.Remark("%s was not kept in %s", name, target.Path)
	return nil
}

// ownOrTrusted reports whether a configuration may be used without asking.
func ownOrTrusted(inv *invocation.Invocation, path string) bool {
	if at, err := config.Find(path, inv.Lookup); err == nil && at.Own || inv.ConfigPath() != "" ||
		inv.Get("JUNCTOR_CONFIG") != "" {
		return true
	}
	return invocation.TrustedReview(inv, config.Location{Path: path, Found: true}) != nil
}

// addedTools lists the tools of a new server, one a line, and says how to call one.
func addedTools(server string, tools []*catalog.Tool) string {
	if len(tools) == 0 {
		return server + " has no tools"
	}
	lines := []string{fmt.Sprintf("%s has %s:", server, terminal.Count(len(tools), "tool"))}
	for _, t := range tools[:min(len(tools), terminal.MostShown)] {
		lines = append(lines, t.Exposed)
	}
	if len(tools) > terminal.MostShown {
		lines = append(lines, fmt.Sprintf("… and %d more: junctor tools %s", len(tools)-terminal.MostShown, server))
	}
	return strings.Join(append(lines, "next: "+arguments.FirstCall(tools)), "\n")
}
