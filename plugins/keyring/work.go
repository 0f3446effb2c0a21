package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/99designs/keyring"

	"github.com/junctor-mcp/junctor/sdk"
)

// workerLife is when a worker exits by itself, in case its vault was killed.
const workerLife = 2 * patience

// work runs one operation. It is the main function of a worker.
func work(in io.Reader, out io.Writer) error {
	overdue := time.AfterFunc(workerLife, func() { os.Exit(1) })
	defer overdue.Stop()
	var o order
	if err := json.NewDecoder(io.LimitReader(in, mostAnswer)).Decode(&o); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	return json.NewEncoder(out).Encode(carryOut(o))
}

// carryOut executes an order. The libraries panic if a bus answers with values
// of other types.
func carryOut(o order) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Wrong: sdk.Errorf(sdk.Unavailable, "%s gave an invalid answer: %v", o.Backend, r)}
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
		err = sdk.Errorf(sdk.Internal, "unknown operation %q", o.Do)
	}
	a.Wrong = typed(err)
	return a
}

// openRing opens a backend. It allows no other backend: by default the library
// falls back to another one, at worst to a file.
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
		c.ServiceName = collection // the library's name for a wallet
	}
	k, err := keyring.Open(c)
	if err != nil {
		// The error of the library does not tell the reason.
		return nil, absent("choose another place: secret_store \"file\" {}", "there is no %s on this machine", backend)
	}
	return &ring{k}, nil
}

// An order is the one operation of a worker, sent as JSON to its standard
// input.
type order struct {
	Backend    string
	Collection string
	Do         string // get, set, delete, keys
	Key        string
	Value      []byte
}

// An answer is the result of an order, sent as JSON to standard output.
type answer struct {
	Value []byte
	Found bool
	Keys  []string
	Wrong *sdk.Error
}

// mostAnswer is the maximum size of an answer in bytes.
const mostAnswer = 4 << 20

// typed converts any error to an *sdk.Error.
func typed(err error) *sdk.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e
	}
	return sdk.Errorf(sdk.Unavailable, "%v", err)
}

func absent(hint, format string, args ...any) *sdk.Error {
	e := sdk.Errorf(sdk.Unavailable, format, args...)
	e.Reason, e.Hint = "absent", hint
	return e
}

func locked(format string, args ...any) *sdk.Error {
	e := sdk.Errorf(sdk.Denied, format, args...)
	e.Reason = "locked"
	e.Hint = "log in to the desktop, or unlock it in its own program, and try again; or choose another place: secret_store \"file\" {}"
	return e
}

func damaged(format string, args ...any) *sdk.Error {
	e := sdk.Errorf(sdk.Unavailable, format, args...)
	e.Reason = "damaged"
	return e
}
