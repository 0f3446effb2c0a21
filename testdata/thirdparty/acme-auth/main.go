// Command acme-auth presents a token that the user enters once.
package main

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

type config struct {
	Header string `hcl:"header" doc:"The header that carries the token." default:"Authorization"`
	Prefix string `hcl:"prefix" doc:"What stands before the token." default:"Bearer "`
}

// secret is the key of the token in the plugin's secrets.
const secret = "token"

type authorizer struct {
	config
	host sdk.Host
}

func start(_ context.Context, s *sdk.AuthServer, c *config) (sdk.Authorizer, error) {
	return &authorizer{config: *c, host: s.Host}, nil
}

// Authorize returns the token as a header.
func (a *authorizer) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	token, found, err := a.host.Secrets.Secret(ctx, secret)
	if err != nil {
		return sdk.Credential{}, err
	}
	if !found {
		return sdk.Credential{}, sdk.Errorf(sdk.NeedsLogin, "no token was entered yet")
	}
	return sdk.Credential{Headers: map[string]string{a.Header: a.Prefix + string(token)}}, nil
}

// Challenge demands a login with another token.
func (a *authorizer) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{NeedsLogin: true, Reason: "the server refused the token"}, nil
}

// Login asks for the token.
func (a *authorizer) Login(ctx context.Context, _ []string) (string, error) {
	answers, err := a.host.Person.Prompt(ctx, sdk.Prompt{
		Title: "Acme", Fields: []sdk.PromptField{{Name: secret, Label: "Token", Secret: true}},
	})
	if err != nil {
		return "", err
	}
	if answers[secret] == "" {
		return "", sdk.Errorf(sdk.Canceled, "no token was entered")
	}
	return "", a.host.Secrets.SetSecret(ctx, secret, []byte(answers[secret]), "Acme token")
}

// Logout deletes the token.
func (a *authorizer) Logout(ctx context.Context) error {
	return a.host.Secrets.DeleteSecret(ctx, secret)
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "acme-auth", Version: "1.0.0", Description: "Presents a token that a person enters once.",
		Auths: map[string]sdk.Auth{"acme": sdk.NewAuth(start)},
	}
}

func main() { serve.Main(plugin()) }
