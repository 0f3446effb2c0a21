package wire

import (
	"context"
	"io"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// AuthStart starts an authorizer.
func (c *Control) AuthStart(a AuthStartArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(ctx context.Context) error {
		s := c.server
		auth, ok := s.plugin.Auths[a.Component]
		if !ok {
			return missing("auth provider", a.Component)
		}
		if s.closing.Err() != nil {
			return shuttingDown()
		}
		started, err := auth.Start(ctx, &sdk.AuthServer{
			Name: a.Server, URL: a.URL, Tenant: a.Tenant, Dir: a.Dir, Env: a.Env, Log: s.log.With("server", a.Server),
			Host: s.host.services(a.Handle, a.Capability),
		}, a.Settings)
		if err != nil {
			return err
		}
		if started == nil {
			return sdk.Errorf(sdk.Internal, "Start of the auth provider returned no authorizer")
		}
		if err := s.addAuthorizer(ctx, a.Handle, started); err != nil {
			_ = closeIfCloser(started)
			return err
		}
		return nil
	})
	return nil
}

func (s *Server) addAuthorizer(ctx context.Context, handle string, a sdk.Authorizer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.closing.Err() != nil:
		return shuttingDown()
	case s.auths[handle] != nil:
		return sdk.Errorf(sdk.Internal, "authorizer %q exists already", handle)
	}
	s.auths[handle] = a
	return nil
}

// closeIfCloser closes v if it is an io.Closer.
func closeIfCloser(v any) error {
	if c, ok := v.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// AuthStop ends an authorizer.
func (c *Control) AuthStop(a AuthArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(context.Context) error {
		s := c.server
		s.mu.Lock()
		auth := s.auths[a.Handle]
		delete(s.auths, a.Handle)
		s.mu.Unlock()
		return closeIfCloser(auth)
	})
	return nil
}

// authorizer calls f with the authorizer of a handle.
func (c *Control) authorizer(call Call, handle string, f func(context.Context, sdk.Authorizer) error) Status {
	return c.do(call, func(ctx context.Context) error {
		c.server.mu.Lock()
		auth := c.server.auths[handle]
		c.server.mu.Unlock()
		if auth == nil {
			return sdk.Errorf(sdk.Unavailable, "authorizer %q was not started", handle)
		}
		return f(ctx, auth)
	})
}

// Authorize returns a credential for a request.
func (c *Control) Authorize(a AuthorizeArgs, r *AuthorizeReply) error {
	r.Status = c.authorizer(a.Call, a.Handle, func(ctx context.Context, auth sdk.Authorizer) error {
		cred, err := auth.Authorize(ctx, a.request())
		r.set(cred)
		return err
	})
	return nil
}

// Challenge reports a rejected credential.
func (c *Control) Challenge(a ChallengeArgs, r *ChallengeReply) error {
	r.Status = c.authorizer(a.Call, a.Handle, func(ctx context.Context, auth sdk.Authorizer) error {
		res, err := auth.Challenge(ctx, a.challenge())
		r.set(res)
		return err
	})
	return nil
}

// Login guides the user through a login. Account of the reply is the account
// that the user logged in to.
func (c *Control) Login(a LoginArgs, r *AuthStatusReply) error {
	r.Status = c.authorizer(a.Call, a.Handle, func(ctx context.Context, auth sdk.Authorizer) error {
		l, ok := auth.(sdk.Loginer)
		if !ok {
			return sdk.Errorf(sdk.Unimplemented, "this auth provider has no login")
		}
		account, err := l.Login(ctx, a.Scopes)
		r.Account = account
		return err
	})
	return nil
}

// Logout discards the credentials of a login.
func (c *Control) Logout(a AuthArgs, r *Reply) error {
	r.Status = c.authorizer(a.Call, a.Handle, func(ctx context.Context, auth sdk.Authorizer) error {
		l, ok := auth.(sdk.Loginer)
		if !ok {
			return sdk.Errorf(sdk.Unimplemented, "this auth provider has no login")
		}
		return l.Logout(ctx)
	})
	return nil
}

// AuthStatus returns the state of the login.
func (c *Control) AuthStatus(a AuthArgs, r *AuthStatusReply) error {
	r.Status = c.authorizer(a.Call, a.Handle, func(ctx context.Context, auth sdk.Authorizer) error {
		st, ok := auth.(sdk.AuthStatuser)
		if !ok {
			r.State = "unknown"
			return nil
		}
		s, err := st.Status(ctx)
		r.State, r.Account, r.Scopes, r.Expires, r.Ends = s.State, s.Account, s.Scopes, unixNano(s.Expires),
			unixNano(s.Ends)
		return err
	})
	return nil
}

func (a AuthorizeArgs) request() sdk.AuthRequest {
	return sdk.AuthRequest{Method: a.Method, URL: a.URL, Resource: a.Resource, Scopes: a.Scopes, Subject: a.Subject}
}

func authorizeArgs(r sdk.AuthRequest) AuthorizeArgs {
	return AuthorizeArgs{Method: r.Method, URL: r.URL, Resource: r.Resource, Scopes: r.Scopes, Subject: r.Subject}
}

func (a ChallengeArgs) challenge() sdk.Challenge {
	return sdk.Challenge{
		AuthRequest: sdk.AuthRequest{Method: a.Method, URL: a.URL, Resource: a.Resource, Scopes: a.Scopes,
			Subject: a.Subject},
		Status: a.HTTPStatus, WWWAuthenticate: a.WWWAuthenticate, Attempt: a.Attempt, Presented: a.Presented,
	}
}

func challengeArgs(c sdk.Challenge) ChallengeArgs {
	return ChallengeArgs{
		Method: c.Method, URL: c.URL, Resource: c.Resource, Scopes: c.Scopes, Subject: c.Subject,
		HTTPStatus: c.Status, WWWAuthenticate: c.WWWAuthenticate, Attempt: c.Attempt, Presented: c.Presented,
	}
}

func (r *AuthorizeReply) set(c sdk.Credential) {
	r.Headers, r.Query, r.Account, r.Name, r.Expires = c.Headers, c.Query, c.Account, c.Name, unixNano(c.Expires)
	r.PerRequest = c.PerRequest
}

func (r *AuthorizeReply) credential() sdk.Credential {
	return sdk.Credential{
		Headers: r.Headers, Query: r.Query, Account: r.Account, Name: r.Name, Expires: fromUnixNano(r.Expires),
		PerRequest: r.PerRequest,
	}
}

func (r *ChallengeReply) set(c sdk.ChallengeResult) {
	r.Retry, r.NeedsLogin, r.Reason, r.Scopes = c.Retry, c.NeedsLogin, c.Reason, c.Scopes
}

func (r *ChallengeReply) result() sdk.ChallengeResult {
	return sdk.ChallengeResult{Retry: r.Retry, NeedsLogin: r.NeedsLogin, Reason: r.Reason, Scopes: r.Scopes}
}

func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromUnixNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
