package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// This file has plugins that follow the documentation and once failed the checks.

type trialSettings struct {
	Address string `hcl:"address,optional" doc:"Where the server listens."`
	Space   string `hcl:"space,optional" doc:"A part of the remote store."`
	Hang    bool   `hcl:"hang,optional" doc:"The issuer never answers."`
}

// trialTransport asks for a credential before it connects, whether it is granted or not.
func trialTransport(ctx context.Context, s *sdk.Server, c *trialSettings) (sdk.Conn, error) {
	_, err := s.Host.Credentials.Authorize(ctx, sdk.AuthRequest{})
	if err != nil && sdk.CodeOf(err) != sdk.Unimplemented && sdk.CodeOf(err) != sdk.Denied {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "%v", err)
	}
	return sdk.PipeConn(conn, conn), nil
}

// A trialAuth asks an issuer with the token of the login.
type trialAuth struct {
	host sdk.Host
	hang bool
}

func (a trialAuth) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	token, found, err := a.host.Secrets.Secret(ctx, "token")
	if err != nil {
		return sdk.Credential{}, err
	}
	if !found {
		return sdk.Credential{}, sdk.Errorf(sdk.NeedsLogin, "nobody has logged in yet")
	}
	if a.hang {
		<-ctx.Done()
		return sdk.Credential{}, ctx.Err()
	}
	return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + string(token)}}, nil
}

func (a trialAuth) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{NeedsLogin: true}, nil
}

func (a trialAuth) Login(ctx context.Context, _ []string) (string, error) {
	answers, err := a.host.Person.Prompt(ctx,
		sdk.Prompt{Title: "Trial", Fields: []sdk.PromptField{{Name: "token", Label: "Token", Secret: true}}})
	if err != nil {
		return "", err
	}
	return "ann", a.host.Secrets.SetSecret(ctx, "token", []byte(answers["token"]), "trial")
}

func (a trialAuth) Logout(ctx context.Context) error {
	return a.host.Secrets.DeleteSecret(ctx, "token")
}

// remote is a store on another machine: it keeps the secrets of all vaults, by space.
var remote struct {
	sync.Mutex
	spaces map[string]map[string][]byte
}

// A trialVault is one space of the remote store.
type trialVault struct{ space string }

func (v trialVault) do(f func(map[string][]byte)) {
	remote.Lock()
	defer remote.Unlock()
	if remote.spaces == nil {
		remote.spaces = map[string]map[string][]byte{}
	}
	if remote.spaces[v.space] == nil {
		remote.spaces[v.space] = map[string][]byte{}
	}
	f(remote.spaces[v.space])
}

func (v trialVault) Secret(_ context.Context, key string) (value []byte, found bool, err error) {
	v.do(func(all map[string][]byte) { value, found = all[key] })
	return value, found, nil
}

func (v trialVault) SetSecret(_ context.Context, key string, value []byte, _ string) error {
	v.do(func(all map[string][]byte) { all[key] = slices.Clone(value) })
	return nil
}

func (v trialVault) DeleteSecret(_ context.Context, key string) error {
	v.do(func(all map[string][]byte) { delete(all, key) })
	return nil
}

func (v trialVault) Keys(context.Context) (keys []string, _ error) {
	v.do(func(all map[string][]byte) { keys = slices.Collect(maps.Keys(all)) })
	return keys, nil
}

// TestTrials runs the checks on a transport without a Host, on a provider that has both a login and a
// token endpoint which hangs, and on a store that is not in its directory.
func TestTrials(t *testing.T) {
	p := &sdk.Plugin{Name: "trial", Version: "1.0.0",
		Transports: map[string]sdk.Transport{"t": sdk.NewTransport(trialTransport)},
		Auths: map[string]sdk.Auth{"a": sdk.NewAuth(
			func(_ context.Context, s *sdk.AuthServer, c *trialSettings) (sdk.Authorizer, error) {
				return trialAuth{s.Host, c.Hang}, nil
			})},
		SecretStores: map[string]sdk.SecretStore{"s": sdk.NewSecretStore(
			func(_ context.Context, _ *sdk.StoreServer, c *trialSettings) (sdk.Vault, error) {
				return trialVault{c.Space}, nil
			})}}
	var spaces atomic.Int64
	InProcess(t, p,
		Transport{Name: "t",
			Peer: func(t testing.TB) Peer {
				address, die := EchoServer(t, "tcp")
				settings, _ := json.Marshal(map[string]string{"address": address})
				return Peer{Settings: string(settings), Die: die}
			},
			Refused: []Refusal{{Settings: `{"address":1}`, Paths: []string{"address"}}}},
		Auth{Name: "a", Settings: "{}", Login: true, Account: "ann",
			Host:    func(testing.TB) *Host { return &Host{Answers: map[string]string{"token": Canary}} },
			Hang:    func(testing.TB) string { return `{"hang":true}` },
			Want:    sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + Canary}},
			Refused: []Refusal{{Settings: `{"hang":1}`, Paths: []string{"hang"}}}},
		Store{Name: "s",
			Fresh:   func(testing.TB) string { return fmt.Sprintf(`{"space":"%d"}`, spaces.Add(1)) },
			Refused: []Refusal{{Settings: `{"space":1}`, Paths: []string{"space"}}}})
}
