package configure

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
)

// maxFormatted bounds the length of standard input for fmt, in bytes.
const maxFormatted = 1 << 20

// fmtOptions are the arguments and the flag of fmt.
type fmtOptions struct {
	inv   *invocation.Invocation
	paths []string
	check bool // change nothing
}

// Format returns the verb fmt.
func Format(inv *invocation.Invocation) *cobra.Command {
	o := &fmtOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "fmt [PATH… | -]",
		Short: "Format configurations",
		Long: `Give configurations the usual spaces: two for each level, and aligned = in neighbouring lines. Only spaces and tabs
between words change. The files that change are printed.

PATH is a file, or a directory whose *.hcl files are formatted; the configuration in use if not given. - formats standard
input to standard output.`,
		Example: "  junctor fmt\n  junctor fmt --check examples\n  junctor fmt - < junctor.hcl",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "change nothing; end with status 1 if a file would change")
	return cmd
}

func (o *fmtOptions) run(ctx context.Context) error {
	inv, args := o.inv, o.paths
	if len(args) == 1 && args[0] == "-" {
		return formatInput(ctx, inv, o.check)
	}
	found := false // the user did not name the file
	if len(args) == 0 {
		at, err := config.Find(inv.ConfigPath(), inv.Lookup)
		if err != nil {
			return err
		}
		if at.Text != nil {
			return fault.New(fault.Usage, "the configuration is in %s and not in a file", config.InlineVariable).
				WithHint("name a file")
		}
		args, found = []string{at.Path}, at.Found
	}
	var files []string
	for _, path := range args {
		more, err := formattable(path)
		if err != nil {
			return err
		}
		files = append(files, more...)
	}
	changed := []string{}
	for _, path := range files {
		differs, err := formatFile(path, o.check, found || !slices.Contains(args, path))
		if err != nil {
			return err
		}
		if differs {
			changed = append(changed, path)
		}
	}
	if err := printFormatted(inv, changed); err != nil {
		return err
	}
	return unformatted(o.check, len(changed))
}

// printFormatted prints the names of files.
func printFormatted(inv *invocation.Invocation, changed []string) error {
	if inv.JSON {
		return inv.PrintJSON(changed)
	}
	for _, path := range changed {
		inv.Printf("%s\n", path)
	}
	return nil
}

// unformatted returns the error of --check.
func unformatted(check bool, changed int) error {
	if !check || changed == 0 {
		return nil
	}
	return fault.New(fault.Unformatted, "%d of the files would change", changed).WithHint("run `junctor fmt`")
}

// formattable returns the files at a path.
func formattable(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Because(fault.Usage, err, "%s cannot be formatted", path)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fault.Because(fault.Usage, err, "%s cannot be formatted", path)
	}
	var files []string
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".hcl") && !strings.HasSuffix(name, ".lock.hcl") &&
			name[0] != '.' { // Junctor writes lock files
			files = append(files, filepath.Join(path, name))
		}
	}
	if len(files) == 0 {
		return nil, fault.New(fault.Usage, "no file in %s ends with .hcl", path)
	}
	return files, nil
}

// formatFile formats a file, unless check is true, and reports whether it differs. found is
// true for a file that the user did not name.
func formatFile(path string, check, found bool) (bool, error) {
	f, err := clientfiles.Configuration(path, found)
	if err != nil {
		return false, clientfiles.Fault(err)
	}
	text, err := configedit.Format(f.Text, path)
	if err != nil {
		return false, fault.Because(fault.ConfigInvalid, err, "%s was not changed", path).
			WithHint("run `junctor validate`")
	}
	if bytes.Equal(text, f.Text) || check {
		return !bytes.Equal(text, f.Text), nil
	}
	if err := f.Replace(text); err != nil {
		return false, clientfiles.Fault(err)
	}
	return true, nil
}

// formatInput formats standard input to standard output.
func formatInput(ctx context.Context, inv *invocation.Invocation, check bool) error {
	text, err := terminal.Interruptible(ctx,
		func() ([]byte, error) { return io.ReadAll(io.LimitReader(inv.Stdin, maxFormatted+1)) })
	if err != nil {
		return err
	}
	if len(text) > maxFormatted {
		return fault.New(fault.Usage, "standard input is larger than %d KiB", maxFormatted>>10)
	}
	after, err := configedit.Format(text, "standard input")
	if err != nil {
		return fault.Because(fault.ConfigInvalid, err, "standard input cannot be formatted")
	}
	if check {
		changed := 0
		if !bytes.Equal(text, after) {
			changed = 1
		}
		return unformatted(check, changed)
	}
	_, err = inv.Stdout.Write(after)
	return err
}
