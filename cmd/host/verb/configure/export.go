package configure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/listreader"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// exportOptions holds the argument and the flags of export.
type exportOptions struct {
	inv           *invocation.Invocation
	client        string
	http          string
	remote, stdio bool // --http, with an address or without, and --stdio
	token         string
	tokenGiven    bool
	name, scope   string
	env           []string // NAME or NAME=VALUE
	write, dryRun bool
}

// Export returns the verb export.
func Export(inv *invocation.Invocation) *cobra.Command {
	o := &exportOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "export CLIENT",
		Short: "Print or install the configuration with which a client finds this gateway",
		Long: `Print the configuration that points an MCP client at Junctor, as a whole file of that client: over HTTP when the
configuration has an http block, else by starting junctor serve. It contains no token: the client reads it from an
environment variable, or asks for it. The clients are
` + strings.Join(clientconfig.Names(clientconfig.Written()), ", ") + `.

With --write, put the entry into the client's own file. All else in the file stays as it is, comments included; the file
as it was is kept beside it, and a file that the client itself could not read is left alone. An entry of the same name is
replaced as a whole.

A client that starts a program gives it an environment of its own, with some clients next to nothing of yours. --env NAME
writes a variable of this shell into the entry, such as PATH for a client that does not find npx, or one that the
configuration reads with env(). The value is then in the client's file, so a secret belongs into "junctor secret set".`,
		Example: `  junctor export claude-code
  junctor export cursor --write --scope project
  junctor export codex --http=https://mcp.example.com/mcp --token-env MCP_TOKEN --dry-run`,
		Args: verb.Takes("CLIENT"),
		ValidArgsFunction: func(_ *cobra.Command, before []string, _ string) (
			words []cobra.Completion, _ cobra.ShellCompDirective,
		) {
			if len(before) == 0 {
				for _, c := range clientconfig.Written() {
					words = append(words, cobra.CompletionWithDesc(c.Name, c.Title))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.remote, o.tokenGiven = cmd.Flags().Changed("http"), cmd.Flags().Changed("token-env")
			if clientconfig.Scope(o.scope) == clientconfig.Local {
				return fault.New(fault.Usage, "Junctor does not write in the scope local").
					WithHint("use --scope user or --scope project")
			}
			if o.write && o.dryRun {
				return fault.New(fault.Usage, "--write and --dry-run exclude each other").
					WithHint("omit --write to see the changes")
			}
			if !o.write && !o.dryRun && cmd.Flags().Changed("scope") {
				return fault.New(fault.Usage, "--scope has no effect without --write or --dry-run").
					WithHint("add --write or --dry-run")
			}
			o.client = args[0]
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	return cmd
}

// flags adds the flags of export to a command.
func (o *exportOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "",
		"point at an address: --http=`URL`, or --http alone for where the configuration listens")
	f.Lookup("http").NoOptDefVal = " " // a value that users do not type
	f.BoolVar(&o.stdio, "stdio", false, "start junctor serve, whatever the configuration says")
	f.StringVar(&o.token, "token-env", "",
		"environment `VARIABLE` in which the client finds the token; the one that the configuration reads if not given")
	f.StringArrayVar(&o.env, "env", nil,
		"a `VARIABLE` for the junctor that the client starts, NAME of this shell or NAME=VALUE; repeat it for several")
	f.StringVar(&o.name, "name", "junctor", "`NAME` of the entry")
	f.BoolVar(&o.write, "write", false, "put the entry into the client's file")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what --write would change")
	f.StringVar(&o.scope, "scope", string(clientconfig.User),
		"a `SCOPE`, whose file: "+strings.Join(clientconfig.Scopes, ", "))
	cmd.MarkFlagsMutuallyExclusive("http", "stdio")
	cmd.MarkFlagsMutuallyExclusive("http", "env")
	_ = cmd.RegisterFlagCompletionFunc("scope",
		cobra.FixedCompletions(clientconfig.Scopes, cobra.ShellCompDirectiveNoFileComp))
}

// run prints or installs the configuration of a client.
func (o *exportOptions) run(ctx context.Context) error {
	inv, client := o.inv, o.client
	c := clientconfig.Find(client)
	if c == nil {
		return verb.WithSuggestion(fault.New(fault.Usage, "there is no client %q", client),
			suggest.Nearest(client, clientconfig.Names(clientconfig.Written())),
			"clients are "+strings.Join(clientconfig.Names(clientconfig.Written()), ", "))
	}
	t, err := o.target(ctx, c)
	if err != nil {
		return err
	}
	fragment, err := c.Fragment(t)
	if err != nil {
		return clientfiles.Fault(err)
	}
	if !o.write && !o.dryRun {
		if _, err := inv.Stdout.Write(fragment); err != nil {
			return err
		}
	} else if err := o.install(c, t); err != nil {
		return clientfiles.Fault(err)
	}
	if o.remote && t.Token != "" && overNetwork(t.URL) {
		inv.Remark("%s sends the token unencrypted to %s: use https", c.Title, t.URL)
	}
	switch {
	case t.Local() && c.Desktop && !t.Has("PATH"):
		inv.Remark(
			"%s gives programs the PATH of the desktop: if Junctor does not find npx, uvx or the like there, repeat "+
				"the command with --env PATH, which writes the PATH of this shell into the entry", c.Title,
		)
	case t.Local() || t.Token == "":
	case c.Asks():
		inv.Remark("%s asks for the token when it first connects", c.Title)
	default:
		inv.Remark("%s reads the token from %s: set it where %s starts", c.Title, t.Token, c.Title)
	}
	return nil
}

// install adds the entry to the client's file, or shows the change.
func (o *exportOptions) install(c *clientconfig.Client, t clientconfig.Target) error {
	inv := o.inv
	paths, err := clientPaths(c, clientconfig.Scope(o.scope), inv.Get)
	if err != nil {
		return err
	}
	f, err := clientfiles.InScope(clientconfig.Scope(o.scope), paths)
	if err != nil {
		return err
	}
	text, err := c.Merge(f.Text, t)
	if bad, ok := errors.AsType[*clientconfig.SyntaxError](err); ok {
		at := fmt.Sprintf("%s:%d:%d", f.Path, bad.Line, bad.Column)
		return &fault.Error{Code: fault.ExportFile, Message: bad.What, At: at,
			Hint: "nothing was changed; correct the file, or add by hand what junctor export " + c.Name + " prints"}
	}
	if err != nil {
		return err
	}
	if f.Text != nil && string(text) == string(f.Text) {
		clientfiles.Record(inv, o.scope, f.Path, c.Name, t)
		reportExport(inv, c, t, f, "", false, "%s has this entry already", terminal.Safe(f.Path))
		return nil
	}
	if o.dryRun {
		shown := terminal.Safe(string(changesOfFile(f, text)))
		if inv.Coloured(inv.OutTTY) {
			shown = terminal.PaintDiff(shown)
		}
		_, err := io.WriteString(inv.Stdout, shown)
		return err
	}
	backup, err := f.Write(text, time.Now())
	if err != nil {
		return err
	}
	clientfiles.Record(inv, o.scope, f.Path, c.Name, t)
	listreader.StartFor(inv, t)
	if backup == "" {
		reportExport(inv, c, t, f, "", true, "%s is new, with the entry %s", terminal.Safe(f.Path), t.Name)
	} else {
		reportExport(inv, c, t, f, backup, true, "%s has the entry %s now; as it was: %s", terminal.Safe(f.Path),
			t.Name, terminal.Safe(backup))
	}
	o.noteTwice(c, t, text)
	return nil
}

// clientPaths returns the paths of a client's file.
func clientPaths(c *clientconfig.Client, scope clientconfig.Scope, get func(string) string) ([]string, error) {
	if !slices.Contains(clientconfig.ReadScopes, string(scope)) {
		return nil, verb.WithSuggestion(fault.New(fault.Usage, "there is no scope %q", scope),
			suggest.Nearest(string(scope), clientconfig.ReadScopes),
			"scopes are "+strings.Join(clientconfig.Scopes, " and ")+
				"; import reads the scope local of Claude Code, too")
	}
	h := clientconfig.Home{OS: runtime.GOOS, Lookup: get}
	if scope != clientconfig.Project {
		var err error
		if h.Dir, err = os.UserHomeDir(); err == nil {
			h.Config, err = os.UserConfigDir()
		}
		if err != nil {
			return nil, fault.New(fault.Usage, "the directory of %s is not known: %s", c.Title, err).
				WithHint("set HOME")
		}
	}
	paths := c.Places(scope, h)
	if paths == nil {
		return nil, fault.New(fault.Usage, "%s has no file of the scope %s", c.Title, scope).WithHint("omit --scope")
	}
	for i, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		paths[i] = abs
	}
	return paths, nil
}

// changesOfFile returns the added and removed lines. It omits the other lines of the file, which
// may contain secrets.
func changesOfFile(f *clientconfig.File, text []byte) []byte {
	var shown strings.Builder
	for line := range strings.Lines(string(diff.Diff(f.Path, f.Text, f.Path, text))) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "diff ") {
			shown.WriteString(line)
		}
	}
	return []byte(shown.String())
}

// reportExport reports what was done to a file.
func reportExport(inv *invocation.Invocation, c *clientconfig.Client, t clientconfig.Target, f *clientconfig.File,
	backup string, written bool, format string, args ...any) {
	if inv.JSON {
		done := map[string]any{"client": c.Name, "file": f.Path, "name": t.Name, "written": written}
		if backup != "" {
			done["backup"] = backup
		}
		inv.PrintStderrJSON("export", done)
		return
	}
	fmt.Fprintf(inv.Stderr, format+"\n", args...)
}
