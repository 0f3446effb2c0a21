// Command oldsdk is a plugin of every kind that is built with an older SDK,
// stored in sdk-VERSION.zip. A host must run it as long as it supports the
// protocol major of that SDK.
//
// To freeze another version, zip its sdk/*.go, sdk/ndjson, sdk/process,
// sdk/serve and sdk/wire without tests, together with the go.mod of
// sdk-0.1.0.zip. Then add the version to TestOldSDK in host/plugin.
package main

import (
	"context"
	"net"
	"sync"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

type settings struct {
	Word string `hcl:"word" doc:"What the credential says." default:"open"`
}

// echo returns a connection to a server that sends every line back.
func echo(context.Context, *sdk.Server, *settings) (sdk.Conn, error) {
	ours, theirs := net.Pipe()
	lines := make(chan []byte, 1024)
	go func() {
		defer close(lines)
		for {
			piece := make([]byte, 32<<10)
			n, err := theirs.Read(piece)
			if err != nil {
				return
			}
			lines <- piece[:n]
		}
	}()
	go func() {
		for piece := range lines {
			if _, err := theirs.Write(piece); err != nil {
				return
			}
		}
	}()
	return sdk.PipeConn(ours, ours), nil
}

type authorizer struct {
	*settings
	host sdk.Host
}

func (a authorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	if r.Method == "refuse" {
		return sdk.Credential{}, &sdk.Error{Code: sdk.Denied, Message: "refused", Hint: "ask", Path: "word"}
	}
	value, _, err := a.host.Secrets.Secret(ctx, "key")
	return sdk.Credential{Headers: map[string]string{"X-Word": a.Word + " " + string(value)}}, err
}

func (authorizer) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{Retry: true}, nil
}

// A drawer is a vault that keeps secrets in memory.
type drawer struct {
	mu   sync.Mutex
	held map[string][]byte // guarded by mu
}

func (d *drawer) Secret(_ context.Context, key string) ([]byte, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, found := d.held[key]
	return value, found, nil
}

func (d *drawer) SetSecret(_ context.Context, key string, value []byte, _ string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[key] = value
	return nil
}

func (d *drawer) DeleteSecret(_ context.Context, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.held, key)
	return nil
}

func (d *drawer) Keys(context.Context) (keys []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key := range d.held {
		keys = append(keys, key)
	}
	return keys, nil
}

func main() {
	serve.Main(&sdk.Plugin{
		Name: "old", Version: "1.0.0", Description: "Built with the SDK of before.",
		Transports: map[string]sdk.Transport{"old": sdk.NewTransport(echo)},
		Auths: map[string]sdk.Auth{"old": sdk.NewAuth(func(_ context.Context, s *sdk.AuthServer, c *settings) (
			sdk.Authorizer, error,
		) {
			return authorizer{c, s.Host}, nil
		})},
		SecretStores: map[string]sdk.SecretStore{"old": sdk.NewSecretStore(func(context.Context, *sdk.StoreServer,
			*settings) (sdk.Vault, error) {
			return &drawer{held: map[string][]byte{}}, nil
		})},
	})
}
