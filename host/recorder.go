package host

import (
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A recorder records what happens in the process: in the audit log, and as events for the
// programs that watch it. The Process has one. It is immutable and may be used concurrently;
// its methods do not wait for the disk.
type recorder struct {
	audit  *audit.Log
	events *event.Stream
	hide   func(string) string // masks secrets
}

// noteReload records a reload.
func (r *recorder) noteReload(by string, changes *Reloaded, diags source.Diagnostics, err error) {
	e := &audit.Event{Kind: audit.Reload, Outcome: audit.OK, By: by}
	if err == nil && changes == nil {
		err = diags.Err()
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	if changes != nil {
		e.Detail = fmt.Sprintf("generation %d", changes.Generation) + changeText(
			changes.Added, changes.Changed, changes.Removed,
		)
	}
	r.audit.Note(e)
}

// noteTools records that the tools of a server changed.
func (r *recorder) noteTools(c catalog.ToolsChange) {
	detail := changeText(c.Added, c.Changed, c.Removed) + namesText("held back", c.Held)
	r.audit.Note(&audit.Event{
		Kind:    audit.ToolChange,
		Server:  c.Server,
		Outcome: audit.OK,
		Detail:  strings.TrimPrefix(detail, "; "),
	})
}

// noteRestart records that an operator restarted a server. err is that of the new connection.
func (r *recorder) noteRestart(begun time.Time, server, by string, err error) {
	e := &audit.Event{
		Kind:       audit.Restart,
		Time:       begun,
		DurationMS: audit.Milliseconds(time.Since(begun)),
		Server:     server,
		By:         by,
		Outcome:    audit.OK,
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	r.audit.Note(e)
}

// notePlugin records a change of a plugin's process.
func (r *recorder) notePlugin(name, server string, state plugin.State, err error) {
	e := &audit.Event{Kind: audit.PluginStart, Plugin: name, Server: server, Outcome: audit.OK}
	switch state {
	case plugin.Backoff:
		e.Kind = audit.PluginCrash
	case plugin.Quarantined:
		e.Kind = audit.Quarantine
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	r.audit.Note(e)
}

// noteLogin records a login or a logout.
func (r *recorder) noteLogin(kind audit.Kind, begun time.Time, server, tenant, account string, err error) {
	e := &audit.Event{
		Kind:       kind,
		Time:       begun,
		DurationMS: audit.Milliseconds(time.Since(begun)),
		Server:     server,
		Tenant:     tenant,
		Outcome:    audit.OK,
	}
	if account != "" {
		e.Detail = "as " + account
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	r.audit.Note(e)
}

// noteLock records that a person accepted tools or a plugin.
func (r *recorder) noteLock(c pins.Change, err error) {
	detail := namesText("accepted", c.Accepted) + namesText("forgotten", c.Forgotten)
	if p := c.Plugin; p.Name != "" {
		detail = "accepted plugin " + p.Name
		if p.Version != "" {
			detail += " " + p.Version
		}
		detail += " with sha256 " + p.SHA256
	}
	r.noteToolChange(c.Server, c.By, detail, err)
}

// noteToolChange records that a person or a configuration accepted tools.
func (r *recorder) noteToolChange(server, by, detail string, err error) {
	e := &audit.Event{
		Kind:    audit.ToolChange,
		Server:  server,
		By:      by,
		Outcome: audit.OK,
		Detail:  strings.TrimPrefix(detail, "; "),
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	r.audit.Note(e)
}

// noteConnection records that an operator has connected or disconnected a server.
func (r *recorder) noteConnection(kind audit.Kind, begun time.Time, server, by string, err error) {
	e := &audit.Event{
		Kind:       kind,
		Time:       begun,
		DurationMS: audit.Milliseconds(time.Since(begun)),
		Server:     server,
		By:         by,
		Outcome:    audit.OK,
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	r.audit.Note(e)
}

// noteAnswer records that a person approved or denied a call, or took that back, or that it
// was not answered in time.
func (r *recorder) noteAnswer(p *approval.Pending) {
	c, e := p.Call, approvalEvent(p)
	e.SetArguments(c.Arguments)
	var last approval.Given
	if n := len(p.Given); n > 0 {
		last = p.Given[n-1]
		e.By = last.By
	}
	switch p.State {
	case approval.Denied:
		e.Outcome, e.Detail = audit.ApprovalDenied, "denied"
	case approval.Revoked:
		e.Outcome, e.Detail = audit.ApprovalDenied, "revoked"
	case approval.Expired:
		e.Outcome, e.Detail, e.By, last = audit.ApprovalDenied, "expired", "", approval.Given{}
	default:
		if count := c.Terms.Count(); count > 1 {
			e.Detail = fmt.Sprintf("given, %d of %d", len(p.Given), count)
		}
	}
	if last.Reason != "" {
		e.Detail += ": " + last.Reason
	}
	r.audit.Note(e)
}

// approvalEvent returns the event of an entry that was approved.
func approvalEvent(p *approval.Pending) *audit.Event {
	c := p.Call
	return &audit.Event{
		Kind:     audit.Approval,
		Outcome:  audit.OK,
		Detail:   "given",
		By:       p.By,
		Rule:     policy.Recorded(c.Rule),
		RuleName: c.RuleName,
		Approval: p.ID,
		Client:   c.Client,
		Server:   c.Item.Server,
		ItemKind: string(c.Item.Kind),
		Item:     c.Item.Name,
		Tenant:   c.Principal.Tenant,
		Subject:  c.Principal.Subject,
		Issuer:   c.Principal.Issuer,
		Proof:    c.Principal.Method,
	}
}

// noteServerFailure records that a server could not be reached, or that the list of a method
// could not be read.
func noteServerFailure(to audit.Recorder, server, tenant, method string, err error) {
	f := fault.As(err)
	e := &audit.Event{
		Kind:    audit.ServerFailure,
		Server:  server,
		Tenant:  tenant,
		Method:  method,
		Outcome: audit.Failed,
		Plugin:  f.Plugin,
		Code:    string(f.Code),
		Message: f.Message,
	}
	if isLoginMissing(err) {
		e.Outcome = audit.LoginRequired
	}
	to.Note(e)
}

// noteFailures returns a function that records the failures of a connection. A failure that
// follows another one with the same code is not recorded: each call makes a new attempt.
func noteFailures(to audit.Recorder, server, tenant string) func(upstream.State, error) {
	var failed fault.Code // "": the connection was never made, or is ready
	return func(s upstream.State, why error) {
		switch s {
		case upstream.Ready:
			failed = ""
		case upstream.Failed:
			if code := fault.As(why).Code; code != failed {
				failed = code
				noteServerFailure(to, server, tenant, "", why)
			}
		}
	}
}

// maxChangeNames is the number of names of each kind of change in a row.
const maxChangeNames = 50

// changeText lists changes, each kind after a semicolon.
func changeText(added, changed, removed []string) (text string) {
	return namesText("added", added) + namesText("changed", changed) + namesText("removed", removed)
}

// namesText lists names after a semicolon. It is empty without names.
func namesText(what string, names []string) (text string) {
	n := len(names)
	if n == 0 {
		return ""
	}
	text = "; " + what + " " + strings.Join(names[:min(n, maxChangeNames)], ", ")
	if n > maxChangeNames {
		text += fmt.Sprintf(" and %d more", n-maxChangeNames)
	}
	return text
}
