package sdk

import (
	"context"
	"time"
)

// Host is what the host does for a plugin. Each service is granted by the
// configuration; a call to one that is not returns an [*Error] with the code
// Unimplemented or Denied. A field is nil only in a plugin's own tests.
type Host struct {
	Secrets     Secrets
	Person      Person
	Credentials Credentials
	Events      Events
}

// Secrets keeps small secrets at rest, at most [MaxSecret] bytes each. Keys are the
// plugin's own: no other plugin, server or tenant sees them.
type Secrets interface {
	// Secret returns the value and whether there is one.
	Secret(ctx context.Context, key string) (value []byte, found bool, err error)
	// SetSecret stores the value; label is what a person sees in a key chain.
	SetSecret(ctx context.Context, key string, value []byte, label string) error
	DeleteSecret(ctx context.Context, key string) error
}

// Person reaches the human, where there is one: never under "junctor serve".
type Person interface {
	// OpenURL opens a page in the browser, or prints the address where there
	// is none. Only https, or http to the loopback, is accepted.
	OpenURL(ctx context.Context, url, why string) error
	// Prompt asks for the fields and returns the answers by name.
	Prompt(ctx context.Context, p Prompt) (map[string]string, error)
	// Callback opens a listener on the loopback for one redirect. It lasts
	// until it is closed; ctx bounds the opening only.
	Callback(ctx context.Context, path string) (Callback, error)
}

// A Prompt asks a person something.
type Prompt struct {
	Title  string
	Fields []PromptField
}

// A PromptField is one thing asked for. Secret answers are not echoed.
type PromptField struct {
	Name, Label string
	Secret      bool
}

// A Callback is a listener for the end of a login.
type Callback interface {
	// URL is the address to redirect to.
	URL() string
	// Wait returns the query of the first request to the path, without "?".
	Wait(ctx context.Context) (query string, err error)
	Close() error
}

// Credentials gives a transport what to present to its server. The host asks
// the auth provider of the server's block; the transport never sees a refresh
// token.
type Credentials interface {
	Authorize(ctx context.Context, r AuthRequest) (Credential, error)
	// Challenge reports that the server refused. It says whether to try again.
	Challenge(ctx context.Context, c Challenge) (ChallengeResult, error)
}

// Events tells the host something it may want to show or act on.
type Events interface {
	// Event is best effort: it returns nil when the host does not care.
	Event(ctx context.Context, name, detail string) error
}

// An AuthRequest is what a credential is for.
type AuthRequest struct {
	Method, URL string   // of the HTTP request, where there is one
	Resource    string   // the resource indicator of RFC 8707; empty means the URL
	Scopes      []string // what is needed, where known
	Subject     string   // on whose behalf, where upstreams are not shared
}

// A Credential is what to add to a request.
type Credential struct {
	Headers map[string]string
	Query   map[string]string
	Expires time.Time // zero: not known
	Account string    // for people to recognise; never a secret
	// PerRequest says that the credential is good for one request only: the host
	// does not keep it and asks again before the next one. Requests are then
	// authorized one after the other. Hosts before version 0.2.0 of this package
	// ignore it, and keep the credential until it Expires.
	PerRequest bool
	// Name is the host's name for this credential, for Challenge.Presented. An
	// auth provider leaves it empty.
	Name string
}

// A Challenge is a server's refusal: 401 or 403 and what it said.
type Challenge struct {
	AuthRequest
	Status          int
	WWWAuthenticate []string
	// Attempt is 1 for the first refusal of a request. A 2 reports that what was
	// presented after a challenge was refused as well, which nobody tries again.
	Attempt int
	// Presented is the Name of the credential that was refused; empty: not known.
	Presented string
}

// A ChallengeResult says what to do about a refusal.
type ChallengeResult struct {
	Retry      bool // the next Authorize returns something new
	NeedsLogin bool // only a person can help
	Reason     string
	Scopes     []string
}
