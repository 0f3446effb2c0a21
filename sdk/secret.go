package sdk

import (
	"context"

	"github.com/hashicorp/go-hclog"
)

// A SecretStore keeps secrets at rest in one way. [NewSecretStore] makes one
// from a settings struct and a function.
//
// Every method may be called concurrently.
type SecretStore interface {
	// Schema describes the settings. It returns the same value every time.
	Schema() Schema

	// Validate checks settings beyond what the schema can say; see
	// [Transport].
	Validate(ctx context.Context, settings []byte) error

	// Open makes ready to keep secrets. It must not wait for a person. An
	// [*Error] with the Reason "absent" says that there is no such store on
	// this machine, so that the host may use another.
	Open(ctx context.Context, server *StoreServer, settings []byte) (Vault, error)
}

// MaxSecret is how many bytes a secret may have.
const MaxSecret = 16 << 10

// A Vault is an open [SecretStore]. Every method may be called concurrently.
// When it is also an io.Closer, it is closed when it is no longer used.
//
// Keys are made by the host: at most 200 visible ASCII characters. Values have
// at most [MaxSecret] bytes; a store that holds less in one piece splits them. The Reason
// of an [*Error] is "locked" when a person has to unlock the store, "absent"
// when it is not there, "password" when the password is not the right one and
// "damaged" when what is stored cannot be read. A vault that does not answer
// within three seconds is ended with its process.
type Vault interface {
	Secrets
	// Keys lists the keys of all that is stored, in no order.
	Keys(ctx context.Context) ([]string, error)
}

// A StoreServer is what a [SecretStore] gets to work with.
type StoreServer struct {
	// Dir is a directory of the store's own, private to the user. It may not
	// exist yet; empty: there is none.
	Dir string
	Log hclog.Logger
}

// NewSecretStore makes a SecretStore from a settings struct C and a function
// that opens a vault. It panics when C cannot be described; see [SchemaOf].
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
