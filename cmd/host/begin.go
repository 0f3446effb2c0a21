package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// execute runs one command line and returns the exit status. main calls it once; the verb runs on this
// goroutine and should end soon after ctx.
func execute(ctx context.Context, inv *invocation.Invocation, args []string) int {
	root := withCompletion(root(inv))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	lost := inv.Stdout.Fault()
	switch {
	case ctx.Err() != nil && err != nil && !errors.Is(err, terminal.ErrReported) && !fault.Is(err, fault.Interrupted):
		err = fault.New(fault.Interrupted, "interrupted")
	case lost != nil:
		err = lost
	}
	return fail(inv, err)
}

// fail prints an error and returns the exit status.
func fail(inv *invocation.Invocation, err error) int {
	if err == nil {
		return fault.ExitDone
	}
	err = verb.CommandLine(err)
	if !errors.Is(err, terminal.ErrReported) {
		inv.Tell(err)
	}
	return fault.Exit(err)
}

// begin runs junctor without a verb: the help, or how to write a configuration.
func begin(inv *invocation.Invocation, cmd *cobra.Command) error {
	if _, err := config.Find(inv.ConfigPath(), inv.Lookup); err == nil {
		return cmd.Help()
	}
	_, err := io.WriteString(inv.Stdout, strings.TrimLeft(beginning, "\n"))
	return err
}

const beginning = `
Junctor has no configuration yet. There are three ways to begin:

  junctor add NAME -- COMMAND      add a server: a program, a URL, or a name of the registry
  junctor add fs -- npx -y @modelcontextprotocol/server-filesystem .
  junctor search WORD              find servers in the registry

  junctor init                     take over the servers of Claude, Cursor, VS Code and other clients
  junctor import CLIENT            show what that would be for one client

  Or write junctor.hcl in this directory:

  server "files" {
    transport "stdio" {
      command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
    }
  }

Then:

  junctor validate                 check it
  junctor tools                    see what the servers offer
  junctor call TOOL k=v            use it
  junctor export CLIENT --write    give it all to a client

junctor help lists all verbs.
`
