package configure

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/trust"
)

// isForeign reports whether another person may have written the file of an import. The file
// of a client in the user's scope, or the scope local, is the user's own, unless its links lead below the current
// directory. All other files are foreign: those of a project, those that are named by their
// path, and standard input.
func isForeign(x importOptions, from string, get func(string) string) bool {
	if clientconfig.Find(from) == nil || clientconfig.Scope(x.scope) == clientconfig.Project {
		return true
	}
	path, err := importPath(x, from, get)
	if err != nil {
		return true
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	real, missing := filepath.EvalSymlinks(path)
	if err != nil || missing != nil {
		return missing == nil // there is nothing to import
	}
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	return isBelow(real, here) && !(err == nil && isBelow(home, here))
}

// isBelow reports whether a path is a directory or below it.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// reviewForeign shows what blocks from a foreign file add to a configuration, and asks whether
// to add them. Without a terminal, and without --yes, it disables the servers and keeps no
// secrets for them. It reports whether the change is foreign still: the user has not read it.
func reviewForeign(ctx context.Context, inv *invocation.Invocation, yes bool, got *clientimport.Result,
	target *clientconfig.File) (foreign bool, err error) {
	if err := showAdditions(inv, target, got.Blocks()); err != nil {
		return true, err
	}
	if !yes && inv.CanAsk() {
		agreed, err := inv.AskYes(ctx, "Add this to "+terminal.Safe(target.Path)+"?")
		if err == nil && !agreed {
			err = fault.New(fault.Usage, "nothing was added")
		}
		if err != nil {
			return true, err
		}
		yes = true
	}
	if yes {
		return false, nil
	}
	if got.Policy != nil {
		return true, fault.New(fault.Usage,
			"the file says who may use its servers, and there is no terminal for the question; nothing was written").
			WithHint("if it is what you want, repeat the command with --yes")
	}
	if got.HCL, err = configedit.Disable(got.HCL); err != nil {
		return true, fault.Because(fault.Internal, err, "nothing was written").
			WithHint("please report this, with the command")
	}
	for i := range got.Secrets {
		got.Secrets[i].Value = "" // the user stores those of servers that are to run
	}
	note := fmt.Sprintf(
		"another person may have written the file and there is no terminal for the question, so %s may not "+
			"run: read the new blocks in %s, then remove enabled = false", strings.Join(got.Servers, ", "), target.Path,
	)
	got.Notes = append(got.Notes, note)
	return true, nil
}

// showAdditions prints the items that blocks add to the review of a configuration.
func showAdditions(inv *invocation.Invocation, target *clientconfig.File, blocks []byte) error {
	items, diags := trust.Added(target.Path, target.Text, configedit.Append(target.Text, blocks), inv.Lookup)
	if diags.HasErrors() {
		return fault.Because(fault.ConfigInvalid, diags.Err(), "nothing was written").WithHint("run `junctor validate`")
	}
	w := terminal.SafeWriter(inv.Stderr)
	_, _ = fmt.Fprintf(w, "Another person may have written this. With your rights it would:\n\n")
	for _, item := range items {
		_, _ = fmt.Fprintf(w, "  %s\n", item)
	}
	if len(items) == 0 {
		_, _ = io.WriteString(w, "  do nothing that a review shows\n")
	}
	_, _ = fmt.Fprintf(w, "\nIn all: %s.\nScripts and packages that these programs run are not shown.\n",
		invocation.CountByKind(items))
	return nil
}
