package wire

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
)

// AuthStart starts an authorizer. Later calls name it by a.Handle.
func (c *Client) AuthStart(ctx context.Context, a AuthStartArgs) error {
	a.Call = c.call.begin(ctx)
	r, err := invoke[Reply](ctx, &c.call, "AuthStart", a.Call, a)
	if err != nil {
		return err
	}
	return r.Status.Err()
}

// Authorizer returns an authorizer in the plugin. It implements
// [sdk.Authorizer], [sdk.Loginer] and [sdk.AuthStatuser]. Methods that the
// plugin's authorizer lacks fail with code Unimplemented.
func (c *Client) Authorizer(handle string) *RemoteAuthorizer {
	return &RemoteAuthorizer{client: c, handle: handle}
}

// A RemoteAuthorizer is an authorizer in a plugin.
type RemoteAuthorizer struct {
	client *Client
	handle string
}

// Authorize returns a credential for the request.
func (a *RemoteAuthorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	args := authorizeArgs(r)
	args.Call, args.Handle = a.client.call.begin(ctx), a.handle
	reply, err := invoke[AuthorizeReply](ctx, &a.client.call, "Authorize", args.Call, args)
	if err != nil {
		return sdk.Credential{}, err
	}
	return reply.credential(), reply.Status.Err()
}

// Challenge reports a rejected credential.
func (a *RemoteAuthorizer) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	args := challengeArgs(c)
	args.Call, args.Handle = a.client.call.begin(ctx), a.handle
	reply, err := invoke[ChallengeReply](ctx, &a.client.call, "Challenge", args.Call, args)
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	return reply.result(), reply.Status.Err()
}

// Login guides the user through a login and returns the account.
func (a *RemoteAuthorizer) Login(ctx context.Context, scopes []string) (string, error) {
	call := a.client.call.begin(ctx)
	r, err := invoke[AuthStatusReply](ctx, &a.client.call, "Login", call,
		LoginArgs{Call: call, Handle: a.handle, Scopes: scopes})
	if err != nil {
		return "", err
	}
	return r.Account, r.Status.Err()
}

// Logout discards the credentials of the login.
func (a *RemoteAuthorizer) Logout(ctx context.Context) error { return a.plain(ctx, "Logout") }

// Status returns the state of the login.
func (a *RemoteAuthorizer) Status(ctx context.Context) (sdk.AuthStatus, error) {
	call := a.client.call.begin(ctx)
	r, err := invoke[AuthStatusReply](ctx, &a.client.call, "AuthStatus", call, AuthArgs{Call: call, Handle: a.handle})
	if err != nil {
		return sdk.AuthStatus{}, err
	}
	return sdk.AuthStatus{State: r.State, Account: r.Account, Scopes: r.Scopes, Expires: fromUnixNano(r.Expires),
		Ends: fromUnixNano(r.Ends)}, r.Status.Err()
}

// Stop ends the authorizer in the plugin.
func (a *RemoteAuthorizer) Stop(ctx context.Context) error { return a.plain(ctx, "AuthStop") }

func (a *RemoteAuthorizer) plain(ctx context.Context, method string) error {
	call := a.client.call.begin(ctx)
	r, err := invoke[Reply](ctx, &a.client.call, method, call, AuthArgs{Call: call, Handle: a.handle})
	if err != nil {
		return err
	}
	return r.Status.Err()
}
