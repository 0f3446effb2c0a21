package credential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	pauseFirst   = time.Second // after a failure of the provider; doubled each time
	pauseLast    = time.Minute
	recheckFirst = time.Minute // until a provider that cannot renew is asked for other credentials
	recheckLast  = time.Hour
)

// A failureState is the reason why there is no credential. While it is active the
// broker returns the same error to all callers and does not ask the provider. The broker's mu
// guards it, as part of a cachedCredential.
type failureState struct {
	kind string // as in State: "failed", "refused" or "needs_login"
	err  *sdk.Error

	until   time.Time     // zero: no end
	recheck time.Duration // the last delay before until, if lasting

	// stamp is Changed when the state began. A change ends the state unless
	// temporary is set. A lasting state then continues if the provider returns
	// the credential that was already refused.
	stamp     string
	temporary bool
	lasting   bool
	final     bool // do not announce until: waiting alone does not help
}

func (f *failureState) holds(stamp string, now time.Time) bool {
	switch {
	case f == nil:
		return false
	case !f.temporary && stamp != f.stamp:
		return false
	}
	return f.until.IsZero() || now.Before(f.until)
}

// extend continues a state after a query that brought no other credential.
func (f *failureState) extend(stamp string, now time.Time) {
	f.stamp = stamp
	if !f.until.IsZero() {
		f.recheck = min(2*f.recheck, recheckLast)
		f.until = now.Add(f.recheck)
	}
}

// error returns the error for callers. Its hint says when a retry is due.
func (f *failureState) error(now time.Time) *sdk.Error {
	e := *f.err
	if !f.lasting && !f.final && f.until.After(now) {
		later := "it is tried again in " + f.until.Sub(now).Round(time.Second).String()
		if wait := f.until.Sub(now); wait < time.Second {
			later = "it is tried again in a moment"
		}
		e.Hint = strings.TrimPrefix(e.Hint+"; "+later, "; ")
	}
	return &e
}

// result returns the answer to a transport whose credential was refused meanwhile.
func (f *failureState) result(now time.Time) (sdk.ChallengeResult, error) {
	if f.kind == "failed" {
		return sdk.ChallengeResult{}, f.error(now)
	}
	return sdk.ChallengeResult{NeedsLogin: f.kind == "needs_login", Reason: f.err.Message}, nil
}

// needsLogin returns the error that asks for a login and names the command. This and the
// functions below are pure.
func needsLogin(reason, server, tenant string) *sdk.Error {
	return &sdk.Error{
		Code: sdk.NeedsLogin, Reason: "needs_login",
		Message: cmp.Or(reason, "not logged in"), Hint: "run `" + command(server, tenant) + "`",
	}
}

// command returns the login command for a server and tenant, quoted for a shell.
func command(server, tenant string) string {
	if tenant == "" {
		return "junctor login " + server
	}
	if strings.ContainsFunc(tenant, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("._@:/+-", r))
	}) {
		tenant = "'" + strings.ReplaceAll(tenant, "'", `'\''`) + "'"
	}
	return "junctor login " + server + " --tenant " + tenant
}

// refusedByServer returns the error for credentials that the server refuses.
func refusedByServer(reason, server, tenant string) *sdk.Error {
	return &sdk.Error{
		Code: sdk.AuthRequired, Reason: "refused", Message: cmp.Or(reason, "the server refuses the credentials"),
		Hint: fmt.Sprintf("check the auth block, or run `%s`", command(server, tenant)),
	}
}

// secretReasons are the reasons for faults of a secret in the provider's settings.
var secretReasons = map[fault.Code]string{
	fault.SecretLocked: "locked", fault.SecretPassword: "password", fault.SecretDamaged: "damaged",
	fault.SecretStore: "secret_store", fault.SecretUnknown: "secret_unknown",
}

// asError converts the error of a provider's call into an sdk.Error. Faults of the
// plugin's process become [sdk.Unavailable].
func asError(err error) *sdk.Error {
	e, ok := errors.AsType[*sdk.Error](err)
	f, isFault := errors.AsType[*fault.Error](err)
	switch {
	case ok:
		e = &sdk.Error{Code: e.Code, Reason: e.Reason, Message: e.Message, Hint: e.Hint, Path: e.Path, Output: e.Output}
		if isFault { // the fault has the same texts with secrets redacted
			e.Message, e.Hint, e.Output = strings.TrimPrefix(f.Message, e.Path+": "), f.Hint, f.Output
		}
		if e.Code == sdk.Panicked && isFault && f.Plugin != "" {
			e.Reason, e.Hint = fault.AuthPluginReason(f), pluginHint(f)
		}
	case isFault:
		e = &sdk.Error{Code: sdk.Unavailable, Reason: cmp.Or(secretReasons[f.Code], fault.AuthPluginReason(f)),
			Message: f.Message, Hint: pluginHint(f), Output: f.Output}
	case errors.Is(err, context.Canceled):
		e = unused()
	case errors.Is(err, context.DeadlineExceeded):
		e = sdk.Errorf(sdk.Deadline, "the auth provider did not answer in time")
	default:
		e = sdk.Errorf(sdk.Unavailable, "the auth provider failed: %v", err)
	}
	if e.Code == sdk.Unimplemented {
		e.Code = sdk.Unavailable // transports read Unimplemented as "there is no auth provider"
	}
	return e
}

// pluginHint returns the hint of a fault with the command that shows the plugin's log.
func pluginHint(f *fault.Error) string {
	if f.Plugin == "" || strings.Contains(f.Hint, "plugin logs") {
		return f.Hint
	}
	return strings.TrimPrefix(fmt.Sprintf("%s; run `junctor plugin logs %s`", f.Hint, f.Plugin), "; ")
}
