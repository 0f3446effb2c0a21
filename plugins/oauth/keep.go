package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// secretMost is what one secret may have (sdk.Secrets).
const secretMost = 16 << 10

// A login is what was obtained, and what it is bound to: it is used for exactly
// this server, resource, authorization server and client, and is worth nothing
// when one of them is another one now.
type login struct {
	Server   string    `json:"server"`
	Resource string    `json:"resource"`
	Issuer   string    `json:"issuer"`
	Assumed  bool      `json:"assumed,omitzero"` // see issuer
	Client   client    `json:"client"`
	Access   string    `json:"access"`
	Refresh  string    `json:"refresh,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
	Scopes   []string  `json:"scopes,omitempty"`
	Account  string    `json:"account,omitzero"`
}

// fresh reports whether there is a token that has not expired.
func (l *login) fresh() bool {
	return l != nil && (l.Expires.IsZero() || time.Until(l.Expires) > skew)
}

func (l *login) credential() sdk.Credential {
	return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + l.Access}, Expires: l.Expires, Account: l.Account}
}

// ours reports whether a login is for what the configuration says now.
func (a *authorizer) ours(l *login) bool {
	if l.Server != canonical(a.server) || a.Resource != "" && l.Resource != a.Resource || a.Issuer != "" && l.Issuer != a.Issuer {
		return false
	}
	if a.ClientID != "" || l.Client.From == byHand {
		return l.Client.From == byHand && l.Client.ID == a.ClientID
	}
	return l.Client.From != byDocument || l.Client.ID == a.ClientMetadataURL
}

// load reads the login anew; nil when there is none that is ours.
func (a *authorizer) load(ctx context.Context) (*login, error) {
	if a.server == nil {
		return nil, nil
	}
	l := new(login)
	found, err := a.read(ctx, a.loginKey(), l)
	if err != nil || !found || !visible(l.Access) || !a.ours(l) {
		return nil, err
	}
	if c := a.configured(); c != nil {
		l.Client = *c // with the secret, which is not kept twice
	}
	return l, nil
}

// current is the login that counts: that of the store, where other processes
// refresh it, log in and log out, too.
func (a *authorizer) current(ctx context.Context) (*login, error) {
	if a.unkept && a.held != nil {
		return a.held, nil
	}
	l, err := a.load(ctx)
	if err != nil && a.held.fresh() {
		return a.held, nil
	}
	if err == nil {
		a.wanted = a.wanted || a.held != nil || l != nil
		a.held = l
	}
	return l, err
}

// save keeps a login. What cannot be kept is used as long as this process runs.
func (a *authorizer) save(ctx context.Context, l *login) error {
	kept := *l
	if kept.Client.From == byHand {
		kept.Client.Secret = ""
	}
	a.held, a.refused = l, ""
	err := a.write(ctx, a.loginKey(), &kept, "OAuth login of Junctor to "+a.server.Host)
	a.unkept = err != nil
	return err
}

// forget drops a login that is worth nothing any more.
func (a *authorizer) forget(ctx context.Context) {
	a.held, a.unkept, a.refused = nil, false, ""
	if err := a.host.Secrets.DeleteSecret(ctx, a.loginKey()); err != nil {
		a.log.Warn("a login that is of no use any more could not be deleted", "error", err)
	}
}

// remember notes the scopes that the next login has to have: it may take place
// in another process, which was not told. They are
// written once: whoever looks whether anything changed must not see this as
// a change each time.
func (a *authorizer) remember(ctx context.Context, scopes []string) {
	if slices.Equal(a.remembered(ctx), scopes) {
		return
	}
	_ = a.write(ctx, a.scopesKey(), scopes, "scopes that "+a.server.Host+" asked for")
}

func (a *authorizer) remembered(ctx context.Context) []string {
	var scopes []string
	if found, err := a.read(ctx, a.scopesKey(), &scopes); err != nil || !found {
		return nil
	}
	return union(nil, scopes)
}

// Keys are short: some stores have little room for them.
func (a *authorizer) loginKey() string   { return "login-" + short(canonical(a.server)) }
func (a *authorizer) scopesKey() string  { return "scopes-" + short(canonical(a.server)) }
func (a *authorizer) enteredKey() string { return "entered-" + short(canonical(a.server)) }
func clientKey(issuer string) string     { return "client-" + short(issuer) }

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// read reads a secret. One that is damaged is as good as none: the store itself
// says when it is.
func (a *authorizer) read(ctx context.Context, key string, into any) (found bool, err error) {
	b, found, err := a.host.Secrets.Secret(ctx, key)
	if err != nil || !found {
		return false, err
	}
	if json.Unmarshal(b, into) != nil {
		a.log.Warn("a secret of this plugin is not one that it wrote, and is ignored", "key", key)
		return false, nil
	}
	return true, nil
}

func (a *authorizer) write(ctx context.Context, key string, v any, label string) error {
	b, err := json.Marshal(v)
	if err == nil && len(b) > secretMost {
		err = sdk.Errorf(sdk.Invalid, "it has %d bytes, and a secret at most %d", len(b), secretMost)
	}
	if err == nil {
		err = a.host.Secrets.SetSecret(ctx, key, b, label)
	}
	if err != nil {
		a.log.Warn("what was obtained could not be kept, and is lost when the plugin ends", "what", label, "error", err)
	}
	return err
}
