package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	// skew is how long before its end a credential is not used any more. The
	// host has the same, so that it is not given again what it will not take.
	skew = 30 * time.Second
	// pause is between runs, whatever the output says: a program that prints
	// credentials which end at once is not started for every request.
	pause = 5 * time.Second
)

// An authorizer runs the program when a credential is needed, once for many
// requests.
type authorizer struct {
	*settings
	dir    string
	env    []string
	hidden []string // values that the program was given, which nobody prints

	turn chan struct{} // who has put something in may use what follows
	cred sdk.Credential
	ran  time.Time // zero: there is no credential
	sum  [sha256.Size]byte
}

// Authorize presents what the program printed, while that is good.
func (a *authorizer) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	if err := a.take(ctx); err != nil {
		return sdk.Credential{}, err
	}
	defer a.leave()
	if a.good(time.Now()) {
		return a.cred, nil
	}
	_, err := a.renew(ctx)
	return a.cred, err
}

// Challenge runs the program once more. Only another output is worth another
// request.
func (a *authorizer) Challenge(ctx context.Context, _ sdk.Challenge) (sdk.ChallengeResult, error) {
	if err := a.take(ctx); err != nil {
		return sdk.ChallengeResult{}, err
	}
	defer a.leave()
	changed, err := a.renew(ctx)
	switch {
	case err != nil:
		return sdk.ChallengeResult{}, err
	case changed:
		return sdk.ChallengeResult{Retry: true, Reason: "the program printed another credential"}, nil
	}
	return sdk.ChallengeResult{Reason: "the server refused what " + a.name() + " printed, and it prints the same again"}, nil
}

// Status says whether there is a credential. The program is not run for it.
func (a *authorizer) Status(ctx context.Context) (sdk.AuthStatus, error) {
	if err := a.take(ctx); err != nil {
		return sdk.AuthStatus{}, err
	}
	defer a.leave()
	if !a.good(time.Now()) {
		return sdk.AuthStatus{State: "unknown"}, nil
	}
	return sdk.AuthStatus{State: "ready", Account: a.cred.Account, Expires: a.cred.Expires}, nil
}

func (a *authorizer) take(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *authorizer) leave() { <-a.turn }

// good reports whether the last output can be used. The caller has the turn.
func (a *authorizer) good(now time.Time) bool {
	switch end := a.cred.Expires; {
	case a.ran.IsZero():
		return false
	case end.IsZero():
		return true
	default:
		return now.Before(end.Add(-skew)) || now.Before(end) && now.Before(a.ran.Add(pause))
	}
}

// renew runs the program, and reports whether it printed something else than
// before. The caller has the turn.
func (a *authorizer) renew(ctx context.Context) (changed bool, err error) {
	a.ran, a.cred = time.Time{}, sdk.Credential{}
	out, err := a.run(ctx)
	if err != nil {
		return false, err
	}
	now := time.Now()
	cred, bad := a.read(out.stdout, now)
	if bad != nil {
		bad.Output = out.said(a.hidden)
		return false, bad
	}
	if cred.Expires.IsZero() && a.Cache > 0 {
		cred.Expires = now.Add(a.Cache)
	}
	// Maps are written sorted by encoding/json.
	text, _ := json.Marshal(cred.Headers)
	was := a.sum
	a.ran, a.cred, a.sum = now, cred, sha256.Sum256(text)
	return was != a.sum, nil
}
