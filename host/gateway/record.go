package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A record makes the audit events of requests. A call that asks its client something ends
// several requests, and is one event.
type record struct {
	to         audit.Recorder
	unfinished *unfinishedCalls
}

func newRecord(to audit.Recorder) *record { return &record{to, newUnfinishedCalls(to)} }

// begin notes the time at which a request begins. Its error refuses the request, which is
// recorded then.
func (c *record) begin(r *request) (err error) {
	if r.renewal { // the client did not send it
		return nil
	}
	if r.recording, err = c.to.Begin(); !r.recording {
		return err
	}
	r.begun = time.Now()
	if c.unfinished.any() && r.modern {
		var given bool
		r.state, given = mcp.TextMember(r.params, "requestState")
		r.continues = given || mcp.Member(r.params, "inputResponses") != nil
	}
	if err != nil {
		c.end(r, response{}, err)
	}
	return err
}

// end records how a request ended.
func (c *record) end(r *request, resp response, err error) {
	if !r.recording {
		return
	}
	e := &audit.Event{Kind: audit.Request, Time: r.begun}
	r.describe(e)
	r.describeOutcome(e, resp, err)
	c.unfinished.resume(r, e)
	e.DurationMS = audit.Milliseconds(time.Since(e.Time))
	if state, ok := r.suspends(resp, err); ok && c.unfinished.add(r, state, e) {
		return
	}
	c.to.End(e)
}

// refuse records a request that reached no stage.
func (c *record) refuse(r *request, refused *rpcError) {
	if c.begin(r) == nil {
		c.end(r, response{}, refused)
	}
}

// note records an event about a request that is not the request itself.
func (c *record) note(r *request, kind audit.Kind, outcome audit.Outcome, by, detail string) {
	e := &audit.Event{Kind: kind, Time: time.Now(), By: by, Detail: detail, Outcome: outcome}
	r.describe(e)
	e.Outcome, e.Arguments = outcome, nil
	c.to.Note(e)
}

// describe sets what is known of a request.
func (r *request) describe(e *audit.Event) {
	p := &r.principal
	e.Tenant, e.Subject, e.Issuer, e.Proof = p.Tenant, p.Subject, p.Issuer, p.Method
	e.Roles, e.Groups = p.Roles, p.Groups
	e.RequestID, e.TraceID, e.Address, e.Client, e.Method = r.auditID(), r.traceID(), r.address, r.Client(), r.method
	switch {
	case r.local != nil:
		e.Transport = "cli"
	case local(r.principal):
		e.Transport = "stdio"
	default:
		e.Transport = "http"
	}
	if r.session != nil && !r.session.stateless {
		if e.Session = r.session.client.Session; e.Session == "" {
			e.Session = r.session.contextLabel()
		}
	}
	e.Hidden, e.Approval = r.hidden, r.approvalID
	e.Decision, e.Rule, e.RuleName, e.Policy = r.decision, policy.Recorded(r.rule), r.ruleName, r.policyDigest
	e.Server = cmp.Or(r.item.Server, r.failing)
	if e.Server == "" {
		e.Server = r.serverName()
	}
	e.ItemKind, e.Item = string(r.item.Kind), r.item.Name
	if r.item == (policy.Item{}) {
		e.Item = r.namedItem()
	}
	if r.tool != nil {
		e.Access, e.AccessSource = r.tool.Class.Kind.String(), string(r.tool.Class.Source)
		e.AccessConfidence = r.tool.Class.Confidence
	} else if r.item != (policy.Item{}) && r.item.Kind != policy.Tool {
		e.Access = policy.Read.String()
	}
	switch r.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		e.SetArguments(mcp.Member(r.params, "arguments"))
	}
}

// auditID returns the id of the request, and makes one for a client that sends none.
func (r *request) auditID() string {
	if r.requestID == "" {
		r.requestID = rand.Text()
	}
	return r.requestID
}

// traceID returns the trace of the request: that of its span, or else of the client.
func (r *request) traceID() string {
	if r.span != nil {
		if id := r.span.Context().TraceID(); id != "" {
			return id
		}
	}
	if r.inbound == nil {
		return ""
	}
	return r.inbound.parent.TraceID()
}

// namedItem returns the item that a request names and that was not found.
func (r *request) namedItem() string {
	switch r.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		name, _ := mcp.TextMember(r.params, "name")
		return name
	case mcp.MethodReadResource, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		uri, _ := mcp.TextMember(r.params, "uri")
		return uri
	}
	return ""
}

// describeOutcome sets how a request ended.
func (r *request) describeOutcome(e *audit.Event, resp response, err error) {
	if bad, ok := errors.AsType[*BadArguments](err); ok {
		e.Outcome, e.Code, e.Message = audit.Invalid, string(fault.CallArguments), bad.Error()
		return
	}
	if err != nil {
		e.Outcome, e.Code, e.Message = r.outcomeOf(err)
		if f, ok := errors.AsType[*fault.Error](err); ok {
			e.RetryAfterMS = int(f.RetryAfter.Milliseconds())
		}
		return
	}
	result, names, rpcErr := resp.result, r.names, []byte(nil)
	if resp.reply != nil {
		result, names, rpcErr = resp.reply.Result, resp.reply.Names, resp.reply.Error
	}
	if rpcErr != nil {
		e.Outcome, e.Code = audit.Failed, string(fault.UpstreamError)
		e.Message, _ = mcp.TextMember(rpcErr, "message")
		return
	}
	e.Outcome, e.ResultSize, e.Result = audit.OK, len(result), result
	if r.method == mcp.MethodCallTool && (len(result) <= smallResult || names.Maybe("isError")) && string(mcp.Member(result, "isError")) == "true" {
		e.Outcome, e.Code = audit.ToolError, string(fault.CallToolError)
	}
}

// smallResult bounds the results that are searched for members although it is not known
// which they have, in bytes.
const smallResult = 4 << 10

// outcomes has the outcomes of the faults that are not audit.Failed.
var outcomes = map[fault.Code]audit.Outcome{
	fault.Denied: audit.Denied, fault.Refused: audit.Denied,
	fault.ApprovalRequired: audit.ApprovalRequired, fault.ApprovalDenied: audit.ApprovalDenied,
	fault.NameUnknown: audit.Invalid, fault.CallArguments: audit.Invalid, fault.CallInput: audit.Invalid, fault.Usage: audit.Invalid,
	fault.CallCanceled: audit.Cancelled, fault.Interrupted: audit.Cancelled, fault.UpstreamStopped: audit.Cancelled,
	fault.CallTimeout: audit.Timeout, fault.UpstreamStartTimeout: audit.Timeout, fault.PluginStartTimeout: audit.Timeout,
	fault.LimitRate: audit.RateLimited, fault.UpstreamLimited: audit.RateLimited,
	fault.LimitConcurrent: audit.Overloaded, fault.GatewayOverloaded: audit.Overloaded, fault.UpstreamOverloaded: audit.Overloaded,
	fault.UpstreamLogin: audit.LoginRequired, fault.UpstreamAuth: audit.LoginRequired,
	fault.AuditUnavailable: audit.Unrecorded,
}

// outcomeOf returns the outcome of a request that ended with an error. A denied item looks
// to clients as if it did not exist; the record says that it was denied.
func (r *request) outcomeOf(err error) (o audit.Outcome, code, message string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		o, ok = outcomes[f.Code]
		switch {
		case err == errPanicked:
			o = audit.Panicked
		case r.denied && f.Code == fault.NameUnknown:
			return audit.Denied, string(fault.Denied), f.Message
		case !ok:
			o = audit.Failed
		}
		return o, string(f.Code), f.Message
	}
	e, ok := errors.AsType[*rpcError](err)
	switch {
	case r.denied:
		return audit.Denied, string(fault.Denied), err.Error()
	case errors.Is(err, context.Canceled):
		return audit.Cancelled, string(fault.CallCanceled), err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return audit.Timeout, string(fault.CallTimeout), err.Error()
	case !ok:
		return audit.Failed, string(fault.Internal), err.Error()
	case e.raw != nil:
		message, _ = mcp.TextMember(e.raw, "message")
		return audit.Failed, string(fault.UpstreamError), message
	case e.code == mcp.CodeInternal:
		return audit.Failed, string(fault.Internal), e.message
	}
	return audit.Invalid, "", e.Error()
}
