package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/99designs/keyring"

	"github.com/junctor-mcp/junctor/sdk"
)

// workerLife is when a worker ends by itself, whose vault was killed and left
// it behind.
const workerLife = 2 * patience

// work does one operation. It is all that a worker's process does.
func work(in io.Reader, out io.Writer) error {
	overdue := time.AfterFunc(workerLife, func() { os.Exit(1) })
	defer overdue.Stop()
	var o order
	if err := json.NewDecoder(io.LimitReader(in, mostAnswer)).Decode(&o); err != nil {
		return fmt.Errorf("reading what to do: %w", err)
	}
	return json.NewEncoder(out).Encode(carryOut(o))
}

// carryOut does what was ordered. The libraries trust the other end of the bus
// and panic over an answer of another type.
func carryOut(o order) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Wrong: sdk.Errorf(sdk.Unavailable, "%s gave an answer that makes no sense: %v", o.Backend, r)}
		}
	}()
	r, err := openRing(o.Backend, o.Collection)
	if err != nil {
		return answer{Wrong: typed(err)}
	}
	switch o.Do {
	case "get":
		a.Value, a.Found, err = r.get(o.Key)
	case "set":
		err = r.set(o.Key, o.Value)
	case "delete":
		err = r.delete(o.Key)
	case "keys":
		a.Keys, err = r.keys()
	default:
		err = sdk.Errorf(sdk.Internal, "no worker does %q", o.Do)
	}
	a.Wrong = typed(err)
	return a
}

// openRing opens a backend. It is named and the only one allowed: by itself the
// library would take another one, at worst its own file.
func openRing(backend, collection string) (*ring, error) {
	if err := ready(backend, collection); err != nil {
		return nil, err
	}
	c := keyring.Config{
		AllowedBackends:                []keyring.BackendType{keyring.BackendType(backend)},
		ServiceName:                    "junctor",
		LibSecretCollectionName:        collection,
		KWalletAppID:                   "junctor",
		KWalletFolder:                  "junctor",
		KeyCtlScope:                    "user",
		PassPrefix:                     "junctor",
		WinCredPrefix:                  "junctor",
		KeychainTrustApplication:       true,
		KeychainAccessibleWhenUnlocked: true,
	}
	if backend == "kwallet" {
		c.ServiceName = collection // the library calls a wallet so
	}
	k, err := keyring.Open(c)
	if err != nil {
		// The library says the same whatever is wrong.
		return nil, absent("choose another place: secret_store \"file\" {}", "there is no %s here", backend)
	}
	return &ring{k}, nil
}
