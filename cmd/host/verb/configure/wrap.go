package configure

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/cliconfig"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// commonUnset leaves the attribute common of the plugin at its default.
const commonUnset = -1

// wrapOptions holds the arguments and flags of wrap.
type wrapOptions struct {
	inv                              *invocation.Invocation
	words                            []string // the program and its arguments; with --check the names of servers
	name                             string
	only, except, globals, dangerous []string
	read, env, passEnv               []string
	depth, common                    int
	describe                         string
	check, try, write                bool
	into                             writeTarget
}

// Wrap returns the verb wrap.
func Wrap(inv *invocation.Invocation) *cobra.Command {
	w := &wrapOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "wrap PROGRAM [ARGUMENT…] | wrap --check [SERVER…]",
		Short: "Write down what a command-line program can do, as tools to review",
		Long: `Run a program for its help, find out which commands and options it has, and print a server block with a tool
block for each command: its arguments with their types, whether it reads or writes, how sure that is, and what could not
be understood. Review it, delete what should not be offered, and keep it as part of the configuration. The gateway
then offers only what is in these blocks.

Options that run programs, reach files anywhere or load configuration are left out and named in comments; --dangerous
brings one back. Options of the whole program that select what a command works on, such as --repo and --namespace, are
included; --global adds another.

A command counts as reading only where the table of known programs or --read says so. With --try each tool that only
reads is run once in the sandbox, in this directory, with harmless arguments. Comments say which work, which need the
network or a login, and what the sandbox refused, with the lines that would allow it. The exit status is 1 when one fails.

With --write, add the block to the configuration of this directory instead of printing it: the program works here. --user
adds it to your own configuration, where relative paths and the working directory are those of that file.

With --check, compare the tool blocks of the configuration with what their programs can do now, as after an upgrade. The
exit status is 1 when a block asks for something that is gone.`,
		Example: `  junctor wrap --only "log" --only "diff" git > git.hcl
  junctor wrap --depth 2 --name k8s kubectl --context test
  junctor wrap --write --only "log" git
  junctor wrap --try --pass-env GH_TOKEN gh
  junctor wrap --dangerous "log --output" git
  junctor wrap --global --request-timeout --read get kubectl
  junctor wrap --check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			check := verb.TakesMore("PROGRAM")
			if w.check {
				check = func(_ *cobra.Command, args []string) error { return flagsFirst(args) }
			}
			if err := check(cmd, args); err != nil {
				return err
			}
			w.words = args
			return w.run(cmd.Context())
		},
	}
	w.flags(cmd)
	return cmd
}

// flags adds the flags of wrap to a command.
func (w *wrapOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after the program are arguments of the program
	f.StringVar(&w.name, "name", "", "`NAME` of the server block; the program's name if not given")
	f.StringSliceVar(&w.only, "only", nil,
		"a `COMMAND` to look at, with all below it, such as \"container *\"; repeatable, or with commas")
	f.StringSliceVar(&w.except, "except", nil,
		"a `COMMAND` to leave out, with all below it; repeatable, or with commas")
	f.StringSliceVar(&w.globals, "global", nil,
		"an `OPTION` of the whole program that its commands should offer, such "+
			"as --request-timeout; repeatable, or with commas")
	f.StringSliceVar(&w.dangerous, "dangerous", nil,
		"a dangerous `OPTION` or command to offer all the same, such as \"log --output\"; repeatable, or with commas")
	f.StringSliceVar(&w.read, "read", nil, "a `COMMAND` that only reads, with all below it; repeatable, or with commas")
	f.StringArrayVar(&w.env, "env", nil,
		"an environment variable for the program, as `NAME=VALUE`; it is written down, so no secrets; repeatable")
	f.StringArrayVar(&w.passEnv, "pass-env", nil, "a `VARIABLE` of the environment that the program gets; repeatable")
	f.BoolVar(&w.try, "try", false, "run each tool that only reads once, and say which fail")
	f.BoolVar(&w.write, "write", false, "add the block to the configuration")
	w.into.add(cmd)
	f.IntVar(&w.depth, "depth", 3, "a `NUMBER`: how many words a command may have")
	f.IntVar(&w.common, "common", commonUnset,
		"a `NUMBER`: how many options a tool has at most, the most common ones; 0 "+
			"is all. -1 is what discovery offers: 20, or more for a program's only tool")
	f.StringVar(&w.describe, "describe", "brief", "an `AMOUNT`, how much the descriptions say: \"brief\" or \"full\"")
	f.BoolVar(&w.check, "check", false, "compare the tool blocks of the configuration with their programs")
}

func (w *wrapOptions) run(ctx context.Context) error {
	if w.check {
		return wrapCheck(ctx, w.inv, w.words)
	}
	return w.describeProgram(ctx, w.words)
}

// valid fails if the value of a flag cannot be used.
func (w *wrapOptions) valid() error {
	switch {
	case w.common < commonUnset:
		return fault.New(fault.Usage, "--common %d is less than -1", w.common).
			WithHint("write --common 0 for all options")
	case w.describe != "brief" && w.describe != "full":
		return fault.New(fault.Usage, "--describe %q is neither brief nor full", w.describe).
			WithHint("write --describe brief or --describe full")
	}
	if w.name != "" && !label.MatchString(w.name) {
		return fault.New(fault.Usage, "--name %q cannot be the label of a server", w.name).
			WithHint("use letters, digits, - and _, starting with a letter, at most %d", labelMost)
	}
	return nil
}

// describeProgram inspects a program and prints it as HCL.
func (w *wrapOptions) describeProgram(ctx context.Context, command []string) error {
	inv := w.inv
	if err := w.valid(); err != nil {
		return err
	}
	app, server, err := w.draft(ctx, command)
	if err != nil {
		return err
	}
	p, err := explore(ctx, inv, app, server, server.Transport.Settings)
	if err != nil {
		return withoutPlace(err)
	}
	p.Sandbox = cliconfig.SandboxLines(command, sandbox.Probe())
	failed := 0
	if w.try {
		if failed, err = tryTools(ctx, inv, app, server, &p); err != nil {
			return err
		}
	}
	if inv.JSON {
		return errors.Join(inv.PrintJSON(p), triedError(p.Name, failed))
	}
	settings, err := w.callSettings()
	if err != nil {
		return err
	}
	settings["command"], settings["sandbox"] = asJSON(command), cliconfig.Sandbox(command)
	text, err := cliconfig.Server(server.Name, items.CliTransport, cliSchema(inv, app, server), settings, &p)
	if err != nil {
		return err
	}
	if w.write && len(p.Tools) > 0 && p.Failure == "" {
		err = writeWrapped(ctx, inv, server.Name, text, w.into)
	} else {
		_, err = inv.Stdout.Write(text)
	}
	if err != nil {
		return err
	}
	if why := p.Costly(); why != "" {
		inv.Warn(why, "write fewer with --only, or with a lower --common; delete what should not be offered")
	}
	if len(p.Tools) == 0 {
		return fault.New(fault.UpstreamUnsupported, "no command of %s was understood", command[0]).
			WithHint("write tool blocks by hand; docs/wrapping-clis.md shows how")
	}
	if p.Failure != "" {
		return fault.New(fault.UpstreamUnsupported, "%s", p.Failure).
			WithHint("run %s --help yourself; what it needs of the environment goes into --env or --pass-env",
				command[0])
	}
	return triedError(p.Name, failed)
}

// draft loads a temporary configuration with one server for the program, as found from the
// current directory.
func (w *wrapOptions) draft(ctx context.Context, command []string) (*host.App, *config.Server, error) {
	inv, name := w.inv, w.name
	if name == "" {
		name = labelOf(command[0])
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	if err := inv.FindDirs(); err != nil {
		return nil, nil, err
	}
	settings, err := w.callSettings()
	if err != nil {
		return nil, nil, err
	}
	settings["command"], settings["cwd"], settings["depth"] = asJSON(command), asJSON(here), asJSON(w.depth)
	settings["describe"] = asJSON(w.describe)
	if w.common != commonUnset {
		settings["common"] = asJSON(w.common)
	}
	for attribute, list := range map[string][]string{"only": w.only, "except": w.except, "globals": w.globals,
		"read": w.read} {
		if len(list) > 0 {
			settings[attribute] = asJSON(list)
		}
	}
	var schema sdk.Schema
	attributes := []string{
		"command", "cwd", "depth", "common", "describe", "only", "except", "globals", "read", "dangerous",
		"env", "pass_env",
	}
	for _, attribute := range attributes {
		schema.Attributes = append(schema.Attributes, sdk.Attribute{Name: attribute})
	}
	settings["sandbox"] = cliconfig.Sandbox(command)
	schema.Blocks = []sdk.Block{
		{Name: "sandbox", Schema: sdk.Schema{Attributes: []sdk.Attribute{{Name: "network"}, {Name: "unix_sockets"}}}},
	}
	text, err := cliconfig.Server(name, items.CliTransport, schema, settings, nil)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(inv.Dirs.Run, "wrap.hcl")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, nil, err
	}
	if err := checkRefused(ctx, inv, &clientconfig.File{Path: file}, text); err != nil {
		return nil, nil, err
	}
	app, err := inv.Load(ctx, invocation.Needs{Paths: []string{file}})
	if err != nil {
		return nil, nil, err
	}
	s, err := items.ServerNamed(app, name) // the managed configuration may have servers, too
	return app, s, err
}

// withoutPlace removes the place from an error about a draft, which is in no file of the user.
func withoutPlace(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	copied := *f
	copied.At, copied.Path = "", ""
	return &copied
}

var label = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

var notLabel = lazyregexp.New(`[^a-z0-9-]+`)

// labelMost is the maximum length of a label.
const labelMost = 64

// labelOf derives a label from a program's name.
func labelOf(program string) string {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	name := strings.Trim(notLabel.ReplaceAllString(base, "-"), "-")
	switch {
	case name == "":
		return "program"
	case name[0] < 'a': // a digit, as in 7z; labels begin with a letter
		name = "program-" + name
	}
	return strings.TrimRight(name[:min(len(name), labelMost)], "-")
}

// explore asks the plugin for the description of a program until it is complete.
func explore(ctx context.Context, inv *invocation.Invocation, app *host.App, s *config.Server,
	settings []byte) (p cliconfig.Program, err error) {
	wait := inv.Spin("looking at " + s.Name)
	defer wait.Stop()
	err = app.Ask(ctx, s, settings, mcp.MethodListTools, cliconfig.Question,
		func(result []byte) (done bool, err error) {
			p, done, err = cliconfig.Read(result)
			return done, err
		})
	return p, err
}

// cliSchema returns the schema of the transport cli.
func cliSchema(inv *invocation.Invocation, app *host.App, s *config.Server) sdk.Schema {
	return app.Manifest(s).Transports[s.Transport.Component]
}

func asJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and raw JSON can always be encoded
	}
	return text
}

// writeWrapped adds the block of a wrapped program to the configuration.
func writeWrapped(ctx context.Context, inv *invocation.Invocation, name string, text []byte, into writeTarget) error {
	if inv.ConfigPath() == "" && inv.Get("JUNCTOR_CONFIG") == "" && !into.user {
		into.here = true
	}
	target, taken, err := importTarget(inv, into)
	if err != nil {
		return err
	}
	if err := checkNew(name, target.Path, taken); err != nil {
		return err
	}
	backup, err := writeEdited(ctx, inv, target, configedit.Append(target.Text, text), false)
	if err != nil {
		return err
	}
	inv.Remark("%s: added to %s", name, target.Path)
	if backup != "" {
		inv.Remark("the file as it was: %s", backup)
	}
	return nil
}
