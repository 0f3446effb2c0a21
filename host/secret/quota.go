package secret

import (
	"context"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// mostOwned is how many secrets an owner may have. An auth provider needs a
// handful; one that never stops would fill the store that everybody uses.
const mostOwned = 64

// room refuses a further secret to an owner who has too many. A store that does
// not say what it has is no reason to lose a refresh token.
func (s *scope) room(ctx context.Context, st Store, key string) error {
	switch _, found, err := st.Secret(ctx, key); {
	case found || damaged(err): // which is replaced
		return nil
	case err != nil:
		return err
	}
	keys, err := st.Keys(ctx)
	if err != nil {
		return nil
	}
	owned := 0
	for _, k := range keys {
		if strings.HasPrefix(k, prefix+s.owner+"/") {
			owned++
		}
	}
	if owned < mostOwned {
		return nil
	}
	return fault.New(fault.SecretTooLarge, "an auth provider has %d secrets for one server already", owned).
		WithHint("report it to whoever made the provider; a logout may remove them")
}
