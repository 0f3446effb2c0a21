// Package permissions has the verbs that explain, test and apply the policy: why, policy, test and
// approvals.
//
// Each verb has a file: a function named after the verb, which makes the command and its flags for
// the table in root.go, a struct with the arguments and flags, and functions that do the work.
// replay.go and policytable.go are verbs below policy.
//
// A verb is run once in a process, on the main goroutine, so the structs of options need no lock.
// Scripts read the flags and the JSON that a verb prints: a renamed member breaks them. docs/cli.md
// and golden files show both.
package permissions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/arguments"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/policy/check"
)

// whyOptions are the arguments and flags of why.
type whyOptions struct {
	inv           *invocation.Invocation
	subject, item string
	words         []string // arguments, or what follows the item
	principalFlags
	resource, prompt      bool
	address, client, time string // of the request
}

// principalFlags describe a principal on the command line.
type principalFlags struct {
	tenant, issuer, claims string
	roles, groups, scopes  []string
}

func (f *principalFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.roles, "role", nil, "a `ROLE` of the subject's credential; repeat it for several")
	flags.StringArrayVar(&f.groups, "group", nil, "a `GROUP` of the subject")
	flags.StringArrayVar(&f.scopes, "scope", nil, "a `SCOPE` of the subject's token")
	flags.StringVar(&f.tenant, "tenant", "", "the subject's `TENANT`")
	flags.StringVar(&f.issuer, "issuer", "", "the `URL` of the issuer of the subject's token")
	flags.StringVar(&f.claims, "claims", "", "the claims of the subject's token, a `JSON` object")
}

// principal returns the principal with a subject. "local" is the command line.
func (f *principalFlags) principal(app *host.App, subject string) (authn.Principal, error) {
	p := check.PrincipalNamed(app.Config(), subject, f.tenant)
	if p.Method == "" {
		p.Issuer = f.issuer
	}
	p.Roles, p.Groups, p.Scopes = append(p.Roles, f.roles...), f.groups, f.scopes
	if f.claims != "" {
		if !json.Valid([]byte(f.claims)) || strings.TrimSpace(f.claims)[0] != '{' {
			return p, fault.New(fault.Usage, "--claims is not a JSON object").WithHint(`write --claims '{"level": 3}'`)
		}
		p.Claims = []byte(f.claims)
	}
	return p, nil
}

// Why returns the verb why.
func Why(inv *invocation.Invocation) *cobra.Command {
	o := &whyOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "why [SUBJECT] TOOL [key=value…]",
		Short: "Explain what the policy decides about a use",
		Long: `Explain what the policy decides when SUBJECT calls TOOL with these arguments: the rule that decides, the rules
that nearly matched, and what would change the decision. Without arguments the decision is that of a list.

TOOL is a name that "junctor tools" lists, or SERVER/NAME with the server's own name for it. Arguments are written as
for call. The roles of a static token are known; those of other credentials are given with --role and --group. The
subject "local" is the command line, and the client of a junctor serve on standard input. It is meant where SUBJECT
is left out.`,
		Example: `  junctor why github/create_issue
  junctor why alice github/create_issue repo=acme/site
  junctor why bob github/delete_repo --role dev
  junctor why carol --resource files file:///srv/plan.md`,
		Args: verb.TakesMore("TOOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			args = withSubject(args, o.resource || o.prompt)
			o.subject, o.item, o.words = args[0], args[1], args[2:]
			return o.run(cmd.Context())
		},
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&o.resource, "resource", false, "explain reading a resource: SUBJECT SERVER URI")
	cmd.Flags().BoolVar(&o.prompt, "prompt", false, "explain getting a prompt: SUBJECT SERVER NAME")
	cmd.MarkFlagsMutuallyExclusive("resource", "prompt")
	cmd.Flags().StringVar(&o.address, "address", "", "the `ADDRESS` that the request comes from")
	cmd.Flags().StringVar(&o.client, "client", "", "the `NAME` of the client program")
	cmd.Flags().StringVar(&o.time, "time", "",
		"the `TIME` of the request, such as 2026-03-01T22:30 in the time zone of the policy; now if not given")
	return cmd
}

// withSubject puts the local user before the words of why where they name no subject: a tool
// alone or with its arguments, or a server and an item.
func withSubject(words []string, ofItem bool) []string {
	given := len(words) > 1 && !isArgument(words[1])
	if ofItem {
		given = len(words) != 2
	}
	if given {
		return words
	}
	return append([]string{authn.Local().Subject}, words...)
}

// isArgument reports whether a word is written as an argument of a tool, and not as its name.
func isArgument(word string) bool {
	return word == "-" || strings.HasPrefix(word, "{") || strings.HasPrefix(word, "@") || strings.Contains(word, "=")
}

// request adds where and when the use comes from.
func (o *whyOptions) request(app *host.App, q *policy.Query) error {
	from := config.TestedRequest{From: o.address, Named: o.client}
	if o.address != "" {
		if _, err := netip.ParseAddr(o.address); err != nil {
			return fault.New(fault.Usage, "--address %q is no address", o.address).WithHint("write --address 10.0.0.7")
		}
	}
	q.Request = from
	if o.time == "" {
		return nil
	}
	at, err := config.ParseRequestTime(o.time, app.Config().Policy.Zone)
	if err != nil {
		return fault.New(fault.Usage, "--time: %s", err)
	}
	q.Time = at
	return nil
}

// whyJSON is the JSON form of why.
type whyJSON struct {
	Subject  string              `json:"subject"`
	Tenant   string              `json:"tenant"`
	Roles    []policy.HeldRole   `json:"roles"`
	Server   string              `json:"server"`
	Kind     policy.Kind         `json:"kind"`
	Item     string              `json:"item"`
	Access   string              `json:"access,omitempty"`
	Reasons  []string            `json:"access_because,omitempty"`
	Decision string              `json:"decision"`
	Rule     string              `json:"rule"`
	Because  string              `json:"because"` // the rule, and the condition that failed
	Rules    []policy.RuleResult `json:"rules"`
	Changes  []string            `json:"changes"`
	Approval string              `json:"approval,omitempty"` // how the use is confirmed, as in plan
	Needs    string              `json:"needs,omitempty"`    // who must approve, if not one operator
	Unknown  string              `json:"unknown,omitempty"`  // what is not known of the subject
}

func (o *whyOptions) run(ctx context.Context) error {
	inv := o.inv
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return err
	}
	who, err := o.principal(app, o.subject)
	if err != nil {
		return err
	}
	item, tool, args, err := whyItem(ctx, inv, app, o.item, o.words, o)
	if err != nil {
		return err
	}
	q := policy.Query{Principal: &who, Item: item}
	if err := o.request(app, &q); err != nil {
		return err
	}
	x := app.Explain(q, tool, args)
	out := whyJSON{
		Subject: who.Subject, Tenant: who.Tenant, Roles: terminal.List(x.Roles), Server: item.Server,
		Kind: item.Kind, Item: item.Name,
		Decision: x.Decision.Verdict.String(), Rule: x.Decision.Rule, Because: x.Decision.Because(),
		Rules: terminal.List(x.Rules), Changes: []string{},
	}
	out.Unknown = unknownOf(app, who, o.principalFlags)
	if needed := x.Decision.Approval(); needed != nil {
		out.Approval, out.Needs = needed.InWords(), needed.Needs()
	}
	if tool != nil {
		out.Access, out.Reasons = tool.Class.Kind.String(), tool.Class.Reasons
	}
	if x.Decision.Verdict != policy.Allow {
		for _, r := range x.Rules {
			if change := r.Change(); change != "" && (r.Effect != "deny" || x.Decision.Verdict == policy.Depends) {
				out.Changes = append(out.Changes, change)
			}
		}
	}
	if inv.Machine() {
		err = inv.PrintJSON(out)
	} else {
		printWhy(inv, out)
	}
	if err == nil && x.Decision.Verdict == policy.Deny {
		err = terminal.Reported(fault.New(fault.Denied, "denied"))
	}
	return err
}

// unknownOf says what the credential of a subject could add to its rights, and was not given.
func unknownOf(app *host.App, who authn.Principal, f principalFlags) string {
	p := app.Config().Policy
	asks := len(p.Roles) > 0 ||
		slices.ContainsFunc(p.Members, func(m policy.Membership) bool { return m.Holder.Kind == "group" })
	if who.Method != "" || len(f.groups)+len(f.roles) > 0 || !asks {
		return ""
	}
	return "the groups and roles of its credential are not known here; give them with --group, --role and --issuer"
}

// whyItem returns the item that why is about, with the arguments of a call.
func whyItem(ctx context.Context, inv *invocation.Invocation, app *host.App, name string, words []string,
	o *whyOptions) (item policy.Item, tool *catalog.Tool, args []byte, err error) {
	if o.resource || o.prompt {
		kind := policy.Resource
		if o.prompt {
			kind = policy.Prompt
		}
		if len(words) != 1 {
			return item, nil, nil, fault.New(fault.Usage, "why --%s takes SUBJECT, SERVER and the item", kind)
		}
		return policy.Item{Server: name, Kind: kind, Name: words[0]}, nil, nil, nil
	}
	wait := inv.Spin("asking for the tool")
	tool, err = items.FindTool(ctx, inv, app, name)
	wait.Stop()
	if err != nil {
		server, own, both := strings.Cut(name, "/")
		unlisted, configured := app.Unlisted(server, own)
		if !both || own == "" || !configured {
			if strings.Contains(name, "://") {
				err = fault.New(fault.Usage, "%s is a resource, and why without --resource is about tools", name).
					WithHint("write junctor why SUBJECT SERVER %s --resource", name)
			}
			return item, nil, nil, err
		}
		if _, known := app.Catalog.Known(server); known {
			inv.Warn(fmt.Sprintf("server %q lists no tool %q, so only its name is known", server, own), "")
		} else {
			inv.Warn(fmt.Sprintf("the lists of server %q are not known, so only the name of the tool is", server), "")
		}
		tool = unlisted
	}
	if len(words) > 0 {
		if args, err = arguments.Read(ctx, inv, tool.Input, words); err != nil {
			return item, nil, nil, err
		}
	}
	return policy.Item{Server: tool.Server, Kind: policy.Tool, Name: tool.Name}, tool, args, nil
}

func printWhy(inv *invocation.Invocation, w whyJSON) {
	inv.PrintFields("%s: %s %s of server %s for %s\n", strings.ToUpper(w.Decision), w.Kind, w.Item, w.Server, w.Subject)
	inv.PrintFields("because %s\n", w.Because)
	if w.Needs != "" {
		inv.PrintFields("needs %s\n", w.Needs)
	}
	if w.Approval != "" {
		inv.PrintFields("approval: %s\n", w.Approval)
	}
	if w.Unknown != "" {
		inv.PrintFields("note: %s\n", w.Unknown)
	}
	if w.Access != "" {
		inv.PrintFields("access: %s (%s)\n", w.Access, strings.Join(w.Reasons, ", "))
	}
	var roles []string
	for _, r := range w.Roles {
		text := r.Role + " (from " + r.From
		if !r.Known {
			text += ", not in the policy"
		}
		roles = append(roles, text+")")
	}
	if len(roles) > 0 {
		inv.PrintFields("roles: %s\n", strings.Join(roles, ", "))
	}
	var rows [][]string
	for _, r := range w.Rules {
		mark := "no"
		switch {
		case r.Decided:
			mark = "decides"
		case r.Matched:
			mark = "yes"
		}
		why := r.Why
		if r.When != "" {
			why = strings.TrimPrefix(why+": "+r.When, ": ")
		}
		rows = append(rows, []string{r.Rule, mark, why})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
		inv.Table([]string{"RULE", "MATCHES", "WHY"}, rows)
	}
	for i, c := range w.Changes {
		if i == 0 {
			inv.Printf("\n")
		}
		inv.Printf("%s\n", c)
	}
}
