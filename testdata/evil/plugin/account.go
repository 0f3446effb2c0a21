package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/junctor-mcp/junctor/sdk"
)

// starts counts the authorizers and vaults started by this process.
var starts atomic.Int32

// An authorizer misbehaves as the settings and the method of the request say.
type authorizer struct {
	settings
	server *sdk.AuthServer
}

func startAuth(ctx context.Context, server *sdk.AuthServer, s *settings) (sdk.Authorizer, error) {
	starts.Add(1)
	switch s.Do {
	case "hang":
		select {}
	case "slow":
		time.Sleep(100 * time.Millisecond)
	case "exit":
		os.Exit(7)
	case "panic":
		panic("the author's mistake")
	case "secret": // use a service of the host during Start
		if _, found, err := server.Host.Secrets.Secret(ctx, s.Arg); err != nil || !found {
			return nil, fmt.Errorf("found: %t, %w", found, err)
		}
	}
	return &authorizer{*s, server}, nil
}

func (a *authorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	switch a.Do {
	case "denied":
		return sdk.Credential{},
			&sdk.Error{Code: sdk.Denied, Message: "the organisation does not allow this server", Hint: "ask its owner"}
	case "badarg":
		return sdk.Credential{}, sdk.AttrErrorf("arg", "is not the name of a key")
	case "exitauth":
		fmt.Fprintln(os.Stderr, "the last words of the provider")
		os.Exit(5)
	case "panicauth":
		panic("the provider's mistake")
	}
	header := func(name, value string) (sdk.Credential, error) {
		return sdk.Credential{Headers: map[string]string{name: value}}, nil
	}
	switch r.Method {
	case "hang": // ignores ctx
		select {}
	case "wait":
		<-ctx.Done()
		return sdk.Credential{}, ctx.Err()
	case "exit":
		os.Exit(7)
	case "panic":
		panic("the author's mistake")
	case "login":
		return sdk.Credential{},
			&sdk.Error{Code: sdk.NeedsLogin, Message: "the token " + r.Resource + " is old", Hint: "log in"}
	case "header":
		return header(r.URL, r.Resource)
	case "query":
		return sdk.Credential{Query: map[string]string{r.URL: r.Resource}}, nil
	case "twice":
		return sdk.Credential{Headers: map[string]string{"authorization": "a", "Authorization": "b"}}, nil
	case "many":
		c := sdk.Credential{Headers: map[string]string{}}
		for n := range 33 {
			c.Headers[fmt.Sprint("X-", n)] = "v"
		}
		return c, nil
	case "large":
		return header("X-Large", strings.Repeat("x", 64<<10))
	case "account":
		return sdk.Credential{Headers: map[string]string{"X": "y"}, Account: r.Resource}, nil
	case "secret":
		value, _, err := a.server.Host.Secrets.Secret(ctx, r.Resource)
		return sdk.Credential{Headers: map[string]string{"X": string(value)}}, err
	case "shout": // a URL that is too large
		return sdk.Credential{}, a.server.Host.Person.OpenURL(ctx, "https://s.example/"+strings.Repeat("x", 1<<20), "")
	case "flood": // too many prompts
		return header("X-Refused", fmt.Sprint(pester(ctx, a.server.Host)))
	case "capability": // a hostile author could pass it to another plugin
		return header("X", *capability(a.server.Host))
	case "stolen":
		*capability(a.server.Host) = r.URL
		value, _, err := a.server.Host.Secrets.Secret(ctx, r.Resource)
		return sdk.Credential{Headers: map[string]string{"X": string(value)}}, err
	}
	return sdk.Credential{Headers: map[string]string{
		"Authorization": "Bearer " + a.Arg,
		"X-Server":      strings.Join([]string{a.server.Name, a.server.URL, a.server.Tenant}, " "),
		"X-Process":     fmt.Sprintf("%d %d", os.Getpid(), starts.Load()),
	}}, nil
}

// pester shows a thousand prompts at once, which are never answered. It counts
// those that the host rejects, up to 100.
func pester(ctx context.Context, host sdk.Host) int32 {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	var refused atomic.Int32
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			_, err := host.Person.Prompt(ctx, sdk.Prompt{Title: strings.Repeat("x", 16<<10)})
			if e, ok := errors.AsType[*sdk.Error](err); ok && e.Reason == "overloaded" && refused.Add(1) >= 100 {
				cancel()
			}
		})
	}
	all.Wait()
	return refused.Load()
}

// capability returns the field that the SDK hides from authors.
func capability(h sdk.Host) *string {
	f := reflect.ValueOf(h.Secrets).Elem().FieldByName("capability")
	return (*string)(unsafe.Pointer(f.UnsafeAddr()))
}

func (a *authorizer) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{Retry: c.Attempt == 1, NeedsLogin: c.Attempt > 1,
		Reason: a.Arg + "\x1b[31m" + strings.Repeat("x", 5000), Scopes: []string{"repo", "", "a b", `"`, "é"}}, nil
}

func (a *authorizer) Login(ctx context.Context, _ []string) (string, error) {
	answers, err := a.server.Host.Person.Prompt(ctx, sdk.Prompt{Title: "t", Fields: []sdk.PromptField{{Name: "user"}}})
	return answers["user"], err
}

func (a *authorizer) Logout(ctx context.Context) error {
	return a.server.Host.Secrets.DeleteSecret(ctx, "token")
}

func (a *authorizer) Status(context.Context) (sdk.AuthStatus, error) {
	if a.Do == "hangstatus" {
		select {}
	}
	return sdk.AuthStatus{State: a.Arg, Account: "alice\n" + a.Arg, Expires: time.Unix(5, 0)}, nil
}

// Close stores a secret, so that a test can see the call.
func (a *authorizer) Close() error {
	if a.Do == "stay" {
		select {}
	}
	return a.server.Host.Secrets.SetSecret(context.Background(), "closed", nil, "")
}

// A vault keeps secrets in memory. Some keys make it misbehave.
type vault struct {
	settings
	dir     string
	mu      sync.Mutex
	secrets map[string][]byte
}

func openVault(_ context.Context, server *sdk.StoreServer, s *settings) (sdk.Vault, error) {
	starts.Add(1)
	switch s.Do {
	case "hang":
		select {}
	case "badarg":
		return nil, sdk.AttrErrorf("arg", "is not the name of a drawer")
	case "absent":
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "absent", Message: "there is no key ring here"}
	}
	return &vault{settings: *s, dir: server.Dir, secrets: map[string][]byte{}}, nil
}

func (v *vault) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	if v.Do == "denied" {
		return nil, false,
			&sdk.Error{Code: sdk.Denied, Message: "the owner of the drawer said no", Hint: "ask again tomorrow"}
	}
	switch key {
	case "do/hang":
		select {}
	case "do/wait":
		<-ctx.Done()
		return nil, false, ctx.Err()
	case "do/exit":
		os.Exit(7)
	case "do/panic":
		panic("the author's mistake")
	case "do/large":
		return make([]byte, sdk.MaxSecret+1), true, nil
	case "do/dir":
		return []byte(v.dir), true, nil
	case "do/process":
		return fmt.Append(nil, os.Getpid(), " ", starts.Load()), true, nil
	}
	if reason, ok := strings.CutPrefix(key, "do/reason/"); ok {
		return nil, false, &sdk.Error{Code: sdk.Unavailable, Reason: reason, Message: "it cannot be read"}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	value, found := v.secrets[key]
	return value, found, nil
}

func (v *vault) SetSecret(_ context.Context, key string, value []byte, label string) error {
	if key == "do/tell" {
		return &sdk.Error{Code: sdk.Unavailable, Message: "cannot store " + string(value), Hint: "not " + string(value),
			Output: []string{string(value)}}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.secrets[key] = slices.Clone(value)
	return nil
}

func (v *vault) DeleteSecret(_ context.Context, key string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.secrets, key)
	return nil
}

func (v *vault) Keys(context.Context) ([]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	keys := slices.Collect(maps.Keys(v.secrets))
	if v.Do == "crowded" {
		for n := range 5000 {
			keys = append(keys, fmt.Sprint(n))
		}
	}
	return append(keys, "", "of somebody else", strings.Repeat("k", 201)), nil
}
