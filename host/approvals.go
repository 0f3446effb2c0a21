package host

import (
	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/control"
)

// Approvals returns what waits for an approval, and what was approved or denied.
func (a *App) Approvals() []control.Approval {
	all := []control.Approval{}
	if a.approvals == nil {
		return all
	}
	for _, p := range a.approvals.All() {
		all = append(all, a.approvalOf(&p))
	}
	return all
}

// Approve approves or denies what waits under an id. by is who does.
func (a *App) Approve(id string, approve bool, by string) (*control.Approval, error) {
	p, err := a.approvals.Answer(id, approve, by)
	if err != nil {
		return nil, err
	}
	done := a.approvalOf(p)
	a.noteAnswer(p)
	a.opts.Log.Info("a call was "+done.State, "id", id, "server", done.Server, "item", done.Item, "subject", done.Subject, "tenant", done.Tenant, "by", by)
	return &done, nil
}

// RevokeApproval takes back an approval. by is who does.
func (a *App) RevokeApproval(id, by string) (*control.Approval, error) {
	p, err := a.approvals.Revoke(id, by)
	if err != nil {
		return nil, err
	}
	done := a.approvalOf(p)
	a.noteAnswer(p)
	a.opts.Log.Info("an approval was revoked", "id", id, "server", done.Server, "item", done.Item, "subject", done.Subject, "tenant", done.Tenant, "by", by)
	return &done, nil
}

func (a *App) approvalOf(p *approval.Pending) control.Approval {
	c := p.Call
	one := control.Approval{
		ID: p.ID, State: string(p.State), Since: p.Since, Expires: p.Expires, Times: p.Times, By: p.By,
		Subject: c.Principal.Subject, Tenant: c.Principal.Tenant, Method: c.Principal.Method, Issuer: c.Principal.Issuer, Client: c.Client,
		Server: c.Item.Server, Kind: string(c.Item.Kind), Item: c.Item.Name, Covers: string(c.Terms.Covers), Rule: c.Rule,
	}
	if c.Item.Kind == "tool" {
		one.Arguments = approval.Show(c.Arguments, a.redactor.hide)
	}
	if c.Others != nil {
		one.Arguments += "\nbeside its arguments: " + approval.Show(c.Others, a.redactor.hide)
	}
	return one
}
