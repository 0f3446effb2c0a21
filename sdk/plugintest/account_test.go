package plugintest

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

type accountSettings struct {
	Busy bool `hcl:"busy" doc:"The token endpoint does not answer." default:"false"`
}

// account is an authorizer with a password login and one flaw.
type account struct {
	flaw string
	host sdk.Host
	busy bool

	mu       sync.Mutex
	password string // guarded by mu; used by the flaw that does not store it
	done     chan struct{}
}

func newAccount(flaw string, s *sdk.AuthServer, c *accountSettings) (sdk.Authorizer, error) {
	a := &account{flaw: flaw, host: s.Host, busy: c.Busy, done: make(chan struct{})}
	if flaw == "impatient" {
		_, _ = a.Login(context.Background(), nil)
	}
	go func() { <-a.done }() // represents a goroutine that refreshes tokens
	return a, nil
}

func (a *account) Close() error {
	if a.flaw != "unclosed" {
		close(a.done)
	}
	return nil
}

func (a *account) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	switch {
	case a.busy && a.flaw == "engrossed":
		time.Sleep(time.Second) // although the context has ended
	case a.busy:
		<-ctx.Done()
		return sdk.Credential{}, ctx.Err()
	}
	a.mu.Lock()
	password := a.password
	a.mu.Unlock()
	if password == "" {
		stored, _, err := a.host.Secrets.Secret(ctx, "password")
		if err != nil {
			if a.flaw == "fragile" {
				panic(err)
			}
			return sdk.Credential{}, err
		}
		password = string(stored)
	}
	switch {
	case password == "" && a.flaw == "careless":
		return sdk.Credential{}, sdk.Errorf(sdk.Internal, "no password")
	case password == "":
		return sdk.Credential{}, sdk.Errorf(sdk.NeedsLogin, "log in first")
	case a.flaw == "wrong":
		password = "another"
	case a.flaw == "empty":
		return sdk.Credential{}, nil
	}
	return sdk.Credential{Headers: map[string]string{"Authorization": "Basic " + password}}, nil
}

func (a *account) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{NeedsLogin: true, Retry: a.flaw == "undecided"}, nil
}

func (a *account) Login(ctx context.Context, _ []string) (string, error) {
	answers, err := a.host.Person.Prompt(ctx, sdk.Prompt{Title: "Log in",
		Fields: []sdk.PromptField{{Name: "user", Label: "User"}, {Name: "password", Label: "Password", Secret: true}}})
	if err != nil {
		return "", err
	}
	switch a.flaw {
	case "forgetful":
		a.mu.Lock()
		a.password = answers["password"]
		a.mu.Unlock()
		return answers["user"], nil
	case "indiscreet":
		return answers["user"] + ":" + answers["password"], a.host.Secrets.SetSecret(ctx, "password",
			[]byte(answers["password"]), "")
	case "anonymous":
		answers["user"] = ""
	}
	return answers["user"], a.host.Secrets.SetSecret(ctx, "password", []byte(answers["password"]),
		"password of "+answers["user"])
}

func (a *account) Logout(ctx context.Context) error {
	if a.flaw == "clinging" {
		return nil
	}
	return a.host.Secrets.DeleteSecret(ctx, "password")
}
