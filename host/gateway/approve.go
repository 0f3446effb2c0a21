package gateway

import (
	"cmp"
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/seal"
)

// awaitApproval returns nil when a request may proceed that the policy wants to be
// confirmed. It returns a result if a modern client is to ask its person first.
func (p *pipeline) awaitApproval(ctx context.Context, r *request) (question []byte, err error) {
	c := r.approvalCall()
	continues := r.carried != nil && r.carried.Kind == stateOfServer
	if continues && r.carried.approved == c.Key() {
		return nil, nil // the server of a call that was approved has asked its client something
	}
	if ok, err := p.opts.Approval.Use(c); ok || err != nil {
		return nil, err
	}
	if r.asksPerson() && !continues {
		answer, question, err := r.askForApproval(ctx, c.Key())
		switch {
		case err != nil:
			return nil, err
		case question != nil:
			p.audit.note(r, audit.Approval, "", "", "asked at the client")
			return question, nil
		case answer == acceptedApproval:
			p.opts.Approval.Approve(c)
			p.audit.note(r, audit.Approval, audit.OK, "the client", "given")
			return nil, nil
		case answer == declinedApproval:
			p.audit.note(r, audit.Approval, audit.ApprovalDenied, "the client", "denied")
			return nil, fault.In(r.item.Server, fault.New(fault.ApprovalDenied, "%s %q was not approved", r.item.Kind, clip(r.requested)))
		}
	}
	if r.local != nil {
		return nil, r.notAsked()
	}
	p.audit.note(r, audit.Approval, "", "", "asked of "+cmp.Or(r.approval.Needs(), "an operator"))
	c.Waits = r.reportApproval
	err = p.opts.Approval.Confirm(ctx, c)
	if fault.Is(err, fault.GatewayOverloaded) {
		return nil, faultError(err, r.modern) // the client learns which limit it is
	}
	if id := approval.WaitingID(err); id != "" {
		e := r.fault(err)
		e.raw = mcp.SetPath(e.raw, []string{"data", "approval"}, mcp.AppendText(nil, id))
		return nil, e
	}
	return nil, err
}

// redecide asks the policy in effect about a call that may have waited for a person while the
// configuration was read again: it may deny now what it asked about then, or ask for more.
func (r *request) redecide() error {
	now := r.gw.generations.current()
	if now == r.generation {
		return nil
	}
	q := r.query(r.item)
	if r.method == mcp.MethodCallTool {
		q.Args = r.arguments()
	}
	d := now.Policy.Decide(&q)
	switch {
	case d.Verdict == policy.Deny:
		r.rule, r.ruleName, r.decision, r.denied, r.policyDigest = d.Because(), d.Name, d.Verdict.String(), true, now.Policy.Digest()
		if now.Policy.Explains() {
			return r.refusal(d)
		}
		return r.notFound()
	case d.Approval() != nil:
		before, after := r.approvalCall(), r.approvalCall()
		after.Terms = *d.Approval()
		if before.Key() != after.Key() {
			return fault.In(r.item.Server, fault.New(fault.ApprovalRequired, "the rule that asks about %s %q has changed while it waited", r.item.Kind, clip(r.requested)).
				WithHint("send the same request again, which then waits under the new rule"))
		}
	}
	return nil
}

// reportApproval tells a client that wants progress that its call waits for a person.
func (r *request) reportApproval(id string) {
	if !r.takeProgress() {
		return
	}
	text := mcp.AppendText(nil, fmt.Sprintf("waits for the approval of another person, under the id %s", id))
	r.startReports++
	r.progress.report(fmt.Appendf(nil, `{"progress":%g,"message":%s}`, float64(r.startReports)*startProgress, text))
}

// asksPerson reports whether the person who makes the request may approve it.
func (r *request) asksPerson() bool {
	return r.approval.ByClient || r.approval.AtTerminal && r.local != nil
}

// notAsked returns the error of a single command whose person was not asked.
func (r *request) notAsked() error {
	why := r.gw.local.absent()
	_, whole := r.approvalQuestion()
	hint := "run the command yourself at a terminal"
	switch {
	case !r.asksPerson():
		why, hint = "another person has to give it, for whom a single command does not wait", ""
	case !whole:
		why, hint = fmt.Sprintf("its arguments have more than %d KiB, which are too many to show", mostAsked>>10), ""
	case why == "":
		why = "the terminal cannot ask"
	}
	if hint != "" {
		hint += ", or "
	}
	return fault.In(r.item.Server, fault.New(fault.ApprovalRequired, "%s %q needs an approval: %s", r.item.Kind, clip(r.requested), why).
		WithHint("%scall it through junctor serve; junctor approvals then shows the call (%s)", hint, r.rule))
}

// approvalCall describes the request to a person.
func (r *request) approvalCall() *approval.Call {
	arguments := r.arguments()
	if r.method == mcp.MethodGetPrompt {
		arguments = mcp.Member(r.params, "arguments")
	}
	return &approval.Call{
		Principal: r.principal, Item: r.item, Arguments: arguments, Others: r.otherMembers(), Terms: *r.approval, Rule: r.rule, RuleName: r.ruleName, Client: r.Client(),
		Finds: func(id string) { r.approvalID = id },
	}
}

// otherMembers returns what the params have beside the item, its arguments and what belongs to
// the protocol, or nil. The server gets it, so an approval is for it, too.
func (r *request) otherMembers() (others []byte) {
	for name, value := range mcp.Members(r.params) {
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

// askForApproval asks the person at the client: at the terminal, with a request to a
// legacy client, or with the result question for a modern client, which sends the
// request again with the answer. key says what the approval is for.
func (r *request) askForApproval(ctx context.Context, key approval.Key) (_ approvalAnswer, question []byte, err error) {
	params, whole := r.approvalQuestion()
	switch {
	case !whole:
		return notAsked, nil, nil // an approval must be for what is not shown
	case r.local != nil:
		if r.gw.local.absent() != "" || checkQuestion(r.gw.local.client.Capabilities(), mcp.MethodElicit, params) != nil {
			return notAsked, nil, nil
		}
		result, _ := r.gw.local.client.Answer(ctx, "", mcp.MethodElicit, params)
		return approvalOf(result), nil, nil
	case !r.modern:
		if checkQuestion(r.session.capabilities(), mcp.MethodElicit, params) != nil {
			return notAsked, nil, nil
		}
		result, _ := r.session.askClient(ctx, r.out, r.generation.upstream(r.item.Server), mcp.MethodElicit, params)
		return approvalOf(result), nil, nil
	case checkQuestion(r.caps, mcp.MethodElicit, params) != nil:
		return notAsked, nil, nil
	}
	if c := r.carried; c != nil && c.Kind == stateOfApproval && c.approved == key {
		answer := approvalOf(c.answer)
		c.sent.Store(answer == declinedApproval) // no is the end of it
		return answer, nil, nil
	}
	state, err := r.seal(stateOfApproval, seal.NewID(), key[:])
	request := mcp.SetMember([]byte(`{"method":"elicitation/create"}`), "params", params)
	questions := mcp.SetMember(nil, approvalKey, request)
	return notAsked, mcp.SetMember(era.InputRequired(questions), "requestState", mcp.AppendText(nil, state)), err
}

// approvalKey is the key of the question for an approval.
const approvalKey = "junctor/approval"

// approvalOf returns what the result of an elicitation says. No answer is no.
func approvalOf(result []byte) approvalAnswer {
	if action, _ := mcp.TextMember(result, "action"); action == "accept" {
		return acceptedApproval
	}
	return declinedApproval
}

// approvalQuestion returns the params of the elicitation. They show the arguments that
// the client sent, and not those that the configuration adds. whole is false if they are too
// long to be shown.
func (r *request) approvalQuestion() (params []byte, whole bool) {
	text := fmt.Sprintf("Junctor asks for your approval.\n\n%s %s of server %s", r.item.Kind, approval.Visible(r.requested), approval.Visible(r.item.Server))
	shown := ""
	switch r.method {
	case mcp.MethodCallTool:
		shown = "\n" + approval.Show(r.given, nil)
	case mcp.MethodGetPrompt:
		shown = "\n" + approval.Show(mcp.Member(r.params, "arguments"), nil)
	}
	if others := r.otherMembers(); others != nil {
		shown += "\nbeside its arguments: " + approval.Show(others, nil)
	}
	text += shown
	switch {
	case r.approval.Covers == "tool":
		text += fmt.Sprintf("\n\nYour approval is for all calls of this tool during %s.", r.approval.Valid)
	case r.approval.Covers == "server":
		text += fmt.Sprintf("\n\nYour approval is for everything of this server during %s.", r.approval.Valid)
	}
	return mcp.SetMember([]byte(`{"requestedSchema":{"type":"object","properties":{}}}`), "message", mcp.AppendText(nil, text)), len(shown) <= mostAsked
}

// mostAsked bounds the arguments in a question to the person at a client, in bytes.
const mostAsked = 8 << 10
