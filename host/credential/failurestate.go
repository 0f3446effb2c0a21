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
	pauseFirst = time.Second // after a failure of the provider, doubled each time
	pauseLast  = time.Minute
	lookFirst  = time.Minute // until a provider that cannot renew is asked whether it has something else
	lookLast   = time.Hour
)

// A failureState is why there is no credential. While it holds nobody is asked, and
// everybody hears the same.
type failureState struct {
	kind string // of State: "failed", "refused" or "needs_login"
	err  *sdk.Error

	until time.Time     // zero: for good
	look  time.Duration // that until was in the future by, of one that lasts

	// stamp is of what the provider goes by. When it changes it is worth asking,
	// unless the provider merely failed. One that lasts is over only when the
	// provider then has something that was not refused yet.
	stamp   string
	merely  bool
	lasting bool
	final   bool // until is not announced: time alone will not help
}

func (t *failureState) holds(stamp string, now time.Time) bool {
	switch {
	case t == nil:
		return false
	case !t.merely && stamp != t.stamp:
		return false
	}
	return t.until.IsZero() || now.Before(t.until)
}

// again makes a trouble hold on that was looked into without a result.
func (t *failureState) again(stamp string, now time.Time) {
	t.stamp = stamp
	if !t.until.IsZero() {
		t.look = min(2*t.look, lookLast)
		t.until = now.Add(t.look)
	}
}

// error is what a caller hears, with when it is worth coming back.
func (t *failureState) error(now time.Time) *sdk.Error {
	e := *t.err
	if !t.lasting && !t.final && t.until.After(now) {
		later := "it is tried again in " + t.until.Sub(now).Round(time.Second).String()
		if wait := t.until.Sub(now); wait < time.Second {
			later = "it is tried again in a moment"
		}
		e.Hint = strings.TrimPrefix(e.Hint+"; "+later, "; ")
	}
	return &e
}

// result is what a transport hears that was refused meanwhile.
func (t *failureState) result(now time.Time) (sdk.ChallengeResult, error) {
	if t.kind == "failed" {
		return sdk.ChallengeResult{}, t.error(now)
	}
	return sdk.ChallengeResult{NeedsLogin: t.kind == "needs_login", Reason: t.err.Message}, nil
}

// needsLogin says that somebody has to log in, and how.
func needsLogin(reason, server, tenant string) *sdk.Error {
	return &sdk.Error{
		Code: sdk.NeedsLogin, Reason: "needs_login",
		Message: cmp.Or(reason, "nobody is logged in"), Hint: "run `" + command(server, tenant) + "`",
	}
}

// command is how somebody logs in.
func command(server, tenant string) string {
	if tenant == "" {
		return "junctor login " + server
	}
	if strings.ContainsFunc(tenant, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._@:/+-", r))
	}) {
		tenant = "'" + strings.ReplaceAll(tenant, "'", `'\''`) + "'"
	}
	return "junctor login " + server + " --tenant " + tenant
}

// refusedByServer says that the server does not take what the provider has.
func refusedByServer(reason, server, tenant string) *sdk.Error {
	return &sdk.Error{
		Code: sdk.AuthRequired, Reason: "refused", Message: cmp.Or(reason, "the server refuses the credentials"),
		Hint: fmt.Sprintf("check the auth block, or run `%s`", command(server, tenant)),
	}
}

// secretReasons are the words for what is wrong with a secret that stands in the
// provider's settings.
var secretReasons = map[fault.Code]string{
	fault.SecretLocked: "locked", fault.SecretPassword: "password", fault.SecretDamaged: "damaged",
	fault.SecretStore: "secret_store", fault.SecretUnknown: "secret_unknown",
}

// asError makes one of sdk's of whatever a provider's call ended with. What the
// host says of the plugin's process is nothing but that it could not be reached.
func asError(err error) *sdk.Error {
	e, ok := errors.AsType[*sdk.Error](err)
	f, isFault := errors.AsType[*fault.Error](err)
	switch {
	case ok:
		e = &sdk.Error{Code: e.Code, Reason: e.Reason, Message: e.Message, Hint: e.Hint, Path: e.Path, Output: e.Output}
		if isFault { // which has it without what must not be printed
			e.Message, e.Hint, e.Output = strings.TrimPrefix(f.Message, e.Path+": "), f.Hint, f.Output
		}
	case isFault:
		e = &sdk.Error{Code: sdk.Unavailable, Reason: cmp.Or(secretReasons[f.Code], "auth_plugin"), Message: f.Message, Hint: f.Hint}
	case errors.Is(err, context.Canceled):
		e = unused()
	case errors.Is(err, context.DeadlineExceeded):
		e = sdk.Errorf(sdk.Deadline, "the auth provider did not answer in time")
	default:
		e = sdk.Errorf(sdk.Unavailable, "the auth provider failed: %v", err)
	}
	if e.Code == sdk.Unimplemented {
		e.Code = sdk.Unavailable // to a transport it would mean that there is no auth provider
	}
	return e
}
