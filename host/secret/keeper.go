package secret

import (
	"context"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Options are what a [Keeper] needs to know.
type Options struct {
	// Stores, best first. They are asked only when something is wanted.
	Stores []Named
	// Strict means that only the first store will do: it was chosen by name.
	Strict bool
	// Stamps is a directory for the stamps of [Keeper.Changed]; empty: there
	// are none, and nothing ever seems to change.
	Stamps string
	// Warn is told, once, when another store than the first is used. Once means
	// once and for all, whatever process it was told by, as long as the reason
	// stays the same: a person is told, who runs one command after the other.
	Warn func(msg, hint string)
	Once bool
}

// A Keeper keeps secrets in the first store that is there. Its methods may be
// called concurrently.
type Keeper struct {
	opts Options
	// first is the store to ask. Once it answered, settled is one more than its
	// index, and it is not passed over any more, whatever happens to it.
	first, settled atomic.Int32
	untold         atomic.Pointer[string] // the mark of a warning that is to be remembered
	why            atomic.Pointer[string] // the store before was passed over
}

// New makes a Keeper, which asks no store yet.
func New(o Options) *Keeper { return &Keeper{opts: o} }

// Where is the name of the store that is in use, or would be.
func (k *Keeper) Where() string {
	if len(k.opts.Stores) == 0 {
		return ""
	}
	return k.opts.Stores[k.first.Load()].Name
}

// Found is the store that is in use, and why not the one that comes before it. It
// is empty as long as none was asked.
func (k *Keeper) Found() (store, why string) {
	if k.settled.Load() == 0 {
		return "", ""
	}
	if reason := k.why.Load(); reason != nil {
		why = *reason
	}
	return k.Where(), why
}

// do asks the store in use. While none has answered yet, one that says that it
// is not there is passed over.
func (k *Keeper) do(ctx context.Context, op func(Store) error) error {
	for i := int(k.first.Load()); i < len(k.opts.Stores); i++ {
		s := k.opts.Stores[i]
		err := op(s.Store)
		if !absent(err) {
			switch {
			case err == nil:
				k.worked(i)
			case ctx.Err() == nil:
				k.settled.Store(int32(i + 1))
			}
			return explain(ctx, s.Name, err)
		}
		if k.settled.Load() == int32(i+1) || k.opts.Strict || i+1 == len(k.opts.Stores) {
			return explain(ctx, s.Name, err)
		}
		k.pass(i, err)
	}
	return fault.New(fault.SecretStore, "there is no place to keep secrets in").
		WithHint("set HOME or JUNCTOR_HOME, so that there is a directory for them")
}

// pass goes on to the next store. Whoever does it first says so.
func (k *Keeper) pass(i int, why error) {
	if !k.first.CompareAndSwap(int32(i), int32(i+1)) {
		return
	}
	from, to := k.opts.Stores[i].Name, k.opts.Stores[i+1].Name
	reason := from + " cannot be used: " + why.Error()
	k.why.Store(&reason)
	k.tell(reason+"; secrets are kept in "+to, "this is said once; a secret_store \"file\" block makes it your choice, whatever key rings there are")
}
