package catalog

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestSilentServers: after a server did not get ready, the next clients do not wait for its
// first list, verbs leave it alone for a while, and an answer ends both.
func TestSilentServers(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	first := func(t *testing.T, f *fixture) time.Duration {
		soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun := time.Now()
		failed := f.AwaitLists(t.Context(), soon, nil, func(time.Time) time.Time { return begun.Add(3 * time.Second) })
		if failed["b"] == nil {
			t.Error("the list is not called partial")
		}
		return time.Since(begun)
	}
	inBubble(t, func(t *testing.T) {
		f := newFixture(dir, old(`{"name":"x"}`), hanging())
		f.Ensure(t.Context())
		f.close()

		f = newFixture(dir, old(`{"name":"x"}`), hanging())
		if took := first(t, f); took > 0 {
			t.Errorf("the first list took %s", took)
		}
		if silent := f.Silent([]string{"a", "b"}); len(silent) != 1 || silent["b"].IsZero() {
			t.Errorf("silent: %v", silent)
		}
		if silent := f.Silent([]string{"a"}); len(silent) != 0 {
			t.Errorf("silent, and not asked for: %v", silent)
		}
		synctest.Wait()
		if f.servers["b"].Connections() == 0 {
			t.Error("it was not started again")
		}
		f.close()

		bubble.Sleep(silentRest + time.Minute)
		f = newFixture(dir, old(`{"name":"x"}`), old(`{"name":"y"}`))
		if silent := f.Silent([]string{"a", "b"}); len(silent) != 0 {
			t.Errorf("silent after %s: %v", silentRest, silent)
		}
		f.Ensure(t.Context())
		if _, silent := f.disk.silence(f.Servers()[1]); silent {
			t.Error("it is silent after it has answered")
		}
		f.close()
	})
}

// TestEndedWhileWaiting: a process that ends while a server starts spares the next client the
// wait, and no verb.
func TestEndedWhileWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration
		silent bool
	}{
		"at once":         {time.Second, false},
		"after the limit": {silentEarly, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cache.Dir(t.TempDir())
			inBubble(t, func(t *testing.T) {
				f := newFixture(dir, old(`{"name":"x"}`), hanging())
				ctx, cancel := context.WithTimeout(t.Context(), c.after)
				f.Await(ctx, nil, nil)
				cancel()
				f.close()
				f = newFixture(dir, old(`{"name":"x"}`), hanging())
				defer f.close()
				if was, silent := f.disk.silence(f.Servers()[1]); silent != c.silent || silent && !was.Ended {
					t.Errorf("%v, %v", was, silent)
				}
				if all := f.Silent([]string{"b"}); len(all) > 0 {
					t.Errorf("a verb leaves it alone: %v", all)
				}
			})
		})
	}
}

// TestInvalidSilence: a file that another program wrote has no effect.
func TestInvalidSilence(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	d := &disk{dir: dir}
	for _, text := range []string{"", "x", "{}", `{"since":"2999-01-01T00:00:00Z"}`, `{"since":7}`, `[]`} {
		dir.Write(silentName("key"), []byte(text))
		if was, silent := d.silence(&Server{Key: "key"}); silent {
			t.Errorf("%s: %v", text, was)
		}
	}
}
