package secret

import (
	"errors"
	"fmt"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestSecretsPerOwnerAreLimited: an auth provider can store maxOwned secrets and replace
// them. Other owners are not affected.
func TestSecretsPerOwnerAreLimited(t *testing.T) {
	store := newMemoryStore(nil)
	k, _ := newKeeper(t, false, store)
	greedy, other := k.Scope(Owner{Plugin: "greedy"}), k.Scope(Owner{Plugin: "other"})
	for i := range maxOwned {
		if err := greedy.SetSecret(t.Context(), fmt.Sprint("s", i), []byte("v"), ""); err != nil {
			t.Fatal(err)
		}
	}
	err := greedy.SetSecret(t.Context(), "more", []byte("v"), "")
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Unavailable ||
		!fault.Is(err, fault.SecretTooLarge) || len(store.items) != maxOwned {
		t.Errorf("%v, with %d stored", err, len(store.items))
	}
	if err := errors.Join(
		greedy.SetSecret(t.Context(), "s1", []byte("w"), ""), other.SetSecret(t.Context(), "s", []byte("v"), ""),
		k.User().Set(t.Context(), "s", []byte("v")),
		greedy.DeleteSecret(t.Context(), "s2"), greedy.SetSecret(t.Context(), "more", []byte("v"), ""),
	); err != nil {
		t.Error(err)
	}
}
