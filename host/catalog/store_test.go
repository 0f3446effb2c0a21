package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestStored checks that lists on disk are restored byte for byte.
func TestStored(t *testing.T) {
	deep := strings.Repeat(`[`, mcp.MaxDepth-4) + strings.Repeat(`]`, mcp.MaxDepth-4)
	l := &lists{fetched: time.Now().Round(0)}
	l.Tools = listing(`{"name":"a",  "n":9007199254740993,"e":"\ufffd\u0041<>&", "x" : { } }`,
		`{"name":"deep","x":`+deep+`}`, `7`)
	l.Tools.TTL, l.Prompts.Degraded = 5*time.Second, "cursor \"loop\"\n\u2028"
	l.Tools.Unfinished = &upstream.Unfinished{Known: 2, Total: 5, Ended: true}
	l.Resources = listing(`{"uri":"a:b"}`)
	dir := cache.Dir(t.TempDir())
	(&disk{dir: dir}).save(&Server{Key: "key"}, l)
	got := load(dir, "key", offer{})
	if got == nil {
		t.Fatal("load found no file")
	}
	for _, k := range kinds {
		want, have := k.of(l), k.of(got)
		if len(want.Items) != len(have.Items) || want.TTL != have.TTL || want.Degraded != have.Degraded {
			t.Errorf("%s: %+v, want %+v", k.name, have, want)
		}
		for i := range want.Items {
			if !bytes.Equal(want.Items[i], have.Items[i]) {
				t.Errorf("%s: %s, want %s", k.name, have.Items[i], want.Items[i])
			}
		}
	}
	if u := got.Tools.Unfinished; u == nil ||
		*u != *l.Tools.Unfinished || got.Prompts.Unfinished != nil || !got.stale() {
		t.Errorf("Unfinished is restored as %+v", u)
	}
	if !got.fetched.Equal(l.fetched) || got.fresh || len(got.changes(l)) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestInvalidFile checks that an invalid file is ignored.
func TestInvalidFile(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	(&disk{dir: dir}).save(&Server{Key: "key"}, &lists{fetched: time.Now(), Tools: listing(`{"name":"a"}`)})
	path := filepath.Join(string(dir), storeName("key", offer{}))
	last := filepath.Join(string(dir), lastName("key"))
	good, err := os.ReadFile(path)
	if err = errors.Join(err, os.Remove(last)); err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) string { return strings.Replace(string(good), old, new, 1) }
	for name, text := range map[string]string{
		"empty": "", "garbage": "\x00\xff",
		"another version": change(`"version":4`, `"version":3`), "no version": change(`"version":4,`, ``),
		"a name twice": change(`{"name":"a"}`, `{"name":"a","name":"b"}`), "two values": string(good) + "{}",
		"a list missing": change(`"prompts"`, `"promts"`),
		"items no list":  change(`[{"name":"a"}]`, `{"name":"a"}`),
		"time no time":   change(`"fetched":"2`, `"fetched":"x2`), "null": "null",
		"depth": change(`{"name":"a"}`, strings.Repeat("[", 100)+strings.Repeat("]", 100)),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if load(dir, "key", offer{}) != nil {
			t.Errorf("%s: the file was accepted", name)
		}
	}
	for n := range good {
		if err := os.WriteFile(path, good[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if load(dir, "key", offer{}) != nil {
			t.Errorf("the first %d bytes were accepted", n)
		}
	}
	// The file is a directory, or the directory does not exist.
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	(&disk{dir: dir}).save(&Server{Key: "key"}, &lists{})
	if err := os.Remove(last); err != nil {
		t.Fatal(err)
	}
	if load(dir, "key", offer{}) != nil || load("", "key", offer{}) != nil ||
		load(cache.Dir(path+"/none"), "key", offer{}) != nil {
		t.Error("load returned lists")
	}
	(&disk{dir: ""}).save(&Server{Key: "key"}, &lists{})
}

// TestFromDisk checks that a catalog starts with the lists on disk, starts no server for
// them, and refreshes them when a server connects.
func TestFromDisk(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	inBubble(t, func(t *testing.T) {
		first := newFixture(dir, old(`{"name":"x"}`), old(`{"name":"y"}`))
		first.Ensure(t.Context())
		first.close()

		server := old(`{"name":"x"}`, `{"name":"new"}`)
		s := newFixture(dir, server, old())
		defer s.close()
		s.Ensure(t.Context())
		s.Await(t.Context(), nil, nil)
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x b__y=b/y" || server.Connections() != 0 || s.Fresh("a") {
			t.Errorf("%s, %d connections", got, server.Connections())
		}
		if err := s.Servers()[0].Upstream.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		bubble.Sleep(time.Second)
		if got := toolsOf(s.Snapshot()); got != "a__x=a/x a__new=a/new b__y=b/y" || !s.Fresh("a") ||
			fmt.Sprint(s.news()) != "[tools]" {
			t.Errorf("%s", got)
		}
		if _, known := s.Known("b"); !known || s.servers["b"].Connections() != 0 {
			t.Error("the other server was asked, too")
		}
	})
}

// TestOutdatedOnDisk checks that outdated lists are refreshed. Ensure waits for them and Await
// does not. Lists of an unavailable server are kept.
func TestOutdatedOnDisk(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	inBubble(t, func(t *testing.T) {
		first := newFixture(dir, old(`{"name":"x"}`), old(`{"name":"y"}`))
		first.Ensure(t.Context())
		first.close()
		bubble.Sleep(25 * time.Hour)

		changed := old(`{"name":"z"}`)
		s := newFixture(dir, changed, hanging())
		defer s.close()
		begun := time.Now()
		if failed := s.Await(t.Context(), nil, nil); len(failed) > 0 || time.Since(begun) > 0 {
			t.Errorf("%v after %s", failed, time.Since(begun))
		}
		synctest.Wait()
		failed := s.Ensure(t.Context())
		if got := toolsOf(s.Snapshot()); got != "a__z=a/z b__y=b/y" || len(failed) != 1 || failed["b"] == nil ||
			changed.Count("tools/list") != 1 {
			t.Errorf("%s, %v", got, failed)
		}
	})
}

// TestFutureTimestamp checks that a file with a future timestamp is outdated.
func TestFutureTimestamp(t *testing.T) {
	if l := (&lists{fetched: time.Now().Add(time.Hour)}); !l.stale() {
		t.Error("the lists are not stale")
	}
}

// TestUnwritable checks that an unwritable cache causes no error.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newFixture(cache.Dir(file), &conversation.Server{Revision: "2026-07-28"})
	defer s.close()
	if failed := s.Ensure(t.Context()); len(failed) > 0 {
		t.Error(failed)
	}
}

// TestListsWithASecretAreNotOnDisk: a list with a secret replaces one without on no disk.
func TestListsWithASecretAreNotOnDisk(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	c, s := New(nil, dir, hclog.NewNullLogger(), nil), &Server{Name: "a", Key: "key"}
	defer c.Stop()
	c.LeaveOut(func(text string) bool { return strings.Contains(text, "a-secret") })
	for _, description := range []string{"Reads.", "Reads with a-secret.", "Reads."} {
		c.disk.save(s,
			&lists{fetched: time.Now(), Tools: listing(fmt.Sprintf(`{"name":"read","description":%q}`, description))})
		if got, want := load(dir, "key", offer{}) != nil, !strings.Contains(description, "secret"); got != want {
			t.Errorf("%s: on disk %v, want %v", description, got, want)
		}
	}
}

// TestLastKeyIsAKey reads what another program may have written in the place of a key.
func TestLastKeyIsAKey(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	for text, want := range map[string]string{
		"0123abcd-ef": "0123abcd-ef",
		"../../etc/x": "", "a/b": "", "A": "", "a\n": "", "": "", strings.Repeat("a", maxKey+1): "",
	} {
		dir.Write(publicName("p"), []byte(text))
		if got := LastKey(dir, "p"); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
