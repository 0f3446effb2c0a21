package gateway

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/seal"
)

// Every request passes the same stages in the same order, whether it comes over HTTP, over standard input or
// from the command line. Authentication and the limits of sessions and addresses come before, where a
// connection is accepted: a request exists only with a principal (package httpserver, [Session.Accept]).
//
// serve and attempt call the stages, and are the only place that decides their order.

// A handler serves a request. Its error is an [*rpcError], a [*BadArguments] or a
// fault. It runs on the goroutine of the request.
type handler func(ctx context.Context, u *use) (response, error)

// A pipeline holds what the stages use. New makes it. It is immutable, so that requests share
// it; what a stage learns goes to the use.
type pipeline struct {
	opts      Options
	suspended *suspendedCalls
	states    *seal.Codec
	audit     *record
}

// errPanicked is the outcome of a request that a panic ended.
var errPanicked = fault.Because(fault.Internal, fault.ErrPanic, "the request ended")

// serve takes a request through the stages that learn of every end: recover, trace and record.
// A panic fails this request only.
func (p *pipeline) serve(ctx context.Context, u *use) (resp response, err error) {
	defer fault.Recover(&err, p.opts.Log, "", "serving "+u.method)
	err = errPanicked                                  // until there is an outcome
	ctx, observation := observe(ctx, u.pendingRequest) // metrics and the span of the request
	defer func() { observed(u, observation, resp, err) }()
	if err := p.audit.begin(u); err != nil { // audit, of refusals as well
		return response{}, err
	}
	defer func() { p.audit.end(u, resp, err) }()
	return p.offerLogin(ctx, u)
}

// dispatch goes on with the suspended call that a request continues, or attempts a new request.
// Both have the time of a request.
func (p *pipeline) dispatch(ctx context.Context, u *use) (resp response, err error) {
	ctx, u.clock = startClock(ctx, u.time)
	defer u.clock.stop()
	if id, ok := p.continues(u); ok {
		resp, err = p.resume(ctx, u, id)
	} else {
		resp, err = p.attempt(ctx, u)
	}
	return resp, u.clock.explain(err, u)
}

// attempt takes a new request through the other stages to its route. The order of its stages is
// that of docs/architecture.md.
func (p *pipeline) attempt(ctx context.Context, u *use) (resp response, err error) {
	// The name of a client to an item of a server, pins and defaults to arguments.
	if err := p.resolve(ctx, u); err != nil {
		return response{}, err
	}
	// The state of an earlier request that the client carries back.
	if err := p.openState(ctx, u); err != nil {
		return response{}, err
	}
	defer p.returnState(ctx, u)
	err = errPanicked // until there is an outcome

	// Events of calls, of denied ones as well.
	announced := p.announce(u)
	defer func() { announced.end(u, resp, err) }()

	// The only decision of the policy about this request.
	if err := authorize(u); err != nil {
		return response{}, err
	}
	// Arguments against the item's definition.
	if err := validate(ctx, u); err != nil {
		return response{}, err
	}
	// A person's approval.
	if question, err := p.confirm(ctx, u); question != nil || err != nil {
		return response{result: question}, err
	}
	// Requests of each server, for the status of the process.
	counted := p.count(u)
	defer func() { counted(u.outcome(resp, err) != outcome.OK) }()

	// Rates and concurrency.
	if err := p.limit(ctx, u); err != nil {
		return response{}, err
	}
	defer func() { u.keepPlace()() }()
	return u.route.serve(ctx, u)
}

func (p *pipeline) resolve(ctx context.Context, u *use) error {
	if u.route.resolve == nil {
		return nil
	}
	begun := time.Now()
	err := u.route.resolve(ctx, u)
	if err != nil && u.failing != "" {
		p.opts.Usage.Failed(u.failing, begun)
	}
	return err
}

func validate(ctx context.Context, u *use) error {
	if u.route.validate == nil {
		return nil
	}
	return u.route.validate(ctx, u)
}

// confirm waits for the approval that the policy asks for. It returns a question if the client
// is to ask its person and to send the request again.
func (p *pipeline) confirm(ctx context.Context, u *use) (question []byte, err error) {
	if u.approval == nil {
		return nil, nil
	}
	waits, resume := u.part("approval"), u.clock.pause()
	question, err = p.awaitApproval(ctx, u)
	resume()
	waits.End(outcome.Of(err))
	if question != nil || err != nil {
		return question, err
	}
	if err := redecide(u); err != nil {
		return nil, err
	}
	if u.tool != nil {
		if err := checkPin(ctx, u); err != nil { // it may have changed while it waited
			return nil, err
		}
	}
	u.permit = u.permit.Approved()
	return nil, nil
}

// count counts a request for its server, until end is called.
func (p *pipeline) count(u *use) (end func(failed bool)) {
	if u.item == (policy.Item{}) {
		return func(bool) {}
	}
	return p.opts.Usage.Begin(u.item.Server)
}

// limit waits for a place under the limits of the tool that a request calls.
func (p *pipeline) limit(ctx context.Context, u *use) (err error) {
	if u.method != mcp.MethodCallTool || !u.limited {
		return nil
	}
	waits := u.part("limits")
	defer func() { waits.End(outcome.Of(err)) }()
	u.leave, err = p.opts.Limit.Acquire(ctx, limit.Call{
		Tenant:    u.principal.Tenant,
		Principal: u.principal.Key(),
		Roles:     u.principal.Roles,
		Server:    u.item.Server,
		Tool:      u.item.Name,
	})
	if err != nil {
		u.limitedBy = limitScope(err)
		return limitError(u, err)
	}
	return nil
}

// keepPlace returns what gives back the place of a call under the limits of its tool.
// The place is the caller's then: a suspended call keeps it until it ends. attempt calls it
// after the route, for a place that no route has kept.
func (u *use) keepPlace() (leave func()) {
	leave, u.leave = u.leave, nil
	if leave == nil {
		return func() {}
	}
	return leave
}
