package secret

import (
	"context"
	"errors"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// Bounds of what is kept. A store never sees anything larger.
const (
	MostValue = sdk.MaxSecret
	MostName  = 128           // bytes of a name
	mostLabel = 256           // bytes of what a person sees in a key chain
	mostUser  = 16_000        // bytes of a secret that a person keeps; its name is stored with it
	prefix    = "junctor/v1/" // of every key
)

// A Store is where secrets are: [sdk.Vault] says what its methods promise.
type Store interface {
	sdk.Secrets
	Keys(ctx context.Context) ([]string, error)
}

// A Named store has a name that people know it by.
type Named struct {
	Name string // "the key ring", "the encrypted file ~/secrets.age"
	Store
}

// absent reports whether an error says that there is no such store here. A
// plugin that is not installed is one.
func absent(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && e.Reason == "absent" || fault.Is(err, fault.PluginNotFound)
}

// explain makes a fault of what a store said. The end of the caller's patience
// stays what it is.
func explain(ctx context.Context, store string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		e = sdk.Errorf(sdk.Internal, "%v", err)
	}
	code, hint := fault.SecretStore, "another place is chosen with a secret_store block: secret_store \"file\" {} is an encrypted file"
	switch e.Reason {
	case "locked":
		code, hint = fault.SecretLocked, "unlock it and try again; or choose another place with a secret_store block"
	case "password":
		code, hint = fault.SecretPassword, "try again with the password that it was made with"
	case "damaged":
		code, hint = fault.SecretDamaged, "save the secret again with `junctor secret set`, or log in again with `junctor login`"
	}
	if e.Hint != "" {
		hint = e.Hint
	}
	return fault.Because(code, err, "%s", store).WithHint("%s", hint)
}

// damaged reports whether an error says that what is stored cannot be read.
func damaged(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && e.Reason == "damaged"
}
