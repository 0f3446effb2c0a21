package main

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
// foreign: from a file that the user may not have written. It refuses new servers that the managed configuration does not allow.
func (e *env) writeEdited(ctx context.Context, f *clientconfig.File, text []byte, foreign bool) (backup string, err error) {
	if _, err := configedit.Servers(text, f.Path); err != nil {
		return "", fault.Because(fault.Internal, err, "nothing was written, because the new text is not valid").WithHint("please report this, with the command")
	}
	if err := checkRefused(ctx, e, f, text); err != nil {
		return "", err
	}
	at := config.Location{Path: f.Path, Found: true}
	before := e.trustedReview(at)
	backup, err = writeConfig(e, f, text)
	if err != nil {
		return "", exportFault(err)
	}
	if filepath.Base(f.Path) != config.FoundName || f.Text != nil && before == nil || foreign {
		return backup, nil // the next use asks, where trust is needed
	}
	after, _, err := e.review(at)
	if err != nil || after == nil || !bytes.Equal(after.Content.Text(f.Path), text) || !onlyFileChanged(before, after) {
		return backup, nil // the next use asks
	}
	if err := e.trustAgain(after); err != nil {
		e.Warn("the edited configuration is not trusted: "+err.Error(), "run `junctor trust`")
	}
	return backup, nil
}

// trustAgain records the trust in a configuration that Junctor itself changed.
func (e *env) trustAgain(r *trust.Review) error {
	store, err := e.trustStore()
	if err != nil || store.Dir == "" {
		return err
	}
	return store.Put(r.Record(time.Now()))
}

// pinOptions returns the options of a store of pins for a configuration that is not loaded.
func (e *env) pinOptions(at config.Location) pins.Options {
	o := pins.Options{Log: e.log, Cache: e.dirs.Cache, KeepTrust: e.keepTrust(at)}
	if e.dirs.Data != "" {
		o.Locks = filepath.Join(e.dirs.Data, "locks")
	}
	return o
}

// keepTrust returns a function that calls write, which changes the lock file beside a
// configuration. Trust in the configuration stays if nothing else changes meanwhile. write returns
// the digests of the lock file that it read and wrote: a review takes time, and another program
// may change the file before or after.
func (e *env) keepTrust(at config.Location) func(write func() (read, written string, err error)) error {
	return func(write func() (read, written string, err error)) error {
		var before *trust.Review
		if at.Found {
			before = e.trustedReview(at)
		}
		read, written, err := write()
		if err != nil || before == nil {
			return err
		}
		after, _, err := e.review(at)
		if err != nil || after == nil || after.Digest == before.Digest {
			return nil // the next use asks
		}
		record := before.Record(time.Time{})
		if changed := after.Since(&record).Files; !slices.Equal(before.Programs, after.Programs) || !slices.Equal(changed, []string{config.LockName}) {
			return nil
		}
		if before.Content.LockSHA256() != read || after.Content.LockSHA256() != written {
			return nil
		}
		if err := e.trustAgain(after); err != nil {
			e.log.Warn("the configuration is not trusted after a change of its lock file", "error", err, "hint", "run `junctor trust`")
		}
		return nil
	}
}

// trustedReview returns the review of a configuration that the user trusts, else nil.
func (e *env) trustedReview(at config.Location) *trust.Review {
	_, known, err := e.known(at)
	if err != nil || known == nil {
		return nil
	}
	r, _, err := e.review(at)
	if err != nil || r == nil || !r.Trusted(known, "") && !r.SameSettings(known) {
		return nil
	}
	return r
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
func (e *env) edited(ctx context.Context, path string) (*host.App, error) {
	if e.app != nil {
		return e.app, nil
	}
	at, err := config.Find(path, e.Lookup)
	if err != nil {
		return nil, err
	}
	if filepath.Base(path) == config.FoundName && !e.ownOrTrusted(path) {
		e.Remark("%s is not trusted yet: run junctor trust", path)
		return nil, nil
	}
	app, diags, err := e.loadAt(ctx, at, nil, loadOptions{})
	if err != nil {
		return nil, err
	}
	e.tellDiagnostics(app, diags)
	if app == nil {
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// storeImported stores the values that were left out of new blocks, and grants them to their
// servers. It returns the secrets that were not stored: the user sets those.
func (e *env) storeImported(ctx context.Context, path string, all []clientimport.Secret) (left []clientimport.Secret) {
	if !slices.ContainsFunc(all, func(s clientimport.Secret) bool { return s.Name != "" && s.Value != "" }) {
		return all
	}
	app, err := e.edited(ctx, path)
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
				if err = user.Grant(ctx, s.Name, e.firstRecipients(s.Name)...); err == nil {
					continue
				}
			}
			e.Warn(fmt.Sprintf("there is a secret %s already, which stays", s.Name), "")
		default:
			// Grant first: without the secret a grant has no effect.
			if err = user.Grant(ctx, s.Name, e.firstRecipients(s.Name)...); err == nil {
				err = user.Set(ctx, s.Name, []byte(s.Value))
			}
			if err == nil {
				e.Remark("%s: %s was stored as the secret %s in %s", s.Server, s.Where, s.Name, app.Secrets().Where())
				continue
			}
		}
		left = append(left, s)
	}
	if err != nil {
		e.Warn("secrets were not stored: "+err.Error(), fault.As(err).Hint)
	}
	return left
}

// showAdded asks a new server for its tools and shows their names. The verb has the status
// of a failure. If the server wants credentials, showAdded calls wantsLogin, which may be nil.
func (e *env) showAdded(ctx context.Context, path, name string, wantsLogin func() error) error {
	app, err := e.edited(ctx, path)
	if err != nil || app == nil {
		return err
	}
	wait := e.Spin("asking " + name)
	err = app.Catalog.Refresh(ctx, name)[name]
	wait.Stop()
	if err != nil {
		if ctx.Err() != nil {
			e.Remark("the block stays; junctor remove %s removes it", name)
			return err
		}
		if fault.Is(err, fault.UpstreamAuth) && wantsLogin != nil {
			return wantsLogin()
		}
		e.Tell(err)
		return terminal.Reported(errors.Join(err, e.keepFailed(ctx, path, name, err)))
	}
	var tools []*catalog.Tool
	for _, t := range app.Catalog.Snapshot().Tools {
		if t.Server == name && app.Gateway.Visible(authn.Local(), policy.Tool, t.Server, t.Name) {
			tools = append(tools, t)
		}
	}
	e.Remark("%s", addedTools(name, tools))
	return nil
}

// keepFailed decides whether the block of a new server that failed stays. One whose program
// does not exist is of no use; of another one a setting may be missing, so a person is asked.
func (e *env) keepFailed(ctx context.Context, path, name string, failed error) error {
	keep := !fault.Is(failed, fault.UpstreamCommandNotFound)
	if keep && e.CanAsk() {
		var err error
		if keep, err = e.AskNo(ctx, "Keep the block of "+name+"?"); err != nil {
			return err
		}
	}
	if keep {
		e.Remark("the block stays; junctor remove %s removes it", name)
		return nil
	}
	return dropServer(ctx, e, path, name)
}

// dropServer removes the block that was added just now.
func dropServer(ctx context.Context, e *env, path, name string) error {
	target, err := chooseConfig(path, false)
	if err != nil {
		return exportFault(err)
	}
	text, err := configedit.Remove(target.Text, target.Path, name)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		if err := os.Remove(target.Path); err != nil {
			return fault.Because(fault.Usage, err, "the empty configuration cannot be removed")
		}
	} else if _, err := e.writeEdited(ctx, target, text, false); err != nil {
		return err
	}
	e.Remark("%s was not kept in %s", name, target.Path)
	return nil
}

// ownOrTrusted reports whether a configuration may be used without asking.
func (e *env) ownOrTrusted(path string) bool {
	if at, err := config.Find(path, e.Lookup); err == nil && at.Own || e.strongest() != "" || e.Get("JUNCTOR_CONFIG") != "" {
		return true
	}
	return e.trustedReview(config.Location{Path: path, Found: true}) != nil
}

// addedTools lists the tools of a new server, one a line, and says how to call one.
func addedTools(server string, tools []*catalog.Tool) string {
	if len(tools) == 0 {
		return server + " has no tools"
	}
	lines := []string{fmt.Sprintf("%s has %s:", server, terminal.Count(len(tools), "tool"))}
	for _, t := range tools[:min(len(tools), mostShown)] {
		lines = append(lines, t.Exposed)
	}
	if len(tools) > mostShown {
		lines = append(lines, fmt.Sprintf("… and %d more: junctor tools %s", len(tools)-mostShown, server))
	}
	return strings.Join(append(lines, "next: "+firstCall(tools)), "\n")
}

// mostShown bounds the names in a note.
const mostShown = 20

// shortened joins the first names of a list.
func shortened(names []string) string {
	if len(names) > mostShown {
		names = append(slices.Clone(names[:mostShown]), "…")
	}
	return strings.Join(names, ", ")
}
