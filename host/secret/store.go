package secret

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// Limits on keys and values. The stores never receive larger ones.
const (
	MostValue    = sdk.MaxSecret
	MostName     = 128           // bytes of a name
	maxLabel     = 256           // bytes of a label, which key ring applications show
	maxUserValue = 16_000        // bytes of a user's secret; the name is stored in front of it
	prefix       = "junctor/v1/" // of every key
)

// userScope takes the place of an owner's digest in the keys of a user. No digest
// can equal it.
const userScope = "user"

// A Store stores secrets. [sdk.Vault] documents its methods. Its methods may be called
// concurrently. Package host makes them; a Keeper calls them.
type Store interface {
	sdk.Secrets
	Keys(ctx context.Context) ([]string, error)
}

// A Named store is a store with a name for messages.
type Named struct {
	Name string // "the key ring", "the encrypted file ~/secrets.age"
	Store
}

// absent reports whether an error means that the store does not exist here, or that
// its plugin is not installed.
func absent(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && e.Reason == "absent" || fault.Is(err, fault.PluginNotFound)
}

// explain converts a store's error into a fault, unless ctx has ended.
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
	code, hint := fault.SecretStore,
		"choose another store with a secret_store block: secret_store \"file\" {} is an encrypted file"
	switch e.Reason {
	case "locked":
		code, hint = fault.SecretLocked, "unlock it and try again; or choose another store with a secret_store block"
	case "password":
		code, hint = fault.SecretPassword, "try again with the right password"
	case "damaged":
		code, hint = fault.SecretDamaged,
			"save the secret again with `junctor secret set`, or log in again with `junctor login`"
	}
	if e.Hint != "" {
		hint = e.Hint
	}
	return fault.Because(code, err, "%s", store).WithHint("%s", hint)
}

// damaged reports whether an error means that the stored value cannot be read.
func damaged(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && e.Reason == "damaged"
}

// digest returns a 128-bit hash of parts. Their lengths are hashed too.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
