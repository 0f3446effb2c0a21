package host

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Approvals are the calls of a process that need an approval, for those who see and answer
// them. Package control and the console use it; the calls that wait are in package approval. Its methods
// may be called concurrently.
type Approvals struct{ app *App }

// Approvals returns the calls of the process that need an approval.
func (a *App) Approvals() Approvals { return Approvals{a} }

// Bars reports whether the policy in effect denies a principal everything.
func (d Approvals) Bars(p authn.Principal) bool { return d.rules().Bars(&p) }

// Calls returns what waits for an approval, and what was approved or denied, as a person may
// see it: those who are neither operators nor viewers get what they may answer.
func (d Approvals) Calls(who approval.Person, viewer bool) []control.Approval {
	all := []control.Approval{}
	if d.app.process.approvals == nil {
		return all
	}
	for _, p := range d.app.process.approvals.All() {
		refusal := p.MayApprove(who, d.rules())
		if refusal == nil || viewer || who.Operator || p.Answered(who) {
			all = append(all, d.approvalOf(&p, refusal))
		}
	}
	return all
}

// rules returns the policy in effect.
func (d Approvals) rules() *policy.Policy { return d.app.current.Load().offered.Policy }

// IsApprover reports whether a rule of the policy in effect names a principal as an approver.
func (d Approvals) IsApprover(p authn.Principal) bool { return d.rules().IsApprover(&p) }

// Answer approves or denies what waits under an id.
func (d Approvals) Answer(id string, answer approval.Answer) (*control.Approval, error) {
	p, err := d.app.process.approvals.Answer(id, answer, d.rules())
	if err != nil {
		d.noteRefused(id, answer.Person, err)
		return nil, err
	}
	done := d.approvalOf(p, d.refusalOf(p, answer.Person))
	d.app.process.record.noteAnswer(p)
	d.app.process.opts.Log.Info(
		"a call was "+answeredWord(p),
		"id", id,
		"server", done.Server,
		"item", done.Item,
		"subject", done.Subject,
		"tenant", done.Tenant,
		"by", answer.Person.Name,
	)
	return &done, nil
}

// noteRefused records that a person was refused who wanted to approve or deny a call.
func (d Approvals) noteRefused(id string, who approval.Person, err error) {
	for _, p := range d.app.process.approvals.All() {
		if p.ID == id && fault.Is(err, fault.ApprovalRefused) {
			e := approvalEvent(&p)
			f := fault.As(err)
			e.Outcome = audit.ApprovalDenied
			e.Detail = "answer refused"
			e.By = who.Name
			e.Code = string(f.Code)
			e.Message = f.Message
			d.app.process.audit.Note(e)
		}
	}
}

// refusalOf returns why a person could not have approved an entry before they answered it.
func (d Approvals) refusalOf(p *approval.Pending, who approval.Person) error {
	before := *p
	before.Given = nil
	return before.MayApprove(who, d.rules())
}

// answeredWord says what came of an answer.
func answeredWord(p *approval.Pending) string {
	if p.State == approval.Waiting {
		return fmt.Sprintf("approved by %d of %d people", len(p.Given), p.Call.Terms.Count())
	}
	return string(p.State)
}

// Revoke takes back an approval.
func (d Approvals) Revoke(id string, who approval.Person) (*control.Approval, error) {
	p, err := d.app.process.approvals.Revoke(id, who, d.rules())
	if err != nil {
		return nil, err
	}
	done := d.approvalOf(p, d.refusalOf(p, who))
	d.app.process.record.noteAnswer(p)
	d.app.process.opts.Log.Info(
		"an approval was revoked",
		"id", id,
		"server", done.Server,
		"item", done.Item,
		"subject", done.Subject,
		"tenant", done.Tenant,
		"by", who.Name,
	)
	return &done, nil
}

// approvalOf describes an entry to a person. refusal is why they cannot approve it. Arguments
// that the audit log never stores are shown to those only who have to judge them.
func (d Approvals) approvalOf(p *approval.Pending, refusal error) control.Approval {
	c := p.Call
	one := control.Approval{
		ID:      p.ID,
		State:   string(p.State),
		Since:   p.Since,
		Expires: p.Expires,
		Times:   p.Times,
		By:      p.By,
		Subject: c.Principal.Subject,
		Tenant:  c.Principal.Tenant,
		Method:  c.Principal.Method,
		Issuer:  c.Principal.Issuer,
		Client:  c.Client,
		Server:  c.Item.Server,
		Kind:    string(c.Item.Kind),
		Item:    c.Item.Name,
		Covers:  string(c.Terms.Covers),
		Rule:    c.Rule,
		Needs:   c.Terms.Needs(),
		Count:   c.Terms.Count(),
		Reason:  c.Terms.AsksReason(),
	}
	for _, g := range p.Given {
		one.Given = append(one.Given, control.Given{By: g.By, Reason: g.Reason, At: g.At})
	}
	if refusal != nil {
		one.Refusal = fault.As(refusal).Message
	}
	if hides := redacts(
		d.app.Config().Audit.Redact,
	); refusal != nil && hides != nil && hides(c.Item.Server, c.Item.Name) {
		one.Hidden = c.Item.Kind == policy.Tool || c.Others != nil
		return one
	}
	if c.Item.Kind == policy.Tool {
		one.Arguments = approval.Show(c.Arguments, d.app.process.redactor.hide)
	}
	if c.Others != nil {
		one.Arguments += "\nbeside its arguments: " + approval.Show(c.Others, d.app.process.redactor.hide)
	}
	return one
}
