package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	// skew is how long before its expiry a credential is no longer used. The
	// host applies the same value, so Authorize never returns a credential that
	// the host would reject.
	skew = 30 * time.Second
	// minPause is the least time between two runs. Without it a program whose
	// credentials expire at once would be started for every request.
	minPause = 5 * time.Second
)

// An authorizer runs the program when a request needs a credential. Requests
// that wait at the same time share one run.
type authorizer struct {
	*settings
	dir    string
	env    []string
	hidden []string // values given to the program, which must not appear in messages

	lock chan struct{} // holds an element while one goroutine uses the fields below
	cred sdk.Credential
	ran  time.Time         // end of the last successful run; zero if there is no credential
	sum  [sha256.Size]byte // of the last printed headers, to detect a change
}

// Authorize returns the credential that the program printed. It runs the
// program if there is none or it expires within 30 s.
func (a *authorizer) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	if err := a.acquire(ctx); err != nil {
		return sdk.Credential{}, err
	}
	defer a.release()
	if a.usable(time.Now()) {
		return a.cred, nil
	}
	_, err := a.renew(ctx)
	return a.cred, err
}

// Challenge runs the program again after the server rejected its credential. It
// asks for a retry only if the program printed different headers.
func (a *authorizer) Challenge(ctx context.Context, _ sdk.Challenge) (sdk.ChallengeResult, error) {
	if err := a.acquire(ctx); err != nil {
		return sdk.ChallengeResult{}, err
	}
	defer a.release()
	changed, err := a.renew(ctx)
	switch {
	case err != nil:
		return sdk.ChallengeResult{}, err
	case changed:
		return sdk.ChallengeResult{Retry: true, Reason: "the program printed another credential"}, nil
	}
	return sdk.ChallengeResult{Reason: "the server rejected the credential from " + a.name() +
		", and the program prints the same one again"}, nil
}

// Status reports whether there is a credential, without running the program.
func (a *authorizer) Status(ctx context.Context) (sdk.AuthStatus, error) {
	if err := a.acquire(ctx); err != nil {
		return sdk.AuthStatus{}, err
	}
	defer a.release()
	if !a.usable(time.Now()) {
		return sdk.AuthStatus{State: "unknown"}, nil
	}
	return sdk.AuthStatus{State: "ready", Account: a.cred.Account, Expires: a.cred.Expires}, nil
}

// acquire takes the lock. It fails when ctx is done first.
func (a *authorizer) acquire(ctx context.Context) error {
	select {
	case a.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *authorizer) release() { <-a.lock }

// usable reports whether the last credential can be used now. The caller holds
// the lock.
func (a *authorizer) usable(now time.Time) bool {
	switch end := a.cred.Expires; {
	case a.ran.IsZero():
		return false
	case end.IsZero():
		return true
	default:
		return now.Before(end.Add(-skew)) || now.Before(end) && now.Before(a.ran.Add(minPause))
	}
}

// renew runs the program and reports whether it printed different headers than
// before. The caller holds the lock.
func (a *authorizer) renew(ctx context.Context) (changed bool, err error) {
	a.ran, a.cred = time.Time{}, sdk.Credential{}
	r, err := a.run(ctx)
	if err != nil {
		return false, err
	}
	now := time.Now()
	cred, outputErr := a.read(r.stdout.text, now)
	if outputErr != nil {
		outputErr.Output = r.errorLines(a.hidden)
		return false, outputErr
	}
	if cred.Expires.IsZero() && a.Cache > 0 {
		cred.Expires = now.Add(a.Cache)
	}
	text, _ := json.Marshal(cred.Headers) // encoding/json sorts the keys of a map
	previous := a.sum
	a.ran, a.cred, a.sum = now, cred, sha256.Sum256(text)
	return previous != a.sum, nil
}
