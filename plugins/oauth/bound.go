package main

import (
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk"
)

// A client secret of the settings belongs to one authorization server, and so
// does a subject token, but without issuer the settings do not say to which. It is
// the one that took it first: a server that names another one later does not get
// that one the secret, whoever has taken the server over.

// gives reports whether an authorization server is given a secret of the settings.
// A private key is not: what it signs is good at one authorization server only.
func (s *settings) gives() bool { return s.ClientSecret != "" || s.SubjectToken != "" }

// known refuses an authorization server that is another one than before.
func (a *authorizer) known(ctx context.Context, as *issuer) error {
	if !a.gives() || a.Issuer != "" {
		return nil
	}
	before, err := a.boundTo(ctx)
	if err != nil || before == "" || before == as.Issuer {
		return err
	}
	return &sdk.Error{
		Code: sdk.Denied, Reason: "issuer_mismatch",
		Message: fmt.Sprintf("the server names another authorization server (%s) than the one that was given the client's secret before (%s)", hostOf(as.Issuer), hostOf(before)),
		Hint:    "if the server has really moved, register a client there and write its issuer into the auth block",
	}
}

// boundTo is the authorization server that has the secrets of the settings; empty
// when none has. Where no person logs in there may be no store, and the process
// remembers.
func (a *authorizer) boundTo(ctx context.Context) (string, error) {
	if !a.person() {
		return a.bound, nil
	}
	var b binding
	if found, err := a.read(ctx, a.boundKey(), &b); err != nil || !found || b.Client != a.ClientID {
		return "", err
	}
	return b.Issuer, nil
}

// A binding is what is remembered of a client: another one may belong elsewhere.
type binding struct {
	Client string `json:"client"`
	Issuer string `json:"issuer"`
}

// bind takes note that an authorization server took the secrets.
func (a *authorizer) bind(ctx context.Context, issuer string) error {
	switch {
	case !a.gives():
		return nil
	case a.person():
		return a.write(ctx, a.boundKey(), &binding{Client: a.ClientID, Issuer: issuer}, "OAuth client of Junctor at "+hostOf(issuer))
	}
	a.bound = issuer
	return nil
}

func (a *authorizer) boundKey() string { return "bound-" + short(canonical(a.server)) }
