package console

import (
	"net/http"

	"github.com/junctor-mcp/junctor/host/control"
)

// The waiting calls that a page shows with their arguments. All arguments of a call that
// can be approved are shown.
const (
	maxCards     = 20
	maxArguments = 512 << 10 // bytes in total, except for those of the first call
)

// An approvalsView is the content of the page of approvals.
type approvalsView struct {
	Waiting  []control.Approval // the oldest first
	More     int                // that wait too
	Answered []control.Approval
}

func showApprovals(w http.ResponseWriter, _ *http.Request, q *request) error {
	var v approvalsView
	shown := 0
	for _, a := range q.sources.Approvals.Approvals() {
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
	id, answer := r.PostForm.Get("id"), r.PostForm.Get("answer")
	if answer != "approve" && answer != "deny" {
		return errForm
	}
	if answer == "approve" && q.asked(id) {
		return q.done(w, r, "approvals", flash{Text: "You sent this call yourself. Another admin has to approve it.", Failed: true})
	}
	done, err := q.sources.Approvals.Approve(id, answer == "approve", q.session.name()+", in the console")
	if err != nil {
		return q.done(w, r, "approvals", failure(err))
	}
	text := "Denied: "
	if done.State == "approved" {
		text = "Approved: "
	}
	return q.done(w, r, "approvals", flash{Text: text + done.Kind + " " + done.Item + " of " + done.Server + " for " + done.Subject + "."})
}

// asked reports whether the person of the session sent the call that waits under an id. A
// one-time link proves the user who runs Junctor, who may approve everything with junctor
// approvals too.
func (q *request) asked(id string) bool {
	if q.session.link {
		return false
	}
	who := q.session.who
	for _, a := range q.sources.Approvals.Approvals() {
		if a.ID == id {
			return a.Subject == who.Subject && a.Tenant == who.Tenant
		}
	}
	return false
}
