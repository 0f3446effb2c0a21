package sdk

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
)

// An Auth obtains credentials of one kind. [NewAuth] makes one from a settings
// struct and a function.
//
// Every method may be called concurrently.
type Auth interface {
	// Schema describes the settings. It returns the same value every time.
	Schema() Schema

	// Validate checks settings beyond what the schema can say; see
	// [Transport].
	Validate(ctx context.Context, settings []byte) error

	// Start makes ready to authorize requests to one server. It must not wait
	// for a person: that is what a [Loginer] is for.
	Start(ctx context.Context, server *AuthServer, settings []byte) (Authorizer, error)
}

// An Authorizer obtains credentials for one server. Every method may be called
// concurrently. When it is also an io.Closer, it is closed when the server is
// no longer used.
type Authorizer interface {
	// Authorize returns what to present. The host keeps it until it expires
	// and asks once for many requests that need it at the same time.
	Authorize(ctx context.Context, r AuthRequest) (Credential, error)
	// Challenge answers a refusal: refresh, widen the scope, or say that a
	// login is needed.
	Challenge(ctx context.Context, c Challenge) (ChallengeResult, error)
}

// A Loginer is an [Authorizer] that a person can log in to.
type Loginer interface {
	// Login walks a person through it, by way of AuthServer.Host.Person.
	Login(ctx context.Context, scopes []string) (account string, err error)
	Logout(ctx context.Context) error
}

// An AuthStatuser is an [Authorizer] that can say who is logged in.
type AuthStatuser interface {
	Status(ctx context.Context) (AuthStatus, error)
}

// AuthStatus is how an authorizer is at one moment. It holds no secret.
type AuthStatus struct {
	State   string // "ready", "needs_login" or "unknown"
	Account string
	Scopes  []string
	Expires time.Time // zero: not known
}

// An AuthServer is the server that an [Authorizer] is for.
type AuthServer struct {
	Name   string // the label of the server block
	URL    string // of the server, where its transport's settings have one; else empty
	Tenant string
	Dir    string // the directory of the file that holds the block
	// Env holds, as NAME=value, the host's environment variables that the
	// settings name in an attribute of the format "env_names".
	Env  []string
	Log  hclog.Logger
	Host Host
}

// NewAuth makes an Auth from a settings struct C and a function that starts an
// authorizer. It panics when C cannot be described; see [SchemaOf].
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
