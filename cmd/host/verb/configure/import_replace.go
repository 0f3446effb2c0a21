package configure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/listreader"
	"github.com/junctor-mcp/junctor/cmd/host/secrets"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/secret"
)

// checkReplace refuses --replace where nothing can be replaced.
func checkReplace(inv *invocation.Invocation, x importOptions, from string) error {
	if !x.replace {
		return nil
	}
	c := clientconfig.Find(from)
	switch {
	case !x.write:
		return fault.New(fault.Usage, "--replace has no effect without --write").WithHint("add --write")
	case c == nil:
		return fault.New(fault.Usage, "--replace needs the name of a client").
			WithHint("one of %s", strings.Join(clientconfig.Names(clientconfig.Written()), ", "))
	case clientconfig.Scope(x.scope) == clientconfig.Local:
		return fault.New(fault.Usage, "--replace does not change servers of the scope local").
			WithHint("omit --replace, and run `claude mcp remove NAME --scope local` for each")
	case c.ReadOnly():
		return fault.New(fault.Usage, "the file of %s is only read", c.Title).
			WithHint("omit --replace, and add junctor serve to it by hand")
	case !x.ok && !inv.CanAsk():
		return fault.New(fault.Usage,
			"--replace changes the file of %s, and there is no terminal for the question", c.Title).
			WithHint("add --yes")
	}
	return nil
}

// startsOwn reports whether the servers begin the user's own configuration: the client is
// used in every directory, and there is no configuration that could take them.
func startsOwn(inv *invocation.Invocation, x importOptions) bool {
	if !x.replace || x.into.here || x.scope != string(clientconfig.User) {
		return false
	}
	_, err := config.Find(inv.ConfigPath(), inv.Lookup)
	return inv.ConfigPath() == "" && inv.Get("JUNCTOR_CONFIG") == "" && fault.Is(err, fault.ConfigMissing) &&
		config.OwnPath(inv.Lookup) != ""
}

// A replacement says which entries of a client Junctor can take the place of.
type replacement struct {
	names []string // of entries that the configuration has now
	stay  []string // of entries with a secret that only the client's file may have
}

// replaceable returns the entries that the configuration has now. An entry with a secret that
// is not stored stays, because the file has the only copy.
func replaceable(file clientconfig.Content, got clientimport.Result, taken []string,
	stored func(clientimport.Secret) bool) (r replacement) {
	for _, s := range file.Servers {
		if s.Part != "" {
			continue // its entry is in another file
		}
		here, secrets := s.Name, got.Secrets
		if i := slices.Index(got.From, s.Name); i >= 0 {
			here = got.Servers[i]
		} else if s.Problem == "" && slices.Contains(taken, s.Name) { // the configuration had it before
			alone := clientconfig.Content{Servers: []clientconfig.Server{s}, Inputs: file.Inputs}
			secrets = clientimport.Convert(alone, clientimport.Environment{}).Secrets
		} else {
			continue
		}
		if slices.ContainsFunc(secrets, func(secret clientimport.Secret) bool {
			return secret.Server == here && secret.Value != "" && !stored(secret)
		}) {
			r.stay = append(r.stay, s.Name)
		} else {
			r.names = append(r.names, s.Name)
		}
	}
	return r
}

// storedSecrets returns a function that reports whether a secret with this value is stored
// under its name.
func storedSecrets(ctx context.Context, inv *invocation.Invocation) func(clientimport.Secret) bool {
	var user *secret.User
	var failed error
	told := false
	return func(s clientimport.Secret) bool {
		if user == nil && failed == nil {
			all, err := secrets.Open(ctx, inv)
			if failed = err; err == nil {
				user = all.User()
			}
		}
		if failed != nil || s.Name == "" {
			return false
		}
		value, err := user.Get(ctx, s.Name)
		if err != nil && !fault.Is(err, fault.SecretUnknown) && !told {
			told = true
			inv.Warn("whether secrets are stored cannot be told: "+err.Error(), fault.As(err).Hint)
		}
		return err == nil && string(value) == s.Value
	}
}

// replaceEntries puts one entry for Junctor in the place of those that were imported.
func replaceEntries(ctx context.Context, inv *invocation.Invocation, x importOptions, c *clientconfig.Client,
	r replacement) error {
	for _, name := range r.stay {
		inv.Remark("%s: the entry in the file of %s stays, because it may have the only copy of a secret",
			name, c.Title)
	}
	if len(r.names) == 0 {
		inv.Remark("nothing in the file of %s was replaced", c.Title)
		return nil
	}
	if agreed, err := agreeToReplace(ctx, inv, x, c, r.names); err != nil || !agreed {
		return err
	}
	t, err := (&exportOptions{inv: inv, name: "junctor"}).target(ctx, c)
	if err != nil {
		return err
	}
	paths, err := clientPaths(c, clientconfig.Scope(x.scope), inv.Get)
	if err != nil {
		return err
	}
	f, err := clientfiles.InScope(clientconfig.Scope(x.scope), paths)
	if err != nil {
		return clientfiles.Fault(err)
	}
	text, err := c.Remove(f.Text, r.names)
	if err == nil {
		text, err = c.Merge(text, t)
	}
	if bad, ok := errors.AsType[*clientconfig.SyntaxError](err); ok {
		return &fault.Error{
			Code:    fault.ExportFile,
			Message: bad.What,
			At:      fmt.Sprintf("%s:%d:%d", f.Path, bad.Line, bad.Column),
			Hint: "the servers were imported, and the file of the client was not changed; " +
				"edit it by hand, as junctor export " + c.Name + " shows",
		}
	}
	if err != nil {
		return clientfiles.Fault(err)
	}
	backup, err := f.Write(text, time.Now())
	if err != nil {
		return clientfiles.Fault(err)
	}
	listreader.StartFor(inv, t)
	reportExport(inv, c, t, f, backup, true, "%s has %s in the place of %s now; as it was: %s", terminal.Safe(f.Path),
		t.Name, terminal.Safe(strings.Join(r.names, ", ")), terminal.Safe(backup))
	return nil
}

// agreeToReplace asks whether to change the client's file.
func agreeToReplace(ctx context.Context, inv *invocation.Invocation, x importOptions, c *clientconfig.Client,
	names []string) (bool, error) {
	if x.ok {
		return true, nil
	}
	return inv.AskYes(ctx, fmt.Sprintf("Replace %s of %s by Junctor?", strings.Join(names, ", "), c.Title))
}
