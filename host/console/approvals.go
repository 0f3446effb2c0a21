package console

import (
	"fmt"
	"net/http"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/control"
)

// The waiting calls that a page shows with their arguments. All arguments of a call that
// can be approved are shown.
const (
	maxCards     = 20
	maxArguments = 512 << 10 // bytes in total, except for those of the first call
)

// An approvalsView is the content of the page of approvals. The page approvals shows waiting
// calls and takes the answers.
type approvalsView struct {
	Waiting  []control.Approval // the oldest first
	More     int                // that wait too
	Answered []control.Approval
}

// person returns who the session belongs to, for approvals.
func (q *request) person() approval.Person {
	return approval.Person{Principal: q.session.who, Name: q.session.name() + ", in the console",
		Operator: q.role >= admin}
}

// approvals returns the calls that the session may see.
func (q *request) approvals() []control.Approval {
	return q.sources.Approvals.Calls(q.person(), q.role >= viewer)
}

// showApprovals writes the page. The goroutine of the request runs it and answerApproval, which
// keep no state.
func showApprovals(w http.ResponseWriter, _ *http.Request, q *request) error {
	var v approvalsView
	shown := 0
	for _, a := range q.approvals() {
		switch {
		case a.State != "waiting":
			v.Answered = append(v.Answered, a)
		case len(v.Waiting) < maxCards && (len(v.Waiting) == 0 || shown+len(a.Arguments) <= maxArguments):
			shown += len(a.Arguments)
			v.Waiting = append(v.Waiting, a)
		default:
			v.More++
		}
	}
	v.Answered = v.Answered[:min(len(v.Answered), pageSize)]
	q.show(w, http.StatusOK, "approvals", "Approvals", v)
	return nil
}

func answerApproval(w http.ResponseWriter, r *http.Request, q *request) error {
	id, answer, reason := r.PostForm.Get("id"), r.PostForm.Get("answer"), r.PostForm.Get("reason")
	var done *control.Approval
	var err error
	switch answer {
	case "approve", "deny":
		done, err = q.sources.Approvals.Answer(id,
			approval.Answer{Person: q.person(), Approve: answer == "approve", Reason: reason})
	case "revoke":
		done, err = q.sources.Approvals.Revoke(id, q.person())
	default:
		return errForm
	}
	if err != nil {
		return q.done(w, r, "approvals", failure(err))
	}
	return q.done(w, r, "approvals", flash{Text: answeredText(done) + done.Kind + " " + done.Item + " of " +
		done.Server + " for " + done.Subject + "."})
}

// answeredText says what came of an answer.
func answeredText(a *control.Approval) string {
	switch a.State {
	case "waiting":
		return fmt.Sprintf("Approved by %d of %d people: ", len(a.Given), a.Count)
	case "approved":
		return "Approved: "
	case "revoked":
		return "Revoked: "
	}
	return "Denied: "
}

// coversText says what an approval is for.
func coversText(covers string) string {
	if covers == "call" {
		return "this call, once, with these arguments"
	}
	return "everything of the " + covers + " for this client, whatever the arguments, until it ends"
}
