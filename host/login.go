package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	defaultLoginTime = 5 * time.Minute // for a person to log in, where the settings do not say
	providerTime     = time.Minute     // besides, for what the provider asks before and after the person
)

// LoginTime is how long a person has for a login to a server.
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

// login walks a person through a login to a server, on behalf of a tenant, and
// returns whom the server knows. Scopes are asked for besides the configured
// ones.
func (a *generation) login(ctx context.Context, s *config.Server, tenant string, p sdk.Person, scopes []string) (account string, err error) {
	limit := LoginTime(s)
	ctx, cancel := context.WithTimeoutCause(ctx, limit+providerTime, errLoginTimeout)
	defer cancel()
	err = a.asAuth(s, tenant, p, func(auth sdk.Loginer) error {
		var err error
		account, err = auth.Login(ctx, scopes)
		return err
	})
	if err != nil && context.Cause(ctx) == errLoginTimeout {
		return "", a.locateAuth(s, fault.New(fault.LoginFailed, "the login was not completed within %s", limit).WithHint("run the login again"))
	}
	return account, err
}

// errLoginTimeout ends a login that takes too long.
var errLoginTimeout = errors.New("the login takes too long")

// logout forgets what a login obtained, here and, where it can, at the server.
func (a *generation) logout(ctx context.Context, s *config.Server, tenant string) error {
	if s.Auth != nil {
		if lock := a.lock(a.owner(s, tenant)); lock != nil { // a refresh elsewhere would bring back what is forgotten
			release, err := lock(ctx)
			if err != nil {
				return fault.In(s.Name, fault.Because(fault.LoginFailed, err, "another process is busy with the credentials").WithHint("try again in a moment"))
			}
			defer release()
		}
	}
	return a.asAuth(s, tenant, nil, func(auth sdk.Loginer) error { return auth.Logout(ctx) })
}

// asAuth lets f use an authorizer that may ask a person.
func (a *generation) asAuth(s *config.Server, tenant string, p sdk.Person, f func(sdk.Loginer) error) error {
	if s.Auth == nil {
		return fault.In(s.Name, fault.New(fault.Usage, "the server has no auth block, so there is nothing to log in to"))
	}
	auth := a.authorizer(s, tenant, sdk.Host{Secrets: a.Secrets.Scope(a.owner(s, tenant)), Person: p})
	defer auth.Close()
	if err := f(auth); err != nil {
		return a.locateAuth(s, notLoggedIn(err))
	}
	a.credentials.Forget(credential.Key{Server: s.Name, Tenant: tenant})
	return nil
}

// notLoggedIn gives what ended a login its code, unless the settings, the plugin
// or the store of secrets are at fault.
func notLoggedIn(err error) error {
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Code == sdk.Invalid || e.Code == sdk.Internal || e.Code == sdk.Panicked || strings.HasPrefix(string(fault.As(err).Code), "secret.") {
		return err
	}
	f := *fault.As(err)
	if f.Code = fault.LoginFailed; e.Reason == "interrupted" {
		f.Code = fault.Interrupted
	}
	return &f
}

// An AuthState is how it stands with the credentials of a server.
type AuthState struct {
	sdk.AuthStatus
	Broker credential.State // what became of the requests of this process
	Stored string           // where the provider found its secrets; empty: it has none there
}

// authState asks the auth provider who is logged in. It reaches no server.
func (a *generation) authState(ctx context.Context, s *config.Server, tenant string) (AuthState, error) {
	looked := &secretsRecorder{Secrets: a.Secrets.Scope(a.owner(s, tenant))}
	auth := a.authorizer(s, tenant, sdk.Host{Secrets: looked})
	defer auth.Close()
	status, err := auth.Status(ctx)
	if err != nil {
		return AuthState{}, a.locateAuth(s, err)
	}
	state := AuthState{AuthStatus: status, Broker: a.credentials.State(credential.Key{Server: s.Name, Tenant: tenant})}
	if looked.found.Load() {
		state.Stored = a.Secrets.Where()
	}
	return state, nil
}

// secretsRecorder are secrets that remember whether any was found.
type secretsRecorder struct {
	sdk.Secrets
	found atomic.Bool
}

func (l *secretsRecorder) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	value, found, err := l.Secrets.Secret(ctx, key)
	if found {
		l.found.Store(true)
	}
	return value, found, err
}

func (a *generation) locateAuth(s *config.Server, err error) error { return locateIn(s, s.Auth, err) }
