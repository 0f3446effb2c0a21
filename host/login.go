package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	defaultLoginTime = 5 * time.Minute // for the user to log in, unless the settings say otherwise
	providerTime     = time.Minute     // in addition, for the provider's own requests before and after
)

// LoginTime returns the time limit of a login to a server.
func LoginTime(s *config.Server) time.Duration {
	var settings struct {
		Time string `json:"login_timeout"`
	}
	if s.Auth != nil {
		_ = json.Unmarshal(s.Auth.Settings, &settings) // other providers have no such setting
	}
	if d, err := time.ParseDuration(settings.Time); err == nil && d > 0 {
		return min(d, time.Hour)
	}
	return defaultLoginTime
}

// login is App.Login for one generation. It blocks until the login has ended.
func (c connector) login(
	ctx context.Context,
	s *config.Server,
	tenant string,
	p sdk.Person,
	scopes []string,
) (account string, err error) {
	limit := LoginTime(s)
	ctx, cancel := context.WithTimeoutCause(ctx, limit+providerTime, errLoginTimeout)
	defer cancel()
	ended := c.p.record.announceLogin(s.Name, tenant)
	defer func() { ended(err) }()
	begun := time.Now()
	defer func() { c.p.record.noteLogin(audit.Login, begun, s.Name, tenant, account, err) }()
	err = c.withLoginer(s, tenant, p, func(auth sdk.Loginer) error {
		var err error
		account, err = auth.Login(ctx, scopes)
		return err
	})
	c.dropLists(s, err)
	if err != nil && context.Cause(ctx) == errLoginTimeout {
		return "", c.g.locateAuth(
			s,
			fault.New(
				fault.LoginFailed, "the login was not completed within %s", limit,
			).WithHint("run the login again"),
		)
	}
	return account, err
}

// errLoginTimeout is the cause of a login that exceeds its time limit.
var errLoginTimeout = errors.New("the login takes too long")

// logout is App.Logout for one generation.
func (c connector) logout(ctx context.Context, s *config.Server, tenant string) (err error) {
	begun := time.Now()
	defer func() { c.p.record.noteLogin(audit.Logout, begun, s.Name, tenant, "", err) }()
	if s.Auth != nil {
		// a refresh in another process would store them again
		if lock := c.g.opts.Dirs.secretsLock(c.g.owner(s, tenant)); lock != nil {
			release, err := lock(ctx)
			if err != nil {
				return fault.In(
					s.Name,
					fault.Because(
						fault.LoginFailed, err, "another process is busy with the credentials",
					).WithHint("try again in a moment"),
				)
			}
			defer release()
		}
	}
	err = c.withLoginer(s, tenant, nil, func(auth sdk.Loginer) error { return auth.Logout(ctx) })
	c.dropLists(s, err)
	return err
}

// dropLists removes the lists on disk of a server after a login or logout that did not fail:
// those of another account may differ.
func (c connector) dropLists(s *config.Server, failed error) {
	if failed == nil {
		catalog.Drop(c.g.opts.Dirs.Cache, c.g.cacheKey(s))
	}
}

// withLoginer calls f with an authorizer that may ask the person p. It makes an authorizer for
// one call of f and closes it.
func (c connector) withLoginer(s *config.Server, tenant string, p sdk.Person, f func(sdk.Loginer) error) error {
	if s.Auth == nil {
		return fault.In(s.Name, fault.New(
			fault.Usage, "the server has no auth block, so there is nothing to log in to",
		))
	}
	auth := c.authorizer(s, tenant, sdk.Host{Secrets: c.g.secrets.Scope(c.g.owner(s, tenant)), Person: p})
	defer auth.Close()
	if err := f(auth); err != nil {
		return c.g.locateAuth(s, notLoggedIn(err))
	}
	c.p.credentials.Forget(c.g.credentialKey(s, tenant))
	return nil
}

// notLoggedIn gives the error of a login the code LoginFailed or Interrupted. It
// keeps errors about the settings, the plugin and the secret store.
func notLoggedIn(err error) error {
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Code == sdk.Invalid || e.Code == sdk.Internal || e.Code == sdk.Panicked || strings.HasPrefix(
		string(fault.As(err).Code), "secret.",
	) {
		return err
	}
	f := *fault.As(err)
	if f.Code = fault.LoginFailed; e.Reason == "interrupted" {
		f.Code = fault.Interrupted
	}
	return &f
}

// An AuthState is the state of the credentials of a server.
type AuthState struct {
	sdk.AuthStatus
	Broker credential.State // the state of the broker in this process
	Stored string           // the store in which the provider found a secret; empty: none found
}

// authState is App.AuthState for one generation.
func (c connector) authState(ctx context.Context, s *config.Server, tenant string) (AuthState, error) {
	// Questions for a password come before the time of the provider begins.
	if _, err := c.g.resolveSecrets(ctx, s.Auth.Settings, c.g.authRecipient(s)); err != nil {
		return AuthState{}, c.g.locateAuth(s, err)
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(statusTime, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	looked := &secretsRecorder{Secrets: c.g.secrets.Scope(c.g.owner(s, tenant)), clock: late}
	auth := c.authorizer(s, tenant, sdk.Host{Secrets: looked})
	defer auth.Close()
	status, err := auth.Status(within)
	if err != nil && ctx.Err() == nil && context.Cause(within) == context.DeadlineExceeded {
		err = unanswered(s.Auth.Plugin, statusTime)
	}
	if err != nil {
		return AuthState{}, c.g.locateAuth(s, err)
	}
	state := AuthState{AuthStatus: status, Broker: c.p.credentials.State(c.g.credentialKey(s, tenant))}
	if looked.found.Load() {
		state.Stored = c.g.secrets.Where()
	}
	return state, nil
}

// statusTime limits an auth provider's answer about its state, with the start of its plugin
// and without the time in which the host reads a secret.
const statusTime = 5 * time.Second

// unanswered returns the fault for a plugin that did not answer a question in time.
func unanswered(plugin string, limit time.Duration) *fault.Error {
	f := fault.New(fault.PluginUnresponsive, "plugin %q did not answer within %d s", plugin, int(limit.Seconds())).
		WithHint("run `junctor plugin logs %s`", plugin)
	f.Plugin = plugin
	return f
}

// A secretsRecorder passes calls on to Secrets and records whether a secret was
// found. The clock stands still during a call, which may ask for a password. One login state
// has it; its methods may be called concurrently.
type secretsRecorder struct {
	sdk.Secrets
	clock *time.Timer
	found atomic.Bool
}

func (r *secretsRecorder) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	if r.clock.Stop() {
		defer r.clock.Reset(statusTime)
	}
	value, found, err := r.Secrets.Secret(ctx, key)
	if found {
		r.found.Store(true)
	}
	return value, found, err
}

func (g *generation) locateAuth(s *config.Server, err error) error { return locateIn(s, s.Auth, err) }
