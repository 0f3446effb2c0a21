package sdk

import (
	"context"

	"github.com/hashicorp/go-hclog"
)

// A SecretStore stores secrets at rest. [NewSecretStore] makes one from a
// settings struct and a function.
//
// All methods may be called concurrently.
type SecretStore interface {
	// Schema returns the schema of the settings. It returns the same value on
	// every call.
	Schema() Schema

	// Validate checks rules that the schema cannot express; see [Transport].
	Validate(ctx context.Context, settings []byte) error

	// Open opens the store. It must not wait for the user. An [*Error] with the
	// Reason "absent" reports that this machine has no such store, so that the
	// host may use another.
	Open(ctx context.Context, server *StoreServer, settings []byte) (Vault, error)
}

// MaxSecret is the maximum size of a secret in bytes.
const MaxSecret = 16 << 10

// A Vault is an open [SecretStore]. All methods may be called concurrently. If
// it is also an io.Closer, the host closes it when it is no longer used.
//
// The host makes the keys: at most 200 visible ASCII characters. Values have at
// most [MaxSecret] bytes; a store with a smaller limit splits them. The host
// ends the process of a vault that does not answer within three seconds.
//
// The Reason of an [*Error] is one of these:
//
//   - "locked": the user must unlock the store.
//   - "absent": the store does not exist.
//   - "password": the password is wrong.
//   - "damaged": the stored data cannot be read.
type Vault interface {
	Secrets
	// Keys returns the keys of all stored secrets, in no particular order.
	Keys(ctx context.Context) ([]string, error)
}

// A StoreServer holds the resources that the host gives a [SecretStore].
type StoreServer struct {
	// Dir is a private directory of the store. It may not exist yet. It is
	// empty if there is none.
	Dir string
	Log hclog.Logger
}

// NewSecretStore returns a SecretStore made from a settings struct C and a
// function that opens a vault. It panics if C cannot be described; see
// [SchemaOf].
func NewSecretStore[C any](open func(context.Context, *StoreServer, *C) (Vault, error)) SecretStore {
	return &secretStore[C]{schema: SchemaOf[C](), open: open}
}

type secretStore[C any] struct {
	schema Schema
	open   func(context.Context, *StoreServer, *C) (Vault, error)
}

func (s *secretStore[C]) Schema() Schema { return s.schema }

func (s *secretStore[C]) Validate(_ context.Context, settings []byte) error {
	_, err := decodeAndCheck[C](s.schema, settings)
	return err
}

func (s *secretStore[C]) Open(ctx context.Context, server *StoreServer, settings []byte) (Vault, error) {
	c, err := decodeAndCheck[C](s.schema, settings)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, server, c)
}
