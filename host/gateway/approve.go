package gateway

import (
	"cmp"
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// awaitApproval is the work of the stage confirm. It returns nil when a request may proceed that the policy
// wants to be confirmed. It returns a result if a modern client is to ask its person first. It runs on the
// goroutine of the request and blocks until a person has decided. It sets approvalID of u and keeps nothing
// else; the waiting approvals belong to package approval.
func (p *pipeline) awaitApproval(ctx context.Context, u *use) (result []byte, err error) {
	c := approvalCall(u)
	continues := u.carried != nil && u.carried.Kind == stateOfServer
	if continues && u.carried.approved == c.Key() {
		return nil, nil // the server of a call that was approved has asked its client something
	}
	if ok, err := p.opts.Approval.Use(c); ok || err != nil {
		return nil, err
	}
	if asksPerson(u) && !continues {
		answer, result, err := askForApproval(ctx, u, c.Key())
		switch {
		case err != nil:
			return nil, err
		case result != nil:
			p.audit.note(u, audit.Approval, "", "", "asked at the client")
			return result, nil
		case answer == acceptedApproval:
			p.opts.Approval.Approve(c)
			p.audit.note(u, audit.Approval, audit.OK, "the client", "given")
			return nil, nil
		case answer == declinedApproval:
			p.audit.note(u, audit.Approval, audit.ApprovalDenied, "the client", "denied")
			return nil, fault.In(
				u.item.Server,
				fault.New(fault.ApprovalDenied, "%s %q was not approved", u.item.Kind, clip(u.requested)),
			)
		}
	}
	if u.client.era() == era.Both {
		return nil, approvalMissing(u)
	}
	p.audit.note(u, audit.Approval, "", "", "asked of "+cmp.Or(u.approval.Needs(), "an operator"))
	c.Waits = func(id string) { reportApproval(u, id) }
	err = p.opts.Approval.Confirm(ctx, c)
	if fault.Is(err, fault.GatewayOverloaded) {
		return nil, faultError(err, u.modern()) // the client learns which limit it is
	}
	if id := approval.WaitingID(err); id != "" {
		e := clientError(u.pendingRequest, err)
		e.raw = mcp.SetPath(e.raw, []string{"data", "approval"}, mcp.AppendText(nil, id))
		return nil, e
	}
	return nil, err
}

// redecide asks the policy in effect about a call that may have waited for a person while the
// configuration was read again: it may deny now what it asked about then, or ask for more.
func redecide(u *use) error {
	now := u.gw.generations.current()
	if now == u.generation {
		return nil
	}
	q := u.query(u.item)
	if u.method == mcp.MethodCallTool {
		q.Args = u.arguments()
	}
	d := now.Policy.Decide(&q)
	switch {
	case d.Verdict == policy.Deny:
		u.rule, u.ruleName, u.decision, u.denied = d.Because(), d.Name, d.Verdict.String(), true
		u.policyDigest = now.Policy.Digest()
		if now.Policy.Explains() {
			return refusal(u, d)
		}
		return u.notFound()
	case d.Approval() != nil:
		before, after := approvalCall(u), approvalCall(u)
		after.Terms = *d.Approval()
		if before.Key() != after.Key() {
			return fault.In(u.item.Server, fault.New(
				fault.ApprovalRequired, "the rule that asks about %s %q has changed while it waited", u.item.Kind,
				clip(u.requested),
			).
				WithHint("send the same request again, which then waits under the new rule"))
		}
	}
	return nil
}

// reportApproval tells a client that wants progress that its call waits for a person.
func reportApproval(u *use, id string) {
	if !u.takeProgress() {
		return
	}
	text := mcp.AppendText(nil, fmt.Sprintf("waits for the approval of another person, under the id %s", id))
	u.startReports++
	u.progress.report(fmt.Appendf(nil, `{"progress":%g,"message":%s}`, float64(u.startReports)*startProgress, text))
}

// asksPerson reports whether the person who makes the request may approve it.
func asksPerson(u *use) bool {
	return u.approval.ByClient || u.approval.AtTerminal && u.client.era() == era.Both
}

// approvalMissing returns the error of a single command whose person was not asked.
func approvalMissing(u *use) error {
	why := u.client.absent()
	_, whole := approvalQuestion(u)
	hint := "run the command yourself at a terminal"
	switch {
	case !asksPerson(u):
		why, hint = "another person has to give it, for whom a single command does not wait", ""
	case !whole:
		why, hint = fmt.Sprintf("its arguments have more than %d KiB, which are too many to show", maxAsked>>10), ""
	case why == "":
		why = "the terminal cannot ask"
	}
	if hint != "" {
		hint += ", or "
	}
	return fault.In(u.item.Server, fault.New(
		fault.ApprovalRequired, "%s %q needs an approval: %s", u.item.Kind, clip(u.requested), why,
	).
		WithHint("%scall it through junctor serve; junctor approvals then shows the call (%s)", hint, u.rule))
}

// approvalCall describes the request to a person.
func approvalCall(u *use) *approval.Call {
	arguments := u.arguments()
	if u.method == mcp.MethodGetPrompt {
		arguments = mcp.Member(u.params, "arguments")
	}
	return &approval.Call{
		Principal: u.principal,
		Item:      u.item,
		Arguments: arguments,
		Others:    otherMembers(u),
		Terms:     *u.approval,
		Rule:      u.rule,
		RuleName:  u.ruleName,
		Client:    u.Client(),
		Finds:     func(id string) { u.approvalID = id },
	}
}

// otherMembers returns what the params have beside the item, its arguments and what belongs to
// the protocol, or nil. The server gets it, so an approval is for it, too.
func otherMembers(u *use) (others []byte) {
	for name, value := range mcp.Members(u.params) {
		switch name {
		case "name", "uri", "arguments", "_meta", "requestState", "inputResponses":
		default:
			others = mcp.SetMember(others, name, value)
		}
	}
	return others
}

// An approvalAnswer is what the person at the client said.
type approvalAnswer int

const (
	notAsked approvalAnswer = iota // the client cannot ask its person
	acceptedApproval
	declinedApproval
)

// askForApproval asks the person at the client: at the terminal, with a request to a legacy client, or with a
// result for a modern client, which sends the request again with the answer. key says what the approval is for.
func askForApproval(
	ctx context.Context, u *use, key approval.Key,
) (answer approvalAnswer, result []byte, err error) {
	params, whole := approvalQuestion(u)
	if !whole || u.client.absent() != "" || question.Check(u.client.capabilities(), mcp.MethodElicit, params) != nil {
		return notAsked, nil, nil // an approval must be for what is not shown
	}
	if u.modern() {
		return askWithResult(u, key, params)
	}
	result, _ = u.client.ask(ctx, clientQuestion{
		upstream: u.generation.upstream(u.item.Server),
		method:   mcp.MethodElicit,
		params:   params,
		to:       u.out,
	})
	return approvalOf(result), nil, nil
}

// askWithResult is askForApproval for a modern client.
func askWithResult(u *use, key approval.Key, params []byte) (answer approvalAnswer, result []byte, err error) {
	if c := u.carried; c != nil && c.Kind == stateOfApproval && c.approved == key {
		answer = approvalOf(c.answer)
		c.sent.Store(answer == declinedApproval) // no is the end of it
		return answer, nil, nil
	}
	state, err := u.seal(stateOfApproval, key[:])
	request := mcp.SetMember([]byte(`{"method":"elicitation/create"}`), "params", params)
	questions := mcp.SetMember(nil, approvalKey, request)
	return notAsked, mcp.SetMember(era.InputRequired(questions), "requestState", mcp.AppendText(nil, state)), err
}

// approvalKey is the key of the question for an approval. Clients send it back, perhaps to
// another process: it must stay.
const approvalKey = "junctor/approval"

// approvalOf returns what the result of an elicitation says. No answer is no.
func approvalOf(result []byte) approvalAnswer {
	if action, _ := mcp.TextMember(result, "action"); action == "accept" {
		return acceptedApproval
	}
	return declinedApproval
}

// approvalQuestion returns the params of the elicitation. They show the arguments that the client sent, and not
// those that the configuration adds. whole is false if they are too long to be shown.
func approvalQuestion(u *use) (params []byte, whole bool) {
	text := fmt.Sprintf(
		"Junctor asks for your approval.\n\n%s %s of server %s", u.item.Kind, approval.Visible(u.requested),
		approval.Visible(u.item.Server),
	)
	shown := ""
	switch u.method {
	case mcp.MethodCallTool:
		shown = "\n" + approval.Show(u.given, nil)
	case mcp.MethodGetPrompt:
		shown = "\n" + approval.Show(mcp.Member(u.params, "arguments"), nil)
	}
	if others := otherMembers(u); others != nil {
		shown += "\nbeside its arguments: " + approval.Show(others, nil)
	}
	text += shown
	switch {
	case u.approval.Covers == "tool":
		text += fmt.Sprintf("\n\nYour approval is for all calls of this tool during %s.", u.approval.Valid)
	case u.approval.Covers == "server":
		text += fmt.Sprintf("\n\nYour approval is for everything of this server during %s.", u.approval.Valid)
	}
	return mcp.SetMember([]byte(`{"requestedSchema":{"type":"object","properties":{}}}`), "message",
		mcp.AppendText(nil, text)), len(shown) <= maxAsked
}

// maxAsked bounds the arguments in a question to the person at a client, in bytes.
const maxAsked = 8 << 10
