package configure

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
)

// editOptions are the flags of config edit.
type editOptions struct {
	inv  *invocation.Invocation
	into writeTarget
}

// configEditVerb returns the verb config edit.
func configEditVerb(inv *invocation.Invocation) *cobra.Command {
	o := &editOptions{inv: inv}
	cmd := &cobra.Command{
		Use: "edit", Short: "Edit the configuration, and write it only if it is valid", Args: verb.Takes(),
		Long: `Open a copy of the configuration in $VISUAL, $EDITOR or vi. When the editor ends, the copy is checked. If it has errors,
they are shown, and at a terminal you are asked whether to edit it again; otherwise it is written. A text that is not
written stays in a file, which a note names. The file as it was is kept in Junctor's data directory until the next change.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.into.add(cmd)
	return cmd
}

// run lets the user edit a copy of the configuration until it is valid.
func (o *editOptions) run(ctx context.Context) error {
	inv := o.inv
	target, err := targetFile(inv, o.into)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "junctor-edit-*")
	if err != nil {
		return fault.Because(fault.Usage, err, "there is no directory for a copy")
	}
	copied := filepath.Join(dir, filepath.Base(target.Path))
	before := target.Text
	if before == nil {
		before = []byte(firstLines)
	}
	if err := os.WriteFile(copied, before, 0o600); err != nil {
		return fault.Because(fault.Usage, err, "the copy cannot be written")
	}
	text, err := editedText(ctx, inv, target, copied)
	if err == nil && bytes.Equal(text, before) {
		inv.Remark("%s was not changed", target.Path)
		return os.RemoveAll(dir)
	}
	var backup string
	if err == nil {
		backup, err = writeEdited(ctx, inv, target, text, false)
	}
	if err != nil {
		if now, failed := os.ReadFile(copied); failed == nil && bytes.Equal(now, before) {
			_ = os.RemoveAll(dir)
			return err
		}
		inv.Warn("the text that was not written is in "+copied, "")
		return err
	}
	inv.Remark("wrote %s", target.Path)
	if backup != "" {
		inv.Remark("the file as it was: %s", backup)
	}
	return os.RemoveAll(dir)
}

// editedText runs the editor until the copy is valid or the user gives up.
func editedText(ctx context.Context, inv *invocation.Invocation, target *clientconfig.File,
	copied string) ([]byte, error) {
	for {
		if err := runEditor(inv, copied); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(copied)
		if err != nil {
			return nil, fault.Because(fault.Usage, err, "the copy cannot be read")
		}
		diags, err := checkEdited(ctx, inv, target.Path, text)
		if err != nil {
			return nil, err
		}
		if len(diags) > 0 {
			diags.Render(terminal.SafeWriter(inv.Stderr))
		}
		if !diags.HasErrors() {
			return text, nil
		}
		again := false
		if inv.CanAsk() {
			if again, err = inv.AskYes(ctx, "Edit it again?"); err != nil {
				return nil, err
			}
		}
		if !again {
			return nil, terminal.Reported(diags.Err())
		}
	}
}

// checkEdited checks a text as an editor does: it evaluates only literals and starts no program but
// the bundled plugins.
func checkEdited(ctx context.Context, inv *invocation.Invocation, path string,
	text []byte) (source.Diagnostics, error) {
	sup, err := inv.Supervisor()
	if err != nil {
		return nil, err
	}
	known := &knownPlugins{sup: sup, dirs: plugin.Dirs(inv.Lookup), known: map[pluginKey]knownPlugin{}}
	_, diags := config.Load(ctx, config.Options{
		Path:       path,
		Texts:      map[string][]byte{path: text},
		Static:     true,
		NoListener: true,
		Managed:    inv.Managed,
		Describe:   known.describe,
	})
	return diags, nil
}

// runEditor runs the user's editor on a file, in the foreground of the terminal.
func runEditor(inv *invocation.Invocation, path string) error {
	editor := cmp.Or(inv.Get("VISUAL"), inv.Get("EDITOR"), "vi")
	// An editor may have arguments, and quotes around them.
	words := []string{"/bin/sh", "-c", editor + ` "$@"`, "sh", path}
	if runtime.GOOS == "windows" {
		editor = cmp.Or(inv.Get("VISUAL"), inv.Get("EDITOR"), "notepad")
		words = []string{cmp.Or(inv.Get("COMSPEC"), "cmd.exe"), "/c", editor, path}
	}
	// package process would start it in a process group of its own, which may not read from the terminal.
	child, err := os.StartProcess(words[0], words,
		&os.ProcAttr{Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return fault.Because(fault.Usage, err, "the editor %s cannot be started", editor)
	}
	state, err := child.Wait()
	if err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	if err != nil {
		return fault.Because(fault.Usage, err, "the editor %s failed", editor).
			WithHint("VISUAL or EDITOR names another one")
	}
	return nil
}
