package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// slowLists returns a server whose lists take a time each. A time of zero is none, and a
// negative one means that the server never answers.
func slowLists(took map[string]time.Duration) *conversation.Server {
	s := old(`{"name":"x"}`)
	s.Capabilities = `{"tools":{},"prompts":{},"resources":{}}`
	s.Set(mcp.MethodListPrompts, `{"name":"p"}`)
	s.Set(mcp.MethodListRes, `{"uri":"r:1","name":"r"}`)
	s.Answer = func(l *conversation.Link, m conversation.Message) string {
		d, late := took[m.Method]
		switch {
		case !late:
			return ""
		case d > 0:
			go func() {
				bubble.Sleep(d)
				l.Say(strings.TrimSuffix(conversation.Result(m,
					`{"prompts":[{"name":"late"}],"tools":[{"name":"late"}],"resources":[{"uri":"r:9","name":"late"}]}`),
					"\n"))
			}()
		}
		return conversation.Later
	}
	return s
}

const (
	never = time.Duration(-1)
	nHung = "its lists of resources and prompts are incomplete: the server has not answered yet"
)

// TestOnlyNeededListsAreWaitedFor checks how long callers wait that need only some
// lists of a server which does not answer for others.
func TestOnlyNeededListsAreWaitedFor(t *testing.T) {
	prompts := []upstream.ListKind{upstream.Prompts}
	for _, c := range []struct {
		name  string
		slow  map[string]time.Duration
		need  []upstream.ListKind
		want  time.Duration
		tools string
	}{
		{"all at once", nil, toolKinds, 0, "a__x=a/x"},
		{"others never", map[string]time.Duration{mcp.MethodListPrompts: never, mcp.MethodListRes: never}, toolKinds,
			partTime, "a__x=a/x"},
		{"others late",
			map[string]time.Duration{mcp.MethodListPrompts: 10 * time.Second}, toolKinds, partTime, "a__x=a/x"},
		{"others a little late",
			map[string]time.Duration{mcp.MethodListPrompts: partTime / 2}, toolKinds, partTime / 2, "a__x=a/x"},
		{"the needed one late",
			map[string]time.Duration{mcp.MethodListTools: 5 * time.Second, mcp.MethodListPrompts: never}, toolKinds,
			5 * time.Second, "a__late=a/late"},
		{"the needed one never", map[string]time.Duration{mcp.MethodListTools: never}, toolKinds, 30 * time.Second, ""},
		{"prompts, tools never", map[string]time.Duration{mcp.MethodListTools: never}, prompts, partTime, ""},
		{"prompts late, resources never",
			map[string]time.Duration{mcp.MethodListPrompts: 5 * time.Second, mcp.MethodListRes: never}, prompts,
			5 * time.Second, "a__x=a/x"},
		{"resources, templates never",
			map[string]time.Duration{mcp.MethodListTempl: never}, resourceKinds, 30 * time.Second, "a__x=a/x"},
		{"all kinds, prompts never",
			map[string]time.Duration{mcp.MethodListPrompts: never}, nil, 30 * time.Second, "a__x=a/x"},
	} {
		for _, refresh := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, refresh), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					s := newFixture("", slowLists(c.slow))
					defer s.close()
					how := s.EnsureLists
					if refresh {
						how = s.RefreshLists
					}
					begun := time.Now()
					failed := how(t.Context(), c.need)
					if took := time.Since(begun); took != c.want || len(failed) > 0 ||
						toolsOf(s.Snapshot()) != c.tools {
						t.Errorf("%v after %s: %s", failed, took, toolsOf(s.Snapshot()))
					}
					bubble.Sleep(time.Minute) // until the server has sent what is late
				})
			})
		}
	}
}

// TestMissingListsAreAskedForLater checks that lists which had not arrived are known as
// missing, also from disk, and that the others are kept.
func TestMissingListsAreAskedForLater(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	inBubble(t, func(t *testing.T) {
		hung := slowLists(map[string]time.Duration{mcp.MethodListPrompts: never, mcp.MethodListRes: never})
		first := newFixture(dir, hung)
		first.EnsureLists(t.Context(), toolKinds)
		if notes := first.Snapshot().Notes; len(notes) != 1 || notes[0].Text != nHung {
			t.Errorf("%v", notes)
		}
		if !first.Fresh("a") {
			t.Error("the tools are not fresh")
		}
		first.close()

		good := slowLists(nil)
		s := newFixture(dir, good)
		defer s.close()
		if s.EnsureLists(t.Context(), toolKinds); good.Connections() != 0 || toolsOf(s.Snapshot()) != "a__x=a/x" {
			t.Errorf("%d connections, %s", good.Connections(), toolsOf(s.Snapshot()))
		}
		s.EnsureLists(t.Context(), []upstream.ListKind{upstream.Prompts})
		if now := s.Snapshot(); good.Connections() != 1 || len(now.Prompts) != 1 || len(now.Notes) != 0 {
			t.Errorf("%d connections, %d prompts, %v", good.Connections(), len(now.Prompts), now.Notes)
		}
	})
}

// TestPartKeepsListsOfBefore checks that a list which has not arrived yet keeps its items of
// before, and that tools which have not arrived are not fresh: they are compared with
// their pins first.
func TestPartKeepsListsOfBefore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		slow := map[string]time.Duration{}
		s := newFixture("", slowLists(slow))
		defer s.close()
		s.Ensure(t.Context())
		slow[mcp.MethodListTools] = 5 * time.Second
		s.Servers()[0].Upstream.Drop()
		s.RefreshLists(t.Context(), []upstream.ListKind{upstream.Prompts})
		if toolsOf(s.Snapshot()) != "a__x=a/x" || s.Fresh("a") {
			t.Errorf("%s, fresh: %t", toolsOf(s.Snapshot()), s.Fresh("a"))
		}
		bubble.Sleep(5 * time.Second)
		if toolsOf(s.Snapshot()) != "a__late=a/late" || !s.Fresh("a") {
			t.Errorf("%s, fresh: %t", toolsOf(s.Snapshot()), s.Fresh("a"))
		}
	})
}

// TestPartAndThenTheEnd checks that a server which ends after a part fails the refresh, and
// that the part stays.
func TestPartAndThenTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		server := slowLists(map[string]time.Duration{mcp.MethodListPrompts: never})
		s := newFixture("", server)
		defer s.close()
		s.EnsureLists(t.Context(), toolKinds)
		waiting := make(chan map[string]error)
		go func() { waiting <- s.Ensure(t.Context()) }()
		bubble.Sleep(time.Second)
		server.Link().End(nil)
		if failed := <-waiting; failed["a"] == nil || toolsOf(s.Snapshot()) != "a__x=a/x" {
			t.Errorf("%v, %s", failed, toolsOf(s.Snapshot()))
		}
	})
}

// TestPartWithoutToolsIsNotKnown checks that an empty list of tools is no answer while only
// other lists have arrived.
func TestPartWithoutToolsIsNotKnown(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newFixture("", slowLists(map[string]time.Duration{mcp.MethodListTools: 5 * time.Second}))
		defer s.close()
		s.EnsureLists(t.Context(), []upstream.ListKind{upstream.Prompts})
		if since, known := s.Known("a"); known || len(s.Snapshot().Prompts) == 0 {
			t.Errorf("known since %s, %d prompts", since, len(s.Snapshot().Prompts))
		}
		bubble.Sleep(10 * time.Second)
		if _, known := s.Known("a"); !known {
			t.Error("the tools have arrived")
		}
	})
}
