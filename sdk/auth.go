package sdk

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
)

// An Auth obtains credentials of one kind. [NewAuth] makes one from a settings
// struct and a function.
//
// All methods may be called concurrently.
type Auth interface {
	// Schema returns the schema of the settings. It returns the same value on
	// every call.
	Schema() Schema

	// Validate checks rules that the schema cannot express; see [Transport].
	Validate(ctx context.Context, settings []byte) error

	// Start returns an authorizer for one server. It must not wait for the
	// user; that is the purpose of [Loginer].
	Start(ctx context.Context, server *AuthServer, settings []byte) (Authorizer, error)
}

// An Authorizer obtains credentials for one server. All methods may be called
// concurrently. If it is also an io.Closer, the host closes it when the server
// is no longer used.
type Authorizer interface {
	// Authorize returns the credential to present. The host keeps it until it
	// expires, and asks once for concurrent requests that need the same
	// credential.
	Authorize(ctx context.Context, r AuthRequest) (Credential, error)
	// Challenge handles a rejected credential: it refreshes the credential,
	// widens the scope or reports that a login is needed.
	Challenge(ctx context.Context, c Challenge) (ChallengeResult, error)
}

// A Loginer is an [Authorizer] with a login for the user.
type Loginer interface {
	// Login guides the user through a login with AuthServer.Host.Person. It
	// returns the account that the user logged in to.
	Login(ctx context.Context, scopes []string) (account string, err error)
	// Logout discards the credentials of the login.
	Logout(ctx context.Context) error
}

// An AuthStatuser is an [Authorizer] that reports the state of the login.
type AuthStatuser interface {
	Status(ctx context.Context) (AuthStatus, error)
}

// AuthStatus is a snapshot of an authorizer. It contains no secret.
type AuthStatus struct {
	State   string // "ready", "needs_login" or "unknown"
	Account string
	Scopes  []string
	Expires time.Time // of the credential; zero if unknown
	// Ends is when a person must log in again. It is zero if the authorizer renews the
	// credential itself, or if it does not know.
	Ends time.Time
}

// An AuthServer describes the server that an [Authorizer] serves.
type AuthServer struct {
	Name   string // label of the server block
	URL    string // of the server, if the transport has such a setting; else empty
	Tenant string
	Dir    string // directory of the file that contains the block
	// Env holds environment variables of the host as NAME=value: those that the
	// settings list in an attribute of the format "env_names".
	Env  []string
	Log  hclog.Logger
	Host Host
}

// NewAuth returns an Auth made from a settings struct C and a function that
// starts an authorizer. It panics if C cannot be described; see [SchemaOf].
func NewAuth[C any](start func(context.Context, *AuthServer, *C) (Authorizer, error)) Auth {
	return &auth[C]{schema: SchemaOf[C](), start: start}
}

type auth[C any] struct {
	schema Schema
	start  func(context.Context, *AuthServer, *C) (Authorizer, error)
}

func (a *auth[C]) Schema() Schema { return a.schema }

func (a *auth[C]) Validate(_ context.Context, settings []byte) error {
	_, err := decodeAndCheck[C](a.schema, settings)
	return err
}

func (a *auth[C]) Start(ctx context.Context, s *AuthServer, settings []byte) (Authorizer, error) {
	c, err := decodeAndCheck[C](a.schema, settings)
	if err != nil {
		return nil, err
	}
	return a.start(ctx, s, c)
}
