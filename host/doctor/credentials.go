package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A Secret is a use of keyring() in the configuration.
type Secret struct {
	Name string
	At   string
	// Granted says whether all that use it may have it; the error says why it cannot be read.
	Granted func(ctx context.Context) (bool, error)
}

// Secrets returns a check of the secret store: whether it can be used, and has the secrets
// that the configuration names. usable is nil if nothing uses the store.
func Secrets(usable func(ctx context.Context) error, all []Secret) Check {
	return Check{"secrets", func(ctx context.Context) (found []Finding) {
		if usable == nil {
			return nil
		}
		if err := usable(ctx); err != nil {
			return []Finding{secretStore(ctx, err)}
		}
		for _, s := range all {
			granted, err := s.Granted(ctx)
			switch {
			case fault.Is(err, fault.SecretUnknown):
				found = append(found, Finding{Severity: Error,
					Message: fmt.Sprintf("there is no secret %q, which the configuration uses", s.Name), At: s.At,
					Remedy: "run `junctor secret set " + quote(s.Name) + "`"})
			case err != nil:
				f := secretStore(ctx, err)
				f.At = s.At
				found = append(found, f)
			case !granted:
				found = append(found, Finding{Severity: Error,
					Message: fmt.Sprintf("the secret %q is not granted to all that use it", s.Name), At: s.At,
					Remedy: "run `junctor secret grant " + quote(s.Name) + "`"})
			}
		}
		return found
	}}
}

// secretStore reports a store that cannot be used.
func secretStore(ctx context.Context, err error) Finding {
	if ctx.Err() != nil {
		return Finding{Severity: Error, Message: "the secret store does not answer",
			Remedy: "unlock the key ring of the desktop, or name another store with a secret_store block; `junctor secret list` shows whether it answers"}
	}
	f := ofError("secrets", err)
	if f.Remedy == "" {
		f.Remedy = "run `junctor secret list`"
	}
	return f
}

// A Login is a server with an auth block.
type Login struct {
	Server string
	At     string
	State  func(ctx context.Context) (LoginState, error)
}

// A LoginState is the state of a login: "ready", "needs_login" or "unknown".
type LoginState struct {
	State   string
	Expires time.Time // of the credential; zero: not known
	Ends    time.Time // when a person must log in again; zero: never, or not known
}

// loginSoon is the time before the end of a login that is reported.
const loginSoon = 24 * time.Hour

// Logins returns a check for each server with an auth block: whether a login is missing, has
// expired or ends soon. No server is reached.
func Logins(all []Login) []Check {
	var checks []Check
	for _, l := range all {
		checks = append(checks, Check{"logins", func(ctx context.Context) []Finding {
			now, err := l.State(ctx)
			f := Finding{Severity: Error, Server: l.Server, At: l.At,
				Remedy: "run `junctor login " + quote(l.Server) + "`"}
			switch {
			case err != nil && ctx.Err() != nil:
				return nil // the check of the secret store reports it, or Run does
			case err != nil:
				one := ofError("logins", err)
				one.Server = l.Server
				return []Finding{one}
			case now.State == "needs_login":
				f.Message = fmt.Sprintf("server %q needs a login", l.Server)
			case now.State == "ready" && !now.Expires.IsZero() && time.Until(now.Expires) <= 0:
				f.Message = fmt.Sprintf("the login of server %q has expired", l.Server)
			case now.State == "ready" && !now.Ends.IsZero() && time.Until(now.Ends) <= loginSoon:
				f.Severity = Warning
				f.Message = fmt.Sprintf("the login of server %q ends at %s and is not renewed by itself",
					l.Server, now.Ends.Local().Format(time.DateTime))
			default:
				return nil
			}
			return []Finding{f}
		}})
	}
	return checks
}
