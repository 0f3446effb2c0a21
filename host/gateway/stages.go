package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/seal"
)

// Every request passes the same stages in the same order, whether it comes over
// HTTP, over standard input or from the command line. Authentication and the
// limits of sessions and addresses come before, where a connection is accepted:
// a request exists only with a principal (package httpserver, [Session.Accept]).

// A handler serves a request. Its error is an [*rpcError], a [*BadArguments] or a
// fault.
type handler func(ctx context.Context, u *use) (response, error)

// A stage wraps the next handler with one step in the processing of a request.
type stage func(next handler) handler

// A pipeline holds what the stages use.
type pipeline struct {
	opts      Options
	suspended *suspendedCalls
	states    *seal.Codec
	audit     *record
}

// stages lists the stages of a request, outermost first. It is the only place
// that decides their order. All of them are on the stack while a server works: a
// stage does in a method of its own what it does before next, so that its frame
// stays small and the goroutine of a request needs no larger stack.
func (p *pipeline) stages() []stage {
	return []stage{
		p.trace,        // metrics and the span of the request
		p.recoverPanic, // a panic fails this request only
		p.record,       // audit, of refusals as well
		p.offerLogin,   // where a login is all that is missing
		p.bound,        // the time of the request
		p.resolve,      // the name of a client to an item of a server, pins and defaults to arguments
		p.openState,    // what the client of an earlier request carries back
		p.announce,     // events of calls, of denied ones as well
		p.authorize,    // the only decision of the policy about this request
		p.validate,     // arguments against the item's definition
		p.confirm,      // a person's approval
		p.count,        // requests of each server, for the status of the process
		p.limit,        // rates and concurrency
	}
}

// handler returns the stages with the dispatch to a route behind them.
func (p *pipeline) handler() handler {
	h := handler(func(ctx context.Context, u *use) (response, error) { return u.route.serve(ctx, u) })
	for _, s := range slices.Backward(p.stages()) {
		h = s(h)
	}
	return h
}

func (p *pipeline) recoverPanic(next handler) handler {
	return func(ctx context.Context, u *use) (resp response, err error) {
		defer fault.Recover(&err, p.opts.Log, "", "serving "+u.method)
		return next(ctx, u)
	}
}

// errPanicked is the outcome of a request that a panic ended.
var errPanicked = fault.Because(fault.Internal, fault.ErrPanic, "the request ended")

func (p *pipeline) record(next handler) handler {
	return func(ctx context.Context, u *use) (resp response, err error) {
		if err := p.audit.begin(u); err != nil {
			return response{}, err
		}
		defer func() { p.audit.end(u, resp, err) }()
		err = errPanicked // until next returns
		return next(ctx, u)
	}
}

func (p *pipeline) resolve(next handler) handler {
	return func(ctx context.Context, u *use) (response, error) {
		if u.route.resolve != nil {
			begun := time.Now()
			if err := u.route.resolve(ctx, u); err != nil {
				if u.failing != "" {
					p.opts.Usage.Failed(u.failing, begun)
				}
				return response{}, err
			}
		}
		return next(ctx, u)
	}
}

// arguments returns the arguments of a tool call as the server gets them; nil for
// any other request.
func (u *use) arguments() []byte {
	if u.method != mcp.MethodCallTool {
		return nil
	}
	return mcp.Member(u.params, "arguments")
}

func (p *pipeline) validate(next handler) handler {
	return func(ctx context.Context, u *use) (response, error) {
		if u.route.validate != nil && u.resumed == nil {
			if err := u.route.validate(ctx, u); err != nil {
				return response{}, err
			}
		}
		return next(ctx, u)
	}
}

func (p *pipeline) confirm(next handler) handler {
	return func(ctx context.Context, u *use) (response, error) {
		if u.approval != nil && u.resumed == nil {
			waits, resume := u.part("approval"), u.clock.pause()
			question, err := p.awaitApproval(ctx, u)
			resume()
			waits.End(outcome.Of(err))
			if question != nil || err != nil {
				return response{result: question}, err
			}
			if err := redecide(u); err != nil {
				return response{}, err
			}
			if u.tool != nil {
				if err := u.checkPin(ctx); err != nil { // it may have changed while it waited
					return response{}, err
				}
			}
			u.permit = u.permit.Approved()
		}
		return next(ctx, u)
	}
}

func (p *pipeline) limit(next handler) handler {
	return func(ctx context.Context, u *use) (response, error) {
		if u.item == (policy.Item{}) || u.resumed != nil {
			return next(ctx, u)
		}
		if err := p.acquire(ctx, u); err != nil {
			return response{}, err
		}
		defer func() { u.keepPlace()() }()
		return next(ctx, u)
	}
}

func (p *pipeline) acquire(ctx context.Context, u *use) (err error) {
	limited := !local(u.principal) || u.local != nil && u.local.Limited
	if u.method != mcp.MethodCallTool || !limited {
		return nil
	}
	waits := u.part("limits")
	defer func() { waits.End(outcome.Of(err)) }()
	u.leave, err = p.opts.Limit.Acquire(
		ctx,
		limit.Call{
			Tenant:    u.principal.Tenant,
			Principal: u.principal.Key(),
			Roles:     u.principal.Roles,
			Server:    u.item.Server,
			Tool:      u.item.Name,
		},
	)
	if err != nil {
		u.limitedBy = limitScope(err)
		return limitError(u, err)
	}
	return nil
}

// keepPlace returns what gives back the place of a call under the limits of its tool.
// The place is the caller's then: a suspended call keeps it until it ends.
func (u *use) keepPlace() (leave func()) {
	leave, u.leave = u.leave, nil
	if leave == nil {
		return func() {}
	}
	return leave
}

func (p *pipeline) count(next handler) handler {
	return func(ctx context.Context, u *use) (resp response, err error) {
		if u.item == (policy.Item{}) || u.resumed != nil {
			return next(ctx, u)
		}
		end := p.opts.Usage.Begin(u.item.Server)
		defer func() { end(u.outcome(resp, err) != outcome.OK) }()
		err = errPanicked // until next returns
		return next(ctx, u)
	}
}
