package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// awaitApproval returns nil when a request may proceed that the policy wants to be
// confirmed. It returns a result if a modern client is to ask its person first.
func (p *pipeline) awaitApproval(ctx context.Context, r *request) (question []byte, err error) {
	c := r.approvalCall()
	if ok, err := p.opts.Approval.Use(c); ok || err != nil {
		return nil, err
	}
	if c.Terms.ByClient && !c.Continues {
		answer, question := r.askForApproval(ctx, p.questions)
		switch {
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
	p.audit.note(r, audit.Approval, "", "", "asked of an operator")
	return nil, p.opts.Approval.Confirm(ctx, c)
}

// approvalCall describes the request to a person.
func (r *request) approvalCall() *approval.Call {
	state, _ := mcp.TextMember(r.params, "requestState")
	arguments := r.arguments()
	if r.method == mcp.MethodGetPrompt {
		arguments = mcp.Member(r.params, "arguments")
	}
	return &approval.Call{
		Principal: r.principal, Item: r.item, Arguments: arguments, Terms: *r.approval, Rule: r.rule, Client: r.Client(),
		Continues: state != "" && !strings.HasPrefix(state, approvalPrefix),
	}
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
// request again with the answer.
func (r *request) askForApproval(ctx context.Context, asked *approvalQuestions) (_ approvalAnswer, question []byte) {
	params, whole := r.approvalQuestion()
	switch {
	case !whole:
		return notAsked, nil // an approval must be for what is not shown
	case r.local != nil:
		if r.gw.local.client == nil || checkQuestion(r.gw.local.client.Capabilities(), mcp.MethodElicit, params) != nil {
			return notAsked, nil
		}
		result, _ := r.gw.local.client.Answer(ctx, "", mcp.MethodElicit, params)
		return approvalOf(result), nil
	case !r.modern:
		if checkQuestion(r.session.capabilities(), mcp.MethodElicit, params) != nil {
			return notAsked, nil
		}
		result, _ := r.session.askClient(ctx, r.out, r.generation.upstream(r.item.Server), mcp.MethodElicit, params)
		return approvalOf(result), nil
	case checkQuestion(r.caps, mcp.MethodElicit, params) != nil:
		return notAsked, nil
	}
	binding := r.stateBinding(r.item.Server)
	if state, ok := mcp.TextMember(r.params, "requestState"); ok && asked.take(state, binding) {
		answer := mcp.Member(r.params, "inputResponses", approvalKey)
		for _, name := range []string{"requestState", "inputResponses"} {
			r.params = mcp.DeleteMember(r.params, name)
		}
		return approvalOf(answer), nil
	}
	request := mcp.SetMember([]byte(`{"method":"elicitation/create"}`), "params", params)
	questions := mcp.SetMember(nil, approvalKey, request)
	return notAsked, mcp.SetMember(era.InputRequired(questions), "requestState", mcp.AppendText(nil, asked.add(binding)))
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

const (
	approvalPrefix = "junctor.a."
	maxAsked       = 1000
)

// approvalQuestions holds the states of the questions that modern clients were asked. Each
// is valid once, for AskTime, and for the request that it was made for.
type approvalQuestions struct {
	states *stateCodec

	mu    sync.Mutex
	asked map[stateID]time.Time // guarded by mu; when it was asked
}

func newApprovalQuestions() *approvalQuestions {
	return &approvalQuestions{states: newStateCodec(approvalPrefix), asked: map[stateID]time.Time{}}
}

// add returns the state of a new question. Above maxAsked the oldest is forgotten, and
// its client is asked again.
func (q *approvalQuestions) add(binding []byte) string {
	var id stateID
	_, _ = rand.Read(id[:]) // never fails
	q.mu.Lock()
	defer q.mu.Unlock()
	var oldest stateID
	for other, when := range q.asked {
		if time.Since(when) > AskTime {
			delete(q.asked, other)
		} else if first, ok := q.asked[oldest]; !ok || when.Before(first) {
			oldest = other
		}
	}
	if len(q.asked) >= maxAsked {
		delete(q.asked, oldest)
	}
	q.asked[id] = time.Now()
	return q.states.seal(id, binding)
}

// take reports whether a state is that of a question about this request.
func (q *approvalQuestions) take(state string, binding []byte) bool {
	if !strings.HasPrefix(state, approvalPrefix) {
		return false
	}
	id, err := q.states.open(state, binding)
	if err != nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	when, ok := q.asked[id]
	delete(q.asked, id)
	return ok && time.Since(when) <= AskTime
}
