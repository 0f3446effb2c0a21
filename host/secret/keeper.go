package secret

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Options configure a [Keeper]. They do not change after New.
type Options struct {
	// Stores, in order of preference. They are called on demand.
	Stores []Named
	// Strict means that only the first store may be used, because the
	// configuration names it.
	Strict bool
	// Stamps is a directory for the versions of [Keeper.Changed] and for the lock
	// of the grants. Empty means no versions, so that nothing seems to change,
	// and no lock.
	Stamps string
	// Warn is called when a later store is used than the first. With Once it is
	// called once per reason over all processes, for users who run one command
	// after another.
	Warn func(msg, hint string)
	Once bool
}

// A Keeper stores secrets in the first store that exists. Its methods may be called
// concurrently. It closes no store; the maker of a store does.
type Keeper struct {
	opts Options
	// first is the index of the store to call. settled is first + 1 after that
	// store has answered, and 0 before. A settled Keeper never changes its store.
	first, settled atomic.Int32
	pendingNotice  atomic.Pointer[string] // digest of a warning, to be remembered when the store works
	why            atomic.Pointer[string] // why the store before first is not used
}

// New returns a Keeper. It calls no store yet.
func New(o Options) *Keeper { return &Keeper{opts: o} }

// Where returns the name of the store that is used or would be used next.
func (k *Keeper) Where() string {
	if len(k.opts.Stores) == 0 {
		return ""
	}
	return k.opts.Stores[k.first.Load()].Name
}

// Found returns the name of the store in use and why the one before it is not used.
// Both are empty while no store was called.
func (k *Keeper) Found() (store, why string) {
	if k.settled.Load() == 0 {
		return "", ""
	}
	if reason := k.why.Load(); reason != nil {
		why = *reason
	}
	return k.Where(), why
}

// Check opens the store, with its password if it needs one. It fails if the store cannot
// be used.
func (k *Keeper) Check(ctx context.Context) error {
	return k.do(ctx, func(s Store) error {
		_, err := s.Keys(ctx)
		return err
	})
}

func (k *Keeper) versions() versions { return versions(k.opts.Stamps) }

// do calls op with the store in use. Until a store has answered, do skips those that
// do not exist. It blocks as long as op does, on the goroutine of the caller.
func (k *Keeper) do(ctx context.Context, op func(Store) error) error {
	for i := int(k.first.Load()); i < len(k.opts.Stores); i++ {
		s := k.opts.Stores[i]
		err := op(s.Store)
		if !absent(err) {
			switch {
			case err == nil:
				k.recordSuccess(i)
			case ctx.Err() == nil:
				k.settled.Store(int32(i + 1))
			}
			return explain(ctx, s.Name, err)
		}
		if k.settled.Load() == int32(i+1) || k.opts.Strict || i+1 == len(k.opts.Stores) {
			return explain(ctx, s.Name, err)
		}
		k.skip(i, err)
	}
	return fault.New(fault.SecretStore, "there is no store for secrets").
		WithHint("set HOME or JUNCTOR_HOME, which decide on the directory of the encrypted file")
}

// skip moves on to the next store. Of concurrent calls one warns.
func (k *Keeper) skip(i int, why error) {
	if !k.first.CompareAndSwap(int32(i), int32(i+1)) {
		return
	}
	from, to := k.opts.Stores[i].Name, k.opts.Stores[i+1].Name
	reason := from + " cannot be used: " + why.Error()
	k.why.Store(&reason)
	k.warn(reason+"; secrets are stored in "+to,
		"this is said once; a secret_store \"file\" block always selects the encrypted file")
}

// noticeFile is the file that holds the digest of the last warning about a skipped
// store, beside the versions. The next command then does not repeat the warning. It
// is written only when the other store works. Otherwise users need both messages
// each time.
const noticeFile = "notice"

// warn warns about a skipped store, unless an earlier process did.
func (k *Keeper) warn(msg, hint string) {
	if k.opts.Warn == nil {
		return
	}
	if k.opts.Once && k.opts.Stamps != "" {
		mark := digest(msg)
		if k.versions().read(noticeFile) == mark {
			return
		}
		k.pendingNotice.Store(&mark)
	}
	k.opts.Warn(msg, hint)
}

// recordSuccess records that store i answered.
func (k *Keeper) recordSuccess(i int) {
	first := k.settled.Swap(int32(i+1)) == 0
	if mark := k.pendingNotice.Swap(nil); mark != nil {
		k.versions().write(noticeFile, *mark)
	}
	if first && i == 0 && k.opts.Once && k.opts.Stamps != "" {
		_ = os.Remove(filepath.Join(k.opts.Stamps, noticeFile)) // so that its next failure is reported
	}
}
