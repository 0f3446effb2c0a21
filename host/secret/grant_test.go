package secret

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/filelock"
)

// A slowStore pauses before it answers, so that unlocked changes of the same value
// overlap.
type slowStore struct{ *memoryStore }

func (s slowStore) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	value, found, err := s.memoryStore.Secret(ctx, key)
	time.Sleep(2 * time.Millisecond) // so that others come between
	return value, found, err
}

// newUsers returns n users of one store and one directory, as in n processes.
func newUsers(t *testing.T, n int) []*User {
	t.Helper()
	k, _ := newKeeper(t, false, slowStore{newMemoryStore(nil)})
	users := make([]*User, n)
	for i := range users {
		users[i] = New(k.opts).User()
	}
	if err := users[0].Set(t.Context(), "token", []byte("value")); err != nil {
		t.Fatal(err)
	}
	return users
}

func recipient(i int) Recipient { return Recipient{Config: fmt.Sprint("/", i), Server: "a", To: "b"} }

func TestConcurrentGrantsAreAllKept(t *testing.T) {
	users := newUsers(t, 20)
	var all sync.WaitGroup
	for i, u := range users {
		all.Go(func() {
			if err := u.Grant(t.Context(), "token", recipient(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	granted, err := users[0].Granted(t.Context(), "token")
	if err != nil || len(granted) != len(users) {
		t.Errorf("%d of %d grants are left, %v", len(granted), len(users), err)
	}
}

func TestConcurrentUsesOfPendingGrantsAreAllKept(t *testing.T) {
	users := newUsers(t, 20)
	for i := range users {
		if err := users[0].Grant(t.Context(), "token", Pending(recipient(i).Config)); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for i, u := range users {
		all.Go(func() {
			value, err := u.GetFor(t.Context(), "token", recipient(i), func() []Recipient { return nil })
			if err != nil || string(value) != "value" {
				t.Errorf("user %d: %q, %v", i, value, err)
			}
		})
	}
	all.Wait()
	granted, err := users[0].Granted(t.Context(), "token")
	if err != nil || len(granted) != len(users) {
		t.Fatalf("%d of %d grants are left, %v", len(granted), len(users), err)
	}
	for i := range users {
		if !slices.Contains(granted, recipient(i)) {
			t.Errorf("no grant for recipient %d", i)
		}
	}
}

func TestGrantWaitsForTheLockAsLongAsItsContext(t *testing.T) {
	u := newUsers(t, 1)[0]
	release, err := filelock.Lock(t.Context(), u.keeper.opts.Stamps+"/"+grantsLock)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := u.Grant(ctx, "token", recipient(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("grant while another process holds the lock: %v", err)
	}
	release()
	if err := u.Grant(t.Context(), "token", recipient(1)); err != nil {
		t.Errorf("grant after the release: %v", err)
	}
	if err := u.Grant(t.Context(), "token", recipient(1)); err != nil {
		t.Errorf("the same grant again: %v", err)
	}
	_, err = u.GetFor(t.Context(), "token", recipient(2), nil)
	wantCode(t, err, fault.SecretUngranted)
}
