package credentials

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/secrets"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/fault"
)

func secretUnlockVerb(inv *invocation.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "unlock", Short: "Keep the password of the encrypted file for processes without a terminal",
		Args: verb.Takes(),
		Long: `Keep the password of the encrypted file in a file that only you can read, so that the junctor that a client or a
service starts can read secrets without a terminal. Without an encrypted file a password is generated and no question
is asked. Then the secrets are as safe as your files are: a program that runs as you, and a backup of both files, can read
them. "junctor secret lock" removes the kept password.`,
		Example: "  junctor secret unlock",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := &secretOptions{inv: inv}
			return o.unlock(cmd.Context())
		},
	}
}

// unlock keeps the password of the encrypted file.
func (o *secretOptions) unlock(ctx context.Context) error {
	inv := o.inv
	s, err := secrets.Open(ctx, inv)
	if err != nil {
		return err
	}
	path, err := s.KeepPassword(ctx)
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]string{"password": path, "stored": s.Where()})
	}
	inv.Printf("the password of %s is kept in %s\n", s.Where(), path)
	return nil
}

func secretLockVerb(inv *invocation.Invocation) *cobra.Command {
	o := &secretOptions{inv: inv}
	cmd := &cobra.Command{
		Use: "lock", Short: "Remove the kept password of the encrypted file", Args: verb.Takes(),
		Long: `Remove the password that "junctor secret unlock", or an empty answer to the question for a new password, kept. From
then on it has to be typed. It asks first, because the secrets are lost if Junctor made the password and you have no copy.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.lock(cmd.Context()) },
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "remove it without asking")
	return cmd
}

// lock removes the kept password.
func (o *secretOptions) lock(ctx context.Context) error {
	inv, yes := o.inv, o.yes
	s, err := secrets.Open(ctx, inv)
	if err != nil {
		return err
	}
	path := s.KeptPassword()
	if path == "" {
		return fault.New(fault.Usage, "no password is kept").WithHint("`junctor secret unlock` keeps one")
	}
	if !yes && !terminal.IsTerminal(inv.Stdin) {
		return fault.New(fault.Usage, "there is no terminal for the question").
			WithHint("copy the password from %s if you do not know it, then repeat the command with --yes", path)
	}
	if !yes {
		sure, err := inv.AskYes(ctx,
			"Remove "+path+"? Without a copy of a password that Junctor made, the secrets are lost.")
		if err != nil {
			return err
		}
		if !sure {
			return fault.New(fault.Usage, "the password is still kept").WithHint("answer y to remove it")
		}
	}
	if err := s.ForgetPassword(); err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]string{"removed": path})
	}
	inv.Printf("removed %s\n", path)
	return nil
}
