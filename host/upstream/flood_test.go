package upstream

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestFlood sends 200,000 notifications before a response: for the call, for a finished
// call and for no call. They must not delay the response.
func TestFlood(t *testing.T) {
	const many = 200_000
	e := newEcho()
	e.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodCallTool {
			return ""
		}
		for i := range many {
			token := []string{"2", "99", `"x"`}[i%3]
			l.Say(fmt.Sprintf(
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`,
				token, i,
			))
		}
		return conversation.Result(m, "{}")
	}
	o := usual(newRecorder(), e.Open)
	o.Revision = mcp.Revision20251125
	u := New(o)
	defer u.Close()
	if err := u.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	heard := 0
	c := tool(1)
	c.Progress = func([]byte) { heard++ }
	begun := time.Now()
	if _, err := u.Call(t.Context(), permitted(t, c)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", time.Since(begun))
	if heard != (many+2)/3 || u.Status().Ignored != many-uint64(heard) {
		t.Errorf("%d heard, %d ignored", heard, u.Status().Ignored)
	}
	if d := time.Since(begun); d > 20*time.Second {
		t.Errorf("the call took %s", d)
	}
}

// TestGarbage checks that a thousand invalid lines between responses are only ignored.
func TestGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		junk := []string{"", "banner", "\x00", "{}", "[]", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":{},"result":1}`,
			`{"id":1`, "\xff", "{\"a\rb"}
		for i := range 100 {
			if i == 1 {
				for j := range 1000 {
					e.Link().Say(junk[j%len(junk)])
				}
			}
			done := make(chan error, 1)
			go func() {
				_, err := u.Call(t.Context(), permitted(t, tool(i)))
				done <- err
			}()
			synctest.Wait()
			e.release()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if n := u.Status().Ignored; n != 1000 || e.Connections() != 1 {
			t.Errorf("%d ignored, %d connections", n, e.Connections())
		}
	})
}

// endless returns a server with an endless list. cursor returns the next cursor of a
// page, and items its content.
func endless(cursor func(page int) string, items func(page int) string) *conversation.Server {
	s := &conversation.Server{Revision: "2025-11-25"}
	page := 0
	s.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodListTools {
			return ""
		}
		page++
		return conversation.Result(m, fmt.Sprintf(`{"tools":[%s],"nextCursor":%q}`, items(page), cursor(page)))
	}
	return s
}

func TestListBounds(t *testing.T) {
	one := func(page int) string { return fmt.Sprintf(`{"name":"t%d"}`, page) }
	next := func(page int) string { return fmt.Sprint(page) }
	many := func(page int) string {
		return strings.Repeat(fmt.Sprintf(`{"name":"x%d"},`, page), 999) + `{"name":"x"}`
	}
	large := func(page int) string {
		return fmt.Sprintf(`{"name":"x%d","description":%q}`, page, strings.Repeat("x", 3<<20))
	}
	for _, c := range []struct {
		name          string
		cursor, items func(page int) string
		want          int
		degraded      string
	}{
		{"cursor loop at once", func(int) string { return "same" }, one, 2, `the server sent the cursor "same" again`},
		{"endless pages", next, one, listPages, "it has more than 1000 pages"},
		{"endless items", next, many, listItems, "it has more than 10000 items or 16777216 bytes"},
		{"endless bytes", next, large, 5, "it has more than 10000 items or 16777216 bytes"},
		{"endless cursors",
			func(page int) string { return fmt.Sprint(strings.Repeat("x", 17<<20), page) },
			func(int) string { return "" }, 0, "its cursors have more than 16777216 bytes"},
		{"the same item", next, func(int) string { return `{"name":"x"},{"name":"y"}` }, 2,
			"the server sent the same items again with each page"},
		{"the same item in other orders", next, func(page int) string { return fmt.Sprintf(`{"name":"x%d"}`, page%3) },
			3, "the server sent the same items again with each page"},
		{"the same item between others",
			next, func(page int) string { return fmt.Sprintf(`{"name":"x%d"}`, page*(page%2)) },
			501, "it has more than 1000 pages"},
		{"empty pages", next, func(int) string { return "" }, 0, "it has more than 1000 pages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && (c.name == "endless bytes" || c.name == "endless cursors") {
				t.Skip("too slow with the race detector")
			}
			s := endless(c.cursor, c.items)
			u := New(usual(newRecorder(), s.Open))
			defer u.Close()
			if err := u.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			l, err := u.List(t.Context(), Tools)
			if err != nil || len(l.Items) != c.want || l.Degraded != c.degraded {
				t.Errorf("%d items, %q, %v", len(l.Items), l.Degraded, err)
			}
			t.Logf("%s", time.Since(begun))
		})
	}
}

// TestIdleAdaptive checks that a frequently used server stays connected longer.
func TestIdleAdaptive(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name  string
		rule  Idle
		calls int
		apart time.Duration
		want  time.Duration
	}{
		{"never", Idle{}, 100, 0, 0},
		{"fixed", Idle{After: 7 * time.Second}, 100, 0, 7 * time.Second},
		{"cold", Idle{Adaptive: true}, 4, time.Second, idleCold},
		{"warm", Idle{Adaptive: true}, 5, time.Second, idleWarm},
		{"still warm", Idle{Adaptive: true}, 20, time.Second, idleWarm},
		{"hot", Idle{Adaptive: true}, 1000, time.Second, idleHot},
		{"used long ago", Idle{Adaptive: true}, 100, 20 * time.Minute, idleCold},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := idleClock{rule: c.rule}
			for n := range c.calls {
				i.used(now.Add(time.Duration(n) * c.apart))
			}
			if got := i.after(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if len(i.calls) > 100 {
				t.Errorf("the clock has %d calls", len(i.calls))
			}
		})
	}
}
