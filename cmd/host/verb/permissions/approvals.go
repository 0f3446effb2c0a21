package permissions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// approvalsOptions are the flags of approvals and of the verbs below it.
type approvalsOptions struct {
	inv      *invocation.Invocation
	instance string
}

// Approvals returns the verb approvals.
func Approvals(inv *invocation.Invocation) *cobra.Command {
	o := &approvalsOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "Show and answer what waits for your approval",
		Long: `List the calls that the policy wants a person to approve, in the processes that serve this configuration.

A call that needs an approval fails with an id. Once the id is approved, the client sends the same call again, and
it goes through. An approval is for the same client and the same arguments, and can be used once, unless the
confirm block in the policy says otherwise.`,
		Args: verb.TakesVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List what waits, and what was answered", Args: verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	show := &cobra.Command{
		Use: "show ID", Short: "Show a call with its arguments", Args: verb.Takes("ID"), ValidArgsFunction: o.completes,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.show(cmd.Context(), args[0])
		},
	}
	for _, c := range []*cobra.Command{list, show, o.answerVerb("approve"), o.answerVerb("deny"),
		o.answerVerb("revoke")} {
		processes.Flag(inv, c, &o.instance)
		cmd.AddCommand(c)
	}
	processes.Flag(inv, cmd, &o.instance)
	return cmd
}

// answerVerb returns the verb approve, deny or revoke.
func (o *approvalsOptions) answerVerb(word string) *cobra.Command {
	answer := control.Answering{Verb: word}
	about := " a call"
	if word == "revoke" {
		about = " an approval that is not used up"
	}
	cmd := &cobra.Command{
		Use: word + " ID", Short: strings.ToUpper(word[:1]) + word[1:] + about, Args: verb.Takes("ID"),
		ValidArgsFunction: o.completes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !control.ValidBy(answer.By) {
				return fault.New(fault.Usage, "--by is at most %d bytes of printable text with a letter or a digit",
					control.MostBy)
			}
			if !approval.ValidReason(answer.Reason) {
				return fault.New(fault.Usage, "--reason is at most %d bytes of printable text with a letter or a digit",
					approval.MostReason)
			}
			return o.answer(cmd.Context(), args[0], answer)
		},
	}
	cmd.Flags().StringVar(&answer.By, "by", "", "the `PERSON` for whom you answer, for the audit log; you if not given")
	if word != "revoke" {
		cmd.Flags().StringVar(&answer.Reason, "reason", "",
			"a `TEXT` that says why, such as a ticket; the audit log has it, and a client whose call is denied")
	}
	return cmd
}

// completes completes the ids that wait.
func (o *approvalsOptions) completes(cmd *cobra.Command, args []string, _ string) (
	ids []string, _ cobra.ShellCompDirective,
) {
	if len(args) == 0 {
		all, _, _ := o.all(cmd.Context())
		for _, a := range all {
			if a.State == "waiting" {
				ids = append(ids, a.ID+"\t"+a.Subject+": "+a.Server+"/"+a.Item)
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// all asks the processes that serve this configuration.
func (o *approvalsOptions) all(ctx context.Context) (all []control.Approval, from []control.Answer, err error) {
	found, failed, err := processes.Find(ctx, o.inv, o.instance)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 && len(failed) > 0 {
		return nil, nil, failed[0]
	}
	if len(found) == 0 {
		return nil, nil, fault.New(fault.ProcessMissing, "no running process serves this configuration").
			WithHint("calls wait for an approval in `junctor serve`; one that serves another file is named with --config FILE, or with --instance, as `junctor status` lists them")
	}
	for _, process := range found {
		some, err := process.Approvals(ctx)
		if control.IsStarted(err) && o.instance == "" {
			// As a server of another one.
			o.inv.Warn(fmt.Sprintf("process %s is not asked: Junctor started it", process.Name), "")
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, some...)
	}
	return all, found, nil
}

func (o *approvalsOptions) run(ctx context.Context) error {
	all, _, err := o.all(ctx)
	if err != nil {
		return err
	}
	if o.inv.Machine() {
		return o.inv.PrintJSON(terminal.List(all))
	}
	var rows [][]string
	for _, a := range all {
		rows = append(rows, []string{a.ID, stateOfApproval(a), a.Subject, a.Tenant, a.Server, a.Item,
			terminal.Since(a.Since) + " ago", terminal.Duration(time.Until(a.Expires)), shortArguments(a.Arguments)})
	}
	if len(rows) == 0 {
		o.inv.Printf("nothing waits for an approval\n")
		return nil
	}
	o.inv.Table([]string{"ID", "STATE", "SUBJECT", "TENANT", "SERVER", "ITEM", "SENT", "EXPIRES IN", "ARGUMENTS"}, rows)
	return nil
}

// stateOfApproval returns the state of an approval, with the number of people who have given it
// and what it covers, if that is more than a call.
func stateOfApproval(a control.Approval) string {
	state := a.State
	if a.Count > 1 && state == "waiting" {
		state += fmt.Sprintf(", %d of %d", len(a.Given), a.Count)
	}
	if a.Covers != "call" {
		state += ", for the " + a.Covers
	}
	return state
}

// maxListed bounds the arguments in a row of the list.
const maxListed = 60

// shortArguments returns the beginning of arguments on one line, so that two calls of one
// tool can be told apart.
func shortArguments(shown string) string {
	line := strings.Join(strings.Fields(shown), " ")
	if short := []rune(line); len(short) > maxListed {
		return string(short[:maxListed]) + "…"
	}
	return line
}

// find returns the approval with an id and the process that has it.
func (o *approvalsOptions) find(ctx context.Context, id string) (control.Approval, control.Answer, error) {
	all, from, err := o.all(ctx)
	if err != nil {
		return control.Approval{}, control.Answer{}, err
	}
	i := slices.IndexFunc(all, func(a control.Approval) bool { return a.ID == id })
	if i < 0 {
		return control.Approval{}, control.Answer{}, fault.New(fault.ApprovalUnknown,
			"nothing waits for an approval under %q", id).WithHint("junctor approvals lists what waits")
	}
	at := slices.IndexFunc(from, func(a control.Answer) bool { return a.Name == all[i].Instance })
	return all[i], from[at], nil
}

func (o *approvalsOptions) show(ctx context.Context, id string) error {
	a, _, err := o.find(ctx, id)
	if err != nil {
		return err
	}
	if o.inv.Machine() {
		return o.inv.PrintJSON(a)
	}
	printApproval(o.inv, a)
	return nil
}

func printApproval(inv *invocation.Invocation, a control.Approval) {
	inv.PrintFields("%s %s of server %s\n\n", a.Kind, a.Item, a.Server)
	inv.PrintFields("state    %s\n", a.State)
	inv.PrintFields("subject  %s, tenant %s, by %s\n", a.Subject, a.Tenant, a.Method)
	if a.Client != "" {
		inv.PrintFields("client   %s (unverified)\n", a.Client)
	}
	inv.PrintFields("sent     %s ago, %s\n", terminal.Since(a.Since), timesOf(a.Times))
	inv.PrintFields("expires  in %s\n", terminal.Duration(time.Until(a.Expires)))
	inv.PrintFields("rule     %s\n", a.Rule)
	if a.Covers != "call" {
		inv.PrintFields("covers   everything of the %s until it expires\n", a.Covers)
	}
	if a.Needs != "" {
		inv.PrintFields("needs    %s\n", a.Needs)
	}
	for _, g := range a.Given {
		text := g.By
		if g.Reason != "" {
			text += ": " + g.Reason
		}
		inv.PrintFields("answer   %s\n", text)
	}
	if a.Refusal != "" && a.State == "waiting" {
		inv.PrintFields("note     %s\n", a.Refusal)
	}
	if a.Hidden {
		inv.Printf("\nThe arguments are shown to those who may approve the call: the audit log does not store them.\n")
	}
	if a.Arguments != "" {
		inv.Printf("\n%s\n", terminal.Indent(a.Arguments))
	}
}

func (o *approvalsOptions) answer(ctx context.Context, id string, answer control.Answering) error {
	_, process, err := o.find(ctx, id)
	if err != nil {
		return err
	}
	done, err := process.Answer(ctx, id, answer)
	if err != nil {
		return err
	}
	if o.inv.Machine() {
		return o.inv.PrintJSON(done)
	}
	state := done.State
	if state == "waiting" {
		state = fmt.Sprintf("approved by %d of %d people", len(done.Given), done.Count)
	}
	o.inv.PrintFields("%s: %s %s of server %s for %s\n", state, done.Kind, done.Item, done.Server, done.Subject)
	return nil
}

// timesOf says how often something happened.
func timesOf(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
