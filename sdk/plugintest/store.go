package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// A Store is a case for one of a plugin's secret stores. Each check uses a new
// directory. It is read only while checks run.
type Store struct {
	Name     string // as in sdk.Plugin.SecretStores
	Settings string // JSON; should contain [Canary] in a sensitive setting, if there is one
	Refused  []Refusal

	// Fresh returns settings of a store without secrets, in place of Settings. Every
	// check calls it once. A store that keeps its secrets elsewhere than in the
	// directory needs it: a remote one could give each check a path of its own.
	Fresh func(t testing.TB) string

	// Forgets declares that the store loses its secrets when the process ends,
	// like a store of a login session.
	Forgets bool
}

func (c Store) checks() []check {
	about := func(what string, run func(t testing.TB, s *subject, c *Store)) check {
		return check{"secret store " + c.Name + " " + what, func(t testing.TB, s *subject) {
			own := c
			if own.Fresh != nil {
				own.Settings = own.Fresh(t)
			}
			run(t, s, &own)
		}}
	}
	return []check{
		about("refusals", func(t testing.TB, s *subject, c *Store) {
			checkRefusals(t, s, component{"secret_store", c.Name}, c.Refused)
		}),
		about("secret", checkStoreSecret),
		about("contents", checkStoreContents),
		about("keys", checkStoreKeys),
		about("many", checkStoreMany),
		about("restart", checkStoreRestart),
		about("close", checkStoreClose),
	}
}

// storeTime is the time after which a host ends the process of a store that
// does not answer.
const storeTime = 3 * time.Second

// A checkedVault is a vault whose methods fail the test on errors and timeouts.
type checkedVault struct {
	t      testing.TB
	link   *link
	remote *wire.RemoteVault
}

// openStore opens a vault in a directory.
func (l *link) openStore(t testing.TB, c *Store, dir string) *checkedVault {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	l.opened++
	handle := fmt.Sprintf("v%d", l.opened)
	err := l.StoreOpen(ctx,
		wire.StoreOpenArgs{Component: c.Name, Handle: handle, Settings: []byte(c.Settings), Dir: dir})
	if l.note(err) != nil {
		t.Fatalf("opening: %v", err)
	}
	return &checkedVault{t, l, l.Vault(handle)}
}

func storeDir(t testing.TB) string { return filepath.Join(t.TempDir(), "store") }

// must calls f with a timeout of storeTime and fails the test on an error.
func (v *checkedVault) must(what string, f func(context.Context) error) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if err := v.link.note(f(ctx)); err != nil {
		v.t.Errorf("%s: %v", what, err)
	}
}

func (v *checkedVault) set(key string, value []byte) {
	v.t.Helper()
	v.must("storing "+short(key),
		func(ctx context.Context) error { return v.remote.SetSecret(ctx, key, value, "of a test") })
}

func (v *checkedVault) remove(key string) {
	v.t.Helper()
	v.must("deleting "+short(key), func(ctx context.Context) error { return v.remote.DeleteSecret(ctx, key) })
}

func (v *checkedVault) holds(key string, want []byte) {
	v.t.Helper()
	v.must("reading "+short(key), func(ctx context.Context) error {
		got, found, err := v.remote.Secret(ctx, key)
		switch {
		case err == nil && !found:
			v.t.Errorf("%s is missing", short(key))
		case err == nil && !bytes.Equal(got, want):
			v.t.Errorf("%s has a different value of %d bytes, want %d", short(key), len(got), len(want))
		}
		return err
	})
}

func (v *checkedVault) lacks(key string) {
	v.t.Helper()
	v.must("reading "+short(key), func(ctx context.Context) error {
		got, found, err := v.remote.Secret(ctx, key)
		if found || len(got) > 0 {
			v.t.Errorf("%s exists, with %d bytes", short(key), len(got))
		}
		return err
	})
}

func (v *checkedVault) lists(want ...string) {
	v.t.Helper()
	v.must("listing", func(ctx context.Context) error {
		got, err := v.remote.Keys(ctx)
		slices.Sort(got)
		slices.Sort(want)
		if err == nil && !slices.Equal(got, want) {
			v.t.Errorf("the keys are %.500q, want %.500q", got, want)
		}
		return err
	})
}

func (v *checkedVault) close() {
	v.t.Helper()
	v.must("closing", v.remote.Close)
}

func short(key string) string {
	if len(key) > 40 {
		return fmt.Sprintf("%q... (%d characters)", key[:40], len(key))
	}
	return fmt.Sprintf("%q", key)
}

// checkStoreSecret checks that stored values are neither logged nor printed.
func checkStoreSecret(t testing.TB, s *subject, c *Store) {
	schema := s.schema(t, component{"secret_store", c.Name})
	if sensitive(&schema) && !strings.Contains(c.Settings, Canary) {
		t.Error("the store has sensitive settings: set one of them to Canary in Settings")
	}
	l := s.start(t, nil)
	complain(t, l, component{"secret_store", c.Name}, c.Settings)
	v := l.openStore(t, c, storeDir(t))
	v.set("k", []byte(Canary))
	v.holds("k", []byte(Canary))
	v.remove("k")
	v.lacks("k")
}

// checkStoreContents checks that values up to the maximum size are stored
// unchanged.
func checkStoreContents(t testing.TB, s *subject, c *Store) {
	v := s.start(t, nil).openStore(t, c, storeDir(t))
	v.lacks("absent")
	v.remove("absent")
	v.lists()
	large := bytes.Repeat([]byte("0123456789abcdef"), sdk.MaxSecret/16)
	values := map[string][]byte{
		"empty": {}, "zero": {0}, "binary": {0xff, 0, 0xfe, '\n', '\r'},
		"text": []byte(" ä\n{}\"'\\$(x)%s "), "2 KiB": large[:2<<10+1], "16 KiB": large,
	}
	var keys []string
	for name, value := range values {
		key := strings.ReplaceAll(name, " ", "_")
		keys = append(keys, key)
		v.set(key, value)
		v.holds(key, value)
	}
	v.lists(keys...)
	for _, next := range [][]byte{{'x'}, large, []byte("short again"), {}} { // each replaces the previous value
		v.set("16_KiB", next)
		v.holds("16_KiB", next)
	}
	v.lists(keys...)
	for _, key := range keys {
		v.remove(key)
		v.lacks(key)
	}
	v.lists()
}

// checkStoreKeys checks that keys are distinct even if they differ only in case
// or look like paths or options.
func checkStoreKeys(t testing.TB, s *subject, c *Store) {
	v := s.start(t, nil).openStore(t, c, storeDir(t))
	keys := []string{
		"a", "A", "a/", "a/b", "a//b", "/a", "../a", "..", ".", "~", "*", "a*", "%2e", "%61", "a%00", "-a", "--help",
		"$HOME", "`a`", "a'b", `a"b`, `a\b`,
		"a:b", "a|b", "CON", "a.1", "a#1", "a;1", strings.Repeat("k", 200), strings.Repeat("k", 199) + "l",
	}
	for i, key := range keys {
		v.set(key, fmt.Append(nil, "value ", i))
	}
	for i, key := range keys {
		v.holds(key, fmt.Append(nil, "value ", i))
	}
	v.lists(slices.Clone(keys)...)
	for i, key := range keys {
		v.remove(key)
		v.lacks(key)
		if i+1 < len(keys) {
			v.holds(keys[i+1], fmt.Append(nil, "value ", i+1))
		}
	}
	v.lists()
}

// checkStoreMany checks concurrent writes through two vaults of the same
// directory.
func checkStoreMany(t testing.TB, s *subject, c *Store) {
	l, dir := s.start(t, nil), storeDir(t)
	vaults := []*checkedVault{l.openStore(t, c, dir), l.openStore(t, c, dir)}
	var wg sync.WaitGroup
	var keys []string
	for n := range 8 {
		key := fmt.Sprint("k", n)
		keys = append(keys, key)
		wg.Go(func() {
			v := vaults[n%2]
			for round := range 3 {
				value := fmt.Append(nil, key, round)
				v.set(key, value)
				v.holds(key, value)
			}
		})
	}
	wg.Wait()
	if c.Forgets {
		return // the vaults may not share their contents
	}
	for _, v := range vaults {
		v.lists(slices.Clone(keys)...)
	}
}

// checkStoreRestart checks that secrets survive a restart. A program is killed.
func checkStoreRestart(t testing.TB, s *subject, c *Store) {
	if c.Forgets {
		t.Skip("the store has Forgets set")
	}
	dir := storeDir(t)
	first := s.start(t, nil)
	v := first.openStore(t, c, dir)
	v.set("kept", []byte("before"))
	v.set("removed", []byte("before"))
	v.remove("removed")
	if first.process != nil {
		first.process.end()
	} else {
		first.stop(t)
	}
	again := s.start(t, nil).openStore(t, c, dir)
	again.holds("kept", []byte("before"))
	again.lacks("removed")
	again.lists("kept")
}

// checkStoreClose checks that closing a vault releases its resources and makes
// it unusable.
func checkStoreClose(t testing.TB, s *subject, c *Store) {
	dir := storeDir(t)
	round := func(l *link) {
		for range 5 {
			v := l.openStore(t, c, dir)
			v.set("k", []byte("v"))
			v.close()
			v.close()
			ctx, cancel := callContext()
			if _, _, err := v.remote.Secret(ctx, "k"); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("reading from a closed vault: %v", err)
			}
			cancel()
		}
	}
	l := s.start(t, nil)
	round(l)
	if s.path != "" {
		before := resourcesOf(l.process.pid())
		round(l)
		eventually(t, func() string { return resourcesOf(l.process.pid()).beyond(before) })
		return
	}
	l.stop(t)
	before := ownResources()
	l = s.start(t, nil)
	round(l)
	l.stop(t)
	eventually(t, func() string { return ownResources().beyond(before) })
}
