package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	idMost    = 2 << 10 // bytes of a client's id
	secretMax = 4 << 10 // bytes of a client's secret
	docsMost  = 100     // bytes of a URL that is shown in a question
)

// An enteredClient is a client that the user entered, with its issuer. Its key depends on
// the server, so that a logout finds it without a login.
type enteredClient struct {
	Issuer string `json:"issuer"`
	Client client `json:"client"`
}

// entered returns the client that the user entered for an authorization server. It returns
// nil if there is none or the settings name another one.
func (reg *registrar) entered(ctx context.Context, as *issuer) (*client, error) {
	var e enteredClient
	found, err := reg.stored.read(ctx, reg.stored.enteredKey(), &e)
	if err != nil || !found || !sameIssuer(e.Issuer, as.Issuer) || !isID(e.Client.ID) ||
		reg.fromConfiguration(as) != nil {
		return nil, err
	}
	return &e.Client, nil
}

// promptForClient asks the user for a client that they registered by hand. It is stored
// after a successful login only, so that mistakes can be corrected. hint begins the hint of
// the error for a user who cannot be asked.
func (reg *registrar) promptForClient(ctx context.Context, as *issuer, redirect, why, hint string) (*client, error) {
	docs := ""
	u, err := reg.visitor.URL("the documentation", as.ServiceDocumentation)
	if err == nil && len(u.String()) <= docsMost {
		docs = " (see " + u.String() + ")"
	}
	missing := &sdk.Error{
		Code: sdk.Invalid, Reason: "no_client", Path: "client_id", Message: "is needed: " + why,
		Hint: hint +
			fmt.Sprintf("register an application at %s%s and set client_id in the auth block, and client_secret if it has one, "+
				"or log in on a terminal, which asks for them; or use an existing token with auth \"bearer\"",
				hostOf(as.Issuer), docs),
	}
	with := ""
	if redirect != "" {
		with = " with the redirect address " + redirect
	}
	answers, err := reg.host.Person.Prompt(ctx, sdk.Prompt{
		Title: fmt.Sprintf("%s: %s. Register an application there%s%s, and enter its id and secret.",
			hostOf(as.Issuer), why, with, docs),
		Fields: []sdk.PromptField{
			{Name: "client_id", Label: "client id"},
			{Name: "client_secret", Label: "client secret, empty for none", Secret: true},
		},
	})
	switch code := sdk.CodeOf(err); {
	case err == nil:
	case code == sdk.Unimplemented || code == sdk.Denied:
		return nil, missing // there is no terminal, or it must not be used
	default:
		return nil, err
	}
	id, secret := strings.TrimSpace(answers["client_id"]), strings.TrimSpace(answers["client_secret"])
	switch {
	case id == "":
		return nil, missing
	case !isID(id), !isPrintable(secret) || len(secret) > secretMax:
		return nil, &sdk.Error{Code: sdk.Invalid, Reason: "bad_client",
			Message: "the entered id or secret is too long or has characters other than printable ASCII",
			Hint:    "run the login again"}
	}
	c := &client{From: fromPrompt, ID: id, Secret: secret, Redirect: redirect}
	if secret == "" {
		c.Auth = "none"
	}
	return c, nil
}

func isID(id string) bool { return id != "" && len(id) <= idMost && isPrintable(id) }

// isPrintable accepts the characters of RFC 6749 appendix A.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r > 0x7e })
}
