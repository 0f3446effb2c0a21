package wire

import (
	"context"
	"encoding/gob"
	"fmt"
	"net"
	"net/rpc"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// asking connects to a host's services without hostClient.
func asking(t *testing.T, host sdk.Host) (conn net.Conn, ended chan struct{}) {
	ours, theirs := net.Pipe()
	ended = make(chan struct{})
	go func() { defer close(ended); serveHost(theirs, grants{"c": host}) }()
	t.Cleanup(func() { _ = ours.Close(); <-ended })
	return ours, ended
}

// patient is a Person whose user never answers.
type patient struct {
	fakeHost
	asked atomic.Int32
}

func (p *patient) Prompt(ctx context.Context, _ sdk.Prompt) (map[string]string, error) {
	p.asked.Add(1)
	return nil, waits(ctx)
}

// TestServedMost checks that the host rejects calls beyond maxServedCalls at once,
// and that all calls end with the plugin.
func TestServedMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{}
		conn, ended := asking(t, sdk.Host{Person: p, Events: p})
		client := rpc.NewClient(conn)
		var refused atomic.Int32
		var all sync.WaitGroup
		for n := range uint64(maxServedCalls + 100) {
			all.Go(func() {
				var r PromptReply
				if client.Call("Host.Prompt", PromptArgs{Call: Call{ID: n + 1}, Capability: "c"}, &r) == nil &&
					r.Status.Reason == "overloaded" {
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		if p.asked.Load() != maxServedCalls || refused.Load() != 100 {
			t.Errorf("%d calls ran, %d were rejected", p.asked.Load(), refused.Load())
		}
		_ = conn.Close()
		all.Wait()
		<-ended
	})
}

// TestServedTwice checks that many calls with the same id do not escape the
// limit.
func TestServedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{}
		conn, _ := asking(t, sdk.Host{Person: p})
		client := rpc.NewClient(conn)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_ = client.Call("Host.Prompt", PromptArgs{Call: Call{ID: 7}, Capability: "c"}, new(PromptReply))
			})
		}
		synctest.Wait()
		if p.asked.Load() != 1 {
			t.Errorf("%d calls ran", p.asked.Load())
		}
		_ = client.Close()
		all.Wait()
	})
}

// TestPendingMost checks that the host stops reading calls of a plugin that
// does not read the responses.
func TestPendingMost(t *testing.T) {
	conn, _ := asking(t, sdk.Host{})
	enc := gob.NewEncoder(conn)
	sent := 0
	for ; sent <= 2*maxPendingCalls; sent++ {
		_ = conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
		n := uint64(sent + 1)
		if enc.Encode(rpc.Request{ServiceMethod: "Host.Event", Seq: n}) != nil ||
			enc.Encode(EventArgs{Call: Call{ID: n}}) != nil {
			break
		}
	}
	if sent < maxServedCalls || sent > maxPendingCalls+2 {
		t.Errorf("%d calls were read, the limit is %d", sent, maxPendingCalls)
	}
}

// TestServedBounds checks the limits of prompts, listeners, secrets and
// challenges.
func TestServedBounds(t *testing.T) {
	h := &fakeHost{secrets: map[string][]byte{}}
	host, _ := asHost(t, grants{"c": h.all()}, "c")
	fields := make([]sdk.PromptField, maxPromptFields+1)
	if _, err := host.Person.Prompt(t.Context(), sdk.Prompt{Fields: fields}); sdk.CodeOf(err) != sdk.Internal {
		t.Errorf("%d fields: %v", len(fields), err)
	}
	if _, err := host.Person.Prompt(t.Context(), sdk.Prompt{Fields: fields[1:]}); err != nil {
		t.Errorf("%d fields: %v", maxPromptFields, err)
	}
	var open []sdk.Callback
	for range maxCallbacks {
		c, err := host.Person.Callback(t.Context(), "/")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if _, err := host.Person.Callback(t.Context(), "/"); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("one listener too many: %v", err)
	}
	within(t, "the close of the one too many", h.redirect.closed)
	if err := open[0].Close(); err != nil {
		t.Error(err)
	}
	if _, err := host.Person.Callback(t.Context(), "/"); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	large := make([]byte, sdk.MaxSecret+1)
	if err := host.Secrets.SetSecret(t.Context(), "k", large, ""); sdk.CodeOf(err) != sdk.Invalid {
		t.Errorf("a large secret: %v", err)
	}
	var r Reply
	control := &HostControl{granter: grants{"c": h.all()}}
	_ = control.SecretSet(SecretArgs{Capability: "c", Key: "k", Value: large}, &r)
	if sdk.Code(r.Status.Code) != sdk.Invalid || len(h.secrets) > 0 {
		t.Errorf("the host's side: %+v", r.Status)
	}
	res, err := host.Credentials.Challenge(t.Context(), sdk.Challenge{WWWAuthenticate: make([]string, 100)})
	if err != nil || strings.Count(res.Reason, ",") != maxChallengeLines-1 {
		t.Errorf("a long header: %q, %v", res.Reason, err)
	}
	res, err = host.Credentials.Challenge(t.Context(),
		sdk.Challenge{WWWAuthenticate: []string{strings.Repeat("x", 1<<20)}})
	if err != nil || len(res.Reason) > maxLine+9 {
		t.Errorf("large headers: %d bytes, %v", len(res.Reason), err)
	}
}

// TestManyRefused checks that many concurrent calls about credentials all
// succeed, and that the provider in the same process can read secrets
// meanwhile.
func TestManyRefused(t *testing.T) {
	h := &fakeHost{secrets: map[string][]byte{}}
	slow := &slowCredentials{fakeHost: h, arrived: make(chan struct{}, 4*maxCredentialCalls),
		answer: make(chan struct{})}
	host, _ := asHost(t, grants{"c": {Secrets: h, Credentials: slow}}, "c")
	errs := make(chan error, 4*maxCredentialCalls)
	for n := range 4 * maxCredentialCalls {
		go func() {
			_, err := host.Credentials.Authorize(t.Context(), sdk.AuthRequest{Method: fmt.Sprint(n)})
			errs <- err
		}()
	}
	for range maxCredentialCalls {
		within(t, "a question", slow.arrived)
	}
	if _, _, err := host.Secrets.Secret(t.Context(), "token"); err != nil {
		t.Errorf("meanwhile: %v", err)
	}
	close(slow.answer)
	for range 4 * maxCredentialCalls {
		if err := within(t, "an answer", errs); err != nil {
			t.Fatal(err)
		}
	}
}

// slowCredentials blocks all calls until it is released.
type slowCredentials struct {
	*fakeHost
	arrived, answer chan struct{}
}

func (s *slowCredentials) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	s.arrived <- struct{}{}
	select {
	case <-s.answer:
	case <-ctx.Done():
	}
	return s.fakeHost.Authorize(ctx, r)
}
