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

// A record makes the audit events of requests. A call that asks its client something ends several requests, and
// is one event. The Gateway has one. It is immutable after New and may be used concurrently; the events belong
// to the goroutine of the request until they are given to the recorder. For metrics and spans see trace.go.
type record struct {
	to         audit.Recorder
	unfinished *unfinishedCalls
}

func newRecord(to audit.Recorder) *record { return &record{to, newUnfinishedCalls(to)} }

// begin notes the time at which a request begins. Its error refuses the request, which is recorded then.
func (c *record) begin(u *use) (err error) {
	if u.renewal { // the client did not send it
		return nil
	}
	if u.recording, err = c.to.Begin(); !u.recording {
		return err
	}
	u.begun = time.Now()
	if c.unfinished.any() && u.modern() {
		var given bool
		u.state, given = mcp.TextMember(u.params, "requestState")
		u.continues = given || mcp.Member(u.params, "inputResponses") != nil
	}
	if err != nil {
		c.end(u, response{}, err)
	}
	return err
}

// end records how a request ended.
func (c *record) end(u *use, resp response, err error) {
	if !u.recording {
		return
	}
	e := &audit.Event{Kind: audit.Request, Time: u.begun}
	describeUse(u, e)
	describeOutcome(u, e, resp, err)
	c.unfinished.resume(u, e)
	e.DurationMS = audit.Milliseconds(time.Since(e.Time))
	if state, ok := suspends(u, resp, err); ok && c.unfinished.add(u, state, e) {
		return
	}
	c.to.End(e)
}

// refuse records a request that reached no stage.
func (c *record) refuse(r *pendingRequest, refused *rpcError) {
	if u := newUse(r); c.begin(u) == nil {
		c.end(u, response{}, refused)
	}
}

// note records an event about a request that is not the request itself.
func (c *record) note(u *use, kind audit.Kind, outcome audit.Outcome, by, detail string) {
	e := &audit.Event{Kind: kind, Time: time.Now(), By: by, Detail: detail, Outcome: outcome}
	describeUse(u, e)
	e.Outcome, e.Arguments = outcome, nil
	c.to.Note(e)
}

// describeUse sets what is known of a request.
func describeUse(u *use, e *audit.Event) {
	p := &u.principal
	e.Tenant, e.Subject, e.Issuer, e.Proof = p.Tenant, p.Subject, p.Issuer, p.Method
	e.Roles, e.Groups = p.Roles, p.Groups
	e.RequestID, e.TraceID, e.Address, e.Client, e.Method = u.auditID(), u.traceID(), u.address, u.Client(), u.method
	e.Transport = u.transport
	if u.session != nil && !u.session.stateless {
		if e.Session = u.session.client.Session; e.Session == "" {
			e.Session = u.session.contextLabel()
		}
	}
	e.Hidden, e.Approval = u.hidden, u.approvalID
	e.Decision, e.Rule, e.RuleName, e.Policy = u.decision, policy.Recorded(u.rule), u.ruleName, u.policyDigest
	e.Server = cmp.Or(u.item.Server, u.failing)
	if e.Server == "" {
		e.Server = u.serverName()
	}
	e.ItemKind, e.Item = string(u.item.Kind), u.item.Name
	if u.item == (policy.Item{}) {
		e.Item = namedItem(u)
	}
	if u.tool != nil {
		e.Access, e.AccessSource = u.tool.Class.Kind.String(), string(u.tool.Class.Source)
		e.AccessConfidence = u.tool.Class.Confidence
	} else if u.item != (policy.Item{}) && u.item.Kind != policy.Tool {
		e.Access = policy.Read.String()
	}
	switch u.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		e.SetArguments(mcp.Member(u.params, "arguments"))
	}
}

// auditID returns the id of the request, and makes one for a client that sends none.
func (r *pendingRequest) auditID() string {
	if r.requestID == "" {
		r.requestID = rand.Text()
	}
	return r.requestID
}

// traceID returns the trace of the request: that of its span, or else of the client.
func (r *pendingRequest) traceID() string {
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
func namedItem(u *use) string {
	switch u.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		name, _ := mcp.TextMember(u.params, "name")
		return name
	case mcp.MethodReadResource, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		uri, _ := mcp.TextMember(u.params, "uri")
		return uri
	}
	return ""
}

// describeOutcome sets how a request ended.
func describeOutcome(u *use, e *audit.Event, resp response, err error) {
	if bad, ok := errors.AsType[*BadArguments](err); ok {
		e.Outcome, e.Code, e.Message = audit.Invalid, string(fault.CallArguments), bad.Error()
		return
	}
	if err != nil {
		e.Outcome, e.Code, e.Message = outcomeOf(u, err)
		if f, ok := errors.AsType[*fault.Error](err); ok {
			e.RetryAfterMS = int(f.RetryAfter.Milliseconds())
		}
		return
	}
	result, names, rpcErr := resp.result, resp.names, []byte(nil)
	if resp.reply != nil {
		result, names, rpcErr = resp.reply.Result, resp.reply.Names, resp.reply.Error
	}
	if rpcErr != nil {
		e.Outcome, e.Code = audit.Failed, string(fault.UpstreamError)
		e.Message, _ = mcp.TextMember(rpcErr, "message")
		return
	}
	e.Outcome, e.ResultSize, e.Result = audit.OK, len(result), result
	if u.method == mcp.MethodCallTool && (len(result) <= smallResult || names.Maybe("isError")) &&
		string(mcp.Member(result, "isError")) == "true" {
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
	fault.NameUnknown: audit.Invalid, fault.CallArguments: audit.Invalid,
	fault.CallInput: audit.Invalid, fault.Usage: audit.Invalid,
	fault.CallCanceled: audit.Cancelled, fault.Interrupted: audit.Cancelled, fault.UpstreamStopped: audit.Cancelled,
	fault.CallTimeout: audit.Timeout, fault.UpstreamStartTimeout: audit.Timeout,
	fault.PluginStartTimeout: audit.Timeout,
	fault.LimitRate:          audit.RateLimited, fault.UpstreamLimited: audit.RateLimited,
	fault.LimitConcurrent: audit.Overloaded, fault.GatewayOverloaded: audit.Overloaded,
	fault.UpstreamOverloaded: audit.Overloaded,
	fault.UpstreamLogin:      audit.LoginRequired, fault.UpstreamAuth: audit.LoginRequired,
	fault.AuditUnavailable: audit.Unrecorded,
}

// outcomeOf returns the outcome of a request that ended with an error. A denied item looks
// to clients as if it did not exist; the record says that it was denied.
func outcomeOf(u *use, err error) (o audit.Outcome, code, message string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		o, ok = outcomes[f.Code]
		switch {
		case err == errPanicked:
			o = audit.Panicked
		case u.denied && f.Code == fault.NameUnknown:
			return audit.Denied, string(fault.Denied), f.Message
		case !ok:
			o = audit.Failed
		}
		return o, string(f.Code), f.Message
	}
	e, ok := errors.AsType[*rpcError](err)
	switch {
	case u.denied:
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
