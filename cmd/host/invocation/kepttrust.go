package invocation

import (
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/host/trust"
)

// The functions of this file keep a configuration trusted that Junctor itself edits: the verbs of
// package configure on behalf of the user, and the store of pins when it writes the lock file beside
// the configuration. trust.go asks for trust.

// TrustAgain records the trust in a configuration that Junctor itself changed.
func TrustAgain(inv *Invocation, r *trust.Review) error {
	store, err := inv.TrustStore()
	if err != nil || store.Dir == "" {
		return err
	}
	return store.Put(r.Record(time.Now()))
}

// KeepTrust returns a function that calls write, which changes the lock file beside a
// configuration. Trust in the configuration stays if nothing else changes meanwhile. write returns
// the digests of the lock file that it read and wrote: a review takes time, and another program
// may change the file before or after.
//
// Package pins calls the returned function on any goroutine, under its lock of the lock file, as
// long as the app runs. It calls write once, only reads inv, whose directories are found by then, and
// writes nothing but the record of trust.
func (inv *Invocation) KeepTrust(at config.Location) func(write func() (read, written string, err error)) error {
	return func(write func() (read, written string, err error)) error {
		var before *trust.Review
		if at.Found {
			before = TrustedReview(inv, at)
		}
		read, written, err := write()
		if err != nil || before == nil {
			return err
		}
		after, _, err := inv.Review(at)
		if err != nil || after == nil || after.Digest == before.Digest {
			return nil // the next use asks
		}
		record := before.Record(time.Time{})
		if changed := after.Since(&record).Files; !slices.Equal(before.Programs, after.Programs) ||
			!slices.Equal(changed, []string{lockfile.Name}) {
			return nil
		}
		if before.Content.LockSHA256() != read || after.Content.LockSHA256() != written {
			return nil
		}
		if err := TrustAgain(inv, after); err != nil {
			inv.Log.Warn("the configuration is not trusted after a change of its lock file",
				"error", err, "hint", "run `junctor trust`")
		}
		return nil
	}
}

// TrustedReview returns the review of a configuration that the user trusts, else nil.
func TrustedReview(inv *Invocation, at config.Location) *trust.Review {
	_, known, err := inv.Known(at)
	if err != nil || known == nil {
		return nil
	}
	r, _, err := inv.Review(at)
	if err != nil || r == nil || !r.Trusted(known, "") && !r.SameSettings(known) {
		return nil
	}
	return r
}
