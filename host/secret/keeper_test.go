package secret

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// A memoryStore is a store in memory that can be told to fail.
type memoryStore struct {
	mu    sync.Mutex
	items map[string]string // guarded by mu
	err   error             // guarded by mu; returned by every call
	calls int               // guarded by mu
}

func newMemoryStore(err error) *memoryStore {
	return &memoryStore{items: map[string]string{}, err: err}
}

func (s *memoryStore) enter() (leave func(), err error) {
	s.mu.Lock()
	s.calls++
	return s.mu.Unlock, s.err
}

func (s *memoryStore) Secret(_ context.Context, key string) ([]byte, bool, error) {
	leave, err := s.enter()
	defer leave()
	v, ok := s.items[key]
	return []byte(v), ok, err
}

func (s *memoryStore) SetSecret(_ context.Context, key string, value []byte, _ string) error {
	leave, err := s.enter()
	defer leave()
	if err == nil {
		s.items[key] = string(value)
	}
	return err
}

func (s *memoryStore) DeleteSecret(_ context.Context, key string) error {
	leave, err := s.enter()
	defer leave()
	delete(s.items, key)
	return err
}

func (s *memoryStore) Keys(context.Context) ([]string, error) {
	leave, err := s.enter()
	defer leave()
	return slices.Collect(maps.Keys(s.items)), err
}

func reason(word string) error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: word, Message: "it is " + word}
}

func newKeeper(t *testing.T, strict bool, stores ...Store) (*Keeper, *warnings) {
	t.Helper()
	h := new(warnings)
	o := Options{Strict: strict, Stamps: filepath.Join(t.TempDir(), "stamps"), Warn: h.warn}
	for i, s := range stores {
		o.Stores = append(o.Stores, Named{[]string{"the key ring", "the encrypted file"}[i], s})
	}
	return New(o), h
}

// TestKeeperChoosesStore: the first store that exists is used, and warnings name it.
func TestKeeperChoosesStore(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		strict bool
		want   fault.Code // empty: the second store is used
	}{
		"not there":                     {reason("absent"), false, ""},
		"not there, as the plugin says": {fault.Because(fault.SecretStore, reason("absent"), "plugin"), false, ""},
		"not installed":                 {fault.New(fault.PluginNotFound, "no such program").WithHint("x"), false, ""},
		"not there, chosen by name":     {reason("absent"), true, fault.SecretStore},
		"locked":                        {reason("locked"), false, fault.SecretLocked},
		"damaged":                       {reason("damaged"), false, fault.SecretDamaged},
		"wrong password":                {reason("password"), false, fault.SecretPassword},
		"mute": {fault.New(fault.PluginUnresponsive, "mute").WithHint("x"), false,
			fault.PluginUnresponsive},
		"anything else": {errors.New("broken"), false, fault.SecretStore},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := newMemoryStore(c.err), newMemoryStore(nil)
			k, warned := newKeeper(t, c.strict, first, second)
			for range 3 {
				err := k.User().Set(t.Context(), "a", []byte("1"))
				if c.want == "" && err != nil {
					t.Fatal(err)
				}
				if c.want != "" {
					wantCode(t, err, c.want)
				}
			}
			switch {
			case c.want != "" && (second.calls != 0 || len(*warned) != 0):
				t.Errorf("the second store was used, warned %q", *warned)
			case c.want == "" && (len(*warned) != 1 || first.calls != 1 || k.Where() != "the encrypted file"):
				t.Errorf("warned %q, asked %d times, in %s", *warned, first.calls, k.Where())
			}
		})
	}
}

// TestKeeperKeepsItsStore: a store that was used once is not replaced when it disappears.
func TestKeeperKeepsItsStore(t *testing.T) {
	first, second := newMemoryStore(nil), newMemoryStore(nil)
	k, warned := newKeeper(t, false, first, second)
	if err := k.User().Set(t.Context(), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	first.err = reason("absent")
	_, err := k.User().Get(t.Context(), "a")
	wantCode(t, err, fault.SecretStore)
	if second.calls != 0 || len(*warned) != 0 {
		t.Errorf("%d calls, warned %q", second.calls, *warned)
	}
	_, err = New(Options{}).User().Get(t.Context(), "a")
	wantCode(t, err, fault.SecretStore)
}

func TestKeeperWarnsOnce(t *testing.T) {
	k, warned := newKeeper(t, false, newMemoryStore(reason("absent")), newMemoryStore(nil))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := k.User().Set(t.Context(), "a", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(*warned) != 1 {
		t.Errorf("warned %q", *warned)
	}
}

// TestOwnersShareNoSecrets: owners that differ in one field share no secrets.
func TestOwnersShareNoSecrets(t *testing.T) {
	store := newMemoryStore(nil)
	k, _ := newKeeper(t, false, store)
	owners := []Owner{
		{"", "oauth", "github", "https://a/", ""},
		{"", "bearer", "github", "https://a/", ""},
		{"", "oauth", "gitlab", "https://a/", ""},
		{"", "oauth", "github", "https://b/", ""},
		{"", "oauth", "github", "https://a/", "ann"},
		{"", "oauth", "github", "", "https://a/"},
		{"", "oauthgithub", "", "https://a/", ""},
		{},
		{"/a/junctor.hcl", "oauth", "github", "https://a/", ""},
		{"/b/junctor.hcl", "oauth", "github", "https://a/", ""},
	}
	for i, o := range owners {
		if _, found, err := k.Scope(o).Secret(t.Context(), "token"); found || err != nil {
			t.Fatalf("%+v has something already, %v", o, err)
		}
		if err := k.Scope(o).SetSecret(t.Context(), "token", []byte{byte(i)}, "label"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.User().Get(t.Context(), "token"); !fault.Is(err, fault.SecretUnknown) {
		t.Fatal(err)
	}
	for i, o := range owners {
		if v, found, err := k.Scope(o).Secret(t.Context(), "token"); !found || err != nil || v[0] != byte(i) {
			t.Fatal(o, v, found, err)
		}
		if err := k.Scope(o).DeleteSecret(t.Context(), "token"); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.items) != 0 {
		t.Error(store.items)
	}
}

// TestKeysAreStable: the keys are the same in every version of Junctor and reveal no
// names.
func TestKeysAreStable(t *testing.T) {
	store := newMemoryStore(nil)
	k, _ := newKeeper(t, false, store)
	long := strings.Repeat("N", MostName)
	for _, name := range []string{"token", long, "../../x"} {
		if err := k.Scope(Owner{"", "oauth", "github", "https://a/", "ann"}).SetSecret(t.Context(), name, nil,
			""); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.User().Set(t.Context(), "a/b", nil); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(store.items))
	want := []string{
		"junctor/v1/1c30d4980086c8b07557801d23f44ad1/602a19beb0f50bff377b1ba57c6e8b3f",
		"junctor/v1/1c30d4980086c8b07557801d23f44ad1/632b0a06a6fc53b9b8dd5002d106b0bc",
		"junctor/v1/1c30d4980086c8b07557801d23f44ad1/ca1a406597e01a19d122543adf8fc6da",
		"junctor/v1/user/c9d2a281f34f1266b9d4c005960dba0e",
	}
	if !slices.Equal(got, want) {
		t.Errorf("keys\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNameRules(t *testing.T) {
	k, _ := newKeeper(t, false, newMemoryStore(nil))
	for _, name := range []string{"a", "GITHUB_TOKEN", "a/b", "0..", "a.b-c_d/", strings.Repeat("x", MostName)} {
		if err := k.User().Set(t.Context(), name, []byte("v "+name)); err != nil {
			t.Error(err)
		}
		if v, err := k.User().Get(t.Context(), name); err != nil || string(v) != "v "+name {
			t.Error(name, v, err)
		}
	}
	for _, name := range []string{"", " ", "a b", "a\n", "a\x00", "ä", "a\x7f", strings.Repeat("x", MostName+1)} {
		_, get := k.User().Get(t.Context(), name)
		_, _, read := k.Scope(Owner{}).Secret(t.Context(), name)
		for _, err := range []error{
			get, k.User().Set(t.Context(), name, nil), k.User().Remove(t.Context(), name),
			read, k.Scope(Owner{}).SetSecret(t.Context(), name, nil, ""),
			k.Scope(Owner{}).DeleteSecret(t.Context(), name),
		} {
			wantCode(t, err, fault.SecretName)
		}
	}
	// keyring() does not accept these names in a configuration.
	for _, name := range []string{"..", "a@b", "~!@#$%^&*()", "-a", "/a", "a;b", `a"b`} {
		_, get := k.User().Get(t.Context(), name)
		for _, err := range []error{get, k.User().Set(t.Context(), name, nil), k.User().Remove(t.Context(), name)} {
			wantCode(t, err, fault.SecretName)
		}
		if err := k.Scope(Owner{}).SetSecret(t.Context(), name, nil, ""); err != nil {
			t.Error(err)
		}
	}
}

// TestPluginsReceiveStoreErrors: plugins receive the message and hint of a store's error,
// with the code Unavailable.
func TestPluginsReceiveStoreErrors(t *testing.T) {
	for err, reason := range map[error]string{
		fault.New(fault.SecretLocked, "it is locked").WithHint("unlock it"):               "locked",
		fault.New(fault.SecretPassword, "it is another one").WithHint("unlock it"):        "password",
		fault.New(fault.SecretDamaged, "it is cut").WithHint("unlock it"):                 "damaged",
		fault.New(fault.SecretStore, "the disk is full").WithHint("unlock it"):            "secret_store",
		&sdk.Error{Code: sdk.Internal, Reason: "locked", Message: "m", Hint: "unlock it"}: "locked",
	} {
		k, _ := newKeeper(t, true, newMemoryStore(err))
		s := k.Scope(Owner{})
		_, _, read := s.Secret(t.Context(), "a")
		for _, err := range []error{read, s.SetSecret(t.Context(), "a", nil, ""), s.DeleteSecret(t.Context(), "a")} {
			e, ok := errors.AsType[*sdk.Error](err)
			f, also := errors.AsType[*fault.Error](err)
			if !ok || !also || e.Code != sdk.Unavailable || e.Reason != reason || e.Hint != "unlock it" ||
				e.Message != f.Message {
				t.Errorf("%q: %+v, %+v", reason, e, f)
			}
		}
	}
}

func TestSizeLimits(t *testing.T) {
	k, _ := newKeeper(t, false, newMemoryStore(nil))
	s := k.Scope(Owner{})
	if err := errors.Join(s.SetSecret(t.Context(), "a", make([]byte, MostValue), ""),
		k.User().Set(t.Context(), "a", make([]byte, maxUserValue))); err != nil {
		t.Error(err)
	}
	wantCode(t, s.SetSecret(t.Context(), "a", make([]byte, MostValue+1), ""), fault.SecretTooLarge)
	wantCode(t, k.User().Set(t.Context(), "a", make([]byte, maxUserValue+1)), fault.SecretTooLarge)
	if maxUserValue+MostName+1 > MostValue {
		t.Error("a person's secret does not fit with its name")
	}
}

func TestUserSecrets(t *testing.T) {
	file, _ := newFile(t, secretsPath(t))
	k, _ := newKeeper(t, false, file)
	u := k.User()
	if names, err := u.List(t.Context()); err != nil || len(names) != 0 {
		t.Fatal(names, err)
	}
	wantCode(t, u.Remove(t.Context(), "a"), fault.SecretUnknown)
	for _, name := range []string{"b", "a", "b"} {
		if err := u.Set(t.Context(), name, []byte("line\nof "+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Scope(Owner{}).SetSecret(t.Context(), "c", []byte("not listed"), ""); err != nil {
		t.Fatal(err)
	}
	if names, err := u.List(t.Context()); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Fatal(names, err)
	}
	if v, err := u.Get(t.Context(), "b"); err != nil || string(v) != "line\nof b" {
		t.Fatal(v, err)
	}
	if err := u.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	_, err := u.Get(t.Context(), "a")
	wantCode(t, err, fault.SecretUnknown)
}

// TestUserRejectsForeignValues: the store holds values under our keys that Junctor did
// not write.
func TestUserRejectsForeignValues(t *testing.T) {
	store := newMemoryStore(nil)
	k, _ := newKeeper(t, false, store)
	store.items[userKey("a")] = "b\nvalue"
	store.items[userKey("c")] = "no line"
	for _, name := range []string{"a", "c"} {
		_, err := k.User().Get(t.Context(), name)
		wantCode(t, err, fault.SecretDamaged)
	}
	if names, err := k.User().List(t.Context()); err != nil || len(names) != 0 {
		t.Error(names, err)
	}
}

// TestRemoveDamaged: a value that cannot be read can be removed.
func TestRemoveDamaged(t *testing.T) {
	store := &damagedStore{newMemoryStore(nil)}
	k, _ := newKeeper(t, false, store)
	if err := k.User().Remove(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// A damagedStore is a store whose values cannot be read.
type damagedStore struct{ *memoryStore }

func (t *damagedStore) Secret(context.Context, string) ([]byte, bool, error) {
	return nil, false, reason("damaged")
}

func TestChangedAfterWrites(t *testing.T) {
	store := newMemoryStore(nil)
	k, _ := newKeeper(t, false, store)
	other := New(k.opts) // as in another process
	ann, bob := Owner{Tenant: "ann"}, Owner{Tenant: "bob"}
	for name, c := range map[string]struct {
		do       func() error
		ann, bob bool
	}{
		"nothing": {func() error { return nil }, false, false},
		"reading": {func() error { _, _, err := k.Scope(ann).Secret(t.Context(), "a"); return err },
			false, false},
		"her own":          {func() error { return k.Scope(ann).SetSecret(t.Context(), "a", nil, "") }, true, false},
		"his own, removed": {func() error { return k.Scope(bob).DeleteSecret(t.Context(), "a") }, false, true},
		"the user's":       {func() error { return k.User().Set(t.Context(), "a", nil) }, true, true},
	} {
		a, b := other.Changed(ann), other.Changed(bob)
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if got := other.Changed(ann) != a; got != c.ann {
			t.Errorf("%s: hers changed: %v", name, got)
		}
		if got := other.Changed(bob) != b; got != c.bob {
			t.Errorf("%s: his changed: %v", name, got)
		}
	}
	before := k.Changed(ann)
	store.err = reason("locked")
	if err := k.Scope(ann).SetSecret(t.Context(), "a", nil, ""); err == nil || k.Changed(ann) != before {
		t.Error("what was not stored did not change anything", err)
	}
}
