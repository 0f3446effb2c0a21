package secret

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A Recipient is where a user's secret goes: one server of one configuration, as
// long as it is reached the same way. A secret is handed out to the recipients
// that it was granted to and to nobody else, because a configuration may name
// any secret and send it anywhere.
type Recipient struct {
	Config string `json:"config"` // canonical path; empty: the user's own configuration
	Server string `json:"server"` // empty: see Pending
	To     string `json:"to"`     // digest of the program's arguments or the URL's origin
}

// Pending is the grant of a secret that its configuration does not use yet. The
// first use turns it into grants for the servers that use the secret then.
func Pending(config string) Recipient { return Recipient{Config: config} }

// maxRecipients bounds the grants of one secret.
const maxRecipients = 64

// A grants record is kept beside the secret.
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
			g = grants{} // not written by this program: it grants nothing
		}
		return nil
	})
	return g.Recipients, err
}

// Grant adds recipients to those of a secret.
func (u *User) Grant(ctx context.Context, name string, to ...Recipient) error {
	known, err := u.Granted(ctx, name)
	if err != nil {
		return err
	}
	all := known
	for _, r := range to {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	if len(all) == len(known) {
		return nil
	}
	return u.keepGrants(ctx, name, all)
}

func (u *User) keepGrants(ctx context.Context, name string, all []Recipient) error {
	if err := checkUserName(name); err != nil {
		return err
	}
	if len(all) > maxRecipients {
		return fault.New(fault.SecretTooLarge, "the secret %q is granted to %d servers already", name, maxRecipients).
			WithHint("remove it with `junctor secret remove %s` and save it again", name)
	}
	text, err := json.Marshal(grants{Name: name, Recipients: all})
	if err != nil {
		return err
	}
	return u.keeper.do(ctx, func(st Store) error { return st.SetSecret(ctx, grantsKey(name), text, "Junctor: who may use "+name) })
}

// GetFor returns a secret for a recipient that it was granted to. users returns
// the recipients in the same configuration that use the secret; they replace a
// pending grant.
func (u *User) GetFor(ctx context.Context, name string, r Recipient, users func() []Recipient) ([]byte, error) {
	value, err := u.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	granted, err := u.Granted(ctx, name)
	if err != nil {
		clear(value)
		return nil, err
	}
	if slices.Contains(granted, r) {
		return value, nil
	}
	if i := slices.Index(granted, Pending(r.Config)); i >= 0 {
		all := slices.Concat(slices.Delete(granted, i, i+1), users(), []Recipient{r})
		slices.SortFunc(all, compareRecipients)
		if err := u.keepGrants(ctx, name, slices.Compact(all)); err != nil {
			clear(value)
			return nil, err
		}
		return value, nil
	}
	clear(value)
	return nil, ungranted(name, r)
}

func compareRecipients(a, b Recipient) int {
	for _, pair := range [][2]string{{a.Config, b.Config}, {a.Server, b.Server}, {a.To, b.To}} {
		if pair[0] != pair[1] {
			if pair[0] < pair[1] {
				return -1
			}
			return 1
		}
	}
	return 0
}

func ungranted(name string, r Recipient) error {
	return fault.New(fault.SecretUngranted, "the secret %q was not granted to the server %q of this configuration, or the server is reached another way than when it was", name, r.Server).
		WithHint("if the server may have it, run `junctor secret grant %s`", name)
}
