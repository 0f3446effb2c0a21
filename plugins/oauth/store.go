package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// secretMost is the maximum size of a secret (sdk.Secrets).
const secretMost = 16 << 10

// storage reads and writes the secrets of the plugin for a site. It has no state of its own. The
// caller holds a semaphore of the authorizer.
type storage struct{ *site }

// A login is a set of tokens and what they are bound to. It is used only for the same
// server, resource, authorization server and client.
type login struct {
	Server   string    `json:"server"`
	Resource string    `json:"resource"`
	Issuer   string    `json:"issuer"`
	Assumed  bool      `json:"assumed,omitzero"` // see issuer
	At       string    `json:"at,omitzero"`      // see issuer
	Client   client    `json:"client"`
	Access   string    `json:"access"`
	Refresh  string    `json:"refresh,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
	Scopes   []string  `json:"scopes,omitempty"`
	Account  string    `json:"account,omitzero"`
	Scoped   bool      `json:"scoped,omitzero"` // the authorization server wants scope in a refresh
	// Unrenewed is set after an error that may mean that the login cannot be refreshed. The
	// refresh is still tried, but the login does not count as ready.
	Unrenewed bool `json:"unrenewed,omitzero"`
}

// fresh reports whether there is an access token that has not expired.
func (l *login) fresh() bool {
	return l != nil && (l.Expires.IsZero() || time.Until(l.Expires) > skew)
}

func (l *login) credential() sdk.Credential {
	return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + l.Access}, Expires: l.Expires,
		Account: l.Account}
}

// matches reports whether a login fits the current settings.
func (st *storage) matches(l *login) bool {
	if l.Server != canonical(st.server) || st.Resource != "" && l.Resource != st.Resource ||
		st.Issuer != "" && !sameIssuer(l.Issuer, st.Issuer) {
		return false
	}
	if st.ClientID != "" || l.Client.From == fromSettings {
		return l.Client.From == fromSettings && l.Client.ID == st.ClientID
	}
	return l.Client.From != fromDocument || l.Client.ID == st.ClientMetadataURL
}

// load reads the login from the store. It returns nil if there is none that matches.
func (st *storage) load(ctx context.Context) (*login, error) {
	if st.server == nil {
		return nil, nil
	}
	l := new(login)
	found, err := st.read(ctx, st.loginKey(), l)
	if err != nil || !found || !visible(l.Access) || !st.matches(l) {
		return nil, err
	}
	if c := st.configured(); c != nil { // its secret is not stored
		c.Posts = l.Client.Posts
		l.Client = *c
	}
	return l, nil
}

// current returns the login. It reads the store each time, because other processes refresh
// it, log in and log out.
func (a *authorizer) current(ctx context.Context) (*login, error) {
	if a.unsaved && a.latest != nil {
		return a.latest, nil
	}
	l, err := a.stored.load(ctx)
	if err != nil && a.latest.fresh() {
		return a.latest, nil
	}
	if err == nil {
		a.wanted = a.wanted || a.latest != nil || l != nil
		a.latest = l
	}
	return l, err
}

// save stores a login. One that cannot be stored is used until the process ends.
func (a *authorizer) save(ctx context.Context, l *login) error {
	a.latest, a.refused = l, ""
	err := a.stored.store(ctx, *l)
	a.unsaved = err != nil
	return err
}

func (st *storage) store(ctx context.Context, l login) error {
	if l.Client.From == fromSettings {
		l.Client.Secret = ""
	}
	return st.write(ctx, st.loginKey(), &l, "OAuth login of Junctor to "+st.server.Host)
}

// setUnrenewed marks the current login as one that may not be refreshed any more.
func (a *authorizer) setUnrenewed(ctx context.Context) {
	if a.latest.Unrenewed {
		return
	}
	a.latest.Unrenewed = true
	if !a.unsaved {
		_ = a.stored.store(ctx, *a.latest) // write has logged the error
	}
}

// forget deletes a login that is no longer valid.
func (a *authorizer) forget(ctx context.Context) {
	a.latest, a.unsaved, a.refused = nil, false, ""
	if err := a.host.Secrets.DeleteSecret(ctx, a.stored.loginKey()); err != nil {
		a.log.Warn("could not delete a login that is no longer valid", "error", err)
	}
}

// remember stores the scopes for the next login, which may happen in another process. It
// does not write the same scopes again, because every write counts as a change of the
// stored secrets.
func (st *storage) remember(ctx context.Context, scopes []string) {
	if slices.Equal(st.remembered(ctx), scopes) {
		return
	}
	_ = st.write(ctx, st.scopesKey(), scopes, "scopes that "+st.server.Host+" asked for")
}

func (st *storage) remembered(ctx context.Context) []string {
	var scopes []string
	if found, err := st.read(ctx, st.scopesKey(), &scopes); err != nil || !found {
		return nil
	}
	return union(nil, scopes)
}

// loginKey and the functions below return keys of secrets. Keys are short, because some
// stores limit their length.
func (st *storage) loginKey() string   { return "login-" + short(canonical(st.server)) }
func (st *storage) scopesKey() string  { return "scopes-" + short(canonical(st.server)) }
func (st *storage) enteredKey() string { return "entered-" + short(canonical(st.server)) }
func clientKey(issuer string) string   { return "client-" + short(issuer) }

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// read reads and decodes a value. It treats a malformed one as missing.
func (st *storage) read(ctx context.Context, key string, into any) (found bool, err error) {
	b, found, err := st.host.Secrets.Secret(ctx, key)
	if err != nil || !found {
		return false, err
	}
	if json.Unmarshal(b, into) != nil {
		st.log.Warn("ignored a malformed secret of this plugin", "key", key)
		return false, nil
	}
	return true, nil
}

func (st *storage) write(ctx context.Context, key string, v any, label string) error {
	b, err := json.Marshal(v)
	if err == nil && len(b) > secretMost {
		err = sdk.Errorf(sdk.Invalid, "it has %d bytes; a secret has at most %d", len(b), secretMost)
	}
	if err == nil {
		err = st.host.Secrets.SetSecret(ctx, key, b, label)
	}
	if err != nil {
		st.log.Warn("could not store a secret, which is lost when the plugin ends", "what", label, "error", err)
	}
	return err
}

// sendsSecrets reports whether authorization servers receive a secret of the settings.
//
// Without issuer the settings do not say which authorization server a client secret or
// subject token belongs to. It is bound to the first one that accepted it, and no other
// one receives it. Otherwise an attacker who controls the server could name their own. A
// private key is never sent, and its assertions are valid for one issuer only.
func (s *settings) sendsSecrets() bool { return s.ClientSecret != "" || s.SubjectToken != "" }

// checkBinding fails if the secrets of the settings are bound to another issuer.
func (a *authorizer) checkBinding(ctx context.Context, as *issuer) error {
	if !a.sendsSecrets() || a.Issuer != "" {
		return nil
	}
	before, err := a.boundTo(ctx)
	if err != nil || before == "" || sameIssuer(before, as.Issuer) {
		return err
	}
	return &sdk.Error{
		Code: sdk.Denied, Reason: "issuer_mismatch",
		Message: fmt.Sprintf("the server names the authorization server %s, but the client's secret belongs to %s",
			showURL(as.Issuer), showURL(before)),
		Hint: "if the server has moved, register a client there and set issuer in the auth block",
	}
}

// boundTo returns the issuer that the secrets of the settings are bound to, or "". For
// grants without a user there may be no store, so the process remembers it.
func (a *authorizer) boundTo(ctx context.Context) (string, error) {
	if !a.person() {
		return a.bound, nil
	}
	var b binding
	if found, err := a.stored.read(ctx, a.stored.boundKey(), &b); err != nil || !found || b.Client != a.ClientID {
		return "", err
	}
	return b.Issuer, nil
}

// A binding stores the issuer of a client. It is void for other clients.
type binding struct {
	Client string `json:"client"`
	Issuer string `json:"issuer"`
}

// bind binds the secrets of the settings to an issuer.
func (a *authorizer) bind(ctx context.Context, issuer string) error {
	switch {
	case !a.sendsSecrets():
		return nil
	case a.person():
		b := &binding{Client: a.ClientID, Issuer: issuer}
		return a.stored.write(ctx, a.stored.boundKey(), b, "OAuth client of Junctor at "+hostOf(issuer))
	}
	a.bound = issuer
	return nil
}

func (st *storage) boundKey() string { return "bound-" + short(canonical(st.server)) }
