package secret

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/filelock"
)

// A Recipient identifies the destination of a user's secret: one server of one
// configuration, reached in one way. A secret is handed only to the recipients it was
// granted to, because a configuration may name any secret and send it anywhere. It is a value.
// Grants at rest have its JSON.
type Recipient struct {
	Config string `json:"config"` // canonical path; empty: the user configuration
	Server string `json:"server"` // empty: see Pending
	To     string `json:"to"`     // digest of the program's arguments or the URL's origin
}

// Pending returns the grant of a secret that the configuration does not use yet. The
// first use replaces it with grants for the servers that use the secret then.
func Pending(config string) Recipient { return Recipient{Config: config} }

const (
	maxRecipients = 64 // of one secret

	grantsLock = "grants.lock" // in Options.Stamps
)

// grants is stored beside the secret. It is the JSON at rest.
type grants struct {
	Name       string      `json:"name"`
	Recipients []Recipient `json:"recipients"`
}

func grantsKey(name string) string { return prefix + "grants/" + digest(name) }

// Granted returns the recipients of a secret.
func (u *User) Granted(ctx context.Context, name string) ([]Recipient, error) {
	var g grants
	err := u.keeper.do(ctx, func(st Store) error {
		text, found, err := st.Secret(ctx, grantsKey(name))
		if err != nil || !found {
			return err
		}
		if json.Unmarshal(text, &g) != nil || g.Name != name {
			g = grants{} // not written by Junctor: it grants nothing
		}
		return nil
	})
	return g.Recipients, err
}

// Grant adds recipients to those of a secret. It fails if a secret would have more
// than 64.
func (u *User) Grant(ctx context.Context, name string, to ...Recipient) error {
	add := func(known []Recipient) []Recipient {
		for _, r := range to {
			if !slices.Contains(known, r) {
				known = append(known, r)
			}
		}
		return known
	}
	// The first read may prompt for a password. It happens without the lock, so that no
	// other process waits for the user.
	known, err := u.Granted(ctx, name)
	if err != nil || len(add(slices.Clip(known))) == len(known) {
		return err
	}
	unlock, err := u.lockGrants(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if known, err = u.Granted(ctx, name); err != nil {
		return err
	}
	return u.storeGrants(ctx, name, add(known))
}

// lockGrants takes the lock that excludes other changes of grants, and returns the
// function that releases it. It fails if another process holds the lock for 10 s. If the
// file cannot be locked, on a network share for example, it returns without a lock. The caller
// must call unlock. It blocks for at most 10 s.
func (u *User) lockGrants(ctx context.Context) (unlock func(), err error) {
	if u.keeper.opts.Stamps == "" {
		return func() {}, nil
	}
	path := filepath.Join(u.keeper.opts.Stamps, grantsLock)
	within, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	unlock, err = filelock.Lock(within, path)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return nil, lockFault(path, errLockHeld)
	}
	return func() {}, nil
}

func (u *User) storeGrants(ctx context.Context, name string, all []Recipient) error {
	if err := checkUserName(name); err != nil {
		return err
	}
	if len(all) > maxRecipients {
		return fault.New(fault.SecretTooLarge, "the secret %q would be granted to more than %d servers",
			name, maxRecipients).
			WithHint("remove it with `junctor secret remove %s` and save it again", name)
	}
	text, err := json.Marshal(grants{Name: name, Recipients: all})
	if err != nil {
		return err
	}
	return u.keeper.do(ctx,
		func(st Store) error { return st.SetSecret(ctx, grantsKey(name), text, "Junctor: who may use "+name) })
}

// GetFor returns a secret for a recipient. It fails with [fault.SecretUngranted] unless
// the secret was granted to the recipient. users returns the recipients in the same
// configuration that use the secret; they replace a pending grant. Package host calls it for
// each keyring() of a configuration.
func (u *User) GetFor(ctx context.Context, name string, r Recipient, users func() []Recipient) ([]byte, error) {
	value, err := u.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := u.checkGrant(ctx, name, r, users); err != nil {
		clear(value)
		return nil, err
	}
	return value, nil
}

func (u *User) checkGrant(ctx context.Context, name string, r Recipient, users func() []Recipient) error {
	granted, err := u.Granted(ctx, name)
	switch {
	case err != nil || slices.Contains(granted, r):
		return err
	case !slices.Contains(granted, Pending(r.Config)):
		return ungranted(name, r)
	}
	unlock, err := u.lockGrants(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if granted, err = u.Granted(ctx, name); err != nil || slices.Contains(granted, r) {
		return err // another process may have replaced the pending grant
	}
	i := slices.Index(granted, Pending(r.Config))
	if i < 0 {
		return ungranted(name, r)
	}
	all := slices.Concat(slices.Delete(granted, i, i+1), users(), []Recipient{r})
	slices.SortFunc(all, compareRecipients)
	return u.storeGrants(ctx, name, slices.Compact(all))
}

func compareRecipients(a, b Recipient) int {
	return cmp.Or(cmp.Compare(a.Config, b.Config), cmp.Compare(a.Server, b.Server), cmp.Compare(a.To, b.To))
}

func ungranted(name string, r Recipient) error {
	return fault.New(fault.SecretUngranted, "the secret %q is not granted to the server %q of this configuration, or its address or command changed since the grant",
		name, r.Server).
		WithHint("to grant it, run `junctor secret grant %s`", name)
}
