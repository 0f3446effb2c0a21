package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	idMost     = 2 << 10 // bytes of a client's id
	secretLong = 4 << 10 // and of its secret
	docsMost   = 100     // bytes of an address that still fits into a question
)

// What is remembered of a client that a person entered. It is bound to the
// authorization server, and kept by the server, so that a logout finds it also
// when the login is gone already.
type entered struct {
	Issuer string `json:"issuer"`
	Client client `json:"client"`
}

// entered returns the client that a person entered for an authorization server;
// nil when there is none, or another identity comes first.
func (a *authorizer) entered(ctx context.Context, as *issuer) (*client, error) {
	var e entered
	found, err := a.read(ctx, a.enteredKey(), &e)
	if err != nil || !found || e.Issuer != as.Issuer || !isID(e.Client.ID) || a.given(as) != nil {
		return nil, err
	}
	return &e.Client, nil
}

// enter asks the person for a client that they registered by hand, which is what
// is left when there is no other. It is remembered when the login with it has
// succeeded: what was mistyped is asked for again.
func (a *authorizer) enter(ctx context.Context, as *issuer, redirect, why string) (*client, error) {
	docs := ""
	if u, err := a.visitor.URL("the documentation", as.ServiceDocumentation); err == nil && len(u.String()) <= docsMost {
		docs = " (see " + u.String() + ")"
	}
	nobody := &sdk.Error{
		Code: sdk.Invalid, Reason: "no_client", Path: "client_id", Message: "is needed: " + why,
		Hint: fmt.Sprintf("register an application with %s by hand%s and set client_id in the auth block, and client_secret if it has one, "+
			"or log in on a terminal, which asks for them; a token that was made by hand goes into auth \"bearer\"", hostOf(as.Issuer), docs),
	}
	with := ""
	if redirect != "" {
		with = " with the redirect address " + redirect
	}
	answers, err := a.host.Person.Prompt(ctx, sdk.Prompt{
		Title: fmt.Sprintf("%s: %s. Register an application there by hand%s%s, and enter what it got.", hostOf(as.Issuer), why, with, docs),
		Fields: []sdk.PromptField{
			{Name: "client_id", Label: "client id"},
			{Name: "client_secret", Label: "client secret, empty for none", Secret: true},
		},
	})
	switch code := sdk.CodeOf(err); {
	case err == nil:
	case code == sdk.Unimplemented || code == sdk.Denied:
		return nil, nobody // there is no terminal, or nobody may be asked
	default:
		return nil, err
	}
	id, secret := strings.TrimSpace(answers["client_id"]), strings.TrimSpace(answers["client_secret"])
	switch {
	case id == "":
		return nil, nobody
	case !isID(id), !isPrintable(secret) || len(secret) > secretLong:
		return nil, &sdk.Error{Code: sdk.Invalid, Reason: "bad_client", Message: "what was entered is not a client's id and secret: they have printable ASCII only", Hint: "run the login again"}
	}
	c := &client{From: byPrompt, ID: id, Secret: secret, Redirect: redirect}
	if secret == "" {
		c.Auth = "none"
	}
	return c, nil
}

func isID(id string) bool { return id != "" && len(id) <= idMost && isPrintable(id) }

// isPrintable keeps to what RFC 6749 appendix A allows.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r > 0x7e })
}
