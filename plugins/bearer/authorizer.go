package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A source supplies the token.
type source interface {
	// token returns the token and when it must be read again; zero: never.
	token(ctx context.Context) (token string, again time.Time, err error)
	// refused returns the result of a challenge for a token that was rejected.
	refused() sdk.ChallengeResult
}

// An authorizer presents one token to one server.
type authorizer struct {
	*settings
	server *sdk.AuthServer
	source source

	mu    sync.Mutex
	given [sha256.Size]byte // guarded by mu; digest of the last token returned
}

// Authorize returns the token as a header.
func (a *authorizer) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	token, again, err := a.source.token(ctx)
	if err != nil {
		return sdk.Credential{}, err
	}
	a.changed(token)
	return sdk.Credential{Headers: a.present(token), Expires: again}, nil
}

// changed stores the digest of a token and reports whether it differs from the
// previous one. It is true for the first token of the process.
func (a *authorizer) changed(token string) bool {
	sum := sha256.Sum256([]byte(token))
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.given
	a.given = sum
	return was != sum
}

// Challenge demands a retry if the source has a new token.
func (a *authorizer) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	token, _, err := a.source.token(ctx)
	if e, ok := errors.AsType[*sdk.Error](err); ok && (e.Code == sdk.NeedsLogin || e.Code == sdk.AuthRequired) {
		return sdk.ChallengeResult{NeedsLogin: e.Code == sdk.NeedsLogin, Reason: e.Error()}, nil
	}
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	if a.changed(token) {
		return sdk.ChallengeResult{Retry: true, Reason: "there is a new token"}, nil
	}
	res := a.source.refused()
	switch {
	case c.Status == 403:
		res.Reason += ": it may not do this"
	case !res.NeedsLogin:
		res.Reason += ": put another one there"
	}
	return res, nil
}

// Status reports whether there is a token. It cannot tell whether the server
// accepts it.
func (a *authorizer) Status(ctx context.Context) (sdk.AuthStatus, error) {
	_, _, err := a.source.token(ctx)
	switch {
	case err == nil:
		return sdk.AuthStatus{State: "ready"}, nil
	case sdk.CodeOf(err) == sdk.NeedsLogin || sdk.CodeOf(err) == sdk.AuthRequired:
		return sdk.AuthStatus{State: "needs_login"}, nil
	}
	return sdk.AuthStatus{State: "unknown"}, err
}

// Login asks for the token. It fails if a token is configured.
func (a *authorizer) Login(ctx context.Context, _ []string) (string, error) {
	if e, ok := a.source.(*entered); ok {
		return "", e.ask(ctx)
	}
	return "", &sdk.Error{
		Code: sdk.Unimplemented, Message: "the token is configured, so there is nothing to log in to",
		Hint: "change the token where it is configured, or remove token and token_file from the auth block",
	}
}

// Logout deletes a token that was entered. It has no effect on a configured
// token.
func (a *authorizer) Logout(ctx context.Context) error {
	if e, ok := a.source.(*entered); ok {
		return e.forget(ctx)
	}
	return nil
}

// fixed is a token in the configuration.
type fixed struct{ text string }

func (f fixed) token(context.Context) (string, time.Time, error) { return f.text, time.Time{}, nil }

func (fixed) refused() sdk.ChallengeResult {
	return sdk.ChallengeResult{Reason: "the server refused the token that the attribute token holds"}
}

// entered is a token that the user enters once.
type entered struct {
	*settings
	host sdk.Host
	name string
}

// secretKey is the key of the token in the plugin's secrets.
const secretKey = "token"

func (e *entered) token(ctx context.Context) (string, time.Time, error) {
	value, found, err := e.host.Secrets.Secret(ctx, secretKey)
	if err != nil {
		return "", time.Time{}, err
	}
	token, problem := e.clean(string(value))
	if !found || problem != "" {
		return "", time.Time{}, &sdk.Error{
			Code: sdk.NeedsLogin, Reason: "no_token", Message: "no token was entered yet, and none is configured",
			Hint: fmt.Sprintf("run junctor login %s, or set token or token_file in the auth block", e.name),
		}
	}
	return token, time.Time{}, nil
}

func (*entered) refused() sdk.ChallengeResult {
	return sdk.ChallengeResult{NeedsLogin: true, Reason: "the server refused the token that was entered"}
}

func (e *entered) ask(ctx context.Context) error {
	answers, err := e.host.Person.Prompt(ctx, sdk.Prompt{
		Title:  fmt.Sprintf("Server %s takes a token. It is stored and not shown.", e.name),
		Fields: []sdk.PromptField{{Name: secretKey, Label: "Token", Secret: true}},
	})
	if err != nil {
		return err
	}
	token, problem := e.clean(answers[secretKey])
	if problem != "" {
		return &sdk.Error{Code: sdk.Invalid, Reason: "token", Message: "the token that was entered " + problem,
			Hint: "nothing was changed; log in again with the token alone"}
	}
	return e.host.Secrets.SetSecret(ctx, secretKey, []byte(token), "Junctor: token of "+e.name)
}

func (e *entered) forget(ctx context.Context) error {
	return e.host.Secrets.DeleteSecret(ctx, secretKey)
}
