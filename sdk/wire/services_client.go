package wire

import (
	"context"
	"net/rpc"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
)

// hostClient is the plugin's client of the host's services. The Server has one; all instances and
// authorizers of the process share it, concurrently. Calls wait for ready.
type hostClient struct {
	ready chan struct{} // closed when the host has connected
	once  sync.Once
	call  caller
	creds chan struct{} // semaphore of calls about credentials
}

// maxCredentialCalls is the maximum number of concurrent calls to the host about
// credentials. When a token expires, every request of a transport may make one.
// The limit leaves capacity to the auth provider in the same process, which may
// need the host to answer them.
const maxCredentialCalls = maxServedCalls / 2

func newHostClient() *hostClient {
	return &hostClient{ready: make(chan struct{}), creds: make(chan struct{}, maxCredentialCalls)}
}

// acquireCreds acquires the semaphore of calls about credentials. releaseCreds
// releases it.
func (h *hostClient) acquireCreds(ctx context.Context) error {
	select {
	case h.creds <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *hostClient) releaseCreds() { <-h.creds }

// accept waits until the host connects to the stream that was offered for its
// services.
func (h *hostClient) accept(broker *goplugin.Broker, id uint32) {
	conn, err := broker.Accept(id)
	if err != nil {
		return
	}
	taken := false
	h.once.Do(func() {
		taken = true
		h.call.rpc, h.call.prefix = rpc.NewClient(conn), "Host"
		close(h.ready)
	})
	if !taken {
		_ = conn.Close()
	}
}

// services returns the host's services for one instance or authorizer.
func (h *hostClient) services(handle, capability string) sdk.Host {
	s := &services{hostClient: h, handle: handle, capability: capability}
	return sdk.Host{Secrets: s, Person: s, Credentials: s, Events: s}
}

// services are the host's services for one instance or authorizer, which handle names to the host. It
// implements all interfaces of [sdk.Host].
type services struct {
	*hostClient
	handle, capability string
}

// ask calls a method of the host. It waits until the host has connected.
func ask[R any](ctx context.Context, h *hostClient, method string, args func(Call) any,
	status func(*R) Status) (*R, error) {
	select {
	case <-h.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	call := h.call.begin(ctx)
	r, err := invoke[R](ctx, &h.call, method, call, args(call))
	if err != nil {
		return nil, err
	}
	return r, status(r).Err()
}

func plain(r *Reply) Status { return r.Status }

func (s *services) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	r, err := ask(ctx, s.hostClient, "SecretGet", func(c Call) any {
		return SecretArgs{Call: c, Capability: s.capability, Key: key}
	}, func(r *SecretReply) Status { return r.Status })
	if err != nil {
		return nil, false, err
	}
	return r.Value, r.Found, nil
}

func (s *services) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	if err := checkValue(value); err != nil {
		return err
	}
	_, err := ask(ctx, s.hostClient, "SecretSet", func(c Call) any {
		return SecretArgs{Call: c, Capability: s.capability, Key: key, Value: value, Label: label}
	}, plain)
	return err
}

func (s *services) DeleteSecret(ctx context.Context, key string) error {
	_, err := ask(ctx, s.hostClient, "SecretDelete", func(c Call) any {
		return SecretArgs{Call: c, Capability: s.capability, Key: key}
	}, plain)
	return err
}

func (s *services) OpenURL(ctx context.Context, url, why string) error {
	_, err := ask(ctx, s.hostClient, "OpenURL", func(c Call) any {
		return OpenURLArgs{Call: c, Capability: s.capability, URL: url, Why: why}
	}, plain)
	return err
}

func (s *services) Prompt(ctx context.Context, p sdk.Prompt) (map[string]string, error) {
	args := PromptArgs{Capability: s.capability, Title: p.Title}
	for _, f := range p.Fields {
		args.Names = append(args.Names, f.Name)
		args.Labels = append(args.Labels, f.Label)
		args.Hidden = append(args.Hidden, f.Secret)
	}
	r, err := ask(ctx, s.hostClient, "Prompt", func(c Call) any { args.Call = c; return args },
		func(r *PromptReply) Status { return r.Status })
	if err != nil {
		return nil, err
	}
	return r.Answers, nil
}

func (s *services) Callback(ctx context.Context, path string) (sdk.Callback, error) {
	r, err := ask(ctx, s.hostClient, "CallbackOpen", func(c Call) any {
		return CallbackArgs{Call: c, Capability: s.capability, Path: path}
	}, func(r *CallbackReply) Status { return r.Status })
	if err != nil {
		return nil, err
	}
	return &callback{services: s, handle: r.Handle, url: r.URL}, nil
}

// A callback is a listener in the host for one redirect. Close releases it there.
type callback struct {
	services    *services
	handle, url string
}

func (c *callback) URL() string { return c.url }

func (c *callback) Wait(ctx context.Context) (string, error) {
	r, err := ask(ctx, c.services.hostClient, "CallbackWait", func(call Call) any {
		return CallbackArgs{Call: call, Capability: c.services.capability, Handle: c.handle}
	}, func(r *CallbackReply) Status { return r.Status })
	if err != nil {
		return "", err
	}
	return r.Query, nil
}

func (c *callback) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := ask(ctx, c.services.hostClient, "CallbackClose", func(call Call) any {
		return CallbackArgs{Call: call, Capability: c.services.capability, Handle: c.handle}
	}, plain)
	return err
}

func (s *services) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	if err := s.acquireCreds(ctx); err != nil {
		return sdk.Credential{}, err
	}
	defer s.releaseCreds()
	args := authorizeArgs(r)
	args.Handle, args.Capability = s.handle, s.capability
	reply, err := ask(ctx, s.hostClient, "Authorize", func(c Call) any { args.Call = c; return args },
		func(r *AuthorizeReply) Status { return r.Status })
	if err != nil {
		return sdk.Credential{}, err
	}
	return reply.credential(), nil
}

func (s *services) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	if err := s.acquireCreds(ctx); err != nil {
		return sdk.ChallengeResult{}, err
	}
	defer s.releaseCreds()
	args := challengeArgs(c)
	args.WWWAuthenticate = clipAll(args.WWWAuthenticate)
	args.Handle, args.Capability = s.handle, s.capability
	reply, err := ask(ctx, s.hostClient, "Challenge", func(c Call) any { args.Call = c; return args },
		func(r *ChallengeReply) Status { return r.Status })
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	return reply.result(), nil
}

// Limits for the WWW-Authenticate headers of a challenge. Without them a server
// could make the plugin exceed the size of a control message, and the host
// would end the plugin.
const (
	maxChallengeLines = 16      // headers
	maxLine           = 4 << 10 // bytes of each header
)

func clipAll(lines []string) []string {
	var kept []string
	for _, line := range lines[:min(len(lines), maxChallengeLines)] {
		kept = append(kept, clip(line, maxLine))
	}
	return kept
}

func (s *services) Event(ctx context.Context, name, detail string) error {
	_, err := ask(ctx, s.hostClient, "Event", func(c Call) any {
		return EventArgs{Call: c, Capability: s.capability, Name: clip(name, maxLine), Detail: clip(detail, maxText)}
	}, plain)
	return err
}
