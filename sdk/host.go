package sdk

import (
	"context"
	"time"
)

// Host holds the services that the host offers to a plugin. The configuration
// grants each service. A call to a service that is not granted returns an
// [*Error] of code Unimplemented or Denied. A field is nil only in a plugin's
// own tests.
type Host struct {
	Secrets     Secrets
	Person      Person
	Credentials Credentials
	Events      Events
}

// Secrets stores small secrets at rest, at most [MaxSecret] bytes each. Keys
// are private to the plugin, the server and the tenant.
type Secrets interface {
	// Secret returns the value of key. found is false if there is none.
	Secret(ctx context.Context, key string) (value []byte, found bool, err error)
	// SetSecret stores the value. label is the name that a key chain displays.
	SetSecret(ctx context.Context, key string, value []byte, label string) error
	// DeleteSecret removes the value of key.
	DeleteSecret(ctx context.Context, key string) error
}

// Person asks the user to act. It is available only with an interactive user,
// never under "junctor serve".
type Person interface {
	// OpenURL opens a page in the browser, or prints the address if there is no
	// browser. It accepts only https URLs, and http URLs of a loopback address.
	OpenURL(ctx context.Context, url, why string) error
	// Prompt asks for the fields and returns the answers by name.
	Prompt(ctx context.Context, p Prompt) (map[string]string, error)
	// Callback opens a listener on a loopback address for one redirect. ctx
	// bounds the opening only: the listener lasts until Close.
	Callback(ctx context.Context, path string) (Callback, error)
}

// A Prompt is a form for the user.
type Prompt struct {
	Title  string
	Fields []PromptField
}

// A PromptField is one field of a [Prompt]. Terminals do not echo the answer of
// a secret field.
type PromptField struct {
	Name, Label string
	Secret      bool
}

// A Callback is a listener for the redirect at the end of a login.
type Callback interface {
	// URL returns the redirect URI.
	URL() string
	// Wait returns the query of the first request to the path, without "?".
	Wait(ctx context.Context) (query string, err error)
	Close() error
}

// Credentials supplies the credentials that a transport presents to its server.
// The host asks the auth provider of the server block. The transport never
// receives a refresh token.
type Credentials interface {
	// Authorize returns the credential for a request.
	Authorize(ctx context.Context, r AuthRequest) (Credential, error)
	// Challenge reports that the server rejected a credential. The result says
	// whether to retry.
	Challenge(ctx context.Context, c Challenge) (ChallengeResult, error)
}

// Events reports events to the host, which may display them or act on them.
type Events interface {
	// Event is best effort: it returns nil even if the host ignores the event.
	Event(ctx context.Context, name, detail string) error
}

// An AuthRequest describes the request that needs a credential.
type AuthRequest struct {
	Method, URL string   // of the HTTP request, if it is one
	Resource    string   // resource indicator of RFC 8707; if empty, URL
	Scopes      []string // required scopes, if known
	Subject     string   // principal of the request if upstreams are not shared
}

// A Credential holds the headers and query parameters to add to a request.
type Credential struct {
	Headers map[string]string
	Query   map[string]string
	Expires time.Time // zero if unknown
	Account string    // displayed to the user; never a secret
	// PerRequest limits the credential to one request. The host does not keep
	// it and asks again before the next request. It then authorizes requests
	// one after the other. Hosts before version 0.2.0 of this package ignore
	// the field and keep the credential until Expires.
	PerRequest bool
	// Name is the host's name of this credential, used in Challenge.Presented.
	// An auth provider leaves it empty.
	Name string
}

// A Challenge reports a 401 or 403 response of a server.
type Challenge struct {
	AuthRequest
	Status          int
	WWWAuthenticate []string
	// Attempt is 1 for the first rejection of a request. It is 2 if the
	// credential obtained after a challenge was rejected too. The request is
	// then not retried.
	Attempt int
	// Presented is the Name of the rejected credential; empty if unknown.
	Presented string
}

// A ChallengeResult says how to proceed after a [Challenge].
type ChallengeResult struct {
	Retry      bool // the next Authorize returns a different credential
	NeedsLogin bool // the user must log in
	Reason     string
	Scopes     []string
}
